"""Cylinders in space, from five points or from two with normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from .._validation import check_flag, check_not_below_zero
from ..protocols import Bools, Columns, Floats, RowLayout
from ._describe import Description, ends_along, number, vector
from ._family import ORIENTED, SPACE, Family, Scene
from ._five_points import cylinders
from ._oriented import (
    PARALLEL,
    cross,
    cross_product,
    extent_of_points,
    reason_to_reject_normals,
    unit,
    unit_normal,
)
from ._outlines import across, span_of_box, within_box

# Two oriented points lie on no common cylinder if their distances to the intersection of their
# normals differ by more than this share of the sum.
UNEQUAL = 0.5


@dataclass(frozen=True)
class Cylinder(Family):
    """Infinite circular cylinders. Parameters are a point of the axis, its unit direction and the
    radius.

    normals=False: rows are (x, y, z). A minimal sample has five points, which lie on up to six
    cylinders.

    normals=True: rows are (x, y, z, nx, ny, nz). A minimal sample has two oriented points. The
    axis is orthogonal to both normals and goes through the intersection of their projections
    along it. The radius is the mean of the two distances to the axis, so the model misses its
    sample by half their difference. Normals may have any length except 0, and either sign.

    The residual is the distance to the surface; with normals it is sqrt(distance^2 +
    (normal_weight * radius * sine of the angle to the surface's normal)^2). Normals are estimated,
    and less precise than points; with the default weight of 0.1 they matter only if they are wrong
    by several degrees. normal_weight=0 ignores them. `codimension` is 1 in both cases.

    A sample is degenerate if five points are coplanar, or if two normals are parallel or the
    larger of the two distances exceeds three times the smaller one.
    """

    normals: bool = False
    normal_weight: float = 0.1

    name: ClassVar[str] = "cylinder"

    def __post_init__(self) -> None:
        check_flag("normals", self.normals)
        check_not_below_zero("normal_weight", self.normal_weight)

    @property
    def max_models(self) -> int:
        return 1 if self.normals else 6

    @property
    def layout(self) -> RowLayout:
        other = f", or {ORIENTED} for get_family('cylinder', normals=True)"
        return ORIENTED if self.normals else replace(SPACE, hint=other)

    @property
    def scene(self) -> Scene:
        if self.normals:
            about = "two cylinders, points with normals"
            return Scene("make_cylinders", 2, about, {"normals": True}, columns=(0, 1, 2))
        return Scene("make_cylinders", 2, "two cylinders, from points alone")

    @property
    def symmetries(self) -> frozenset[str]:
        # A translation or rotation acts on points and normals differently, not on all columns
        # alike.
        return frozenset({"scale"} if self.normals else {"translation", "rotation", "scale"})

    def sample_size(self, d: int) -> int:
        return 2 if self.normals else 5

    def extent(self, X: Floats) -> float:
        return extent_of_points(X)

    def reason_to_reject(self, X: Floats) -> str | None:
        return reason_to_reject_normals(self.name, X) if self.normals else None

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        s, q = len(samples), self.max_models
        params, valid = np.zeros((s, q, 7)), np.zeros((s, q), np.bool_)
        solver = _two_normals if self.normals else cylinders
        solver(np.ascontiguousarray(samples), params, valid)
        return params, valid

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        vx, vy, vz = x[0] - theta[0], x[1] - theta[1], x[2] - theta[2]
        ux, uy, uz, radius = theta[3:]
        # c is the vector from the axis to the point, rotated by 90 degrees about the axis.
        cx, cy, cz = cross_product(vx, vy, vz, ux, uy, uz)
        far2 = cx * cx + cy * cy + cz * cz
        far = xp.sqrt(far2)
        if not self.normals or self.normal_weight == 0:
            return abs(far - radius)
        nx, ny, nz, known = unit_normal(x[3:], xp)
        # The error of a unit normal has a part along c and one along the axis.
        around = nx * cx + ny * cy + nz * cz
        along = nx * ux + ny * uy + nz * uz
        sine2 = along * along + xp.where(far2 > 0, around * around / far2, 1.0)
        # On the axis every normal is wrong, and so is a missing one.
        sine2 = xp.where(~known | (sine2 > 1), 1.0, sine2)
        off, turned = far - radius, self.normal_weight * radius
        return xp.sqrt(off * off + turned * turned * sine2)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        anchor, axis, radius = params[:3], params[3:6], float(params[6])
        text = (
            f"distance {number(radius, digits)} from the axis {vector(anchor, digits)} + t "
            f"{vector(axis, digits)}"
        )
        given = {"point": anchor.tolist(), "direction": axis.tolist(), "radius": radius}
        return Description(given, text)

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        """The ends of the axis."""
        return ends_along(X[:, :3], params[:3], params[3:6])

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """Return five rings and eight lines along the axis."""
        anchor, axis, radius = params[:3], params[3:6], params[6]
        one, two = across(axis)
        start, stop = span_of_box(anchor, axis, low[:3], high[:3])

        def points(angle: Floats, along: Floats) -> Floats:
            out = np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two
            at = anchor + radius * out + along[:, None] * axis
            return within_box(np.hstack([at, out]) if self.normals else at, low, high)

        turn, length = np.linspace(0, 2 * np.pi, 100), np.linspace(start, stop, 100)
        rings = [points(turn, np.full(100, at)) for at in np.linspace(start, stop, 7)[1:-1]]
        return rings + [points(np.full(100, at), length) for at in 2 * np.pi * np.arange(8) / 8]


@jit
def _two_normals(samples, params, valid):  # type: ignore[no-untyped-def]
    """Solve in the plane of both normals, where the first point is the origin and its normal is the
    x axis: the centre (s, 0) lies on the line of the second normal, p + t (nx, ny). O(s)."""
    n, k = np.empty(3), np.empty(3)
    for i in range(samples.shape[0]):
        known = unit(samples[i], 0, n)
        known = unit(samples[i], 1, k) and known
        ux, uy, uz = cross(n[0], n[1], n[2], k[0], k[1], k[2])
        sine = np.sqrt(ux * ux + uy * uy + uz * uz)
        if not known or not sine > PARALLEL:
            continue
        ux, uy, uz = ux / sine, uy / sine, uz / sine
        vx, vy, vz = cross(ux, uy, uz, n[0], n[1], n[2])
        wx = samples[i, 1, 0] - samples[i, 0, 0]
        wy = samples[i, 1, 1] - samples[i, 0, 1]
        wz = samples[i, 1, 2] - samples[i, 0, 2]
        t = -(wx * vx + wy * vy + wz * vz) / sine
        s = wx * n[0] + wy * n[1] + wz * n[2] + t * (n[0] * k[0] + n[1] * k[1] + n[2] * k[2])
        both = abs(s) + abs(t)
        if not both > 0.0 or not abs(abs(s) - abs(t)) <= UNEQUAL * both:
            continue
        half = (wx * ux + wy * uy + wz * uz) / 2
        params[i, 0, 0] = samples[i, 0, 0] + s * n[0] + half * ux
        params[i, 0, 1] = samples[i, 0, 1] + s * n[1] + half * uy
        params[i, 0, 2] = samples[i, 0, 2] + s * n[2] + half * uz
        params[i, 0, 3], params[i, 0, 4], params[i, 0, 5] = ux, uy, uz
        params[i, 0, 6] = both / 2
        valid[i, 0] = True
