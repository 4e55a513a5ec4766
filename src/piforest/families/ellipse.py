"""Ellipses in the plane, from five points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._describe import Description, arc, number, vector
from ._family import PLANE, Family, Scene
from ._outlines import within_box
from ._samples import area

# Three points of a sample are collinear if twice the area of their triangle is below this; the
# mean distance of the sample from its centre is 1. No ellipse contains three collinear points.
FLAT = 1e-6
# The largest ratio of the axes. The tips of a thinner ellipse bend within a hundredth of its
# length, so that noise determines them, not the structure.
THINNEST = 10.0
# The largest ratio of the longer semi-axis to the mean distance of the sample from its centre. On
# a larger ellipse the five points form a short arc, which could as well be part of a parabola or
# a hyperbola.
LARGEST = 20.0


@dataclass(frozen=True)
class Ellipse(Family):
    """Ellipses. Parameters are the centre c and A, B, C: A dx^2 + 2 B dx dy + C dy^2 = 1 with
    (dx, dy) = x - c. `axes` returns the semi-axes and the angle.

    The residual is the first-order distance: |s - 1| divided by the norm of its gradient, where
    s^2 is the left side of the equation. It is exact for circles, and on the axes outside the
    ellipse. At a distance of 3 % of the longer semi-axis the error is 1 % for a ratio of axes of
    2, and up to 15 % at the tips for a ratio of 5; deep inside the residual is too large. Less
    than a third of random samples lie on an ellipse, so many samples are degenerate. So are
    ellipses with a ratio of axes above 10, and those much larger than their sample.
    """

    name: ClassVar[str] = "ellipse"
    n_points = 5
    scene = Scene("make_ellipses", 2, "two ellipses")
    layout = PLANE

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        middle = samples.mean(axis=1)
        p = samples - middle[:, None]
        size = np.sqrt(np.sum(p**2, axis=2)).mean(axis=1)
        spread = size > 0
        size = np.where(spread, size, 1)
        p = p / size[:, None, None]
        triples = combinations(range(5), 3)
        flattest = np.min([np.abs(area(p, a, b, c)) for a, b, c in triples], axis=0)
        A, B, C, D, E, F = _conic(p)
        with np.errstate(all="ignore"):
            # The sign that makes the quadratic form positive, if it is definite.
            sign = np.where(A + C < 0, -1.0, 1.0)
            A, B, C, D, E, F = (sign * part for part in (A, B / 2, C, D / 2, E / 2, F))
            det = A * C - B * B
            x, y = (B * E - C * D) / det, (B * D - A * E) / det
            level = -(D * x + E * y + F)
            A, B, C = A / level, B / level, C / level
            most, least = _eigenvalues(A, B, C)
            valid = (
                spread & (flattest > FLAT) & (det > 0) & (level > 0)
                & (least * THINNEST**2 > most) & (least * LARGEST**2 > 1)
            )  # fmt: skip
            square = size * size
            params = np.stack(
                [
                    middle[:, 0] + x * size,
                    middle[:, 1] + y * size,
                    A / square,
                    B / square,
                    C / square,
                ],
                axis=1,
            )
        params = np.where(valid[:, None], params, 0.0)
        return params[:, None, :], valid[:, None]

    def prepared(self, params: Floats) -> Floats:
        """Append the shorter semi-axis, which is the residual of the centre: (m, 6)."""
        columns = np.empty((6, len(params)))
        columns[:5] = params.T
        columns[5] = 1 / np.sqrt(_eigenvalues(*columns[2:5])[0])
        return columns.T

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        cx, cy, A, B, C, shortest = theta
        dx, dy = x[0] - cx, x[1] - cy
        gx, gy = A * dx + B * dy, B * dx + C * dy
        square = gx * dx + gy * dy
        s = xp.sqrt(square)
        distance = abs(s - 1) * s / xp.sqrt(gx * gx + gy * gy)
        # The gradient vanishes at the centre. Coordinates that overflow have an infinite residual.
        other = xp.where(square == 0, shortest, inf)
        return xp.where(distance >= 0, distance, other)

    def axes(self, params: Floats) -> Floats:
        """Return (m, 3): the longer and the shorter semi-axis, and the angle of the longer one to
        the x axis."""
        A, B, C = params[:, 2:].T
        most, least = _eigenvalues(A, B, C)
        angle = 0.5 * np.arctan2(-2 * B, C - A)
        return np.stack([1 / np.sqrt(least), 1 / np.sqrt(most), angle], axis=1)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        a, b, angle = (float(value) for value in self.axes(params[None])[0])
        turned = float(np.degrees(angle))
        text = (
            f"ellipse about {vector(params[:2], digits)}, semi-axes {number(a, digits)} and "
            f"{number(b, digits)}, the longer one at {number(turned)} degrees"
        )
        return Description(
            {"centre": params[:2].tolist(), "semi_axes": [a, b], "angle": turned}, text
        )

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        """The directions from the centre."""
        return arc(np.arctan2(X[:, 1] - params[1], X[:, 0] - params[0]))

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        a, b, angle = self.axes(params[None])[0]
        along = np.array([np.cos(angle), np.sin(angle)])
        across = np.array([-along[1], along[0]])
        t = np.linspace(0, 2 * np.pi, 400)[:, None]
        points = params[:2] + a * np.cos(t) * along + b * np.sin(t) * across
        return [within_box(points, low, high)]


def _line(p: Floats, a: int, b: int) -> tuple[Floats, Floats, Floats]:
    """Coefficients l, m, n of the line l x + m y + n = 0 through two points of each sample."""
    l, m = p[:, a, 1] - p[:, b, 1], p[:, b, 0] - p[:, a, 0]  # noqa: E741
    return l, m, p[:, a, 0] * p[:, b, 1] - p[:, a, 1] * p[:, b, 0]


def _pair(p: Floats, a: int, b: int, c: int, d: int) -> Floats:
    """The line pair ab, cd as a conic (6, s): coefficients of x^2, xy, y^2, x, y, 1."""
    (l, m, n), (u, v, w) = _line(p, a, b), _line(p, c, d)  # noqa: E741
    return np.stack([l * u, l * v + m * u, m * v, l * w + n * u, m * w + n * v, n * w])


def _conic(p: Floats) -> Floats:
    """The conics (6, s) through five points: a combination of two line pairs through four."""
    first = area(p, 0, 2, 4) * area(p, 1, 3, 4)
    second = area(p, 0, 1, 4) * area(p, 2, 3, 4)
    return np.asarray(first * _pair(p, 0, 1, 2, 3) - second * _pair(p, 0, 2, 1, 3))


def _eigenvalues(A: Floats, B: Floats, C: Floats) -> tuple[Floats, Floats]:
    """The larger and the smaller eigenvalue of the matrices [[A, B], [B, C]]."""
    most = (A + C) / 2 + np.sqrt(((A - C) / 2) ** 2 + B * B)
    return most, (A * C - B * B) / most
