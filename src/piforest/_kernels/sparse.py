"""Sparse rows: their overlaps with a pool."""

from __future__ import annotations

import numpy as np

from .jit import inlined, jit

# Every other two of the bits of a byte; the lower four; how far to shift.
_TWOS, _FOUR, _U2, _U4 = np.uint8(0x33), np.uint8(0x0F), np.uint8(2), np.uint8(4)


@jit
def invert(indptr, indices, data, place, fill, rows, values, dense, most, packed):
    """CSR to columns: those with a place in dense (k, n) go there, zeroed before, and their
    largest value to most (k,); the others to rows and values, column c from fill[c] on, which
    is moved on. Rows ascend.

    If `packed`, dense (k + 1, q) is what `packed_counts` takes. O(entries).
    """
    byte, bit = 0, np.uint8(1)
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            c = np.uint64(indices[e])
            to = place[c]
            if to >= 0 and packed:
                dense[to, byte] += bit
            elif to >= 0:
                value = np.uint8(data[e])
                dense[to, i] = value
                most[to] = value if value > most[to] else most[to]
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

    For each column that a row has, run down the pool rows that have it too, starts[c] to
    ends[c]: O(sum of the column lengths). The terms of a pair are added in the order of the
    columns, whatever the other rows are. Unsigned indices need no test for being negative: that
    halves the time of a step.

    With upper >= 0, the rows are those of the pool from `upper` on, and row i needs only the
    pool rows from upper + i on. Rows ascend within a column, so this part starts where the row
    stands, and moves on with it, in `starts`: half the steps.
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
    """Move the starts of all columns on to the first pool row that is at least `row`."""
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
def dense_products(indptr, indices, data, place, dense, most, upper, at, value, short, out):
    """out (a, pool) += the same for the columns that stand in dense (k, pool), for integers.

    With upper >= 0, row i needs only the pool rows from upper + i on. A step takes four
    columns at once over the whole pool, in vectors of 16-bit numbers, as long as these cannot
    overflow: most (k,) is the largest value of a column, and four products of 127 and 127 fit.
    short (pool,) is room for them, zeros; at and value (columns + 3,) are room too. O(entries of
    the rows in such columns times pool), at about a twentieth of the cost of a step of
    `products`.
    """
    for i in range(out.shape[0]):
        left = upper + i if upper >= 0 else 0
        held = _placed(indptr[i], indptr[i + 1], indices, data, place, at, value)
        columns, sums, short_sums = dense[:, left:], out[i, left:], short[left:]
        bound = 0
        for e in range(0, held, 4):
            a, b, c, d = columns[at[e]], columns[at[e + 1]], columns[at[e + 2]], columns[at[e + 3]]
            v, w, x, y = value[e], value[e + 1], value[e + 2], value[e + 3]
            more = (
                np.int64(v) * most[at[e]] + np.int64(w) * most[at[e + 1]]
                + np.int64(x) * most[at[e + 2]] + np.int64(y) * most[at[e + 3]]
            )  # fmt: skip
            if bound + more > 65535:
                _move(short_sums, sums)
                bound = 0
            bound += more
            for j in range(short_sums.shape[0]):
                short_sums[j] += np.uint16(
                    v * np.uint16(a[j]) + w * np.uint16(b[j])
                    + x * np.uint16(c[j]) + y * np.uint16(d[j])
                )  # fmt: skip
        _move(short_sums, sums)


@jit
def _move(short_sums, sums):
    """Add the short sums to the long ones."""
    for j in range(sums.shape[0]):
        sums[j] += short_sums[j]
        short_sums[j] = 0


@jit
def packed_counts(indptr, indices, place, packed, product, out):
    """out (a, pool) += product times how many columns both have, of those in packed (k + 1, q).

    Four rows of the pool share a byte: the two bits at 2 f of byte j are row f q + j. Three
    columns are added in twos of bits, twelve in fours, 252 in bytes. The last column is empty,
    it fills up the last twelve. O(entries of the rows in such columns times pool), a quarter of
    the bytes of `dense_products`.
    """
    at = np.empty(place.shape[0] + 12, np.int64)
    q = packed.shape[1]
    even, odd, tally = np.empty(q, np.uint8), np.empty(q, np.uint8), np.empty((4, q), np.uint8)
    for i in range(out.shape[0]):
        held = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            at[held] = place[np.uint64(indices[e])]
            held += np.uint64(at[held] >= 0)
        for e in range(held, held + np.uint64(12)):
            at[e] = packed.shape[0] - 1
        for first in range(np.uint64(0), held, np.uint64(252)):
            last = first + np.uint64(252) if first + np.uint64(252) < held else held
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
    """tally (4, q) += how many of twelve columns each row has."""
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
def _placed(start, stop, indices, data, place, at, value):
    """The places and values of a row's entries that have a place; returns how many. Three more
    without a value fill up the last four."""
    held = np.uint64(0)
    for e in range(start, stop):
        to = place[np.uint64(indices[e])]
        at[held], value[held] = to, data[e]
        held += np.uint64(to >= 0)
    for e in range(held, held + np.uint64(3)):
        at[e], value[e] = 0, 0
    return np.int64(held)


@jit
def mirror(D):
    """The lower triangle of a square table from its upper one."""
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
