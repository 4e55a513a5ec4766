"""Distances between dense rows."""

from __future__ import annotations

from .jit import jit


@jit
def lp_distances(A, B, power, out):
    """out (a, c) = sum over columns of |A - B| ** power, power 1 or 2. O(a c d)."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for c in range(A.shape[1]):
                difference = A[i, c] - B[j, c]
                total += difference * difference if power == 2 else abs(difference)
            out[i, j] = total
