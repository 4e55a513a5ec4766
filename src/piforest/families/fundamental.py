"""Fundamental matrices between two images, from eight or seven matches."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from .._validation import check_choice
from ..protocols import Bools, Columns, Floats
from ._family import IMAGES, Family, Scene
from ._matches import lifted_matches, normalised, scales, shifts, with_centres
from ._refits import Frame, dlt_fundamental, of_rank_two

# The smallest pivot of the linear system, relative to the first. Below it the sample is
# degenerate: a match occurs twice, or all matches lie on one plane, up to rounding errors.
SINGULAR = 1e-7
# A coefficient of a polynomial counts as zero below this share of the largest one; a root
# beyond its inverse is the root at infinity.
VANISHING = 1e-10


@dataclass(frozen=True)
class Fundamental(Family):
    """Epipolar geometries. Rows are (x1, y1, x2, y2); parameters are points c1 and c2 and the rows
    of a matrix M, (x2 - c2)' M (x1 - c1) = 0. `matrices` returns F with x2' F x1 = 0.

    solver="8-point" solves in Hartley's coordinates and takes the nearest matrix of rank 2;
    "7-point" returns the matrices of rank 2 that fit seven matches exactly, at most three. The
    residual is the Sampson distance in pixels, the first-order distance of the match to the
    nearest one that satisfies F.
    """

    solver: str = "8-point"

    name: ClassVar[str] = "fundamental"
    layout = IMAGES
    matrix_name, matrix_equation = "F", "x2' F x1 = 0"
    matrix_up_to_scale = True
    # A band of pixels contains matches of several motions, which one refitted matrix would average.
    refits_bands = False

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, ["7-point", "8-point"])

    @property
    def scene(self) -> Scene | None:
        """None for the 7-point solver: samples of a scene are rarely in general position."""
        if self.solver == "7-point":
            return None
        return Scene("make_motion_pair", 3, "matches of three motions")

    @property
    def max_models(self) -> int:
        return 3 if self.solver == "7-point" else 1

    def sample_size(self, d: int) -> int:
        return 7 if self.solver == "7-point" else 8

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        frames, points = normalised(samples)
        F = np.zeros((len(samples), self.max_models, 3, 3))
        valid = np.zeros((len(samples), self.max_models), np.bool_)
        if self.solver == "7-point":
            _seven_points(frames, points, F, valid)
        else:
            _eight_points(frames, points, F, valid)
            S = of_rank_two(F[:, 0])
            valid[:, 0] &= S[:, 1] > SINGULAR * S[:, 0]
        F = F * (scales(frames, 1)[:, :, None] * scales(frames, 0)[:, None, :])[:, None]
        return with_centres(frames, F), valid

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        return sampson([at - c for at, c in zip(x, theta)], theta[4:], xp)

    def lift(self, Z: Floats) -> Floats:
        return lifted_matches(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        means, M, valid = dlt_fundamental(S)
        unit = np.array([frame.scale[0], frame.scale[0], 1.0])
        M = M / unit[:, None] / unit
        return np.concatenate([frame.restored(means), M.reshape(-1, 9)], axis=1), valid

    def matrices(self, params: Floats) -> Floats:
        """Return F (m, 3, 3) in image coordinates, up to a factor."""
        left = shifts(params[:, 2:4]).transpose(0, 2, 1)
        return np.asarray(left @ params[:, 4:].reshape(-1, 3, 3) @ shifts(params[:, :2]))


def sampson(x: Columns, F: Columns, xp: Any) -> Any:
    """|x2' F x1| divided by the norm of its gradient, for matches relative to the centres."""
    x1, y1, x2, y2 = x
    ax = F[0] * x1 + F[1] * y1 + F[2]
    ay = F[3] * x1 + F[4] * y1 + F[5]
    az = F[6] * x1 + F[7] * y1 + F[8]
    bx = F[0] * x2 + F[3] * y2 + F[6]
    by = F[1] * x2 + F[4] * y2 + F[7]
    error = abs(x2 * ax + y2 * ay + az)
    distance = error / xp.sqrt(ax * ax + ay * ay + bx * bx + by * by)
    # If both points are on their epipoles, the residual is 0, not 0 / 0.
    distance = xp.where(error == 0, 0.0, distance)
    # Coordinates that overflow have an infinite residual.
    return xp.where(distance >= 0, distance, inf)


@jit
def _system(points, A):  # type: ignore[no-untyped-def]
    """Fill A (k, 9), one row for each match: x2' F x1 = 0."""
    for j in range(A.shape[0]):
        x1, y1, x2, y2 = points[0, j, 0], points[0, j, 1], points[1, j, 0], points[1, j, 1]
        A[j, 0], A[j, 1], A[j, 2] = x2 * x1, x2 * y1, x2
        A[j, 3], A[j, 4], A[j, 5] = y2 * x1, y2 * y1, y2
        A[j, 6], A[j, 7], A[j, 8] = x1, y1, 1.0


