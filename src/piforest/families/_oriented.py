"""Functions for oriented points: rows (x, y, z, nx, ny, nz)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.jit import jit
from ..protocols import Columns, Floats
from . import robust_size
from ._family import ORIENTED

# Sine of the angle between two normals below which they count as parallel.
PARALLEL = 1e-6


def extent_of_points(X: Floats) -> float:
    """The extent of the coordinates, without the normals, which are not lengths."""
    return robust_size(X[:, :3])


def reason_to_reject_normals(name: str, X: Floats) -> str | None:
    zero = np.flatnonzero(np.all(X[:, 3:] == 0, axis=1))
    if len(zero) == 0:
        return None
    return (
        f"family {name!r} needs rows {ORIENTED} with a normal other than 0, of any length; "
        f"it is 0 in {len(zero)} row(s), the first is row {zero[0]}."
    )


@jit
def unit(X, i, out):  # type: ignore[no-untyped-def]
    """Fill out (3,) with the unit normal of row i. Returns False, and zeros, for a zero normal."""
    x, y, z = X[i, 3], X[i, 4], X[i, 5]
    length = np.sqrt(x * x + y * y + z * z)
    known = length > 0.0
    length = length if known else 1.0
    out[0] = x / length
    out[1] = y / length
    out[2] = z / length
    return known


def unit_normal(normal: Columns, xp: Any) -> tuple[Any, Any, Any, Any]:
    """`unit` for formulas: three columns, and a mask of the rows with a nonzero normal."""
    x, y, z = normal
    length = xp.sqrt(x * x + y * y + z * z)
    length = xp.where(length > 0, length, 1.0)
    x, y, z = x / length, y / length, z / length
    return x, y, z, x * x + y * y + z * z > 0


def cross_product(ax: Any, ay: Any, az: Any, bx: Any, by: Any, bz: Any) -> tuple[Any, Any, Any]:
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


cross = jit(cross_product)
