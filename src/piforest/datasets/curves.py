"""Scenes of ellipses, parabolas, polynomials and laws of a table, with ground truth.

Options and answers are those of `make_lines`; noise and anomalies are less by default. Of samples
of k points, n structures among a share a of anomalies leave n ((1 - a) / n)^k on one structure:
2 in 1,000 for an ellipse among three and 30 % anomalies, 1 in 100 among two. Where they are too
few, the models of chance drown them, and no number of models helps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from .._validation import check_flag, check_integer
from ..protocols import Floats
from .scenes import Box, Rng, _Options, _scene


def make_ellipses(
    n_structures: int = 3,
    *,
    sizes: int | Sequence[int] = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Ellipses with centres in [-1, 1]^2, axes of up to 3 to 1; options as in `make_lines`.

    >>> make_ellipses(2, sizes=50, anomaly_share=0.5, random_state=0).data.shape
    (200, 2)
    """

    def ellipse(size: int, rng: Rng) -> Floats:
        centre, a, turn = rng.uniform(-1, 1, 2), rng.uniform(0.5, 1.0), rng.uniform(0, np.pi)
        b = a * rng.uniform(1 / 3, 1)
        t = rng.uniform(0, 2 * np.pi, size)
        points = np.column_stack([a * np.cos(t), b * np.sin(t)])
        normals = np.column_stack([b * np.cos(t), a * np.sin(t)])
        return centre + _turned(_blurred(points, normals, noise, rng), turn)

    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene([ellipse] * check_integer("n_structures", n_structures, 1), options)


def make_parabolas(
    n_structures: int = 3,
    *,
    rotated: bool = False,
    sizes: int | Sequence[int] = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Parabolas about [-1, 1]^2, open up or down, or anywhere if rotated; other options as in
    `make_lines`.

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
        return vertex + _turned(_blurred(points, normals, noise, rng), turn)

    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene([parabola] * check_integer("n_structures", n_structures, 1), options)


def make_polynomials(
    n_structures: int = 3,
    *,
    degree: int = 3,
    sizes: int | Sequence[int] = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Polynomials over [-1, 1] through random heights at equal steps; other options as in
    `make_lines`.

    >>> make_polynomials(2, degree=4, sizes=60, anomaly_share=0.25, random_state=0).data.shape
    (160, 2)
    """
    check_integer("degree", degree, 1)

    def polynomial(size: int, rng: Rng) -> Floats:
        steps = np.vander(np.linspace(-1, 1, degree + 1))
        f = np.linalg.solve(steps, rng.uniform(-1, 1, degree + 1))
        x = rng.uniform(-1, 1, size)
        normals = np.column_stack([-np.polyval(np.polyder(f), x), np.ones(size)])
        return _blurred(np.column_stack([x, np.polyval(f, x)]), normals, noise, rng)

    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    return _scene([polynomial] * check_integer("n_structures", n_structures, 1), options)


def make_regressions(
    n_structures: int = 3,
    *,
    n_features: int = 3,
    degree: int = 1,
    sizes: int | Sequence[int] = 150,
    noise: float = 0.02,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Tables whose last column y obeys one of several laws of the features x1, x2, ..., uniform
    in [-1, 1], and records that obey none.

    degree: 1 for linear laws with an intercept, more for polynomials with all products.
    noise: standard deviation of y about its law. box: (lowest x1, x2, ..., y, highest ...) that
    the other records fill. Other options as in `make_lines`.

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

    options = _Options(sizes, noise, anomaly_share, box, random_state, return_X_y, as_frame)
    names = [*(f"x{i + 1}" for i in range(f)), "y"]
    return _scene([law] * check_integer("n_structures", n_structures, 1), options, names)


def _blurred(points: Floats, normals: Floats, noise: float, rng: Rng) -> Floats:
    """Points moved along their normals, of any length, by normal noise."""
    off = rng.normal(0, noise, (len(points), 1))
    return np.asarray(points + off * normals / np.sqrt(np.sum(normals**2, axis=1, keepdims=True)))


def _turned(points: Floats, angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    x, y = points.T
    return np.column_stack([c * x - s * y, s * x + c * y])