@jit
def _null_vectors(A, order, out):  # type: ignore[no-untyped-def]
    """Fill out (9 - k, 9) with unit vectors, A out' = 0, by elimination with complete pivoting.

    A (k, 9) is overwritten. Returns False if its rank is below k. O(k**2 * 9).
    """
    k, c = A.shape
    for j in range(c):
        order[j] = j
    first = 0.0
    for step in range(k):
        big, at_row, at_col = -1.0, step, step
        for i in range(step, k):
            for j in range(step, c):
                if abs(A[i, j]) > big:
                    big, at_row, at_col = abs(A[i, j]), i, j
        first = big if step == 0 else first
        if not big > SINGULAR * first:
            return False
        for j in range(c):
            A[step, j], A[at_row, j] = A[at_row, j], A[step, j]
        for i in range(k):
            A[i, step], A[i, at_col] = A[i, at_col], A[i, step]
        order[step], order[at_col] = order[at_col], order[step]
        for i in range(k):
            if i != step:
                factor = A[i, step] / A[step, step]
                for j in range(step, c):
                    A[i, j] -= factor * A[step, j]
    for f in range(c - k):
        for j in range(c):
            out[f, j] = 0.0
        out[f, order[k + f]] = 1.0
        norm = 1.0
        for i in range(k):
            value = -A[i, k + f] / A[i, i]
            out[f, order[i]] = value
            norm += value * value
        norm = np.sqrt(norm)
        for j in range(c):
            out[f, j] /= norm
    return True


@jit
def _eight_points(frames, points, F, valid):  # type: ignore[no-untyped-def]
    """Fill F with the linear solution, which has not yet rank 2. O(s)."""
    A, order, null = np.empty((8, 9)), np.empty(9, np.int64), np.empty((1, 9))
    for i in range(points.shape[0]):
        if frames[i, 0, 2] == 0.0 or frames[i, 1, 2] == 0.0:
            continue
        _system(points[i], A)
        if _null_vectors(A, order, null):
            for c in range(9):
                F[i, 0, c // 3, c % 3] = null[0, c]
            valid[i, 0] = True


@jit
def _mixed_det(P, Q, R):  # type: ignore[no-untyped-def]
    """Determinant of the matrix with the first row of P, the second of Q, the third of R."""
    return (
        P[0] * (Q[4] * R[8] - Q[5] * R[7])
        - P[1] * (Q[3] * R[8] - Q[5] * R[6])
        + P[2] * (Q[3] * R[7] - Q[4] * R[6])
    )


@jit
def _real_roots(c3, c2, c1, c0, roots):  # type: ignore[no-untyped-def]
    """Fill roots with the real ones of c3 x^3 + c2 x^2 + c1 x + c0, also for a lower degree;
    returns their number."""
    least = VANISHING * max(abs(c3), abs(c2), abs(c1), abs(c0))
    count = 0
    if abs(c3) > least:
        a, b, c = c2 / c3, c1 / c3, c0 / c3
        q, r = (a * a - 3 * b) / 9, (2 * a * a * a - 9 * a * b + 27 * c) / 54
        if r * r < q * q * q:
            angle = np.arccos(min(1.0, max(-1.0, r / np.sqrt(q * q * q))))
            for k in range(3):
                roots[k] = -2 * np.sqrt(q) * np.cos((angle + 2 * np.pi * (k - 1)) / 3) - a / 3
            count = 3
        else:
            s = -np.sign(r) * (abs(r) + np.sqrt(r * r - q * q * q)) ** (1 / 3)
            roots[0] = s + (q / s if s != 0 else 0.0) - a / 3
            count = 1
    elif abs(c2) > least:
        inside = c1 * c1 - 4 * c2 * c0
        if inside >= 0:
            # This form avoids cancellation between c1 and the square root.
            t = -0.5 * (c1 + (np.sqrt(inside) if c1 >= 0 else -np.sqrt(inside)))
            roots[0] = t / c2
            roots[1] = c0 / t if t != 0 else roots[0]
            count = 2
    elif abs(c1) > least:
        roots[0] = -c0 / c1
        count = 1
    return count


@jit
def _seven_points(frames, points, F, valid):  # type: ignore[no-untyped-def]
    """det(F1 + x F2) = 0 on the two-dimensional null space. O(s)."""
    A, order, null = np.empty((7, 9)), np.empty(9, np.int64), np.empty((2, 9))
    roots = np.empty(3)
    for i in range(points.shape[0]):
        if frames[i, 0, 2] == 0.0 or frames[i, 1, 2] == 0.0:
            continue
        _system(points[i], A)
        if not _null_vectors(A, order, null):
            continue
        P, Q = null[0], null[1]
        c0, c3 = _mixed_det(P, P, P), _mixed_det(Q, Q, Q)
        c1 = _mixed_det(Q, P, P) + _mixed_det(P, Q, P) + _mixed_det(P, P, Q)
        c2 = _mixed_det(P, Q, Q) + _mixed_det(Q, P, Q) + _mixed_det(Q, Q, P)
        count = _real_roots(c3, c2, c1, c0, roots)
        for k in range(count):
            square = 0.0
            for c in range(9):
                entry = P[c] + roots[k] * Q[c]
                F[i, k, c // 3, c % 3] = entry
                square += entry * entry
            norm = np.sqrt(square)
            for c in range(9):
                F[i, k, c // 3, c % 3] /= norm
            valid[i, k] = True
        largest = max(abs(c2), abs(c1), abs(c0))
        if largest > VANISHING and abs(c3) <= VANISHING * largest:
            # The root at infinity: F2 itself has rank 2, as in exactly rectified images.
            for c in range(9):
                F[i, count, c // 3, c % 3] = Q[c]
            valid[i, count] = True
