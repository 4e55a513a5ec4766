"""Minimal samples that are not uniform: by weight, near a seed, all points in turn."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import below, mix


@jit
def by_weight(key, ends, out):
    """Fill each row i of out (s, size) with distinct rows, from (key, i) alone.

    ends (n,): sums of the integer weights up to each row. The j-th draw is in proportion to
    the weight among the rows that are left: a number below what they weigh together, moved
    past those that are taken and lie before it. O(s k (k + log n)).
    """
    size = out.shape[1]
    taken = np.empty(size, np.int64)
    for i in range(out.shape[0]):
        row_key = mix(key, i)
        left = ends[ends.shape[0] - 1]
        for j in range(size):
            value = below(mix(row_key, j), left)
            at = 0
            while at < j and _start(ends, taken[at]) <= value:
                value += ends[taken[at]] - _start(ends, taken[at])
                at += 1
            row = _first_above(ends, value)
            for k in range(j, at, -1):
                taken[k] = taken[k - 1]
            taken[at] = row
            left -= ends[row] - _start(ends, row)
            out[i, j] = row


@jit
def _start(ends, row):
    return ends[row - 1] if row > 0 else 0


@jit
def _first_above(ends, value):
    """The first entry of ascending ends that is above value."""
    low, high = 0, ends.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if ends[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def in_turn(key, n, out):
    """Fill out (s, size) with one permutation of the rows after the other.

    A point that the sample has already, from the permutation before, lets others pass until
    the next sample. Permutation j comes from (key, j).
    """
    size = out.shape[1]
    line, head, used = np.empty(n, np.int64), n, 0
    for i in range(out.shape[0]):
        for j in range(size):
            if head == n:
                _shuffle(mix(key, used), line)
                head, used = 0, used + 1
            at = head
            while _holds(out[i], j, line[at]):
                at += 1
            row = line[at]
            for k in range(at, head, -1):
                line[k] = line[k - 1]
            head += 1
            out[i, j] = row


@jit
def _shuffle(key, line):
    n = line.shape[0]
    for i in range(n):
        line[i] = i
    for i in range(n):
        at = i + below(mix(key, i), n - i)
        line[i], line[at] = line[at], line[i]


@jit
def _holds(sample, upto, row):
    for j in range(upto):
        if sample[j] == row:
            return True
    return False


@jit
def _gap(X, a, b):
    """Squared distance of two rows."""
    total = 0.0
    for d in range(X.shape[1]):
        gap = X[a, d] - X[b, d]
        total += gap * gap
    return total


@jit
def around(key, X, numbers, scale, reach, trials, out, filled):
    """Draw neighbours of the seed out[:, 0] by trial, and write how many points there are.

    Neighbours have the weight exp(-d**2 / (2 scale**2)) up to `reach` scales, else 0. A trial
    is any row, kept as often as its weight says; after so many trials it is left at what was
    found. The words of sample i belong to (key, numbers[i]).
    """
    n, size = X.shape[0], out.shape[1]
    bound, double = (reach * scale) ** 2, 2 * scale**2
    for i in range(out.shape[0]):
        row_key = mix(key, numbers[i])
        count = 1
        for t in range(trials):
            if count == size:
                break
            row = below(mix(row_key, 2 * t), n)
            gap = _gap(X, out[i, 0], row)
            if gap <= bound and not _holds(out[i], count, row):
                share = np.float64(below(mix(row_key, 2 * t + 1), 2.0**53)) * 2.0**-53
                if share < np.exp(-gap / double):
                    out[i, count] = row
                    count += 1
        filled[i] = count


@jit
def from_lists(key, X, numbers, scale, reach, near, which, samples, out, filled):
    """Complete samples from lists of the rows that are nearest to their seeds.

    near (u, r): rows, or n for none; which (s,): the list of each of `samples`. Those within
    `reach` scales by weight; where none is left, the nearest. Of equally near rows the first
    comes first.
    """
    size, width = out.shape[1], near.shape[1]
    bound, double = (reach * scale) ** 2, 2 * scale**2
    rows, gaps, weights = np.empty(width, np.int64), np.empty(width), np.empty(width)
    for s in range(samples.shape[0]):
        i, row_key = samples[s], mix(key, numbers[samples[s]])
        count = 0
        for c in range(width):
            row = near[which[s], c]
            if row < X.shape[0] and not _holds(out[i], filled[i], row):
                gap = _gap(X, out[i, 0], row)
                at = count
                while at > 0 and (
                    gaps[at - 1] > gap or (gaps[at - 1] == gap and rows[at - 1] > row)
                ):
                    rows[at], gaps[at] = rows[at - 1], gaps[at - 1]
                    at -= 1
                rows[at], gaps[at] = row, gap
                count += 1
        for c in range(count):
            weights[c] = np.exp(-gaps[c] / double) if gaps[c] <= bound else 0.0
        for j in range(filled[i], size):
            at = _drawn(mix(row_key, j), weights, count)
            weights[at] = -1.0
            out[i, j] = rows[at]


@jit
def _drawn(word, weights, count):
    """One of the first `count` in proportion to its weight, else the first that is left.

    A weight of -1 is one that is taken, 0 one that is too far.
    """
    total = 0.0
    for c in range(count):
        if weights[c] > 0:
            total += weights[c]
    value = np.float64(below(word, 2.0**53)) * 2.0**-53 * total
    last = -1
    for c in range(count):
        if weights[c] > 0:
            last = c
            value -= weights[c]
            if value < 0:
                return c
        elif total == 0.0 and weights[c] == 0.0:
            return c
    return last
