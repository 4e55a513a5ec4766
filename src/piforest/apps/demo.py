"""`piforest demo`: one scene from data to figure, compared with other methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import atomic_write, check_writable
from ..protocols import Floats

Log = Callable[[str], None]
_TOP = 5


def run(out: Path | None, seed: int, log: Log) -> dict[str, float]:
    """Generate a scene, detect its anomalies, print and draw the result; returns the AUCs.

    out: the file of the figure; None draws none.
    """
    start = time.perf_counter()
    if out is not None:
        check_writable(out)
    from sklearn.metrics import roc_auc_score

    from ..datasets import make_circles

    sizes = [250, 150, 100]
    scene = make_circles(len(sizes), sizes=sizes, noise=0.012, anomaly_share=0.5, random_state=seed)
    X, y = scene.data, scene.target
    log(
        f"A scene of {len(sizes)} circles with {np.sum(y > 0)} points among "
        f"{np.sum(y == 0)} anomalies (seed {seed})."
    )
    log("Detecting; the first run also compiles, which takes some seconds.")
    methods = _scores(X, seed)
    aucs = {name: float(roc_auc_score(y == 0, scores)) for name, scores in methods.items()}
    log("\nAUC (1: every anomaly scores above every normal point):")
    for name, auc in aucs.items():
        log(f"  {name:<26}{auc:.3f}")
    _print_top(X, y, methods["piforest"], log)
    if out is not None:
        _draw(X, y, methods, aucs, out, log)
    log(f"\nDone in {time.perf_counter() - start:.1f} s.")
    return aucs


def _scores(X: Floats, seed: int) -> dict[str, Floats]:
    """Anomaly scores of each method, high = anomalous."""
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import LocalOutlierFactor

    from ..estimators import PreferenceIsolationForest, VoronoiForest

    # k = 75 is the best of the paper for LOF on circles in the plane.
    return {
        "isolation forest": -IsolationForest(random_state=seed).fit(X).score_samples(X),
        "LOF (k = 75)": -LocalOutlierFactor(n_neighbors=75).fit(X).negative_outlier_factor_,
        "Voronoi forest, points": VoronoiForest("euclidean", random_state=seed).fit(X).scores_,
        "piforest": PreferenceIsolationForest("circle", random_state=seed).fit(X).scores_,
    }


def _print_top(X: Floats, y: Any, scores: Floats, log: Log) -> None:
    log(f"\nThe {_TOP} most anomalous points by piforest:")
    log("    row       x       y  score  true label")
    for row in np.argsort(-scores, kind="stable")[:_TOP]:
        truth = "anomalous" if y[row] == 0 else f"on circle {y[row]}"
        log(f"  {row:>5} {X[row, 0]:>7.3f} {X[row, 1]:>7.3f}  {scores[row]:.3f}  {truth}")


def _draw(
    X: Floats, y: Any, methods: dict[str, Floats], aucs: dict[str, float], out: Path, log: Log
) -> None:
    try:
        import matplotlib.pyplot
    except ImportError:
        log("\nNo figure was drawn: plots need matplotlib, pip install 'piforest[plots]'.")
        return
    matplotlib.use("agg")
    from ..plots import plot_comparison

    figure = plot_comparison(X, y, methods, aucs)
    with atomic_write(out) as file:
        figure.savefig(file, format=out.suffix.lstrip(".").lower(), dpi=130, bbox_inches="tight")
    matplotlib.pyplot.close(figure)
    log(f"\nThe figure is in {out.resolve()}")
