"""Which band a residual lies in, and how many lie in each."""

from __future__ import annotations

import math

from .jit import jit

# One more than the last of the fifteen bands: counted like one, so that no branch is needed,
# and never looked at.
NO_BAND = 15


@jit
def band_bins(R, bits, widths, starts, ends, skipped, bins):
    """bins (rows, m): the narrowest of the widths that r lies within, or NO_BAND.

    bits are those of (r / widest)^2 as a double. Widths descend by factors of sqrt(2),
    so the exponent is the band, give or take a last bit, which is checked. Of row i, the
    columns skipped[starts[i] : ends[i]] have no band. O(rows m).
    """
    last = widths.shape[0] - 1
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            r = R[i, j]
            b = min(1022 - (bits[i, j] >> 52), last)
            if b < 0:
                b = 0 if r <= widths[0] else NO_BAND
            elif r > widths[b]:
                b = b - 1 if b > 0 else NO_BAND
            elif b < last and r <= widths[b + 1]:
                b += 1
            bins[i, j] = b
        for e in range(starts[i], ends[i]):
            bins[i, skipped[e]] = NO_BAND


@jit
def count_bins(bins, rows, sign, counts):
    """counts (m, 16) += sign for the bin of each of the rows. O(rows m)."""
    for i in rows:
        for j in range(bins.shape[1]):
            counts[j, bins[i, j]] += sign


@jit
def log_ratios(inside, shares, least, out):
    """out (m, w) = k ln(k / E) - (k - E) where k = inside > E, else 0; E = k[0] shares + least."""
    for j in range(inside.shape[0]):
        for w in range(inside.shape[1]):
            k = float(inside[j, w])
            expected = inside[j, 0] * shares[w] + least
            out[j, w] = k * math.log(k / expected) - (k - expected) if k > expected else 0.0
