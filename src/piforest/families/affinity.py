"""Affine maps between two images, from three matches; similarities, from two."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._family import IMAGES, Family, Scene
from ._matches import shifts
from ._refits import Frame, centred, with_one

# Three points whose triangle is flatter than this (height over longest side) are
# collinear, as for circles.
FLAT = 1e-6


@dataclass(frozen=True)
class _AffineMap(Family):
    """Base class of both families: parameters c1, c2 and the rows of a 2 x 2 matrix A."""

    layout = IMAGES
    matrix_name, matrix_equation = "H", "x2 = H x1"
    # As for homographies.
    refits_bands = False

    def codimension(self, d: int) -> int:
        return 2

    def prepared(self, params: Floats) -> Floats:
        """Append the inverse of A: (m, 12)."""
        columns = np.empty((12, len(params)))
        columns[:8] = params.T
        a, b, c, d = columns[4:8]
        with np.errstate(all="ignore"):
            det = a * d - b * c
            for row, entry in zip(columns[8:], (d, -b, -c, a)):
                np.divide(entry, det, out=row)
        return columns.T

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        x1, y1, x2, y2 = (at - c for at, c in zip(x, theta))
        A, B = theta[4:8], theta[8:]
        ax, ay = x2 - (A[0] * x1 + A[1] * y1), y2 - (A[2] * x1 + A[3] * y1)
        bx, by = x1 - (B[0] * x2 + B[1] * y2), y1 - (B[2] * x2 + B[3] * y2)
        error = xp.sqrt((ax * ax + ay * ay + bx * bx + by * by) / 2)
        # Replaces NaN, too, if large coordinates overflow.
        return xp.where(error >= 0, error, inf)

    def lift(self, Z: Floats) -> Floats:
        return with_one(Z)

    def matrices(self, params: Floats) -> Floats:
        """Return H (m, 3, 3) with x2 = H x1 in image coordinates; its last row is 0, 0, 1."""
        A = np.tile(np.eye(3), (len(params), 1, 1))
        A[:, :2, :2] = params[:, 4:].reshape(-1, 2, 2)
        return np.asarray(shifts(-params[:, 2:4]) @ A @ shifts(params[:, :2]))


@dataclass(frozen=True)
class Affinity(_AffineMap):
    """Affine maps: images of small or distant planes. Rows are (x1, y1, x2, y2); parameters are
    points c1 and c2 and the rows of a 2 x 2 matrix A, x2 - c2 = A (x1 - c1). `matrices` returns H
    with x2 = H x1.

    The residual is the symmetric transfer error of homographies, sqrt((|x2 - H x1|^2 +
    |x1 - H^-1 x2|^2) / 2). A sample is degenerate if it is collinear in an image.
    """

    name: ClassVar[str] = "affinity"
    n_points = 3
    scene = Scene("make_affine_pair", 3, "three affine maps")

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        u, v = samples[:, 1] - samples[:, 0], samples[:, 2] - samples[:, 0]
        (u1, v1, area1), (u2, v2, area2) = (
            _triangle(u[:, :2], v[:, :2]),
            _triangle(u[:, 2:], v[:, 2:]),
        )
        valid = (area1 != 0) & (area2 != 0)
        det = np.where(valid, area1, np.inf)
        # A maps u1 to u2 and v1 to v2: their columns times the inverse of (u1, v1).
        A = np.stack(
            [
                (u2[:, 0] * v1[:, 1] - v2[:, 0] * u1[:, 1]) / det,
                (v2[:, 0] * u1[:, 0] - u2[:, 0] * v1[:, 0]) / det,
                (u2[:, 1] * v1[:, 1] - v2[:, 1] * u1[:, 1]) / det,
                (v2[:, 1] * u1[:, 0] - u2[:, 1] * v1[:, 0]) / det,
            ],
            axis=1,
        )
        params = np.concatenate([samples[:, 0] + (u + v) / 3, A], axis=1)
        valid &= np.isfinite(params).all(axis=1)
        return params[:, None], valid[:, None]

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        _, mean, C, valid = centred(S)
        valid &= np.linalg.det(C[:, :2, :2]) > 1e-14
        inner = np.where(valid[:, None, None], C[:, :2, :2], np.eye(2))
        A = np.linalg.solve(inner, C[:, :2, 2:]).transpose(0, 2, 1)
        valid &= np.abs(np.linalg.det(A)) > 1e-9
        return np.concatenate([frame.restored(mean), A.reshape(-1, 4)], axis=1), valid


@dataclass(frozen=True)
class Similarity(_AffineMap):
    """Rotation, scale and translation of an image, without reflection. Rows are (x1, y1, x2, y2);
    parameters are points c1 and c2 and the rows of a 2 x 2 matrix A, a scale times a rotation,
    x2 - c2 = A (x1 - c1). `matrices` returns H with x2 = H x1.

    The residual is that of affinities. A sample is degenerate if its two points coincide in an
    image.
    """

    name: ClassVar[str] = "similarity"
    n_points = 2
    scene = Scene("make_similarity_pair", 3, "three similarities")

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        step = samples[:, 1] - samples[:, 0]
        x1, y1, x2, y2 = step.T
        length2 = x1 * x1 + y1 * y1
        valid = (length2 > 0) & (x2 * x2 + y2 * y2 > 0)
        length2 = np.where(valid, length2, np.inf)
        a, b = (x1 * x2 + y1 * y2) / length2, (x1 * y2 - y1 * x2) / length2
        params = np.concatenate([samples[:, 0] + step / 2, np.stack([a, -b, b, a], axis=1)], axis=1)
        return params[:, None], valid[:, None]

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        _, mean, C, valid = centred(S)
        square = C[:, 0, 0] + C[:, 1, 1]
        valid &= square > 1e-14
        over = np.where(valid, square, 1.0)
        a, b = (C[:, 0, 2] + C[:, 1, 3]) / over, (C[:, 0, 3] - C[:, 1, 2]) / over
        valid &= a * a + b * b > 1e-9
        A = np.stack([a, -b, b, a], axis=1)
        return np.concatenate([frame.restored(mean), A], axis=1), valid


def _triangle(u: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Return two sides and twice the signed area of triangles; the area is 0 if they are flat."""
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    sides = [np.sum(side**2, axis=1) for side in (u, v, u - v)]
    flat = np.abs(area) <= FLAT * np.maximum(np.maximum(sides[0], sides[1]), sides[2])
    return u, v, np.where(flat, 0.0, area)
