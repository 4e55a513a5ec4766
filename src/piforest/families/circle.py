"""Circles in the plane, from three points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._charts import diamond_angle
from ._describe import Description, arc, round_about
from ._family import PLANE, Family, Scene
from ._outlines import within_box
from ._refits import Frame, taubin_sphere

# Three points whose triangle is flatter than this (height over longest side) are
# collinear: their circle would have a radius of half a million times the side.
FLAT = 1e-6


@dataclass(frozen=True)
class Circle(Family):
    """Circles. Parameters: centre x, centre y, radius. The residual is geometric."""

    name: ClassVar[str] = "circle"
    n_points = 3
    scene = Scene("make_circles", 3, "three circles", {"noise": 0.005})
    layout = PLANE
    chart_wraps = True

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        # Relative to the first point, to keep the precision far from the origin.
        a = samples[:, 1] - samples[:, 0]
        b = samples[:, 2] - samples[:, 0]
        aa, bb = np.sum(a**2, axis=1), np.sum(b**2, axis=1)
        cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        side2 = np.maximum(np.maximum(aa, bb), np.sum((a - b) ** 2, axis=1))
        valid = np.abs(cross) > FLAT * side2
        divisor = 2 * np.where(valid, cross, np.inf)
        centre = np.stack(
            [(b[:, 1] * aa - a[:, 1] * bb) / divisor, (a[:, 0] * bb - b[:, 0] * aa) / divisor],
            axis=1,
        )
        radius = np.sqrt(np.sum(centre**2, axis=1))
        params = np.column_stack([centre + samples[:, 0], radius])
        return params[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        dx, dy = x[0] - theta[0], x[1] - theta[1]
        return abs(xp.sqrt(dx * dx + dy * dy) - theta[2])

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        """The direction from the centre."""
        return (diamond_angle(x[0] - theta[0], x[1] - theta[1], xp),)

    def lift(self, Z: Floats) -> Floats:
        return np.column_stack([np.sum(Z * Z, axis=1), Z, np.ones(len(Z))])

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        centre, radius, valid = taubin_sphere(S)
        return np.column_stack([frame.restored(centre), radius * frame.scale[0]]), valid

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        return round_about(params, names, digits)

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        return arc(np.arctan2(X[:, 1] - params[1], X[:, 0] - params[0]))

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        angle = np.linspace(0, 2 * np.pi, 400)
        points = params[:2] + params[2] * np.column_stack([np.cos(angle), np.sin(angle)])
        return [within_box(points, low, high)]
