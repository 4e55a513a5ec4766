"""Scenes of lines and circles among uniform anomalies, with ground truth."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from .._validation import check_integer
from ..protocols import Floats
from ._render import Box, Drawing, Options, Rng, Sizes, Structure, synthetic_scene


@synthetic_scene()
def make_lines(
    n_structures: int = 4,
    *,
    sizes: Sizes = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Segments of random lines across the square [-1, 1]^2, and uniform anomalies.

    >>> make_lines(3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (200, 2)
    """

    def line(size: int, rng: Rng) -> Floats:
        angle = rng.uniform(0, np.pi)
        along = np.array([np.cos(angle), np.sin(angle)])
        middle = rng.uniform(-0.5, 0.5) * np.array([-along[1], along[0]])
        return _segment(middle - along, middle + along, noise)(size, rng)

    return Drawing(line)


@synthetic_scene()
def make_circles(
    n_structures: int = 3,
    *,
    sizes: Sizes = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Circles of random radii with centres in [-1, 1]^2.

    >>> X, y = make_circles(2, sizes=[80, 40], random_state=0, return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((240, 2), [0, 1, 2])
    """

    def circle(size: int, rng: Rng) -> Floats:
        centre, radius = rng.uniform(-1, 1, 2), rng.uniform(0.3, 1.0)
        return _circle(centre, radius, noise)(size, rng)

    return Drawing(circle)


@synthetic_scene()
def make_stair(
    n_structures: int = 3,
    *,
    sizes: Sizes | None = None,
    noise: float = 0.005,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Level steps of a stair, like the paper's stair3 and stair4.

    Parameters
    ----------
    sizes : int, sequence of int or None
        None: the paper's, 272, 64, 64 for three steps, 50 each for others.

    >>> make_stair().data.shape, make_stair(4).data.shape
    ((800, 2), (400, 2))
    """
    k = check_integer("n_structures", n_structures, 1)
    steps = [_segment(np.array([i, i]) / k, np.array([i + 1, i]) / k, noise) for i in range(k)]
    return Drawing(steps, sizes=[272, 64, 64] if k == 3 else 50)


@synthetic_scene()
def make_star(
    n_structures: int = 5,
    *,
    sizes: Sizes = 50,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Chords of the unit circle, like the paper's star5 and star11.

    >>> make_star(11).data.shape
    (1100, 2)
    """
    k = check_integer("n_structures", n_structures, 3)
    angles = 2 * np.pi * np.arange(k) / k
    tips = np.column_stack([np.cos(angles), np.sin(angles)])
    chords = [_segment(tips[i], tips[(i + (k - 1) // 2) % k], noise) for i in range(k)]
    return Drawing(chords)


@synthetic_scene()
def make_circle_scene(
    n_structures: int = 3,
    *,
    sizes: Sizes | None = None,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Overlapping circles in a ring, like the paper's circle3.

    Parameters
    ----------
    sizes : int, sequence of int or None
        None: the paper's, 376, 62, 62 for three circles, 50 each for others.

    >>> make_circle_scene().data.shape, make_circle_scene(5).data.shape
    ((1000, 2), (500, 2))
    """
    k = check_integer("n_structures", n_structures, 1)
    angles = 2 * np.pi * np.arange(k) / k
    # Neighbours in the ring are 1.5 radii apart and intersect; a single circle is at the origin.
    ring = 0.75 / np.sin(np.pi / k) if k > 1 else 0.0
    centres = ring * np.column_stack([np.cos(angles), np.sin(angles)])
    circles = [_circle(centre, 1.0, noise) for centre in centres]
    return Drawing(circles, sizes=[376, 62, 62] if k == 3 else 50)


def _segment(start: Floats, end: Floats, noise: float) -> Structure:
    def draw(size: int, rng: Rng) -> Floats:
        along = end - start
        across = np.array([-along[1], along[0]]) / np.sqrt(np.sum(along**2))
        t, off = rng.uniform(0, 1, (size, 1)), rng.normal(0, noise, (size, 1))
        return np.asarray(start + t * along + off * across)

    return draw


def _circle(centre: Floats, radius: float, noise: float) -> Structure:
    def draw(size: int, rng: Rng) -> Floats:
        angle = rng.uniform(0, 2 * np.pi, size)
        r = radius + rng.normal(0, noise, (size, 1))
        return np.asarray(centre + r * np.column_stack([np.cos(angle), np.sin(angle)]))

    return draw
