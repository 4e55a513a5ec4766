"""The band of each residual, and the number of residuals in each band."""

from __future__ import annotations

import math

import numpy as np

from .jit import inlined, jit

# The band of a residual beyond the widest band: 0 - 1 in a byte.
NO_BAND = 255
MAX_WIDTHS = 18


# Residuals of a row that are looked at together.
_TOGETHER = 512
# Below the square of any band in units of the widest, so that no square is 0; no power of two.
_TINY = 1.5 * 2.0**-100
# Bits of a double before its exponent, and the exponent of numbers from 1 to 2.
_MANTISSA, _ONE = 52, 1023
# Squares whose last bits are this near to a power of two are compared with the widths themselves;
# the squares of widths may be a quarter as far from it.
_NEAR_POWER = 128


@jit
def band_bins(R, widths, starts, ends, skipped, bins):
    """bins (rows, m): the narrowest of at most 18 widths that r lies within, or NO_BAND.

    Widths descend, so the band is the number of widths that are at least r, minus one. In row i,
    the columns skipped[starts[i] : ends[i]] have no band. O(rows m), without branches.

    If each width is the one before over sqrt(2), the band is the exponent of (r / widest)^2. Where
    this is so near to a power of two that rounding matters, r is compared with all widths, so that
    the result is always that of comparisons.
    """
    by_exponent = are_half_octaves(widths)
    scale, narrowest = 1.0 / widths[0], np.int64(widths.shape[0] - 1)
    squares = np.empty(_TOGETHER)
    bits = squares.view(np.uint64)
    for i in range(R.shape[0]):
        for left in range(0, R.shape[1], _TOGETHER):
            # Slices, since an index that is a sum may be negative, for all the compiler knows.
            row, out = R[i, left : left + _TOGETHER], bins[i, left : left + _TOGETHER]
            near = np.uint64(1) << np.uint64(_MANTISSA)
            if by_exponent:
                near = np.uint64(0)
                for j in range(row.shape[0]):
                    t = row[j] * scale
                    squares[j] = t * t + _TINY
                for j in range(row.shape[0]):
                    up, down = bits[j] + np.uint64(_NEAR_POWER), bits[j] - np.uint64(_NEAR_POWER)
                    near |= up ^ down
                for j in range(row.shape[0]):
                    exponent = np.int64(bits[j] >> np.uint64(_MANTISSA))
                    band = np.int64(_ONE - 1) - exponent
                    band = band if band < narrowest else narrowest
                    out[j] = np.uint8(band if band >= 0 else NO_BAND)
            if near >> np.uint64(_MANTISSA):
                for j in range(row.shape[0]):
                    within = np.uint8(0)
                    for k in range(widths.shape[0]):
                        within += np.uint8(row[j] <= widths[k])
                    out[j] = within - np.uint8(1)
        for e in range(starts[i], ends[i]):
            bins[i, skipped[e]] = NO_BAND


@inlined
def are_half_octaves(widths):
    """Whether each of the widths is the one before over sqrt(2), up to rounding."""
    scale, power = 1.0 / widths[0], 1.0
    for k in range(widths.shape[0]):
        t = widths[k] * scale
        # Not a number, and so not near, if a width or the scale is 0 or infinite.
        if not abs(t * t / power - 1.0) < _NEAR_POWER / 4 * 2.0**-_MANTISSA:
            return False
        power *= 0.5
    return True


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


@jit
def best_ratios(counts, shares, min_expected, logs, expected_logs, best, ratios):
    """best, ratios (w,): the first model with the largest of the `log_ratios` at each width, and
    that ratio; 0 if none is positive. counts (w, m): the number of points in each band alone."""
    n_widths = counts.shape[0]
    for w in range(n_widths):
        best[w], ratios[w] = 0, 0.0
    for j in range(counts.shape[1]):
        widest = np.uint64(0)
        for w in range(n_widths):
            widest += np.uint64(counts[w, j])
        k = widest
        for w in range(n_widths):
            expected = float(widest) * shares[w] + min_expected
            if k > expected:
                ratio = k * (logs[k] - expected_logs[w, widest]) - (k - expected)
                if ratio > ratios[w]:
                    best[w], ratios[w] = j, ratio
            k -= np.uint64(counts[w, j])
