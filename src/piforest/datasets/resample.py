"""Draw new points on the structures of a labelled set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..protocols import Floats

Rng = np.random.Generator


def redraw(
    points: Floats, structure: Any, n: int, family: str, noise: float, rng: Rng
) -> tuple[Floats, Any]:
    """Draw n points (n, 2) on the structures of the given points; returns also their labels (n,).

    Every structure keeps its share of the points. A new point lies between two neighbouring old
    points along the least-squares line or circle, with Gaussian noise orthogonal to it.
    """
    labels, counts = np.unique(structure, return_counts=True)
    edges = np.round(n * np.cumsum(counts) / counts.sum()).astype(int)
    sizes = np.diff(edges, prepend=0)
    along = _along_circle if family == "circle" else _along_line
    drawn = [
        along(points[structure == label], size, noise, rng) for label, size in zip(labels, sizes)
    ]
    return np.concatenate(drawn), np.repeat(labels, sizes)


def fit_line(points: Floats) -> tuple[Floats, Floats, Floats]:
    """Centre, direction and normal of the least-squares line."""
    centre = points.mean(axis=0)
    along, across = np.linalg.svd(points - centre)[2]
    return centre, along, across


def fit_circle(points: Floats) -> tuple[Floats, float]:
    """Centre and radius of the least-squares circle."""
    start = [*points.mean(axis=0), points.std()]
    fitted = least_squares(lambda c: np.linalg.norm(points - c[:2], axis=1) - c[2], start).x
    return fitted[:2], float(fitted[2])


def _along_line(points: Floats, n: int, noise: float, rng: Rng) -> Floats:
    centre, along, across = fit_line(points)
    places = np.sort((points - centre) @ along)
    return _between(
        places[:-1],
        places[1:],
        lambda t, gap: centre + np.outer(t, along) + np.outer(gap, across),
        *(n, noise, rng),
    )


def _along_circle(points: Floats, n: int, noise: float, rng: Rng) -> Floats:
    centre, radius = fit_circle(points)
    angles = np.sort(np.arctan2(*(points - centre).T[::-1]))
    return _between(
        angles,
        np.append(angles[1:], angles[0] + 2 * np.pi),
        lambda t, gap: centre + (radius + gap)[:, None] * np.column_stack([np.cos(t), np.sin(t)]),
        *(n, noise, rng),
    )


def _between(
    left: Floats,
    right: Floats,
    place: Callable[[Floats, Floats], Floats],
    n: int,
    noise: float,
    rng: Rng,
) -> Floats:
    """Positions that are uniform within random gaps between neighbours."""
    at = rng.integers(len(left), size=n)
    t = left[at] + rng.uniform(size=n) * (right[at] - left[at])
    return place(t, rng.normal(0, noise, n))
