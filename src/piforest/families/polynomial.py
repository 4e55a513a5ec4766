"""Polynomials y = f(x) of a given degree, from degree + 1 points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from .._validation import check_integer
from ..protocols import Bools, Columns, Floats
from ._describe import Description, total
from ._family import PLANE, Family, Scene
from ._outlines import within_box

# Two points of a sample have the same x if the difference is below this share of its width: the
# slope between them would be a rounding error.
ABOVE = 1e-6


@dataclass(frozen=True)
class Polynomial(Family):
    """Graphs of polynomials over x. Parameters are a point (x0, y0), a width h and coefficients
    c0, c1, ...: y = y0 + c0 + c1 t + c2 t^2 + ... with t = (x - x0) / h; all are lengths.

    The residual is the first-order distance, |y - f(x)| / sqrt(1 + f'(x)^2). A degree above about
    ten is inaccurate outside the sample, and few samples of this size are free of anomalies.
    """

    degree: int = 3

    name: ClassVar[str] = "polynomial"
    # Not rotation: a rotated graph is in general not a graph over x.
    symmetries = frozenset({"translation", "scale"})
    layout = PLANE

    def __post_init__(self) -> None:
        check_integer("degree", self.degree, 1, "3 is the default.")

    @property
    def scene(self) -> Scene:
        about = "two cubic curves" if self.degree == 3 else f"two curves of degree {self.degree}"
        return Scene("make_polynomials", 2, about, {"degree": self.degree})

    def sample_size(self, d: int) -> int:
        return self.degree + 1

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        middle = samples.mean(axis=1)
        h, t, valid = abscissae(samples[:, :, 0] - middle[:, :1])
        coefficients = interpolate(t, samples[:, :, 1] - middle[:, 1:], valid)
        params = np.concatenate([middle, h[:, None], coefficients], axis=1)
        return params[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        x0, y0, h, *c = theta
        t = (x[0] - x0) / h
        f, slope = c[-1], 0.0 * t
        for lower in reversed(c[:-1]):
            slope = slope * t + f
            f = f * t + lower
        steep = slope / h
        distance = abs(x[1] - y0 - f) / xp.sqrt(1 + steep * steep)
        # The residual is infinite if the polynomial overflows.
        return xp.where(distance >= 0, distance, inf)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        c = plain_coefficients(params[0], params[1], params[2], params[3:])
        x, y = names
        words = ["", x, *(f"{x}^{k}" for k in range(2, len(c)))]
        text = f"{y} = {total(list(zip(c.tolist(), words)), digits)}"
        return Description({"coefficients": c.tolist()}, text)

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        x = np.linspace(low[0], high[0], 1000)
        t = (x - params[0]) / params[2]
        y = params[1] + np.polyval(params[:2:-1], t)
        return [within_box(np.column_stack([x, y]), low, high)]


def plain_coefficients(x0: float, y0: float, h: float, c: Floats) -> Floats:
    """Coefficients of 1, x, x^2, ... of y0 + c0 + c1 t + c2 t^2 + ... with t = (x - x0) / h."""
    powers = np.polynomial.Polynomial(c)(np.polynomial.Polynomial([-x0 / h, 1 / h]))
    found = np.zeros(len(c))
    found[: len(powers.coef)] = powers.coef
    found[0] += y0
    return found


def abscissae(x: Floats) -> tuple[Floats, Floats, Bools]:
    """Scale centred x (s, k): returns a width h (s,), t = x / h in [-1, 1], and a mask of the
    samples whose t are distinct."""
    h = np.abs(x).max(axis=1)
    valid = h > 0
    h = np.where(valid, h, 1)
    t = x / h[:, None]
    return h, t, valid & (np.diff(np.sort(t, axis=1), axis=1).min(axis=1) > ABOVE)


def interpolate(t: Floats, y: Floats, valid: Bools) -> Floats:
    """Coefficients (s, k), constant first, of the polynomials through k points each.

    Computed by divided differences; 0 for samples that are not valid. O(s k**2).
    """
    k = t.shape[1]
    t = np.where(valid[:, None], t, np.arange(k))
    c = np.where(valid[:, None], y, 0.0)
    for order in range(1, k):
        for i in range(k - 1, order - 1, -1):
            c[:, i] = (c[:, i] - c[:, i - 1]) / (t[:, i] - t[:, i - order])
    # From Newton's form to powers of t, starting from the innermost bracket.
    for node in range(k - 2, -1, -1):
        for i in range(node, k - 1):
            c[:, i] -= t[:, node] * c[:, i + 1]
    return c
