"""The Voronoi forest and the hashing forest on the same preferences: AUC and CPU time.

    PIFOREST_DATA=folder python benchmarks/forests.py            all sets
    python benchmarks/forests.py --sets scenes                   synthetic scenes alone

Every set is embedded once with the default settings; each forest is then grown from the same
preferences and scores all rows. Means of three seeds. The CPU milliseconds are those of growing and
of scoring without the preferences, which are computed before; one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
from data import Problem, problem
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest, datasets
from piforest._random import Stream
from piforest._rows import stack
from piforest.datasets import load_adelaidermf, load_synthetic2d
from piforest.engines import CpuEngine
from piforest.engines.protocol import ForestPlan
from piforest.fitting.forest import ForestParameters, empty_trees
from piforest.metrics import get_metric

SEEDS = range(3)
TREES = (32, 100)
SETS = {
    "paper": ["stair3", "stair4", "star5", "star11", "circle3", "circle4", "circle5"],
    "pairs": ["johnsona", "ladysymon", "unihouse", "biscuitbook", "cubechips", "breadtoycar"],
    "scenes": ["make_planes", "make_spheres", "make_parabolas", "make_ellipses"],
}


@dataclass(frozen=True)
class Kind:
    """A forest: its metric, branching, edges and nodes."""

    name: str
    metric: str
    branching: int = 2
    soft: bool = False
    hashed: bool = False


KINDS = [
    Kind("Voronoi, soft edges (default)", "tanimoto", soft=True),
    Kind("Voronoi, edges of 1", "tanimoto"),
    Kind("Voronoi, Ruzicka, edges of 1", "ruzicka"),
    Kind("Voronoi, 4 seeds, edges of 1", "tanimoto", branching=4),
    Kind("hashing, 2 children", "ruzicka", hashed=True),
    Kind("hashing, 4 children", "ruzicka", branching=4, hashed=True),
    Kind("hashing, 8 children", "ruzicka", branching=8, hashed=True),
]


def load(name: str) -> tuple[Problem | None, np.ndarray, np.ndarray, str]:
    """Rows, which of them are anomalies, and the family."""
    if name.startswith("make_"):
        family = {
            "make_planes": "plane",
            "make_spheres": "sphere",
            "make_parabolas": "parabola",
            "make_ellipses": "ellipse",
        }
        data = getattr(datasets, name)(3, anomaly_share=0.3, random_state=0)
        return None, data.data, data.target == 0, family[name]
    known = problem(name)
    reader = load_synthetic2d if known.family in ("line", "circle") else load_adelaidermf
    options = {"random_state": 0} if reader is load_synthetic2d else {}
    data = reader(name, **options)
    return known, data.data, data.target == 0, known.family


def run(kind: Kind, trees: int, preferences, seed: int):
    """Scores of all rows, and the CPU seconds of growing and of scoring."""
    metric, backend = get_metric(kind.metric), CpuEngine(1)
    parameters = ForestParameters(
        metric, trees, 256, kind.branching, 4096, soft=kind.soft, hashed=kind.hashed
    )
    rows = metric.rows(preferences)
    shape = empty_trees(parameters, len(rows))
    plan = ForestPlan(metric, rows, None, shape, trees, Stream(seed).child("trees"))
    start = time.process_time()
    forest, _ = backend.grow(plan)
    grown = time.process_time()
    size = forest.block_rows
    blocks = [forest.scores(rows[i : i + size]) for i in range(0, len(rows), size)]
    return np.concatenate(blocks), grown - start, time.process_time() - grown


def measure(name: str, totals: dict) -> None:
    _, X, anomalous, family = load(name)
    cells = {}
    for seed in SEEDS:
        detector = PreferenceIsolationForest(family, contamination=0.1, random_state=seed, n_jobs=1)
        embedding = detector.fit(X).fitted_.embedding
        rows = stack(CpuEngine(1).embed(embedding, X), len(X))
        for kind in KINDS:
            for trees in TREES:
                run(kind, 2, rows, seed)  # compiles
                scores, growing, scoring = run(kind, trees, rows, seed)
                auc = roc_auc_score(anomalous, scores)
                cells.setdefault((kind.name, trees), []).append((auc, growing, scoring))
    per_row = rows.indptr[-1] / len(X)
    print(f"\n{name}: {len(X)} rows, {per_row:.1f} preferences each")
    for key, values in cells.items():
        auc, growing, scoring = np.mean(values, axis=0)
        totals.setdefault(key, []).append((auc, growing / len(X), scoring / len(X)))
        print(
            f"  {key[0]:<32}{key[1]:>4} trees  AUC {auc:.4f}  growing {1e3 * growing:7.1f} ms"
            f"  scoring {1e3 * scoring:7.1f} ms",
            flush=True,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    for kind in parser.parse_args().sets:
        totals: dict = {}
        for name in SETS[kind]:
            measure(name, totals)
        print(f"\nmean of {kind}: AUC, microseconds a row for growing and for scoring")
        for (forest, trees), values in totals.items():
            auc, growing, scoring = np.mean(values, axis=0)
            print(
                f"| {forest} | {trees} | {auc:.4f} | {1e6 * growing:.0f} | {1e6 * scoring:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
