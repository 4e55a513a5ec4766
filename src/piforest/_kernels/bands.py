"""The band of each residual, and the number of residuals in each band."""

from __future__ import annotations

import math

import numpy as np

from .jit import inlined, jit

# The band of a residual beyond the widest band: 0 - 1 in a byte.
NO_BAND = 255
MAX_WIDTHS = 18


# Residuals of a row that are looked at together, at most.
TOGETHER = 512
# Below and above the square of any band in units of the widest, so that no square is 0 or infinite;
# no powers of two.
_TINY, _HUGE = 1.5 * 2.0**-100, 1.5 * 2.0**100
# Single precision: the bits before the exponent, and the exponent of numbers from 1 to 2.
_SHIFT, _MANTISSA, _ONE = np.uint32(23), np.uint32(2**23 - 1), np.uint32(127)
# The squares of widths may be so far from powers of two: less than half a step of single precision.
_EXACT = 2.0**-47


@jit
def band_bins(R, widths, starts, ends, skipped, squares, bits, exponents, bins):
    """bins (rows, m): the narrowest of at most 18 widths that r lies within, or NO_BAND.

    Widths descend, so the band is the number of widths that are at least r, minus one. In row i,
    the columns skipped[starts[i] : ends[i]] have no band. O(rows m), without branches.

    If each width is the one before over sqrt(2), the band is the exponent of (r / widest)^2, in
    single precision. Where that is a power of two, so that rounding may matter, r is compared with
    all widths, and the result is always that of comparisons. Workspace of any equal length: squares
    in single precision, bits, the same memory viewed as integers, and exponents, bytes.
    """
    by_exponent = are_half_octaves(widths)
    scale, narrowest = 1.0 / widths[0], np.uint8(widths.shape[0] - 1)
    for i in range(R.shape[0]):
        for left in range(0, R.shape[1], squares.shape[0]):
            # Slices, since an index that is a sum may be negative, for all the compiler knows.
            right = left + squares.shape[0]
            row, out = R[i, left:right], bins[i, left:right]
            lowest = np.uint32(0)
            if by_exponent:
                for j in range(row.shape[0]):
                    t = row[j] * scale
                    t = t * t + _TINY
                    squares[j] = np.float32(t if t < _HUGE else _HUGE)
                lowest = _MANTISSA
                for j in range(row.shape[0]):
                    mantissa = np.uint32(bits[j] & _MANTISSA)
                    lowest = mantissa if mantissa < lowest else lowest
                    exponents[j] = np.uint8(bits[j] >> _SHIFT)
                for j in range(row.shape[0]):
                    band = np.uint8(np.uint8(_ONE - np.uint32(1)) - exponents[j])
                    # Below 0, a byte is above 127.
                    other = np.uint8(NO_BAND) if band >= np.uint8(128) else narrowest
                    out[j] = band if band < narrowest else other
            if lowest == 0:
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
        if not abs(t * t / power - 1.0) < _EXACT:
            return False
        power *= 0.5
    return True


@jit
def count_bins(bins, rows, sign, byte_counts, counts):
    """counts (w, m) += sign for the band of each of the rows. O(rows m).

    Up to 252 rows are counted in bytes, band by band and four rows at a time: vectorised
    comparisons for each are faster than one indexed increment. byte_counts (w, m) is workspace.
    """
    m = bins.shape[1]
    for first in range(0, rows.shape[0], 252):
        last = first + 252 if first + 252 < rows.shape[0] else rows.shape[0]
        for b in range(counts.shape[0]):
            for j in range(m):
                byte_counts[b, j] = 0
        whole = last - (last - first) % 4
        for e in range(first, whole, 4):
            one, two = bins[rows[e]], bins[rows[e + 1]]
            three, four = bins[rows[e + 2]], bins[rows[e + 3]]
            for b in range(counts.shape[0]):
                band, out = np.uint8(b), byte_counts[b]
                for j in range(m):
                    out[j] += np.uint8(
                        np.uint8(one[j] == band) + np.uint8(two[j] == band)
                        + np.uint8(three[j] == band) + np.uint8(four[j] == band)
                    )  # fmt: skip
        for e in range(whole, last):
            row = bins[rows[e]]
            for b in range(counts.shape[0]):
                band, out = np.uint8(b), byte_counts[b]
                for j in range(m):
                    out[j] += np.uint8(row[j] == band)
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
def best_ratios(
    counts, shares, min_expected, logs, expected_logs, widest, inside, fewest, best, ratios
):
    """best, ratios (w,): the first model with the largest of the `log_ratios` at each width, and
    that ratio; 0 if none is positive. counts (w, m): the number of points in each band alone.

    Of k points in a band, the ratio is largest if the widest band has no others, and then it
    increases with k: bands with fewer points than `fewest` cannot exceed the best one so far, and
    are passed over by vectors. Workspace: widest and inside, of any equal length, and fewest (w,).
    """
    n_widths, together = counts.shape[0], widest.shape[0]
    for w in range(n_widths):
        # In the widest band, no more points are found than expected.
        best[w], ratios[w], fewest[w] = 0, 0.0, 1 if shares[w] < 1.0 else logs.shape[0]
    for left in range(0, counts.shape[1], together):
        some = counts[:, left : left + together]
        for j in range(some.shape[1]):
            widest[j] = some[0, j]
        for w in range(1, n_widths):
            row = some[w]
            for j in range(row.shape[0]):
                widest[j] += row[j]
        for j in range(some.shape[1]):
            inside[j] = widest[j]
        for w in range(n_widths):
            row, least, above = some[w], fewest[w], 0
            for j in range(row.shape[0]):
                above += inside[j] >= least
            if above > 0:
                _compare(
                    inside, widest, row.shape[0], left, shares[w], min_expected, logs,
                    expected_logs[w], w, fewest, best, ratios,
                )  # fmt: skip
            for j in range(row.shape[0]):
                inside[j] -= row[j]


@inlined
def _compare(
    inside, widest, n, left, share, min_expected, logs, expected_logs, w, fewest, best, ratios
):  # fmt: skip
    """Compare the ratios of the first n of these models at one width with the best one so far."""
    for j in range(n):
        if inside[j] < fewest[w]:
            continue
        k = np.uint64(inside[j])
        every = np.uint64(widest[j])
        expected = float(every) * share + min_expected
        if k > expected:
            ratio = k * (logs[k] - expected_logs[every]) - (k - expected)
            if ratio > ratios[w]:
                best[w], ratios[w] = left + j, ratio
                # Below, with a margin for rounding.
                few = np.uint64(fewest[w])
                while few < k and (
                    few * (logs[few] - expected_logs[few]) - few * (1.0 - share) + min_expected
                    < ratio * (1.0 - 1e-9)
                ):
                    few += np.uint64(1)
                fewest[w] = few
