"""Coordinates within a model: where along a curve, or on a surface, a point lies.

They use the operations of formulas only, so that they are compiled for the CPU and for GPUs.
"""

from __future__ import annotations

from typing import Any

from ..protocols import Columns


def diamond_angle(dx: Any, dy: Any, xp: Any) -> Any:
    """A number from 0 to 4 that increases with the angle of (dx, dy) and needs no trigonometry."""
    size = abs(dx) + abs(dy)
    t = dy / xp.where(size > 0, size, 1.0)
    return xp.where(dx >= 0, xp.where(dy >= 0, t, t + 4), 2 - t)


def plane_coordinates(off: Columns, normal: Columns, xp: Any) -> tuple[Any, Any]:
    """The coordinates of (dx, dy, dz) along two unit vectors at right angles to a unit normal.

    The vectors are a continuous function of the normal, except where it points along -z.
    """
    (dx, dy, dz), (nx, ny, nz) = off, normal
    sign = xp.where(nz >= 0, 1.0, -1.0)
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    first = dx * (1.0 + sign * nx * nx * a) + dy * (sign * b) - dz * (sign * nx)
    second = dx * b + dy * (sign + ny * ny * a) - dz * ny
    return first, second
