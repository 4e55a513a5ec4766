"""Windows beside a robust quadratic surface, the global detector and nearest neighbours.

    PIFOREST_DATA=folder python benchmarks/windows.py potholes
    python benchmarks/windows.py scenes --points 100000

Prints the area under the ROC curve and CPU seconds of each.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from piforest import LocalPreferenceIsolationForest, PreferenceIsolationForest
from piforest.surfaces import inspect_surface, read_map
from piforest.vision import read_image


def quadratic(X):
    """|residual| of the surface z = quadratic(x, y), by least squares with Tukey's weights."""
    x, y = ((X[:, k] - X[:, k].mean()) / X[:, k].std() for k in (0, 1))
    A = np.column_stack([np.ones_like(x), x, y, x * x, x * y, y * y])
    weights = np.ones(len(x))
    for _ in range(30):
        c = np.linalg.lstsq(A * weights[:, None], X[:, 2] * weights, rcond=None)[0]
        r = X[:, 2] - A @ c
        weights = 1 - np.minimum((r / (4.685 * 1.4826 * np.median(np.abs(r)))) ** 2, 1)
    return np.abs(r)


def timed(function):
    start = time.process_time()
    scores = function()
    return scores, time.process_time() - start


def show(name, truth, **methods):
    cells = []
    for method, run in methods.items():
        scores, seconds = timed(run)
        cells.append(f"{method} {roc_auc_score(truth, scores):.4f} ({seconds:.1f} s)")
    print(f"{name}: " + ", ".join(cells), flush=True)


def potholes(step):
    """All maps in the folder: every step-th pixel."""
    folder = Path(os.environ["PIFOREST_DATA"]) / "potholes"
    for path in sorted(folder.glob("*-disparity.png")):
        values = read_map(path)[::step, ::step]
        picture = read_image(str(path).replace("disparity", "label"))
        label = picture[::step, ::step].max(axis=2) > 0
        v, u = np.nonzero(~np.isnan(values))
        X, truth = np.column_stack([u, v, values[v, u]]).astype(float), label[v, u]

        def plane(X=X):
            # In 256ths of the unit, as disparities are meant, so that columns have like ranges.
            return (
                PreferenceIsolationForest("plane", contamination=0.1, random_state=0)
                .fit(X / [1, 1, 256])
                .anomaly_score(X / [1, 1, 256])
            )

        show(
            f"{path.stem}, {len(X):,} pixels", truth,
            quadratic=lambda X=X: quadratic(X),
            plane=plane,
            windows=lambda values=values, at=(v, u): inspect_surface(
                values, step=1, random_state=0
            ).scores[at],
        )  # fmt: skip


def scene(name, n, seed=1):
    """Points on a smooth curve or surface, and a fifth as many uniform ones in their box."""
    rng = np.random.default_rng(seed)
    family = "line" if name in ("sine", "spiral") else "plane"
    if name == "sine":
        x = rng.uniform(0, 4 * np.pi, n)
        A = np.column_stack([x, 3 * np.sin(x)])
    elif name == "spiral":
        t = np.sqrt(rng.uniform(0.02, 1, n)) * 6 * np.pi
        A = np.column_stack([t * np.cos(t), t * np.sin(t)]) / 6
    elif name == "bumpy surface":
        xy = rng.uniform(-2, 2, (n, 2))
        A = np.column_stack([xy, 0.5 * np.sin(3 * xy[:, 0]) * np.cos(3 * xy[:, 1])])
    else:
        t = 1.5 * np.pi * (1 + 2 * rng.random(n))
        A = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)]) / 8
    A = A + 0.02 * rng.normal(size=A.shape)
    B = rng.uniform(A.min(axis=0), A.max(axis=0), (n // 5, A.shape[1]))
    return np.vstack([A, B]), np.arange(len(A) + len(B)) >= len(A), family


def scenes(n):
    options = {"contamination": 0.1, "random_state": 0}
    for name in ("sine", "spiral", "bumpy surface", "Swiss roll"):
        X, truth, family = scene(name, n)
        show(
            f"{name}, {len(X):,} points", truth,
            neighbours=lambda X=X: NearestNeighbors(n_neighbors=10).fit(X).kneighbors()[0][:, -1],
            whole=lambda X=X, family=family: PreferenceIsolationForest(family, **options)
            .fit(X).anomaly_score(X),
            windows=lambda X=X, family=family: LocalPreferenceIsolationForest(family, **options)
            .fit(X).anomaly_score(X),
        )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["potholes", "scenes"])
    parser.add_argument("--step", type=int, default=10)
    parser.add_argument("--points", type=int, default=20_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "potholes":
        potholes(given.step)
    else:
        scenes(given.points)
