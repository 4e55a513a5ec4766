"""Counting bands again and again while points are taken away."""

from __future__ import annotations

from .jit import jit

NO_BAND = 255


@jit
def band_bins(R, widths, starts, ends, skipped, bins):
    """bins (rows, m): the narrowest of the descending widths that r lies within, or NO_BAND.

    Of row i, the columns skipped[starts[i] : ends[i]] have no band. O(rows m log w).
    """
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            r = R[i, j]
            bins[i, j] = NO_BAND
            if r <= widths[0]:
                low, high = 0, widths.shape[0]
                while high - low > 1:
                    middle = (low + high) // 2
                    if r <= widths[middle]:
                        low = middle
                    else:
                        high = middle
                bins[i, j] = low
        for e in range(starts[i], ends[i]):
            bins[i, skipped[e]] = NO_BAND


@jit
def count_bins(bins, rows, sign, counts):
    """counts (m, w) += sign for the bin of each of the rows. O(rows m)."""
    for i in rows:
        for j in range(bins.shape[1]):
            if bins[i, j] != NO_BAND:
                counts[j, bins[i, j]] += sign
