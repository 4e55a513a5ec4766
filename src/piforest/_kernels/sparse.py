"""Sparse rows: collecting them from residuals, and their overlaps with a pool."""

from __future__ import annotations

import numpy as np

from .jit import jit


@jit
def collect(R, limit, starts, ends, skipped, counts, columns, distances):
    """The entries of R (., m) with R <= limit (m,), row after row; returns how many.

    Looks at len(counts) rows. Of row i, the columns skipped[starts[i] : ends[i]] are
    left out; they ascend. NaN and infinity are never within the limit. O(rows m).
    """
    at = 0
    for i in range(counts.shape[0]):
        before = at
        skip = starts[i]
        for j in range(R.shape[1]):
            if R[i, j] <= limit[j]:
                while skip < ends[i] and skipped[skip] < j:
                    skip += 1
                if skip < ends[i] and skipped[skip] == j:
                    continue
                columns[at] = j
                distances[at] = R[i, j]
                at += 1
        counts[i] = at - before
    return at


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
def products(indptr, indices, data, ends, rows, values, out):
    """out (a, pool) += sum over shared columns of the products, through the pool's columns.

    For each column that a row has, run down the pool rows that have it too:
    O(sum of the column lengths). The terms of a pair are added in the order of
    the columns, whatever the other rows are.
    """
    for i in range(indptr.shape[0] - 1):
        sums = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = np.int64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(ends[c], ends[c + 1]):
                sums[rows[f]] += value * sums.dtype.type(values[f])


@jit
def upper_products(indptr, indices, data, ends, rows, values, first, out):
    """As `products` for pool rows from `first` on with the pool, but only from each row on.

    out (rows, pool). Rows ascend within a column, so the part from a row on starts where
    that row stands, and moves on with it: half the steps of `products`.
    """
    cursors = ends[:-1].copy()
    if first > 0:
        for c in range(cursors.shape[0]):
            low, high = ends[c], ends[c + 1]
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
            c = np.int64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(cursors[c], ends[c + 1]):
                sums[rows[f]] += value * sums.dtype.type(values[f])
            cursors[c] += 1


@jit
def mirror(D):
    """The lower triangle of a square table from its upper one."""
    for i in range(D.shape[0]):
        for j in range(i):
            D[i, j] = D[j, i]


@jit
def fill_columns(indptr, indices, data, cursors, first, out):
    """out (n, width) = the columns from `first` on; cursors (n,) move past them. O(entries)."""
    last = first + out.shape[1]
    for i in range(out.shape[0]):
        e = cursors[i]
        while e < indptr[i + 1] and np.int64(indices[e]) < last:
            out[i, np.int64(indices[e]) - first] = data[e]
            e += 1
        cursors[i] = e


@jit
def minima(indptr, indices, data, ends, rows, values, out):
    """As `products`, with the smaller of the two values in place of their product."""
    for i in range(indptr.shape[0] - 1):
        sums = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = np.int64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(ends[c], ends[c + 1]):
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
