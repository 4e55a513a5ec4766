"""Sparse rows: sums over the columns that they share with the rows of a pool."""

from __future__ import annotations

import numpy as np

from .jit import inlined, jit

# Masks for alternating pairs of bits and for the lower four bits; shifts.
_TWOS, _FOUR, _U2, _U4 = np.uint8(0x33), np.uint8(0x0F), np.uint8(2), np.uint8(4)


@jit
def invert(indptr, indices, data, slot, fill, rows, values, dense, column_max, packed):
    """Convert CSR rows to columns. Rows ascend within a column. O(entries).

    Columns with a slot >= 0 go to that row of dense (k, n), which is zeroed, and their largest
    value to column_max (k,); the others go to rows and values, column c from fill[c] on, which
    is advanced. If `packed`, dense (k + 1, q) has the layout of `packed_counts`.
    """
    byte, bit = 0, np.uint8(1)
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            c = np.uint64(indices[e])
            s = slot[c]
            if s >= 0 and packed:
                dense[s, byte] += bit
            elif s >= 0:
                value = np.uint8(data[e])
                dense[s, i] = value
                column_max[s] = value if value > column_max[s] else column_max[s]
            else:
                rows[fill[c]] = i
                values[fill[c]] = data[e]
                fill[c] += 1
        byte += 1
        if byte == dense.shape[1]:
            byte, bit = 0, np.uint8(4 * bit)


@jit
def products(indptr, indices, data, upper, starts, ends, rows, values, out):
    """out (a, pool) += sum over shared columns of the products, through the pool's columns.

    For each entry of a row, visit the pool rows with the same column, starts[c] to ends[c]:
    O(sum of the column lengths). The terms of a pair are added in the order of the columns,
    whatever the other rows are. Unsigned indices need no sign test, which halves the time.

    With upper >= 0, the rows are those of the pool from `upper` on, and row i needs only the
    pool rows from upper + i on. Rows ascend within a column, so `starts` advances with the row,
    which halves the work.
    """
    if upper > 0:
        _start_at(upper, starts, ends, rows)
    for i in range(out.shape[0]):
        sums = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = np.uint64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(np.uint64(starts[c]), np.uint64(ends[c])):
                sums[rows[f]] += value * sums.dtype.type(values[f])
            if upper >= 0:
                starts[c] += 1


@inlined
def _start_at(row, starts, ends, rows):
    """Advance the start of each column to the first pool row that is at least `row`."""
    for c in range(starts.shape[0]):
        low, high = starts[c], ends[c]
        while low < high:
            middle = (low + high) // 2
            if rows[middle] < row:
                low = middle + 1
            else:
                high = middle
        starts[c] = low


@jit
def dense_products(indptr, indices, data, slot, dense, column_max, upper, at, value, short, out):
    """`products` for the integer columns that are stored in dense (k, pool).

    With upper >= 0, row i needs only the pool rows from upper + i on. A step adds four columns
    over the whole pool in 16-bit vectors, as long as they cannot overflow: column_max (k,) bounds
    a column, and four products of 127 and 127 fit. Workspace: short (pool,), zeroed; at and value
    (columns + 3,). O(pool times the entries in dense columns), at about a twentieth of the cost
    of a step of `products`.
    """
    for i in range(out.shape[0]):
        first = upper + i if upper >= 0 else 0
        n_dense = _dense_entries(indptr[i], indptr[i + 1], indices, data, slot, at, value)
        columns, sums, short_sums = dense[:, first:], out[i, first:], short[first:]
        bound = 0
        for e in range(0, n_dense, 4):
            a, b, c, d = columns[at[e]], columns[at[e + 1]], columns[at[e + 2]], columns[at[e + 3]]
            v, w, x, y = value[e], value[e + 1], value[e + 2], value[e + 3]
            more = (
                np.int64(v) * column_max[at[e]] + np.int64(w) * column_max[at[e + 1]]
                + np.int64(x) * column_max[at[e + 2]] + np.int64(y) * column_max[at[e + 3]]
            )  # fmt: skip
            if bound + more > 65535:
                _flush(short_sums, sums)
                bound = 0
            bound += more
            for j in range(short_sums.shape[0]):
                short_sums[j] += np.uint16(
                    v * np.uint16(a[j]) + w * np.uint16(b[j])
                    + x * np.uint16(c[j]) + y * np.uint16(d[j])
                )  # fmt: skip
        _flush(short_sums, sums)


@jit
def _flush(short_sums, sums):
    """Add the 16-bit sums to the wide sums and reset them."""
    for j in range(sums.shape[0]):
        sums[j] += short_sums[j]
        short_sums[j] = 0


