"""`piforest demo`: one scene from data to a picture, beside what one would use instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import check_writable, whole_file
from ..protocols import Floats

Say = Callable[[str], None]
_TOP = 5


def run(out: Path | None, seed: int, say: Say) -> dict[str, float]:
    """Draw a scene, detect its anomalies, print and draw the result; returns the AUCs.

    `out` is where the picture goes; None draws none.
    """
    start = time.perf_counter()
    if out is not None:
        check_writable(out)
    from sklearn.metrics import roc_auc_score

    from ..datasets import make_circles

    sizes = [250, 150, 100]
    scene = make_circles(len(sizes), sizes=sizes, noise=0.012, anomaly_share=0.5, random_state=seed)
    X, y = scene.data, scene.target
    say(
        f"A scene of {len(sizes)} circles with {np.sum(y > 0)} points among "
        f"{np.sum(y == 0)} anomalies (seed {seed})."
    )
    say("Detecting; the first run also compiles, for some seconds.")
    methods = _scores(X, seed)
    aucs = {name: float(roc_auc_score(y == 0, scores)) for name, scores in methods.items()}
    say("\nAUC, 1 = every anomaly scored above every normal point:")
    for name, auc in aucs.items():
        say(f"  {name:<26}{auc:.3f}")
    _say_top(X, y, methods["piforest"], say)
    if out is not None:
        _draw(X, y, methods, aucs, out, say)
    say(f"\nDone in {time.perf_counter() - start:.1f} s.")
    return aucs


def _scores(X: Floats, seed: int) -> dict[str, Floats]:
    """Anomaly scores of each method, high = anomalous."""
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import LocalOutlierFactor

    from ..estimators import PreferenceIsolationForest, VoronoiForest

    # k = 75 is what the paper found best for LOF on circles in the plane.
    return {
        "isolation forest": -IsolationForest(random_state=seed).fit(X).score_samples(X),
        "LOF (k = 75)": -LocalOutlierFactor(n_neighbors=75).fit(X).negative_outlier_factor_,
        "Voronoi forest, points": VoronoiForest("euclidean", random_state=seed).fit(X).scores_,
        "piforest": PreferenceIsolationForest("circle", random_state=seed).fit(X).scores_,
    }


def _say_top(X: Floats, y: Any, scores: Floats, say: Say) -> None:
    say(f"\nThe {_TOP} most anomalous points by piforest:")
    say("    row       x       y  score  in truth")
    for row in np.argsort(-scores, kind="stable")[:_TOP]:
        truth = "anomalous" if y[row] == 0 else f"on circle {y[row]}"
        say(f"  {row:>5} {X[row, 0]:>7.3f} {X[row, 1]:>7.3f}  {scores[row]:.3f}  {truth}")


def _draw(
    X: Floats, y: Any, methods: dict[str, Floats], aucs: dict[str, float], out: Path, say: Say
) -> None:
    try:
        import matplotlib.pyplot
    except ImportError:
        say("\nNo picture was drawn: it needs matplotlib, pip install 'piforest[plots]'.")
        return
    matplotlib.use("agg")
    from ..plots import plot_comparison

    figure = plot_comparison(X, y, methods, aucs)
    with whole_file(out) as file:
        figure.savefig(file, format=out.suffix.lstrip(".").lower(), dpi=130, bbox_inches="tight")
    matplotlib.pyplot.close(figure)
    say(f"\nThe picture is in {out.resolve()}")
