"""Scenes of lines and circles among uniform anomalies, with ground truth.

All take the same options, and all return a Bunch with data (n, 2) and target
(n,): 0 for anomalies, else the number of the structure. Structures come first,
anomalies last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._random import Stream
from .._validation import check_box, check_integer, check_not_below_zero, check_share, check_sizes
from ..protocols import Floats
from .bunches import as_bunch

Rng = np.random.Generator
Structure = Callable[[int, Rng], Floats]
Box = tuple[Sequence[float], Sequence[float]]


class _Options(NamedTuple):
    """What every scene can be asked for."""

    sizes: int | Sequence[int]
    noise: float
    anomaly_share: float
    box: Box | None
    random_state: Any
    return_X_y: bool
    as_frame: bool


def make_lines(
    n_structures: int = 4,
    *,
    sizes: int | Sequence[int] = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Segments of random lines across the square [-1, 1]^2, and uniform anomalies.

    sizes: points of each structure, one number for all or one each.
    noise: standard deviation of the distance from the structure.
    anomaly_share: anomalies over all points.
    box: (lowest x and y, highest x and y) that anomalies fill; that of the
    structured points without it.
    return_X_y: (data, target) in place of a Bunch. as_frame: pandas objects.

    >>> make_lines(3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (200, 2)
    """

    def line(size: int, rng: Rng) -> Floats:
        angle = rng.uniform(0, np.pi)
        along = np.array([np.cos(angle), np.sin(angle)])
        middle = rng.uniform(-0.5, 0.5) * np.array([-along[1], along[0]])
        return _segment(middle - along, middle + along, noise)(size, rng)

    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene([line] * check_integer("n_structures", n_structures, 1), options)


def make_circles(
    n_structures: int = 3,
    *,
    sizes: int | Sequence[int] = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Circles of random radii with centres in [-1, 1]^2; options as in `make_lines`.

    >>> X, y = make_circles(2, sizes=[80, 40], random_state=0, return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((240, 2), [0, 1, 2])
    """

    def circle(size: int, rng: Rng) -> Floats:
        centre, radius = rng.uniform(-1, 1, 2), rng.uniform(0.3, 1.0)
        return _circle(centre, radius, noise)(size, rng)

    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene([circle] * check_integer("n_structures", n_structures, 1), options)


def make_stair(
    n_structures: int = 3,
    *,
    sizes: int | Sequence[int] | None = None,
    noise: float = 0.005,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Level steps of a stair, like the paper's stair3 and stair4; options as in `make_lines`.

    sizes defaults to the paper's: 272, 64, 64 for three steps, 50 each for others.

    >>> make_stair().data.shape, make_stair(4).data.shape
    ((800, 2), (400, 2))
    """
    k = check_integer("n_structures", n_structures, 1)
    steps = [_segment(np.array([i, i]) / k, np.array([i + 1, i]) / k, noise) for i in range(k)]
    sizes = _paper_sizes(sizes, k, [272, 64, 64])
    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene(steps, options)


def make_star(
    n_structures: int = 5,
    *,
    sizes: int | Sequence[int] = 50,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Chords of the unit circle, like the paper's star5 and star11; options as in `make_lines`.

    >>> make_star(11).data.shape
    (1100, 2)
    """
    k = check_integer("n_structures", n_structures, 3)
    angles = 2 * np.pi * np.arange(k) / k
    tips = np.column_stack([np.cos(angles), np.sin(angles)])
    chords = [_segment(tips[i], tips[(i + (k - 1) // 2) % k], noise) for i in range(k)]
    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene(chords, options)


def make_circle_scene(
    n_structures: int = 3,
    *,
    sizes: int | Sequence[int] | None = None,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Overlapping circles in a ring, like the paper's circle3; options as in `make_lines`.

    sizes defaults to the paper's: 376, 62, 62 for three circles, 50 each for others.

    >>> make_circle_scene().data.shape, make_circle_scene(5).data.shape
    ((1000, 2), (500, 2))
    """
    k = check_integer("n_structures", n_structures, 1)
    angles = 2 * np.pi * np.arange(k) / k
    # Neighbours in the ring are 1.5 radii apart, so that they cross; one circle stands alone.
    ring = 0.75 / np.sin(np.pi / k) if k > 1 else 0.0
    centres = ring * np.column_stack([np.cos(angles), np.sin(angles)])
    sizes = _paper_sizes(sizes, k, [376, 62, 62])
    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene([_circle(centre, 1.0, noise) for centre in centres], options)


def _paper_sizes(sizes: Any, k: int, of_three: list[int]) -> Any:
    return sizes if sizes is not None else of_three if k == 3 else 50


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


def _scene(
    structures: Sequence[Structure], options: _Options, names: Sequence[str] = ("x", "y")
) -> Any:
    counts = check_sizes("sizes", options.sizes, len(structures))
    check_not_below_zero("noise", options.noise)
    check_share("anomaly_share", options.anomaly_share)
    stream = Stream.from_random_state(options.random_state).child("scene")
    parts = enumerate(zip(structures, counts))
    normal = np.concatenate([draw(size, stream.child(i).generator()) for i, (draw, size) in parts])
    labels = np.repeat(np.arange(1, len(structures) + 1), counts)
    n_anomalies = round(len(normal) * options.anomaly_share / (1 - options.anomaly_share))
    own_box = (normal.min(axis=0), normal.max(axis=0))
    low, high = own_box if options.box is None else check_box(options.box, names)
    anomalies = stream.child("anomalies").generator().uniform(low, high, (n_anomalies, len(names)))
    return as_bunch(
        np.concatenate([normal, anomalies]),
        np.concatenate([labels, np.zeros(n_anomalies, labels.dtype)]),
        list(names),
        options.return_X_y,
        options.as_frame,
    )
