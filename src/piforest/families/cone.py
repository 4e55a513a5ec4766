"""Cones in space, from three points with normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from .._validation import check_not_below_zero
from ..protocols import Bools, Columns, Floats
from ._describe import Description, number, vector
from ._family import ORIENTED, Family, Scene
from ._oriented import (
    cross,
    cross_product,
    extent_of_points,
    reason_to_reject_normals,
    unit,
    unit_normal,
)
from ._outlines import across, span_of_box, within_box

# Three unit normals are coplanar below this volume, and so are three directions from the apex
# below this area. The apex or the axis is then undetermined.
FLAT = 1e-6
# Smallest sine and cosine of the opening angle; beyond them a cone is a line or a plane.
NARROW = 1e-3


@dataclass(frozen=True)
class Cone(Family):
    """Infinite circular cones with one nappe. Parameters are the apex, the unit direction of the
    axis into the cone, and the cosine and sine of the angle between axis and surface, p = 8.

    Rows are oriented points (x, y, z, nx, ny, nz); a minimal sample has three. The apex is the
    intersection of their tangent planes; the axis forms the same angle with the directions from
    the apex to the three points. Normals may have any length except 0, and either sign.

    The residual is sqrt(distance^2 + (normal_weight * distance to the axis * sine of the angle to
    the surface's normal)^2); normal_weight=0 ignores the normals. `codimension` is 1, as for
    points without normals. A sample is degenerate if the three normals are coplanar (a cylinder,
    an edge), or if the cone is within a thousandth of a line or a plane.
    """

    normal_weight: float = 0.1

    name: ClassVar[str] = "cone"
    n_points = 3
    scene = Scene("make_cones", 3, "three cones, points with normals", columns=(0, 1, 2))
    layout = ORIENTED
    # A translation or rotation acts on points and normals differently, not on all columns alike.
    symmetries = frozenset({"scale"})

    def __post_init__(self) -> None:
        check_not_below_zero("normal_weight", self.normal_weight)

    def extent(self, X: Floats) -> float:
        return extent_of_points(X)

    def reason_to_reject(self, X: Floats) -> str | None:
        return reason_to_reject_normals(self.name, X)

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        params, valid = np.zeros((len(samples), 1, 8)), np.zeros((len(samples), 1), np.bool_)
        _cones(np.ascontiguousarray(samples), params, valid)
        return params, valid

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        nx, ny, nz, known = unit_normal(x[3:], xp)
        vx, vy, vz = x[0] - theta[0], x[1] - theta[1], x[2] - theta[2]
        ax, ay, az, cos, sin = theta[3:]
        along = vx * ax + vy * ay + vz * az
        cx, cy, cz = cross_product(vx, vy, vz, ax, ay, az)
        far2 = cx * cx + cy * cy + cz * cz
        far = xp.sqrt(far2)
        off = far * cos - along * sin
        # Behind the apex, the apex is the nearest point.
        off2 = xp.where(far * sin + along * cos >= 0, off * off, far2 + along * along)
        # The error of a unit normal has a part along c, around the axis, and one along the surface.
        around = nx * cx + ny * cy + nz * cz
        level = nx * ax + ny * ay + nz * az
        out_x, out_y, out_z = vx - along * ax, vy - along * ay, vz - along * az
        outward = nx * out_x + ny * out_y + nz * out_z
        slip = level * cos * far + outward * sin
        # Scaled by far, the distance to the axis; a missing normal has the largest error.
        turned2 = xp.where(known, around * around + slip * slip, far2)
        return xp.sqrt(off2 + self.normal_weight * self.normal_weight * turned2)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        apex, axis = params[:3], params[3:6]
        angle = float(np.degrees(np.arctan2(params[7], params[6])))
        text = (
            f"{number(angle)} degrees from the axis {vector(apex, digits)} + t "
            f"{vector(axis, digits)}, t > 0"
        )
        given = {"apex": apex.tolist(), "direction": axis.tolist(), "angle": angle}
        return Description(given, text)

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        """Where along the axis."""
        if not len(X):
            return {}
        along = (X[:, :3] - params[:3]) @ params[3:6]
        return {"from": float(along.min()), "to": float(along.max())}

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """Return five rings and eight lines from the apex."""
        apex, axis, cos, sin = params[:3], params[3:6], params[6], params[7]
        one, two = across(axis)
        _, stop = span_of_box(apex, axis, low[:3], high[:3])
        if stop <= 0:
            return []

        def points(angle: Floats, along: Floats) -> Floats:
            out = np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two
            at = apex + along[:, None] * (axis + out * sin / cos)
            return within_box(np.hstack([at, cos * out - sin * axis]), low, high)

        # Without the apex, where the surface has no normal.
        turn, length = np.linspace(0, 2 * np.pi, 100), np.linspace(0, stop, 101)[1:]
        rings = [points(turn, np.full(100, at)) for at in np.linspace(0, stop, 6)[1:]]
        return rings + [points(np.full(100, at), length) for at in 2 * np.pi * np.arange(8) / 8]


@jit
def _cones(samples, params, valid):  # type: ignore[no-untyped-def]
    """O(s)."""
    N, W, apex = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(samples.shape[0]):
        known = unit(samples[i], 0, N[0])
        known = unit(samples[i], 1, N[1]) and known
        known = unit(samples[i], 2, N[2]) and known
        if not known or not _apex(samples[i], N, apex):
            continue
        for a in range(3):
            square = 0.0
            for c in range(3):
                W[a, c] = samples[i, a, c] - samples[i, 0, c] - apex[c]
                square += W[a, c] * W[a, c]
            known = known and square > 0.0
            for c in range(3):
                W[a, c] /= np.sqrt(square)
        if not known:
            continue
        ax, ay, az = cross(
            W[1, 0] - W[0, 0], W[1, 1] - W[0, 1], W[1, 2] - W[0, 2],
            W[2, 0] - W[0, 0], W[2, 1] - W[0, 1], W[2, 2] - W[0, 2],
        )  # fmt: skip
        area = np.sqrt(ax * ax + ay * ay + az * az)
        if not area > FLAT:
            continue
        ax, ay, az = ax / area, ay / area, az / area
        cos = ax * W[0, 0] + ay * W[0, 1] + az * W[0, 2]
        if cos < 0.0:
            ax, ay, az, cos = -ax, -ay, -az, -cos
        sx, sy, sz = cross(ax, ay, az, W[0, 0], W[0, 1], W[0, 2])
        sin = np.sqrt(sx * sx + sy * sy + sz * sz)
        if not cos > NARROW or not sin > NARROW:
            continue
        for c in range(3):
            params[i, 0, c] = samples[i, 0, c] + apex[c]
        params[i, 0, 3], params[i, 0, 4], params[i, 0, 5] = ax, ay, az
        params[i, 0, 6], params[i, 0, 7] = cos, sin
        valid[i, 0] = True


@jit
def _apex(points, N, apex):  # type: ignore[no-untyped-def]
    """The intersection of the planes orthogonal to the normals N, relative to the first point."""
    for c in range(3):
        apex[c] = 0.0
    for a in range(3):
        b, d = (a + 1) % 3, (a + 2) % 3
        x, y, z = cross(N[b, 0], N[b, 1], N[b, 2], N[d, 0], N[d, 1], N[d, 2])
        volume = N[a, 0] * x + N[a, 1] * y + N[a, 2] * z
        if not abs(volume) > FLAT:
            return False
        off = 0.0
        for c in range(3):
            off += N[a, c] * (points[a, c] - points[0, c])
        apex[0] += off * x / volume
        apex[1] += off * y / volume
        apex[2] += off * z / volume
    return True
