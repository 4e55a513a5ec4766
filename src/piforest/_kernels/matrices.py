"""Small matrices: normalised products of matches, the nearest matrices of rank two."""

from __future__ import annotations

import math

from .jit import jit

# Columns whose cosine is at most this are orthogonal; a few sweeps of the three pairs make them so.
_ORTHOGONAL, _SWEEPS = 1e-15, 12


@jit
def to_rank_two(F, A, V, values):
    """F (m, 3, 3) without the part of its smallest singular value; values (m, 3): all three, in
    descending order.

    One-sided Jacobi rotations: F V = A, whose columns become orthogonal, so that their norms are
    the singular values. A and V (3, 3) are workspace. A fifth of the time of LAPACK for so small
    matrices.
    """
    for m in range(F.shape[0]):
        for r in range(3):
            for c in range(3):
                A[r, c] = F[m, r, c]
                V[r, c] = 1.0 if r == c else 0.0
        for _ in range(_SWEEPS):
            rotated = False
            for pair in range(3):
                p, q = (0 if pair < 2 else 1), (1 if pair == 0 else 2)
                a = A[0, p] * A[0, p] + A[1, p] * A[1, p] + A[2, p] * A[2, p]
                b = A[0, q] * A[0, q] + A[1, q] * A[1, q] + A[2, q] * A[2, q]
                both = A[0, p] * A[0, q] + A[1, p] * A[1, q] + A[2, p] * A[2, q]
                if not abs(both) > _ORTHOGONAL * math.sqrt(a * b):
                    continue
                rotated = True
                zeta = (b - a) / (2.0 * both)
                root = math.sqrt(1.0 + zeta * zeta)
                tangent = 1.0 / (zeta + root) if zeta >= 0 else 1.0 / (zeta - root)
                cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                for r in range(3):
                    x, y = A[r, p], A[r, q]
                    A[r, p], A[r, q] = cosine * x - sine * y, sine * x + cosine * y
                    x, y = V[r, p], V[r, q]
                    V[r, p], V[r, q] = cosine * x - sine * y, sine * x + cosine * y
            if not rotated:
                break
        smallest = 0
        for c in range(3):
            norm = math.sqrt(A[0, c] * A[0, c] + A[1, c] * A[1, c] + A[2, c] * A[2, c])
            # Sorted by insertion.
            at = c
            while at > 0 and values[m, at - 1] < norm:
                values[m, at] = values[m, at - 1]
                at -= 1
            values[m, at] = norm
            if at == c:
                smallest = c
        for r in range(3):
            for c in range(3):
                total = 0.0
                for k in range(3):
                    if k != smallest:
                        total += A[r, k] * V[c, k]
                F[m, r, c] = total


@jit
def normalise_products(S, zero, means, scales, valid):
    """S (m, 9, 9): sums of products of (x1, y1, 1) x (x2, y2, 1) become means of products of
    coordinates with mean 0 and spread 2 in both views.

    means (m, 4) and scales (m, 2): of the views; valid (m,): whether there is any weight, and both
    spreads exceed `zero`. A tenth of the time of products with 9 x 9 matrices.
    """
    for m in range(S.shape[0]):
        A, total = S[m], S[m, 8, 8]
        over = 1.0 / total if total > 0.0 else 1.0
        valid[m] = total > 0.0
        for i in range(9):
            for j in range(9):
                A[i, j] *= over
        for view in range(2):
            # Of the coordinates x, y and 1 of a view, with 1 in place of those of the other view.
            step = 3 if view == 0 else 1
            x, y = 8 - 2 * step, 8 - step
            mean_x, mean_y = A[x, 8], A[y, 8]
            spread = A[x, x] + A[y, y] - (mean_x * mean_x + mean_y * mean_y)
            if not spread > zero:
                valid[m] = False
            scale = math.sqrt(2.0 / spread) if spread > zero else math.sqrt(2.0)
            means[m, 2 * view], means[m, 2 * view + 1], scales[m, view] = mean_x, mean_y, scale
        for view in range(2):
            step, other, scale = (3, 1, scales[m, 0]) if view == 0 else (1, 3, scales[m, 1])
            for c in range(2):
                mean = means[m, 2 * view + c]
                for k in range(3):
                    at, one = step * c + other * k, step * 2 + other * k
                    for j in range(9):
                        A[at, j] = scale * (A[at, j] - mean * A[one, j])
            for c in range(2):
                mean = means[m, 2 * view + c]
                for k in range(3):
                    at, one = step * c + other * k, step * 2 + other * k
                    for j in range(9):
                        A[j, at] = scale * (A[j, at] - mean * A[j, one])
