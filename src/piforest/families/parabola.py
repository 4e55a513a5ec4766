"""Parabolas: upright from three points, of any direction from four."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Any, ClassVar

import numpy as np

from .._validation import check_flag
from ..protocols import Bools, Columns, Floats
from ._describe import Description, number, total, vector
from ._family import PLANE, Family, Scene
from ._outlines import within_box
from ._samples import area
from .polynomial import abscissae, interpolate, plain_coefficients

# Three points of a sample are collinear if twice the area of their triangle, relative to the square
# of the largest difference of coordinates, is below this. A line intersects a parabola at most
# twice.
FLAT = 1e-6


@dataclass(frozen=True)
class Parabola(Family):
    """Parabolas. Parameters are a point p, the unit vector a of the axis, a width h and c0, c1, c2:
    v = c0 + c1 t + c2 t^2, where v is the coordinate of x - p along the axis and t h the one
    along (ay, -ax), to the right of it.

    rotated=False: the axis is the y axis; three points determine one parabola. rotated=True: the
    axis has any direction; four points determine two parabolas if each of them is a vertex of
    their convex hull, else none. The residual is the first-order distance,
    |v - f| / sqrt(1 + f'^2). Three collinear points determine their line, a parabola without
    curvature, if rotated=False; they are degenerate if rotated=True.
    """

    rotated: bool = False

    name: ClassVar[str] = "parabola"
    layout = PLANE

    def __post_init__(self) -> None:
        check_flag("rotated", self.rotated)

    @property
    def scene(self) -> Scene:
        if self.rotated:
            return Scene("make_parabolas", 2, "two parabolas of any direction", {"rotated": True})
        return Scene("make_parabolas", 3, "three upright parabolas")

    @property
    def max_models(self) -> int:
        return 2 if self.rotated else 1

    @property
    def symmetries(self) -> frozenset[str]:
        return frozenset({"translation", "scale"} | ({"rotation"} if self.rotated else set()))

    def sample_size(self, d: int) -> int:
        return 4 if self.rotated else 3

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        s, q = len(samples), self.max_models
        middle = samples.mean(axis=1)
        p = samples - middle[:, None]
        if self.rotated:
            ax, ay, valid = _axes(p)
        else:
            ax, ay, valid = np.zeros((s, 1)), np.ones((s, 1)), np.ones((s, 1), np.bool_)
        params = np.zeros((s, q, 8))
        for k in range(q):
            a, b = ax[:, k, None], ay[:, k, None]
            u, v = b * p[:, :, 0] - a * p[:, :, 1], a * p[:, :, 0] + b * p[:, :, 1]
            h, t, apart = abscissae(u)
            valid[:, k] &= apart
            t, v = _three(t, v) if self.rotated else (t, v)
            c = interpolate(t, v, valid[:, k])
            params[:, k] = np.concatenate([middle, a, b, h[:, None], c], axis=1)
        return params, valid

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        px, py, ax, ay, h, c0, c1, c2 = theta
        dx, dy = x[0] - px, x[1] - py
        t, v = (ay * dx - ax * dy) / h, ax * dx + ay * dy
        slope = (c1 + 2 * c2 * t) / h
        f = c0 + t * (c1 + c2 * t)
        distance = abs(v - f) / xp.sqrt(1 + slope * slope)
        # The residual is infinite if the parabola overflows.
        return xp.where(distance >= 0, distance, inf)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        point, axis, h, c = params[:2], params[2:4], float(params[4]), params[5:]
        right = np.array([axis[1], -axis[0]])
        c2 = float(c[2]) / h**2
        if not self.rotated:
            coefficients = plain_coefficients(float(point[0]), float(point[1]), h, c)
            x, y = names
            text = total(list(zip(coefficients.tolist(), ["", x, f"{x}^2"])), digits)
            return Description({"coefficients": coefficients.tolist()}, f"{y} = {text}")
        if c2 == 0:
            text = f"line through {vector(point, digits)} across {vector(axis, digits)}"
            return Description({"point": point.tolist(), "axis": axis.tolist()}, text)
        t = -float(c[1]) / (2 * float(c[2]))
        vertex = point + h * t * right + (float(c[0]) + t * (float(c[1]) + t * float(c[2]))) * axis
        text = (
            f"parabola with vertex {vector(vertex, digits)}, axis {vector(axis, digits)}, "
            f"v = {number(c2, digits)} u^2"
        )
        given = {"vertex": vertex.tolist(), "axis": axis.tolist(), "curvature": 2 * c2}
        return Description(given, text)

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        point, axis, h, c = params[:2], params[2:4], params[4], params[5:]
        right = np.array([axis[1], -axis[0]])
        corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])])
        u = np.sum((corners - point) * right, axis=1)
        t = np.linspace(u.min(), u.max(), 1000)[:, None] / h
        points = point + h * t * right + (c[0] + t * (c[1] + t * c[2])) * axis
        return [within_box(points, low, high)]


def _axes(p: Floats) -> tuple[Floats, Floats, Bools]:
    """The axes (s, 2) of the two parabolas through each sample of four points.

    In the frame of the first three points, (0, 0), (1, 0) and (0, 1), they are
    (f x + g y)^2 = f^2 x + g^2 y; the fourth point gives a quadratic equation for f : g.
    """
    size = np.abs(p).max(axis=(1, 2))
    p = p / np.where(size > 0, size, 1)[:, None, None]
    flattest = np.min([np.abs(area(p, *abc)) for abc in combinations(range(4), 3)], axis=0)
    valid = flattest > FLAT
    frame = np.where(valid, area(p, 0, 1, 2), 1)
    x, y = area(p, 0, 3, 2) / frame, area(p, 0, 1, 3) / frame
    inside = x * y * (-area(p, 3, 1, 2) / frame)  # x y (x + y - 1), without cancellation
    valid &= inside > 0
    root = np.sqrt(np.where(valid, inside, 0))
    # This form of the two roots avoids cancellation.
    far = -(x * y + np.where(x * y < 0, -root, root))
    f = np.stack([far, y * (y - 1)], axis=1)
    g = np.stack([x * (x - 1), far], axis=1)
    # f x + g y in the original coordinates; it is zero along the axis.
    a, b = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    ux, uy = f * b[:, 1:] - g * a[:, 1:], g * a[:, :1] - f * b[:, :1]
    norm = np.sqrt(ux * ux + uy * uy)
    both = valid[:, None] & (norm > 0)
    norm = np.where(both, norm, 1)
    return -uy / norm, ux / norm, both


def _three(t: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Select three of four points: the first, the last and, of the other two, the one farther from
    its neighbours in t. All four lie on the parabola; these three determine it best."""
    order = np.argsort(t, axis=1)
    t, v = np.take_along_axis(t, order, axis=1), np.take_along_axis(v, order, axis=1)
    gap = np.minimum(t[:, 1:3] - t[:, :1], t[:, 3:] - t[:, 1:3])
    second = (gap[:, 0] >= gap[:, 1])[:, None]
    pick = np.concatenate([0 * order[:, :1], np.where(second, 1, 2), 0 * order[:, :1] + 3], axis=1)
    return np.take_along_axis(t, pick, axis=1), np.take_along_axis(v, pick, axis=1)
