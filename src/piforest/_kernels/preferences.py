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
    """The entries of R (., m) with R <= limit (m,), row after row; returns how many.

    Looks at len(counts) rows. Of row i, the columns skipped[starts[i] : ends[i]] are
    left out. NaN and infinity are never within the limit. `scales` takes scale (m,) of the
    entries; `columns` has 8 places to spare. O(rows m). For near, words and hits see `_find`.
    """
    at = np.uint64(0)
    for i in range(counts.shape[0]):
        before, row = at, R[i]
        at = _find(row, limit, starts[i], ends[i], skipped, near, words, hits, columns, at)
        for e in range(before, at):
            distances[e] = row[np.uint64(columns[e])]
            scales[e] = scale[np.uint64(columns[e])]
        counts[i] = at - before
    return at


@jit
def collect_gaussian(
    R, limit, scale, unit, starts, ends, skipped, near, words, hits, powers, counts, columns, values
):
    """`collect` and `fixed_point` in one, of the Gaussian kernel; limit (m,) is 3 scales at most.

    Its exponential is a polynomial of a sixteenth, squared four times: right to 3e-15, three
    times as fast as NumPy's, whose last bit depends on the processor. O(rows m). powers (m,) is
    room.
    """
    at = np.uint64(0)
    for i in range(counts.shape[0]):
        before, row = at, R[i]
        at = _find(row, limit, starts[i], ends[i], skipped, near, words, hits, columns, at)
        n = at - before
        here, there = columns[before:at], values[before:at]
        for e in range(n):
            z = row[np.uint64(here[e])] / scale[np.uint64(here[e])]
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
            there[e] = np.int32(unit[np.uint64(here[e])] * powers[e] + 0.5)
            zeros += there[e] == 0
        if zeros > 0:
            at = before + _without_zeros(here, there, here, there)
        counts[i] = at - before
    return at


@jit
def fixed_point(phi, unit, counts, columns, values):
    """values = round(unit phi) of the entries of all rows, in place without those that round
    to 0; returns how many are left, or -1 if a phi is not in [0, 1]. O(entries)."""
    unsound = 0
    for e in range(phi.shape[0]):
        unsound += not (phi[e] >= 0.0 and phi[e] <= 1.0)
    if unsound > 0:
        return -1
    for e in range(phi.shape[0]):
        values[e] = np.int32(unit[np.uint64(columns[e])] * phi[e] + 0.5)
    at = e = np.uint64(0)
    for i in range(counts.shape[0]):
        stop = e + np.uint64(counts[i])
        left = _without_zeros(columns[e:stop], values[e:stop], columns[at:], values[at:])
        counts[i], at, e = left, at + left, stop
    return np.int64(at)


@inlined
def _find(row, limit, start, end, skipped, near, words, hits, columns, at):
    """Write the columns with row <= limit to `columns`, from `at` on, but for those in
    skipped[start:end]; returns where they end.

    Comparisons of whole rows, then only words of eight that have an entry, without a branch
    that depends on the data. O(m). near is room for whole words, zeros; words the same memory
    as 64-bit integers; hits room for one more of them.
    """
    for j in range(row.shape[0]):
        near[j] = row[j] <= limit[j]
    for e in range(start, end):
        near[skipped[e]] = 0
    n_hits = np.uint64(0)
    for w in range(words.shape[0]):
        hits[n_hits] = w
        n_hits += np.uint64(words[w] != 0)
    for h in range(n_hits):
        first = np.uint64(8) * np.uint64(hits[h])
        for k in range(first, first + np.uint64(8)):
            columns[at] = k
            at += np.uint64(near[k])
    return at


@inlined
def _without_zeros(columns, values, columns_out, values_out):
    """Copy the entries that are not 0, which may be to the left of where they are."""
    at = np.uint64(0)
    for e in range(values.shape[0]):
        value = values[e]
        columns_out[at], values_out[at] = columns[e], value
        at += np.uint64(value != 0)
    return at


@jit
def find_contents(bits, words, contents, starts, first, last):
    """Where the models of each row begin and end: starts[c], starts[c + 1] for the content c that
    equals the row, else 0, 0. bits (n, d) and contents (c, d) are floats as words, `words` (c,)
    are the hashes of the contents, ascending. O(n (d + log c))."""
    for i in range(bits.shape[0]):
        word = np.uint64(0)
        for k in range(bits.shape[1]):
            word = mix(word, bits[i, k])
        low, high = 0, words.shape[0]
        while low < high:
            middle = (low + high) // 2
            if words[middle] < word:
                low = middle + 1
            else:
                high = middle
        known = low < words.shape[0] and words[low] == word
        if known:
            for k in range(bits.shape[1]):
                known = known and contents[low, k] == bits[i, k]
        first[i] = starts[low] if known else 0
        last[i] = starts[low + 1] if known else 0
