"""Rigid motions and similarities of point clouds, from three matches."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._family import CLOUDS, Family, Scene
from ._refits import Frame, centred, with_one

# Three points whose triangle is flatter than this (height over longest side) are
# collinear: the rotation about their line is undetermined.
FLAT = 1e-6


@dataclass(frozen=True)
class _Motion(Family):
    """Base class of both families: parameters c, c' and the rows of a 3 x 3 matrix M."""

    n_points = 3
    layout = CLOUDS
    matrix_name, matrix_equation = "T", "x' = T x"
    scaled: ClassVar[bool]

    def codimension(self, d: int) -> int:
        return 3

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        steps = samples - samples[:, :1]
        centre = np.sum(steps, axis=1) / 3
        frame1, flat1 = _triangle_frame(steps[:, :, :3])
        frame2, flat2 = _triangle_frame(steps[:, :, 3:])
        valid = ~(flat1 | flat2)
        # In the planes of the triangles, with points as complex numbers, the angle of the sum of
        # conj(a) b is that of the least-squares rotation. The sum never vanishes. This is also the
        # least-squares rotation in space, because both triangles have the same orientation.
        around = steps - centre[:, None]
        a, b = _in_plane(around[:, :, :3], frame1), _in_plane(around[:, :, 3:], frame2)
        spread1, spread2 = (
            np.where(valid, np.sqrt(np.sum(w.real**2 + w.imag**2, axis=1)), np.inf) for w in (a, b)
        )
        z = np.sum(np.conj(a / spread1[:, None]) * (b / spread2[:, None]), axis=1)
        z = z / np.where(valid, np.sqrt(z.real**2 + z.imag**2), np.inf)
        turned = np.stack(
            [
                z.real[:, None] * frame2[:, 0] + z.imag[:, None] * frame2[:, 1],
                z.real[:, None] * frame2[:, 1] - z.imag[:, None] * frame2[:, 0],
                frame2[:, 2],
            ],
            axis=1,
        )
        M = np.sum(turned[:, :, :, None] * frame1[:, :, None, :], axis=1)
        if self.scaled:
            M *= np.where(valid, spread2 / np.where(valid, spread1, 1), 0)[:, None, None]
        params = np.concatenate([samples[:, 0] + centre, M.reshape(-1, 9)], axis=1)
        valid &= np.isfinite(params).all(axis=1)
        return params[:, None], valid[:, None]

    def prepared(self, params: Floats) -> Floats:
        """Append the factor of the error in the second cloud: (m, 16)."""
        columns = np.empty((16, len(params)))
        columns[:15], columns[15] = params.T, 1.0
        if self.scaled:
            # The error in the first cloud is that in the second divided by the scale.
            with np.errstate(all="ignore"):
                a, b, c = columns[6:15:3]
                columns[15] = np.sqrt((1 + 1 / (a * a + b * b + c * c)) / 2)
        return columns.T

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        px, py, pz = x[0] - theta[0], x[1] - theta[1], x[2] - theta[2]
        M = theta[6:15]
        ex = x[3] - theta[3] - (M[0] * px + M[1] * py + M[2] * pz)
        ey = x[4] - theta[4] - (M[3] * px + M[4] * py + M[5] * pz)
        ez = x[5] - theta[5] - (M[6] * px + M[7] * py + M[8] * pz)
        error = theta[15] * xp.sqrt(ex * ex + ey * ey + ez * ez)
        # Replaces NaN, too, if large coordinates overflow.
        return xp.where(error >= 0, error, inf)

    def lift(self, Z: Floats) -> Floats:
        return with_one(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        _, mean, C, valid = centred(S)
        U, values, Vt = np.linalg.svd(C[:, 3:, :3])
        valid &= values[:, 1] > 1e-14
        # The nearest rotation, without reflection.
        U[:, :, 2] *= np.where(np.linalg.det(U @ Vt) < 0, -1.0, 1.0)[:, None]
        M = U @ Vt
        if self.scaled:
            sizes = [np.trace(C[:, c : c + 3, c : c + 3], axis1=1, axis2=2) for c in (0, 3)]
            valid &= (sizes[0] > 0) & (sizes[1] > 0)
            square = np.where(valid, sizes[1], 1) / np.where(valid, sizes[0], 1)
            M = M * np.sqrt(square)[:, None, None]
        return np.concatenate([frame.restored(mean), M.reshape(-1, 9)], axis=1), valid

    def matrices(self, params: Floats) -> Floats:
        """Return T (m, 4, 4) with x' = T x in the coordinates of the clouds."""
        M = params[:, 6:].reshape(-1, 3, 3)
        T = np.tile(np.eye(4), (len(params), 1, 1))
        T[:, :3, :3] = M
        T[:, :3, 3] = params[:, 3:6] - np.sum(M * params[:, None, :3], axis=2)
        return T


@dataclass(frozen=True)
class Rigid(_Motion):
    """Rotation and translation of a point cloud, without reflection. Rows are
    (x, y, z, x', y', z'); parameters are points c and c' and the rows of a rotation R,
    x' - c' = R (x - c). `matrices` returns T with x' = T x.

    The model of a sample is the least-squares motion; it goes through the sample only if both
    triangles are congruent. The residual is sqrt((|x' - T x|^2 + |x - T^-1 x'|^2) / 2); both
    terms are equal here. A sample is degenerate if it is collinear in a cloud.
    """

    name: ClassVar[str] = "rigid"
    scene = Scene("make_rigid_matches", 3, "three motions of a point cloud")
    scaled: ClassVar[bool] = False


@dataclass(frozen=True)
class Similarity3D(_Motion):
    """Rotation, scale and translation of a point cloud, without reflection. Rows are
    (x, y, z, x', y', z'); parameters are points c and c' and the rows of a matrix M = s R,
    x' - c' = M (x - c). `matrices` returns T with x' = T x.

    The rotation of a sample is the least-squares one; the scale is the ratio of the root mean
    square sizes of both triangles, which is symmetric in the clouds. The residual is
    sqrt((|x' - T x|^2 + |x - T^-1 x'|^2) / 2). A sample is degenerate if it is collinear in a
    cloud.
    """

    name: ClassVar[str] = "similarity3d"
    scene = Scene("make_similarity3d_matches", 3, "motions with a scale")
    scaled: ClassVar[bool] = True


def _triangle_frame(steps: Floats) -> tuple[Floats, Bools]:
    """Orthonormal frames (s, 3, 3) of triangles: along the first side, across it, and the normal;
    and a mask of flat triangles."""
    u, v = steps[:, 1], steps[:, 2]
    long = np.sqrt(
        np.maximum(
            np.maximum(np.sum(u**2, axis=1), np.sum(v**2, axis=1)), np.sum((u - v) ** 2, axis=1)
        )
    )
    over = np.where(long > 0, long, np.inf)[:, None]
    u, v = u / over, v / over
    up = _cross(u, v)
    area, side = np.sqrt(np.sum(up**2, axis=1)), np.sqrt(np.sum(u**2, axis=1))
    flat = ~(area > FLAT)
    u = u / np.where(flat, np.inf, side)[:, None]
    up = up / np.where(flat, np.inf, area)[:, None]
    return np.stack([u, _cross(up, u), up], axis=1), flat


def _cross(a: Floats, b: Floats) -> Floats:
    """`np.cross` for rows of three, several times faster."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _in_plane(
    points: Floats, frame: Floats
) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
    """Points (s, k, 3) as complex numbers (s, k): coordinates along the first two axes."""
    along = np.sum(points * frame[:, None, 0], axis=2)
    return np.asarray(along + 1j * np.sum(points * frame[:, None, 1], axis=2))
