"""The same rows by isolation forest and local outlier factor, for comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._progress import report_progress
from ...protocols import Floats
from .arrays import Arrays
from .worker import write_json

# LOF finds the neighbours of each row by a tree: seconds for this many rows, hours for many more.
_MOST_ROWS = 100_000
_NEIGHBOURS = 20


def compare(folder: Path, spec: dict[str, Any]) -> None:
    """Score the points of another job, and write the arrays beside its own."""
    arrays = Arrays(Path(spec["other"]) / "arrays")
    X = np.column_stack([arrays.read(f"point:{k}") for k in range(spec["columns"])])
    if len(X) > _MOST_ROWS:
        raise ValueError(
            f"the comparison takes at most {_MOST_ROWS:,} rows, got {len(X):,}: the local outlier "
            "factor would take hours."
        )
    own = Arrays(folder / "arrays")
    for name, method in (("isolation_forest", isolation_forest), ("lof", local_outlier_factor)):
        report_progress(name.replace("_", " "))
        own.write(f"compare:{name}", method(X, spec["seed"]))
    own.write("rows", arrays.read("rows"))
    write_json(folder / "result.json", {
        "rows": len(X), "other": spec["other_id"], "scores": "larger is more anomalous",
        "methods": {"isolation_forest": "scikit-learn's IsolationForest, its defaults",
                    "lof": f"scikit-learn's LocalOutlierFactor, {_NEIGHBOURS} neighbours"},
        "arrays": own.listing(),
    })  # fmt: skip


def isolation_forest(X: Floats, seed: int) -> Floats:
    from sklearn.ensemble import IsolationForest

    found: Floats = -IsolationForest(random_state=seed).fit(X).score_samples(X)
    return found


def local_outlier_factor(X: Floats, seed: int) -> Floats:
    from sklearn.neighbors import LocalOutlierFactor

    neighbours = min(_NEIGHBOURS, len(X) - 1)
    found: Floats = -LocalOutlierFactor(neighbours).fit(X).negative_outlier_factor_
    return found
