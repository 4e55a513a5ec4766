"""Scenes of ellipses, parabolas, polynomials and functions y = f(x) of a table, with ground truth.

By default, noise and share of anomalies are smaller than those of lines. With n structures and a
share a of anomalies, a sample of k points lies on one structure with probability
n ((1 - a) / n)^k: for an ellipse and 30 % anomalies 0.002 among three structures, and 0.01 among
two. If this probability is too small, more models do not help: most of them are random.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Unpack

import numpy as np

from .._random import Stream
from .._validation import check_choice, check_flag, check_integer
from ..protocols import Floats
from ._render import Box, Drawing, Options, Rng, Sizes, Structure, synthetic_scene


@synthetic_scene()
def make_ellipses(
    n_structures: int = 3,
    *,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Ellipses with centres in [-1, 1]^2 and ratios of axes up to 3.

    >>> make_ellipses(2, sizes=50, anomaly_share=0.5, random_state=0).data.shape
    (200, 2)
    """

    def ellipse(size: int, rng: Rng) -> Floats:
        centre, a, turn = rng.uniform(-1, 1, 2), rng.uniform(0.5, 1.0), rng.uniform(0, np.pi)
        b = a * rng.uniform(1 / 3, 1)
        t = rng.uniform(0, 2 * np.pi, size)
        points = np.column_stack([a * np.cos(t), b * np.sin(t)])
        normals = np.column_stack([b * np.cos(t), a * np.sin(t)])
        return centre + _rotate(_add_noise(points, normals, noise, rng), turn)

    return Drawing(ellipse)


@synthetic_scene()
def make_parabolas(
    n_structures: int = 3,
    *,
    rotated: bool = False,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Parabolas about [-1, 1]^2.

    Parameters
    ----------
    rotated : bool
        If True, they open in any direction; if False, up or down.

    >>> make_parabolas(2, sizes=60, anomaly_share=0.25, random_state=0).data.shape
    (160, 2)
    """
    check_flag("rotated", rotated)

    def parabola(size: int, rng: Rng) -> Floats:
        vertex, bend = rng.uniform(-0.5, 0.5, 2), rng.uniform(0.5, 2.0) * rng.choice([-1, 1])
        x = rng.uniform(-1, 1, size)
        points = np.column_stack([x, bend * x**2])
        normals = np.column_stack([-2 * bend * x, np.ones(size)])
        turn = rng.uniform(0, 2 * np.pi) if rotated else 0.0
        return vertex + _rotate(_add_noise(points, normals, noise, rng), turn)

    return Drawing(parabola)


@synthetic_scene()
def make_polynomials(
    n_structures: int = 3,
    *,
    degree: int = 3,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Polynomials over [-1, 1] through random values at equidistant points.

    Parameters
    ----------
    degree : int
        The degree of the polynomials.

    >>> make_polynomials(2, degree=4, sizes=60, anomaly_share=0.25, random_state=0).data.shape
    (160, 2)
    """
    check_integer("degree", degree, 1)

    def polynomial(size: int, rng: Rng) -> Floats:
        steps = np.vander(np.linspace(-1, 1, degree + 1))
        f = np.linalg.solve(steps, rng.uniform(-1, 1, degree + 1))
        x = rng.uniform(-1, 1, size)
        normals = np.column_stack([-np.polyval(np.polyder(f), x), np.ones(size)])
        return _add_noise(np.column_stack([x, np.polyval(f, x)]), normals, noise, rng)

    return Drawing(polynomial)


@synthetic_scene()
def make_regressions(
    n_structures: int = 3,
    *,
    n_features: int = 3,
    degree: int = 1,
    sizes: Sizes = 150,
    noise: float = 0.02,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Tables whose last column y follows one of several functions of the features x1, x2, ...,
    which are uniform in [-1, 1], and uniform anomalies.

    Parameters
    ----------
    n_features : int
        The number of features.
    degree : int
        1 for linear functions with an intercept, more for polynomials with all products.
    noise : float
        The standard deviation of the residuals of y.

    >>> scene = make_regressions(2, n_features=4, sizes=60, anomaly_share=0.25, random_state=0)
    >>> scene.data.shape, scene.feature_names
    ((160, 5), ['x1', 'x2', 'x3', 'x4', 'y'])
    """
    f = check_integer("n_features", n_features, 1)
    lengths = range(check_integer("degree", degree, 1) + 1)
    terms = [term for k in lengths for term in combinations_with_replacement(range(f), k)]

    def law(size: int, rng: Rng) -> Floats:
        x, y = rng.uniform(-1, 1, (size, f)), rng.normal(0, noise, size)
        for term in terms:
            y += rng.uniform(-1, 1) * np.prod(x[:, list(term)], axis=1)
        return np.column_stack([x, y])

    return Drawing(law, [*(f"x{i + 1}" for i in range(f)), "y"])


@synthetic_scene()
def make_piecewise_laws(
    n_structures: int = 3,
    *,
    shape: str = "steps",
    n_pieces: int = 3,
    sizes: Sizes = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Records (x, y) that follow one of several random functions y = f(x), and uniform anomalies.

    x is uniform in [-1, 1]; the functions intersect. Scenes for `piforest.families.LearnedFamily`.

    Some anomalies lie near a function by chance, so that even the distance to the nearest true
    function does not tell all of them. On curves of two pieces a parabola from 3 rows fits at most
    one piece.

    Parameters
    ----------
    shape : {"steps", "curves"}
        Piecewise constant functions, or continuous functions with a parabola on each piece.
    n_pieces : int
        The number of equal pieces of [-1, 1].
    noise : float
        The standard deviation of the residuals of y.

    >>> make_piecewise_laws(3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (200, 2)
    """
    k = check_integer("n_structures", n_structures, 1)
    check_choice("shape", shape, ["curves", "steps"])
    check_integer("n_pieces", n_pieces, 1)
    stream = Stream.from_random_state(options.get("random_state")).child("laws")
    heights = n_pieces if shape == "steps" else 2 * n_pieces + 1
    laws = [
        _law(shape, stream.child(i).generator().uniform(-1, 1, heights), n_pieces, noise)
        for i in range(k)
    ]
    return Drawing(laws)


def _law(shape: str, heights: Floats, n_pieces: int, noise: float) -> Structure:
    """Values of the function: of each step, or of each parabola at its ends and its midpoint."""

    def draw(size: int, rng: Rng) -> Floats:
        x = rng.uniform(-1, 1, size)
        along = (x + 1) / 2 * n_pieces
        piece = np.minimum(along.astype(np.int64), n_pieces - 1)
        if shape == "steps":
            y = heights[piece]
        else:
            t = along - piece
            left, middle, right = (heights[2 * piece + i] for i in range(3))
            y = left * (1 - t) * (1 - 2 * t) + middle * 4 * t * (1 - t) + right * t * (2 * t - 1)
        return np.column_stack([x, y + rng.normal(0, noise, size)])

    return draw


def _add_noise(points: Floats, normals: Floats, noise: float, rng: Rng) -> Floats:
    """Add Gaussian noise to points along their normals, which have any length."""
    off = rng.normal(0, noise, (len(points), 1))
    return np.asarray(points + off * normals / np.sqrt(np.sum(normals**2, axis=1, keepdims=True)))


def _rotate(points: Floats, angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    x, y = points.T
    return np.column_stack([c * x - s * y, s * x + c * y])
