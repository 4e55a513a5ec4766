"""Matches of 7, 9 and 12 planes: how many are found, and the misclassification error.

    python benchmarks/many_planes.py [first seed]     3 scenes of each kind, a CPU minute

The first image is cut into cells, each with a plane of 30 to 200 matches. Facades have planes of
two directions, each a few degrees off, that step back and forth; stairs have treads and risers that
meet; objects have planes of any direction. Images are 1,200 to 3,000 pixels wide, the noise is 0.5
to 1 pixel, and 30 to 60 % of the matches are false. The oracle knows the planes: it tells how far
they can be told apart.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from piforest import PreferenceIsolationForest
from piforest.reproduction.beyond import _misclassified

FIRST, SCENES, NUMBERS = 100, 3, (7, 9, 12)
KINDS = ("facade", "stairs", "objects")
SIZE = np.array([1.2, 0.9])  # of the images, in focal lengths


class Pair(NamedTuple):
    """Matches of two images."""

    data: Any
    """(n, 4) pixels"""
    target: Any
    """(n,) the number of the plane, 0 for false matches"""
    nearest: Any
    """(n,) the plane that the oracle chooses, 0 for none"""


def make_pair(kind: str, k: int, seed: int) -> Pair:
    rng = np.random.default_rng([seed, k, KINDS.index(kind)])
    noise, false = rng.uniform(0.5, 1.0), rng.uniform(0.3, 0.6)
    focal = rng.uniform(1000, 2500)  # pixels
    move = _camera(rng)
    planes = [_homography(plane, *move) for plane in _planes(kind, k, rng)]
    parts, labels = [], []
    for number, (low, high) in enumerate(_cells(k, rng)):
        size = int(np.exp(rng.uniform(np.log(30), np.log(200))))
        x = rng.uniform(low, high, (size, 2))
        parts.append(np.hstack([x, _mapped(planes[number], x)]))
        labels += [number + 1] * size
    X = focal * np.concatenate(parts)
    X += rng.normal(0, noise, X.shape)
    n_false = round(false / (1 - false) * len(X))
    X = np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (n_false, 4))])
    target = np.array(labels + [0] * n_false)
    errors = np.column_stack(
        [np.linalg.norm(focal * _mapped(H, X[:, :2] / focal) - X[:, 2:], axis=1) for H in planes]
    )
    nearest = np.where(errors.min(axis=1) <= 5 * noise, errors.argmin(axis=1) + 1, 0)
    return Pair(X, target, nearest)


def _cells(k: int, rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """k rectangles of the first image, with margins: the largest one is cut again and again."""
    cells = [(-SIZE / 2, SIZE / 2)]
    while len(cells) < k:
        cells.sort(key=lambda cell: np.prod(cell[1] - cell[0]))
        low, high = cells.pop()
        axis = int(np.argmax(high - low))
        cut = low[axis] + rng.uniform(0.35, 0.65) * (high - low)[axis]
        left, right = high.copy(), low.copy()
        left[axis] = right[axis] = cut
        cells += [(low, left), (right, high)]
    cells.sort(key=lambda cell: tuple(cell[0]))
    return [(low + 0.04 * (high - low), high - 0.04 * (high - low)) for low, high in cells]


def _planes(kind: str, k: int, rng: np.random.Generator) -> list[tuple[Any, float]]:
    """Normals and offsets: n x = d in the frame of the first camera; the scene is about 6 away."""
    front = _turned(np.array([0.0, 0.0, 1.0]), rng.uniform(0.1, 0.5), rng)
    side = _turned(front, np.pi / 2 if kind == "stairs" else rng.uniform(0.6, 1.2), rng)
    found = []
    for number in range(k):
        if kind == "objects":
            normal = _turned(front, rng.uniform(0.1, 0.9), rng)
        else:
            normal = (
                front if number % 2 == 0 or (kind == "facade" and rng.uniform() < 0.6) else side
            )
            normal = _turned(normal, rng.uniform(0.02, 0.08), rng)
        depth = 6 + (0.35 * number - 0.17 * k if kind == "stairs" else rng.uniform(-1.2, 1.2))
        found.append((normal, depth * max(abs(normal[2]), 0.35) * np.sign(normal[2] or 1.0)))
    return found


def _camera(rng: np.random.Generator) -> tuple[Any, Any]:
    """The rotation and the shift of the second camera."""
    turn = Rotation.from_rotvec(rng.normal(0, 0.08, 3)).as_matrix()
    shift = np.array([rng.choice([-1, 1]) * rng.uniform(0.5, 1.2), *rng.normal(0, 0.2, 2)])
    return turn, shift


def _homography(plane: tuple[Any, float], turn: Any, shift: Any) -> Any:
    normal, offset = plane
    return turn + np.outer(shift, normal) / offset


def _mapped(H: Any, x: Any) -> Any:
    there = np.column_stack([x, np.ones(len(x))]) @ H.T
    return there[:, :2] / there[:, 2:]


def _turned(vector: Any, angle: float, rng: np.random.Generator) -> Any:
    """The vector, turned by this angle in a random direction."""
    across = np.cross(vector, rng.normal(size=3))
    return Rotation.from_rotvec(angle * across / np.linalg.norm(across)).apply(vector)


def main(first: int) -> None:
    warnings.simplefilter("ignore")
    for kind in KINDS:
        for k in NUMBERS:
            rows = []
            for seed in range(first, first + SCENES):
                X, y, nearest = make_pair(kind, k, seed)
                start = time.process_time()
                detector = PreferenceIsolationForest("homography", random_state=seed).fit(X)
                found = len(detector.structures_)
                cost = time.process_time() - start
                error = _misclassified(detector, X, y)[0]
                rows.append((found, error, np.mean(nearest != y), detector.sigma_, cost))
            found, error, oracle, sigma, cost = np.mean(rows, axis=0)
            print(
                f"{kind:8} {k:2} planes: {found:4.1f} found, error {error:.3f}, of the oracle "
                f"{oracle:.3f}, sigma {sigma:.2f}, {cost:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FIRST)
