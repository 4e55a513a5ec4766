"""The planes and the stray points of a room, beside RANSAC that is repeated on the rest.

Open3D and pyRANSAC-3D find one plane and are told its distance, three times the true noise; they
are repeated until a plane has less than 1 % of the points. piforest is told "plane" and no more.
Open3D's statistical outlier removal and an isolation forest look at the density; the forest is told
the share of stray points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import open3d
import pyransac3d
from memory import measured
from sklearn.ensemble import IsolationForest
from sklearn.metrics import f1_score

from piforest import PreferenceIsolationForest
from piforest.datasets import make_room

NOISE, STRAY, PLANES = 0.005, 0.1, 7
SIZES = [9000, 6000, 6000, 3000, 5000, 5000, 4000]
LEAST = 0.01
SEEDS = (0, 1, 2)
Labels = Callable[[np.ndarray], np.ndarray]


def by_open3d(X: np.ndarray) -> np.ndarray:
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(X))
    return np.array(cloud.segment_plane(3 * NOISE, 3, 1000)[1], int)


def by_pyransac3d(X: np.ndarray) -> np.ndarray:
    return np.array(pyransac3d.Plane().fit(X, thresh=3 * NOISE, maxIteration=1000)[1], int)


def repeated(once: Labels) -> Labels:
    """The number of the plane of each point, -1 for none."""

    def labels(X: np.ndarray) -> np.ndarray:
        found, rest = np.full(len(X), -1), np.arange(len(X))
        while len(rest) > 3:
            inside = once(X[rest])
            if len(inside) < LEAST * len(X):
                break
            found[rest[inside]] = found.max() + 1
            rest = np.delete(rest, inside)
        return found

    return labels


def ours(X: np.ndarray) -> np.ndarray:
    detector = PreferenceIsolationForest("plane", random_state=0, n_jobs=1).fit(X)
    return np.where(detector.predict(X) == -1, -1, detector.assign(X))


def statistical(X: np.ndarray) -> np.ndarray:
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(X))
    kept = cloud.remove_statistical_outlier(20, 2.0)[1]
    found = np.full(len(X), -1)
    found[np.array(kept, int)] = 0
    return found


def forest(X: np.ndarray) -> np.ndarray:
    scores = -IsolationForest(random_state=0).fit(X).score_samples(X)
    return np.where(scores > np.quantile(scores, 1 - STRAY), -1, 0)


METHODS: dict[str, tuple[str, bool, Labels]] = {
    "piforest": ("the family", True, ours),
    "Open3D segment_plane, repeated": ("distance", True, repeated(by_open3d)),
    "pyRANSAC-3D Plane, repeated": ("distance", True, repeated(by_pyransac3d)),
    "Open3D remove_statistical_outlier(20, 2)": ("nothing", False, statistical),
    "scikit-learn IsolationForest": ("share of stray points", False, forest),
}


def planes_right(found: np.ndarray, truth: np.ndarray) -> int:
    """True planes of which one found plane has at least 80 % of the points, and few others."""
    right = 0
    for plane in range(1, PLANES + 1):
        of = found[truth == plane]
        numbers = np.bincount(of[of >= 0], minlength=1)
        best = int(numbers.argmax())
        both, either = numbers[best], np.sum((found == best) | (truth == plane))
        right += both / either >= 0.8
    return right


def tables(only: str) -> Iterator[str]:
    if only not in "room":
        return
    yield (
        f"### A room of {PLANES} planes with {sum(SIZES):,} points and {100 * STRAY:.0f} % stray "
        f"points: {len(SEEDS)} scans\n"
    )
    yield (
        "| | told | F1 of stray points | planes right | planes found | CPU seconds | peak MB |\n"
        "|---|---|---|---|---|---|---|"
    )
    ours(make_room(PLANES, sizes=300, random_state=9).data)  # compiles
    for name, (told, counts, method) in METHODS.items():
        rows = []
        for seed in SEEDS:
            X, y = make_room(
                PLANES, sizes=SIZES, noise=NOISE, anomaly_share=STRAY, random_state=200 + seed,
                return_X_y=True,
            )  # fmt: skip
            found, seconds, memory = measured(method, X)
            right = planes_right(found, y) if counts else np.nan
            rows.append([f1_score(y == 0, found == -1), right, found.max() + 1, seconds, memory])
        f1, right, count, seconds, _ = np.mean(rows, axis=0)
        memory = np.max(rows, axis=0)[4]
        planes = f"{right:.1f} of {PLANES} | {count:.1f}" if counts else "none sought | "
        yield f"| {name} | {told} | {f1:.3f} | {planes} | {seconds:.2f} | {memory:.0f} |"
    yield ""
