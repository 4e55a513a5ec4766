"""The band of each residual, and the number of residuals in each band."""

from __future__ import annotations

import math

import numpy as np

from .jit import jit

# The band of a residual beyond the widest band: 0 - 1 in a byte.
NO_BAND = 255
MAX_WIDTHS = 18


@jit
def band_bins(R, widths, starts, ends, skipped, bins):
    """bins (rows, m): the narrowest of at most 18 widths that r lies within, or NO_BAND.

    Widths descend, so the band is the number of widths that are at least r, minus one. In row i,
    the columns skipped[starts[i] : ends[i]] have no band. O(rows m), without branches: comparing
    with all widths is faster than a search.
    """
    # A constant number of widths, so that the compiler unrolls the loop; no residual is below 0.
    padded = np.full(MAX_WIDTHS, -1.0)
    padded[: widths.shape[0]] = widths
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            r = R[i, j]
            within = np.uint8(0)
            for k in range(MAX_WIDTHS):
                within += np.uint8(r <= padded[k])
            bins[i, j] = within - np.uint8(1)
        for e in range(starts[i], ends[i]):
            bins[i, skipped[e]] = NO_BAND


@jit
def count_bins(bins, rows, sign, byte_counts, counts):
    """counts (w, m) += sign for the band of each of the rows. O(rows m).

    Up to 255 rows are counted in bytes, band by band: a vectorised comparison for each is
    faster than one indexed increment. byte_counts (w, m) is workspace.
    """
    m = bins.shape[1]
    for first in range(0, rows.shape[0], 255):
        last = first + 255 if first + 255 < rows.shape[0] else rows.shape[0]
        for b in range(counts.shape[0]):
            for j in range(m):
                byte_counts[b, j] = 0
        for e in range(first, last):
            row = rows[e]
            for b in range(counts.shape[0]):
                band = np.uint8(b)
                for j in range(m):
                    byte_counts[b, j] += np.uint8(bins[row, j] == band)
        for b in range(counts.shape[0]):
            for j in range(m):
                counts[b, j] += sign * np.int32(byte_counts[b, j])


@jit
def within(counts, out):
    """out (w, m): the number of points in this band or a narrower one."""
    last = counts.shape[0] - 1
    for j in range(counts.shape[1]):
        out[last, j] = counts[last, j]
    for w in range(last - 1, -1, -1):
        for j in range(counts.shape[1]):
            out[w, j] = out[w + 1, j] + counts[w, j]


@jit
def log_tables(shares, min_expected, logs, expected_logs):
    """The logarithms that `log_ratios` needs of counts below c: logs (c,) and, for each width,
    expected_logs (w, c)."""
    for k in range(logs.shape[0]):
        logs[k] = math.log(k) if k > 0 else 0.0
    for w in range(shares.shape[0]):
        for k in range(logs.shape[0]):
            expected_logs[w, k] = math.log(k * shares[w] + min_expected)


@jit
def log_ratios(inside, shares, min_expected, logs, expected_logs, out):
    """out (w, m) = k ln(k / E) - (k - E) where k = inside > E, else 0.

    E = k[0] shares + min_expected. Counts are small integers, so their logarithms come from
    tables.
    """
    for w in range(inside.shape[0]):
        for j in range(inside.shape[1]):
            k, widest = np.uint64(inside[w, j]), np.uint64(inside[0, j])
            expected = float(widest) * shares[w] + min_expected
            ratio = k * (logs[k] - expected_logs[w, widest]) - (k - expected)
            out[w, j] = ratio if k > expected else 0.0
