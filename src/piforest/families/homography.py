"""Homographies between two images, from four matches."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._family import IMAGES, Family, Scene
from ._matches import lifted_matches, normalised, scales, shifts, with_centres
from ._refits import Frame, dlt_homography

# Three matches are collinear if twice the area of their triangle is below this, in coordinates
# of mean distance sqrt(2): less than a thousandth of a pixel in a typical image.
FLAT = 1e-6


@dataclass(frozen=True)
class Homography(Family):
    """Plane-induced maps. Rows are (x1, y1, x2, y2); parameters are points c1 and c2 and the rows
    of a matrix M, x2 - c2 ~ M (x1 - c1). `matrices` returns H with x2 ~ H x1.

    The residual is the symmetric transfer error sqrt((|x2 - H x1|^2 +
    |x1 - H^-1 x2|^2) / 2) in pixels, and infinite behind the camera. A sample is
    degenerate if three of its matches are collinear in an image, or if no plane
    in front of both cameras induces it (the orientation of a triangle changes).
    """

    name: ClassVar[str] = "homography"
    n_points = 4
    scene = Scene("make_plane_pair", 3, "matches of three planes")
    layout = IMAGES
    matrix_name, matrix_equation = "H", "x2 ~ H x1"
    matrix_up_to_scale = True
    # A band of pixels contains matches of several planes, which one refitted map would average.
    refits_bands = False

    def codimension(self, d: int) -> int:
        return 2

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        frames, points = normalised(samples)
        M = np.zeros((len(samples), 3, 3))
        valid = np.zeros(len(samples), np.bool_)
        _four_points(frames, points, M, valid)
        M *= scales(frames, 0)[:, None, :] / scales(frames, 1)[:, :, None]
        return with_centres(frames, M[:, None]), valid[:, None]

    def prepared(self, params: Floats) -> Floats:
        """Append the inverse of M: (m, 22)."""
        columns = np.empty((22, len(params)))
        columns[:13] = params.T
        # LAPACK's pivots, and so the last bit, would depend on the unit of length.
        _invert_all(columns[4:13], columns[13:])
        return columns.T

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        return transfer_error([at - c for at, c in zip(x, theta)], theta[4:13], theta[13:], xp)

    def lift(self, Z: Floats) -> Floats:
        return lifted_matches(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        means, M, valid = dlt_homography(S)
        unit = np.array([frame.scale[0], frame.scale[0], 1.0])
        M = M * unit[:, None] / unit
        return np.concatenate([frame.restored(means), M.reshape(-1, 9)], axis=1), valid

    def matrices(self, params: Floats) -> Floats:
        """Return H (m, 3, 3) in image coordinates, up to a positive factor."""
        back = shifts(-params[:, 2:4])
        return np.asarray(back @ params[:, 4:].reshape(-1, 3, 3) @ shifts(params[:, :2]))


def transfer_error(x: Columns, H: Columns, G: Columns, xp: Any) -> Any:
    """Symmetric transfer error of H and its inverse G, for matches relative to the centres."""
    x1, y1, x2, y2 = x
    w2 = H[6] * x1 + H[7] * y1 + H[8]
    w1 = G[6] * x2 + G[7] * y2 + G[8]
    ax = x2 - (H[0] * x1 + H[1] * y1 + H[2]) / w2
    ay = y2 - (H[3] * x1 + H[4] * y1 + H[5]) / w2
    bx = x1 - (G[0] * x2 + G[1] * y2 + G[2]) / w1
    by = y1 - (G[3] * x2 + G[4] * y2 + G[5]) / w1
    error = xp.sqrt((ax * ax + ay * ay + bx * bx + by * by) / 2)
    # Replaces NaN, too, if large coordinates overflow.
    return xp.where((w1 > 0) & (w2 > 0) & (error >= 0), error, inf)


@jit
def _area(p, a, b, c):  # type: ignore[no-untyped-def]
    """Twice the signed area of a triangle."""
    return (p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0])


@jit
def _basis(p, B):  # type: ignore[no-untyped-def]
    """Fill B (3, 3), which maps the standard projective basis to four points. Returns False if
    three of them are collinear."""
    areas = (_area(p, 3, 1, 2), _area(p, 0, 3, 2), _area(p, 0, 1, 3), _area(p, 0, 1, 2))
    least = abs(areas[3])
    for area in areas:
        if abs(area) < least or area != area:  # not a number stays
            least = abs(area)
    if least <= FLAT:
        return False
    for k in range(3):
        weight = areas[k] / areas[3]
        B[0, k] = weight * p[k, 0]
        B[1, k] = weight * p[k, 1]
        B[2, k] = weight
    return True


@jit
def _invert(B, out):  # type: ignore[no-untyped-def]
    """out = adj(B) / det(B) for a 3 x 3 matrix."""
    for r in range(3):
        for c in range(3):
            r1, r2 = (c + 1) % 3, (c + 2) % 3
            c1, c2 = (r + 1) % 3, (r + 2) % 3
            out[r, c] = B[r1, c1] * B[r2, c2] - B[r1, c2] * B[r2, c1]
    det = B[0, 0] * out[0, 0] + B[0, 1] * out[1, 0] + B[0, 2] * out[2, 0]
    for r in range(3):
        for c in range(3):
            out[r, c] /= det


@jit
def _invert_all(H, out):  # type: ignore[no-untyped-def]
    """`_invert` for all columns of H (9, m), vectorised."""
    for r in range(3):
        for c in range(3):
            r1, r2 = 3 * ((c + 1) % 3), 3 * ((c + 2) % 3)
            c1, c2 = (r + 1) % 3, (r + 2) % 3
            a, b, d, e, to = H[r1 + c1], H[r2 + c2], H[r1 + c2], H[r2 + c1], out[3 * r + c]
            for j in range(H.shape[1]):
                to[j] = a[j] * b[j] - d[j] * e[j]
    det = np.empty(H.shape[1])
    for j in range(H.shape[1]):
        det[j] = H[0, j] * out[0, j] + H[1, j] * out[3, j] + H[2, j] * out[6, j]
    for k in range(9):
        for j in range(H.shape[1]):
            out[k, j] /= det[j]


@jit
def _four_points(frames, points, H, valid):  # type: ignore[no-untyped-def]
    """H = B2 inv(B1), of unit norm. The fourth match has depth 1, so the signs of the other three
    depths are those of the weights of B2 and B1, which must agree. O(s)."""
    B1, B2, inverse = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for i in range(points.shape[0]):
        if frames[i, 0, 2] == 0.0 or frames[i, 1, 2] == 0.0:
            continue
        if not _basis(points[i, 0], B1):
            continue
        if not _basis(points[i, 1], B2):
            continue
        if min(B1[2, 0] * B2[2, 0], B1[2, 1] * B2[2, 1], B1[2, 2] * B2[2, 2]) <= 0:
            continue
        _invert(B1, inverse)
        norm = 0.0
        for r in range(3):
            for c in range(3):
                h = B2[r, 0] * inverse[0, c] + B2[r, 1] * inverse[1, c] + B2[r, 2] * inverse[2, c]
                H[i, r, c] = h
                norm += h * h
        norm = np.sqrt(norm)
        for r in range(3):
            for c in range(3):
                H[i, r, c] /= norm
        valid[i] = True
