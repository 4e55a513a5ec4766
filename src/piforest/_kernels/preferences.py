"""Residuals to sparse rows of preferences."""

from __future__ import annotations

import math

import numpy as np

from .jit import inlined, jit
from .random import mix

# 1 / k!
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = (
    1.0 / math.factorial(k) for k in range(2, 13)
)


@jit
def collect(
    R, limit, scale, starts, ends, skipped, near, words, hits, counts, columns, distances, scales
):
    """Collect the entries of R (., m) with R <= limit (m,), row by row; return their number.

    Reads len(counts) rows. In row i, the columns skipped[starts[i] : ends[i]] are left out. NaN
    and infinity never pass. `columns`, `distances` and `scales` receive the column, the residual
    and the scale (m,) of each entry; `columns` needs 8 spare elements. O(rows m). near, words
    and hits: see `_within`.
    """
    end = np.uint64(0)
    for i in range(counts.shape[0]):
        start, row = end, R[i]
        end = _within(row, limit, starts[i], ends[i], skipped, near, words, hits, columns, end)
        for e in range(start, end):
            distances[e] = row[np.uint64(columns[e])]
            scales[e] = scale[np.uint64(columns[e])]
        counts[i] = end - start
    return end


@jit
def collect_gaussian(
    R, limit, scale, unit, starts, ends, skipped, near, words, hits, powers, counts, columns, values
):
    """`collect` and `fixed_point` in one, for the Gaussian kernel; limit (m,) is at most 3 scales.

    The exponential is a polynomial of a sixteenth of the argument, squared four times: accurate
    to 3e-15 and three times as fast as NumPy's, whose last bit depends on the processor.
    O(rows m). powers (m,) is workspace.
    """
    end = np.uint64(0)
    for i in range(counts.shape[0]):
        start, row = end, R[i]
        end = _within(row, limit, starts[i], ends[i], skipped, near, words, hits, columns, end)
        n = end - start
        cols, vals = columns[start:end], values[start:end]
        for e in range(n):
            z = row[np.uint64(cols[e])] / scale[np.uint64(cols[e])]
            powers[e] = -0.03125 * z * z
        for e in range(n):
            y = powers[e]
            phi = 1.0 + y * (1.0 + y * (_C2 + y * (_C3 + y * (_C4 + y * (_C5 + y * (_C6 + y * (
                _C7 + y * (_C8 + y * (_C9 + y * (_C10 + y * (_C11 + y * _C12)))))))))))  # fmt: skip
            phi *= phi
            phi *= phi
            phi *= phi
            powers[e] = phi * phi
        zeros = 0
        for e in range(n):
            vals[e] = np.int32(unit[np.uint64(cols[e])] * powers[e] + 0.5)
            zeros += vals[e] == 0
        if zeros > 0:
            end = start + _without_zeros(cols, vals, cols, vals)
        counts[i] = end - start
    return end


@jit
def fixed_point(phi, unit, counts, columns, values):
    """values = round(unit phi) for the entries of all rows; entries that round to 0 are removed in
    place. Return the number of entries left, or -1 if a phi is not in [0, 1]. O(entries)."""
    invalid = 0
    for e in range(phi.shape[0]):
        invalid += not (phi[e] >= 0.0 and phi[e] <= 1.0)
    if invalid > 0:
        return -1
    for e in range(phi.shape[0]):
        values[e] = np.int32(unit[np.uint64(columns[e])] * phi[e] + 0.5)
    end = e = np.uint64(0)
    for i in range(counts.shape[0]):
        stop = e + np.uint64(counts[i])
        kept = _without_zeros(columns[e:stop], values[e:stop], columns[end:], values[end:])
        counts[i], end, e = kept, end + kept, stop
    return np.int64(end)


@inlined
def _within(row, limit, first, last, skipped, near, words, hits, columns, at):
    """Write the columns with row <= limit, except skipped[first:last], to columns[at:]; return
    the end.

    Vectorised comparisons of the whole row, then only the 64-bit words with an entry, without
    branches that depend on the data. O(m). Workspace: near, zeroed bytes padded to whole words;
    words, the same memory viewed as 64-bit integers; hits, one element more than words.
    """
    for j in range(row.shape[0]):
        near[j] = row[j] <= limit[j]
    for e in range(first, last):
        near[skipped[e]] = 0
    n_hits = np.uint64(0)
    for w in range(words.shape[0]):
        hits[n_hits] = w
        n_hits += np.uint64(words[w] != 0)
    for h in range(n_hits):
        begin = np.uint64(8) * np.uint64(hits[h])
        for k in range(begin, begin + np.uint64(8)):
            columns[at] = k
            at += np.uint64(near[k])
    return at


@inlined
def _without_zeros(columns, values, columns_out, values_out):
    """Copy the entries that are not 0; return their number. May be in place."""
    at = np.uint64(0)
    for e in range(values.shape[0]):
        value = values[e]
        columns_out[at], values_out[at] = columns[e], value
        at += np.uint64(value != 0)
    return at


@jit
def find_contents(bits, hashes, contents, starts, first, last):
    """The range of each row in the list of models: starts[c], starts[c + 1] for the content c that
    equals the row, else 0, 0. bits (n, d) and contents (c, d) are the bits of floats; hashes (c,)
    of the contents ascend. O(n (d + log c))."""
    for i in range(bits.shape[0]):
        row_hash = np.uint64(0)
        for k in range(bits.shape[1]):
            row_hash = mix(row_hash, bits[i, k])
        low, high = 0, hashes.shape[0]
        while low < high:
            middle = (low + high) // 2
            if hashes[middle] < row_hash:
                low = middle + 1
            else:
                high = middle
        known = low < hashes.shape[0] and hashes[low] == row_hash
        if known:
            for k in range(bits.shape[1]):
                known = known and contents[low, k] == bits[i, k]
        first[i] = starts[low] if known else 0
        last[i] = starts[low + 1] if known else 0


@inlined
def cell_of(u, low, size, b):
    """The cell of b equal ones from low to low + size; values beyond belong to the first or last
    cell."""
    t = (u - low) / size * b
    return 0 if not t >= 1.0 else b - 1 if t >= b else int(t)


@jit
def exclude_outside(R, limit, U, V, low, size, b, cells):
    """R[i, j] = infinity where R <= limit (m,) and the point is in a cell that does not belong to
    model j.

    U, V (n, m) are coordinates in the charts, low and size (m, 2) their ranges, cells (m, b) or
    (m, b b); with one coordinate, V is U and sizes of the second are infinite. O(n m), of which
    few are within the limit.
    """
    two = cells.shape[1] > b
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            if R[i, j] <= limit[j]:
                c = cell_of(U[i, j], low[j, 0], size[j, 0], b)
                if two:
                    c = c * b + cell_of(V[i, j], low[j, 1], size[j, 1], b)
                if not cells[j, c]:
                    R[i, j] = math.inf


@jit
def first_of_each(ends, rows, taken, first):
    """first[rows[e]] = True for the columns of ends (views, n) that share no end with a column
    before it of which this is so. Ends are numbers below n; taken (views, n), zeroed, is
    workspace."""
    for e in range(ends.shape[1]):
        free = True
        for v in range(ends.shape[0]):
            free &= not taken[v, ends[v, e]]
        if free:
            first[rows[e]] = True
            for v in range(ends.shape[0]):
                taken[v, ends[v, e]] = True
