"""Counting residuals at many scales in one pass."""

from __future__ import annotations

from .jit import jit


@jit
def histogram(R, widths, counts):
    """counts (m, w) += how many of R (rows, m) have widths[b + 1] < r <= widths[b].

    Widths descend. The sums of a row of counts from the right are the numbers of
    points within each width. O(rows m log w).
    """
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            r = R[i, j]
            if r <= widths[0]:
                low, high = 0, widths.shape[0]
                while high - low > 1:
                    middle = (low + high) // 2
                    if r <= widths[middle]:
                        low = middle
                    else:
                        high = middle
                counts[j, low] += 1
