"""Matches of 7, 9 and 12 planes: how many are found, and the misclassification error.

    python benchmarks/many_planes.py          3 seeds, noise of 0.5 and 1 pixel, a CPU minute

Each plane fills a cell of the first image, with its own depth and normal; 30 % of the matches are
false. The camera moves and turns between the images.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.transform import Rotation

from piforest import PreferenceIsolationForest
from piforest.reproduction.beyond import _misclassified

SEEDS, NUMBERS, NOISES = range(3), (7, 9, 12), (0.5, 1.0)
FOCAL, SIZE = 800.0, np.array([1000.0, 750.0])
SHIFT, TURN = np.array([-0.72, 0.12, 0.12]), 0.08
FALSE = 0.3


def pair(k: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Matches (n, 4) in pixels and the number of their plane, 0 for false ones."""
    rng = np.random.default_rng([seed, k])
    turn = _turn(rng, TURN)
    down = 2 if k <= 8 else 3
    across = -(-k // down)
    rows, planes = [], []
    for number in range(k):
        corner = np.array([number % across, number // across])
        inside = rng.uniform(0.05, 0.95, (int(rng.integers(40, 120)), 2))
        x = ((corner + inside) / [across, down] - 0.5) * SIZE
        rows.append(np.hstack([x, _moved(x, turn, rng)]))
        planes += [number + 1] * len(x)
    true = np.concatenate(rows) + rng.normal(0, noise, (len(planes), 4))
    n_false = round(FALSE / (1 - FALSE) * len(true))
    false = rng.uniform(true.min(axis=0), true.max(axis=0), (n_false, 4))
    return np.concatenate([true, false]), np.array(planes + [0] * n_false)


def _moved(x: np.ndarray, turn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points x (n, 2) of a random plane in the second image."""
    rays = np.column_stack([x / FOCAL, np.ones(len(x))])
    while True:
        depth, normal = rng.uniform(4, 8), _turn(rng, rng.uniform(0.2, 0.9))[:, 2]
        points = rays * (depth * (rays.mean(axis=0) @ normal) / (rays @ normal))[:, None]
        there = points @ turn.T + SHIFT
        if points[:, 2].min() > 1 and there[:, 2].min() > 1:
            return FOCAL * there[:, :2] / there[:, 2:]


def _turn(rng: np.random.Generator, angle: float) -> np.ndarray:
    axis = rng.normal(size=3)
    return Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()


def main() -> None:
    warnings.simplefilter("ignore")
    for noise in NOISES:
        for k in NUMBERS:
            found, errors, sigmas = [], [], []
            for seed in SEEDS:
                X, y = pair(k, noise, seed)
                detector = PreferenceIsolationForest("homography", random_state=seed).fit(X)
                found.append(len(detector.structures_))
                errors.append(_misclassified(detector, X, y)[0])
                sigmas.append(detector.sigma_)
            print(
                f"noise {noise:g}, {k:2} planes: {np.mean(found):4.1f} found, error "
                f"{np.mean(errors):.3f}, sigma {np.mean(sigmas):.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
