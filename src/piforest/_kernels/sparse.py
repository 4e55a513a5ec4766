"""Sparse rows: collecting them from residuals, and their overlaps with a pool."""

from __future__ import annotations

import numpy as np

from .jit import jit


@jit
def collect(R, limit, scale, starts, ends, skipped, counts, columns, distances, scales):
    """The entries of R (., m) with R <= limit (m,), row after row; returns how many.

    Looks at len(counts) rows. Of row i, the columns skipped[starts[i] : ends[i]] are
    left out. NaN and infinity are never within the limit. `scales` takes scale (m,) of the
    entries; `columns` has 8 places to spare. O(rows m): comparisons of whole rows, then only
    words of eight that have an entry.
    """
    m = R.shape[1]
    near = np.zeros((m + 7) // 8 * 8, np.uint8)
    words = near.view(np.uint64)
    at = np.uint64(0)
    for i in range(counts.shape[0]):
        before = at
        row = R[i]
        for j in range(m):
            near[j] = row[j] <= limit[j]
        for e in range(starts[i], ends[i]):
            near[skipped[e]] = 0
        for w in range(words.shape[0]):
            if words[w] != 0:
                for k in range(8):
                    columns[at] = 8 * w + k
                    at += np.uint64(near[8 * w + k])
        for e in range(before, at):
            distances[e] = row[np.uint64(columns[e])]
            scales[e] = scale[np.uint64(columns[e])]
        counts[i] = at - before
    return at


@jit
def fixed_point(phi, unit, counts, columns, values):
    """values = round(unit phi) of the entries of all rows, in place without those that round
    to 0; returns how many are left, or -1 if a phi is not in [0, 1]. O(entries)."""
    at = e = np.uint64(0)
    sound = True
    for i in range(counts.shape[0]):
        before = at
        for _ in range(counts[i]):
            sound &= 0.0 <= phi[e] <= 1.0
            values[at] = np.int64(unit[np.uint64(columns[e])] * phi[e] + 0.5)
            columns[at] = columns[e]
            at += np.uint64(values[at] > 0)
            e += np.uint64(1)
        counts[i] = at - before
    return np.int64(at) if sound else -1


@jit
def invert(indptr, indices, data, ends, rows, values):
    """CSR to CSC: ends (columns + 1,) zeroed, rows and values (nnz,). Rows ascend. O(nnz)."""
    for e in range(indices.shape[0]):
        ends[np.int64(indices[e]) + 1] += 1
    for c in range(ends.shape[0] - 1):
        ends[c + 1] += ends[c]
    fill = ends[:-1].copy()
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            c = np.int64(indices[e])
            rows[fill[c]] = i
            values[fill[c]] = data[e]
            fill[c] += 1


@jit
def products(indptr, indices, data, starts, ends, rows, values, out):
    """out (a, pool) += sum over shared columns of the products, through the pool's columns.

    Column c of the pool has the entries starts[c] to ends[c]. For each column that a row
    has, run down the pool rows that have it too: O(sum of the column lengths). The terms
    of a pair are added in the order of the columns, whatever the other rows are. Unsigned
    indices need no test for being negative: that halves the time of a step.
    """
    for i in range(out.shape[0]):
        sums = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = np.uint64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(np.uint64(starts[c]), np.uint64(ends[c])):
                sums[rows[f]] += value * sums.dtype.type(values[f])


@jit
def upper_products(indptr, indices, data, starts, ends, rows, values, first, out):
    """As `products` for pool rows from `first` on with the pool, but only from each row on.

    out (rows, pool). Rows ascend within a column, so the part from a row on starts where
    that row stands, and moves on with it: half the steps of `products`.
    """
    cursors = starts.copy()
    if first > 0:
        for c in range(cursors.shape[0]):
            low, high = starts[c], ends[c]
            while low < high:
                middle = (low + high) // 2
                if rows[middle] < first:
                    low = middle + 1
                else:
                    high = middle
            cursors[c] = low
    for i in range(out.shape[0]):
        sums = out[i]
        for e in range(indptr[first + i], indptr[first + i + 1]):
            c = np.uint64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(np.uint64(cursors[c]), np.uint64(ends[c])):
                sums[rows[f]] += value * sums.dtype.type(values[f])
            cursors[c] += 1


@jit
def fill_rows(indptr, indices, data, place, out):
    """out (a, k) = the columns of the rows that have a place in out, -1 for none. O(entries)."""
    for i in range(out.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            at = place[np.uint64(indices[e])]
            if at >= 0:
                out[i, at] = data[e]


@jit
def fill_columns(columns, ends, rows, values, first, out):
    """out (k, pool - first) = columns of the pool, without the rows before `first`. O(entries)."""
    for k in range(columns.shape[0]):
        for f in range(ends[columns[k]], ends[columns[k] + 1]):
            row = np.int64(rows[f]) - first
            if row >= 0:
                out[k, row] = values[f]


@jit
def add_to(table, out):
    """out += table, cell by cell, in the type of out."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            out[i, j] += out.dtype.type(table[i, j])


@jit
def mirror(D):
    """The lower triangle of a square table from its upper one."""
    for i in range(D.shape[0]):
        for j in range(i):
            D[i, j] = D[j, i]


@jit
def minima(indptr, indices, data, starts, ends, rows, values, out):
    """As `products`, with the smaller of the two values in place of their product."""
    for i in range(out.shape[0]):
        sums = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = np.uint64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(np.uint64(starts[c]), np.uint64(ends[c])):
                sums[rows[f]] += min(value, sums.dtype.type(values[f]))


@jit
def row_sums(indptr, data, squared, out):
    """out (n,) = sum of the values, or of their squares, of each row in the order of columns."""
    for i in range(indptr.shape[0] - 1):
        total = out.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            value = out.dtype.type(data[e])
            total += value * value if squared else value
        out[i] = total


@jit
def one_minus_ratio(shared, a, b, out):
    """out (rows, pool) = 1 - shared / (a + b - shared), 1 where nothing is shared.

    Sums of floats may miss by a last bit; a distance is not negative for that.
    """
    for i in range(shared.shape[0]):
        for j in range(shared.shape[1]):
            both = np.float64(shared[i, j])
            union = np.float64(a[i] + b[j]) - both
            out[i, j] = max(0.0, 1.0 - (both / union if union > 0.0 else 0.0))


@jit
def lp_distances(aptr, acol, aval, bptr, bcol, bval, power, out):
    """out (a, c) = sum |a - b| ** power, power 1 or 2, merging the columns of each pair."""
    for i in range(aptr.shape[0] - 1):
        for j in range(bptr.shape[0] - 1):
            e, f = aptr[i], bptr[j]
            total = 0.0
            while e < aptr[i + 1] or f < bptr[j + 1]:
                if f >= bptr[j + 1] or (e < aptr[i + 1] and acol[e] < bcol[f]):
                    gap = aval[e]
                    e += 1
                elif e >= aptr[i + 1] or bcol[f] < acol[e]:
                    gap = bval[f]
                    f += 1
                else:
                    gap = aval[e] - bval[f]
                    e += 1
                    f += 1
                total += gap * gap if power == 2 else abs(gap)
            out[i, j] = total
