"""Small structures in a large scene: a room of 200,000 points with eleven planes.

python benchmarks/room.py [seeds]

Floor, ceiling, four walls, and five panels with 1 to 2 % of the points each; 15 % clutter.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from piforest import PreferenceIsolationForest

POINTS, CLUTTER, NOISE = 200_000, 0.15, 0.005
SIDES = np.array([6.0, 5.0, 2.8])  # metres
# A plane is found if its points lie within this distance of a structure, on average.
FOUND = 0.02


def make_room(n: int, seed: int) -> tuple[Any, Any]:
    """Points (n, 3) and labels (n,), 0 for clutter."""
    rng = np.random.default_rng(seed)
    x, y, z = np.diag(SIDES)
    zero = np.zeros(3)
    faces = [(zero, x, y), (z, x, y), (zero, x, z), (y, x, z), (zero, y, z), (x, y, z)]
    areas = np.array([np.linalg.norm(np.cross(across, up)) for _, across, up in faces])
    small = rng.uniform(0.01, 0.02, 5)
    large = (1 - CLUTTER - small.sum()) * areas / areas.sum()
    faces += [_panel(k, rng) for k in range(5)]
    parts, labels = [], []
    for k, ((corner, across, up), share) in enumerate(zip(faces, [*large, *small]), 1):
        size, normal = round(share * n), np.cross(across, up)
        at = rng.uniform(size=(size, 2)) @ [across, up]
        off = rng.normal(0, NOISE, (size, 1)) * normal / np.linalg.norm(normal)
        parts.append(corner + at + off)
        labels += [k] * size
    parts.append(rng.uniform(0, SIDES, (n - len(labels), 3)))
    labels += [0] * len(parts[-1])
    order = rng.permutation(n)
    return np.concatenate(parts)[order], np.array(labels)[order]


def _panel(k: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Two table tops, two upright fronts, and a board in any direction."""
    width, height = rng.uniform(0.8, 1.4, 2)
    if k < 2:
        corner = np.append(rng.uniform(0.3, 0.6, 2) * SIDES[:2], 0.6 + 0.4 * k)
        return corner, np.array([width, 0, 0]), np.array([0, height, 0])
    corner = np.append(rng.uniform(0.2, 0.6, 2) * SIDES[:2], 0.1)
    if k < 4:
        angle = rng.uniform(0, np.pi)
        return corner, width * np.array([np.cos(angle), np.sin(angle), 0]), height * np.eye(3)[2]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return SIDES / 2, width * turn[0], height * turn[1]


def main(seeds: list[int]) -> None:
    """Print one row for each seed."""
    # Kernels are compiled on first use.
    assert PreferenceIsolationForest("plane", random_state=0).fit(make_room(6000, 9)[0]).structures_
    print("seed  planes found of 11  structures    F1  fit  predict  structures (CPU s)")
    for seed in seeds:
        X, y = make_room(POINTS, seed)
        times = [time.process_time()]
        detector = PreferenceIsolationForest("plane", random_state=seed, n_jobs=1).fit(X)
        times.append(time.process_time())
        flagged = detector.predict(X) == -1
        times.append(time.process_time())
        found = detector.structures_
        times.append(time.process_time())
        near = [
            [np.mean(each.residuals(X[y == k])) < FOUND for each in found] for k in range(1, 12)
        ]
        fit, predict, structures = np.diff(times)
        print(
            f"{seed:4}  {sum(map(any, near)):18}  {len(found):10}  {f1_score(y == 0, flagged):.3f}"
            f"  {fit:.2f}  {predict:7.2f}  {structures:.2f}"
        )


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [0, 1])