@jit
def packed_counts(indptr, indices, slot, packed, product, out):
    """out (a, pool) += product times the number of shared columns among those in packed (k + 1, q).

    Four rows of the pool share a byte: the two bits at 2 f of byte j belong to row f q + j. Two
    bits hold the sum of three columns, four bits that of twelve, a byte that of 252. The last
    column is empty and pads the last twelve. O(pool times the entries in packed columns), with a
    quarter of the bytes of `dense_products`.
    """
    at = np.empty(slot.shape[0] + 12, np.int64)
    q = packed.shape[1]
    even, odd, tally = np.empty(q, np.uint8), np.empty(q, np.uint8), np.empty((4, q), np.uint8)
    for i in range(out.shape[0]):
        n_packed = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            at[n_packed] = slot[np.uint64(indices[e])]
            n_packed += np.uint64(at[n_packed] >= 0)
        for e in range(n_packed, n_packed + np.uint64(12)):
            at[e] = packed.shape[0] - 1
        for first in range(np.uint64(0), n_packed, np.uint64(252)):
            last = first + np.uint64(252) if first + np.uint64(252) < n_packed else n_packed
            for f in range(4):
                for j in range(q):
                    tally[f, j] = 0
            for twelve in range(first, last, np.uint64(12)):
                _count_twelve(packed, at[twelve : twelve + np.uint64(12)], even, odd, tally)
            for f in range(4):
                sums = out[i, f * q : (f + 1) * q]
                for j in range(sums.shape[0]):
                    sums[j] += product * tally[f, j]


@jit
def _count_twelve(packed, at, even, odd, tally):
    """tally (4, q) += the number of the twelve columns that each row has."""
    for j in range(even.shape[0]):
        even[j] = 0
    for j in range(odd.shape[0]):
        odd[j] = 0
    for e in range(0, 12, 6):
        a, b, c = packed[at[e]], packed[at[e + 1]], packed[at[e + 2]]
        x, y, z = packed[at[e + 3]], packed[at[e + 4]], packed[at[e + 5]]
        for j in range(even.shape[0]):
            s, t = np.uint8(a[j] + b[j] + c[j]), np.uint8(x[j] + y[j] + z[j])
            even[j] += (s & _TWOS) + (t & _TWOS)
            odd[j] += ((s >> _U2) & _TWOS) + ((t >> _U2) & _TWOS)
    for j in range(even.shape[0]):
        tally[0, j] += even[j] & _FOUR
        tally[2, j] += even[j] >> _U4
    for j in range(odd.shape[0]):
        tally[1, j] += odd[j] & _FOUR
        tally[3, j] += odd[j] >> _U4


@inlined
def _dense_entries(start, stop, indices, data, slot, at, value):
    """Write the slots and values of a row's entries in dense columns, padded by three zeros; return
    their number."""
    n_dense = np.uint64(0)
    for e in range(start, stop):
        s = slot[np.uint64(indices[e])]
        at[n_dense], value[n_dense] = s, data[e]
        n_dense += np.uint64(s >= 0)
    for e in range(n_dense, n_dense + np.uint64(3)):
        at[e], value[e] = 0, 0
    return np.int64(n_dense)


@jit
def mirror(D):
    """Copy the upper triangle of a square matrix to the lower one."""
    for i in range(D.shape[0]):
        for j in range(i):
            D[i, j] = D[j, i]


@jit
def minima(indptr, indices, data, upper, starts, ends, rows, values, out):
    """As `products`, with the smaller of the two values in place of their product."""
    if upper > 0:
        _start_at(upper, starts, ends, rows)
    for i in range(out.shape[0]):
        sums = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = np.uint64(indices[e])
            value = sums.dtype.type(data[e])
            for f in range(np.uint64(starts[c]), np.uint64(ends[c])):
                sums[rows[f]] += min(value, sums.dtype.type(values[f]))
            if upper >= 0:
                starts[c] += 1


@jit
def row_sums(indptr, data, squared, out):
    """out (n,) = the sum of the values of each row, or of their squares, in column order."""
    for i in range(indptr.shape[0] - 1):
        total = out.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            value = out.dtype.type(data[e])
            total += value * value if squared else value
        out[i] = total


@jit
def one_minus_ratio(shared, a, b, out):
    """out (rows, pool) = 1 - shared / (a + b - shared), 1 where nothing is shared.

    Clipped at 0: sums of floats are subject to rounding.
    """
    for i in range(shared.shape[0]):
        for j in range(shared.shape[1]):
            both = np.float64(shared[i, j])
            union = np.float64(a[i] + b[j]) - both
            distance = 1.0 - (both / union if union > 0.0 else 0.0)
            out[i, j] = distance if distance > 0.0 else 0.0


@jit
def lp_distances(aptr, acol, aval, bptr, bcol, bval, power, out):
    """out (a, c) = sum |a - b| ** power, power 1 or 2, merging the columns of each pair."""
    for i in range(aptr.shape[0] - 1):
        for j in range(bptr.shape[0] - 1):
            e, f = aptr[i], bptr[j]
            total = 0.0
            while e < aptr[i + 1] or f < bptr[j + 1]:
                if f >= bptr[j + 1] or (e < aptr[i + 1] and acol[e] < bcol[f]):
                    difference = aval[e]
                    e += 1
                elif e >= aptr[i + 1] or bcol[f] < acol[e]:
                    difference = bval[f]
                    f += 1
                else:
                    difference = aval[e] - bval[f]
                    e += 1
                    f += 1
                total += difference * difference if power == 2 else abs(difference)
            out[i, j] = total
