"""Measure the table of the README, and store it in readme_results.json.

    PIFOREST_DATA=folder python docs/measure_readme.py

For lines and circles the default is fitted to three draws of the anomalies of each of the seven
sets; for image pairs once to each. The columns of the paper and of PIF come from the stored tables
of `piforest reproduce` (docs/reproduction). tests/test_docs.py compares the README with the file.
"""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

import piforest
from piforest import PreferenceIsolationForest
from piforest.datasets import load_adelaidermf, load_synthetic2d
from piforest.datasets.published import ADELAIDERMF, SYNTHETIC2D

DOCS = Path(__file__).parent
RESULTS = DOCS / "readme_results.json"
DRAWS = 3
TABLES = {"lines and circles": "synthetic", "homographies": "homography",
          "fundamental matrices": "fundamental"}  # fmt: skip


def default_on(name: str, seed: int) -> dict[str, float]:
    """AUC, F1 of the labels and models of the default on one set."""
    load = load_synthetic2d if name in SYNTHETIC2D else load_adelaidermf
    given = {"random_state": seed} if name in SYNTHETIC2D else {}
    data = load(name, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no structure stands out
        detector = PreferenceIsolationForest(data.family, random_state=seed).fit(data.data)
        flagged = detector.predict(data.data) == -1
    anomalous = data.target == 0
    return {
        "auc": float(roc_auc_score(anomalous, detector.scores_)),
        "f1": float(f1_score(anomalous, flagged)),
        "models": detector.n_models_,
        "drawn": detector.n_drawn_,
    }


def stored(table: str) -> dict[str, float]:
    """Means of `piforest reproduce`: of PIF, and of the best published method, set by set."""
    lines = (DOCS / "reproduction" / f"auc_{table}.csv").read_text().splitlines()
    rows = [row for row in csv.DictReader(lines) if row["dataset"] != "Mean"]
    sets = sorted({row["dataset"] for row in rows})
    best = [max(float(r["published"]) for r in rows if r["dataset"] == each) for each in sets]
    ours = [float(row["mean"]) for row in rows if row["method"] == "pif"]
    return {"sets": len(sets), "best_published": float(np.mean(best)), "pif": float(np.mean(ours))}


def main() -> None:
    sets = {
        "lines and circles": [(name, seed) for name in SYNTHETIC2D for seed in range(DRAWS)],
        "homographies": [(n, 0) for n, family in ADELAIDERMF.items() if family == "homography"],
        "fundamental matrices": [
            (n, 0) for n, family in ADELAIDERMF.items() if family == "fundamental"
        ],
    }
    results: dict[str, Any] = {"version": piforest.__version__}
    for title, cases in sets.items():
        found = [default_on(*case) for case in cases]
        means = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
        results[title] = {**stored(TABLES[title]), **means}
        print(title, {key: round(value, 4) for key, value in results[title].items()}, flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
