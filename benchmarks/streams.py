"""Streams whose structures stay, move, appear and vanish: AUC over time, and CPU time.

python benchmarks/streams.py [--picture FILE]

Beside the detector for streams: a fit at every window, whose model scores the next window; and the
half-space trees of river (pip install river) with its defaults but the same window, on columns
scaled to [0, 1], in which all data lie here.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

from piforest import PreferenceIsolationForest, StreamingPreferenceIsolationForest

WINDOW, WINDOWS, CHANGE = 2048, 6, 3
STEP = 512
SEEDS = range(3)
N = WINDOW * WINDOWS


def segments(rng: Any, k: int) -> Any:
    return rng.uniform(0.05, 0.95, (k, 2, 2))


def rows_on(rng: Any, ends: Any, n: int, share: float = 0.2) -> tuple[Any, Any]:
    """n rows on segments with noise, or random ones; and which are random."""
    which, t = rng.integers(0, len(ends), n), rng.random((n, 1))
    X = ends[which, 0] * (1 - t) + ends[which, 1] * t + rng.normal(0, 0.01, (n, 2))
    random = rng.random(n) < share
    X[random] = rng.uniform(0, 1, (random.sum(), 2))
    return X, random


def scene(kind: str, seed: int) -> tuple[Any, Any]:
    """A stream that changes at half its length, unless it is stationary."""
    rng = np.random.default_rng(1000 + seed)
    first = segments(rng, 5)
    then = {
        "stationary": first,
        "all move": segments(rng, 5),
        "two appear": np.concatenate([first, segments(rng, 2)]),
        "two vanish": first[:3],
    }[kind]
    early, late = rows_on(rng, first, CHANGE * WINDOW), rows_on(rng, then, N - CHANGE * WINDOW)
    return np.concatenate([early[0], late[0]]), np.concatenate([early[1], late[1]])


def streaming(X: Any, seed: int) -> tuple[Any, Any]:
    detector = StreamingPreferenceIsolationForest("line", window=WINDOW, random_state=seed)
    scores, labels = detector.score_learn(X, return_labels=True)
    return scores, labels == -1


def refitted(X: Any, seed: int) -> tuple[Any, Any]:
    """A batch detector, fitted anew after each window."""
    scores, flagged = np.full(len(X), np.nan), np.zeros(len(X), bool)
    for start in range(WINDOW, len(X), WINDOW):
        detector = PreferenceIsolationForest("line", random_state=seed)
        detector.fit(X[start - WINDOW : start])
        part = slice(start, start + WINDOW)
        scores[part] = detector.anomaly_score(X[part])
        flagged[part] = scores[part] > detector.threshold_
    return scores, flagged


def half_space(X: Any, seed: int) -> tuple[Any, Any]:
    from river.anomaly import HalfSpaceTrees

    model = HalfSpaceTrees(window_size=WINDOW, seed=seed)
    scores = np.empty(len(X))
    for i, (x, y) in enumerate(X.tolist()):
        row = {"x": x, "y": y}
        scores[i] = model.score_one(row)
        model.learn_one(row)
    return scores, None


METHODS: dict[str, Callable[[Any, int], tuple[Any, Any]]] = {
    "streaming": streaming,
    "refit every window": refitted,
    "half-space trees": half_space,
}


def curve(y: Any, scores: Any) -> Any:
    """AUC in blocks of STEP rows, from the second window on."""
    starts = range(WINDOW, N, STEP)
    return np.array([roc_auc_score(y[a : a + STEP], scores[a : a + STEP]) for a in starts])


def measured(kind: str, name: str) -> tuple[Any, float, float]:
    """The mean curve, the mean F1 of the last two windows, and rows a CPU second."""
    curves, f1, seconds = [], [], 0.0
    for seed in SEEDS:
        X, y = scene(kind, seed)
        start = time.process_time()
        scores, flagged = METHODS[name](X, seed)
        seconds += time.process_time() - start
        curves.append(curve(y, scores))
        if flagged is not None:
            f1.append(f1_score(y[-2 * WINDOW :], flagged[-2 * WINDOW :]))
    return np.mean(curves, axis=0), float(np.mean(f1)) if f1 else np.nan, len(SEEDS) * N / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", metavar="FILE", help="also draw the curves")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in METHODS:  # compile
        METHODS[name](scene("stationary", 99)[0][: WINDOW + STEP], 0)
    per = WINDOW // STEP
    at = (CHANGE - 1) * per
    print(
        "| stream | method | before | first half window after | next half | later | F1 | rows/s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    curves = {}
    for kind in ("stationary", "all move", "two appear", "two vanish"):
        for name in METHODS:
            c, f1, rate = measured(kind, name)
            curves[kind, name] = c
            parts = (c[:at], c[at : at + per // 2], c[at + per // 2 : at + per], c[at + per :])
            cells = " | ".join(f"{part.mean():.3f}" for part in parts)
            told = "" if np.isnan(f1) else f"{f1:.3f}"
            print(f"| {kind} | {name} | {cells} | {told} | {rate:,.0f} |", flush=True)
    if args.picture:
        draw(curves, args.picture)


def draw(curves: dict[tuple[str, str], Any], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(kind for kind, _ in curves))
    figure, axes = plt.subplots(1, len(kinds), figsize=(13, 3.2), sharey=True)
    rows = np.arange(WINDOW, N, STEP) + STEP / 2
    for axis, kind in zip(axes, kinds):
        for name in METHODS:
            axis.plot(rows, curves[kind, name], marker=".", label=name)
        if kind != "stationary":
            axis.axvline(CHANGE * WINDOW, color="0.6", linestyle="--")
        axis.set(title=kind, xlabel="row of the stream")
    axes[0].set_ylabel(f"AUC of {STEP} rows")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
