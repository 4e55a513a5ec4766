"""Which band a residual lies in, and how many lie in each."""

from __future__ import annotations

import math

from .jit import jit

NO_BAND = 255


@jit
def band_bins(R, widths, starts, ends, skipped, bins):
    """bins (rows, m): the narrowest of the widths that r lies within, or NO_BAND.

    Widths descend by factors of sqrt(2), so the exponent of (r / widest)^2 is the band,
    give or take a last bit. Of row i, the columns skipped[starts[i] : ends[i]] have no
    band. O(rows m).
    """
    last = widths.shape[0] - 1
    inverse = 1.0 / widths[0]
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            r = R[i, j]
            if r <= widths[0]:
                relative = r * inverse
                exponent = math.frexp(relative * relative)[1]
                b = min(max(-exponent, 0), last)
                while b < last and r <= widths[b + 1]:
                    b += 1
                while r > widths[b]:
                    b -= 1
                bins[i, j] = b
            else:
                bins[i, j] = NO_BAND
        for e in range(starts[i], ends[i]):
            bins[i, skipped[e]] = NO_BAND


@jit
def count_bins(bins, rows, sign, counts):
    """counts (m, w) += sign for the bin of each of the rows. O(rows m)."""
    for i in rows:
        for j in range(bins.shape[1]):
            if bins[i, j] != NO_BAND:
                counts[j, bins[i, j]] += sign
