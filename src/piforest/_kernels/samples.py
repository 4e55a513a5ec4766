"""Minimal samples that are not uniform: weighted, local, stratified."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import below, mix


@jit
def sample_weighted(key, ends, out):
    """Fill each row i of out (s, size) with distinct rows, from (key, i) alone.

    ends (n,): cumulative sums of the integer weights. The j-th draw is in proportion to the
    weights of the rows that are left: a number below their total weight, shifted by the
    weights of the taken rows before it. O(s k (k + log n)).
    """
    size = out.shape[1]
    taken = np.empty(size, np.int64)
    for i in range(out.shape[0]):
        row_key = mix(key, i)
        left = ends[ends.shape[0] - 1]
        for j in range(size):
            value = below(mix(row_key, j), left)
            position = 0
            while position < j and _start(ends, taken[position]) <= value:
                value += ends[taken[position]] - _start(ends, taken[position])
                position += 1
            row = _first_above(ends, value)
            for k in range(j, position, -1):
                taken[k] = taken[k - 1]
            taken[position] = row
            left -= ends[row] - _start(ends, row)
            out[i, j] = row


@jit
def _start(ends, row):
    return ends[row - 1] if row > 0 else 0


@jit
def _first_above(ends, value):
    """The index of the first of the ascending ends that is above value."""
    low, high = 0, ends.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if ends[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def sample_permutations(key, n, out):
    """Fill out (s, size) with consecutive permutations of the rows.

    A row that is already in the sample, from the previous permutation, is kept for the next
    sample. Permutation j comes from (key, j).
    """
    size = out.shape[1]
    queue, head, used = np.empty(n, np.int64), n, 0
    for i in range(out.shape[0]):
        for j in range(size):
            if head == n:
                _shuffle(mix(key, used), queue)
                head, used = 0, used + 1
            position = head
            while _contains(out[i], j, queue[position]):
                position += 1
            row = queue[position]
            for k in range(position, head, -1):
                queue[k] = queue[k - 1]
            head += 1
            out[i, j] = row


@jit
def _shuffle(key, queue):
    n = queue.shape[0]
    for i in range(n):
        queue[i] = i
    for i in range(n):
        other = i + below(mix(key, i), n - i)
        queue[i], queue[other] = queue[other], queue[i]


@jit
def _contains(sample, size, row):
    for j in range(size):
        if sample[j] == row:
            return True
    return False


@jit
def _squared_distance(X, a, b):
    total = 0.0
    for d in range(X.shape[1]):
        difference = X[a, d] - X[b, d]
        total += difference * difference
    return total


@jit
def sample_neighbours(key, X, numbers, scale, reach, trials, out, filled):
    """Draw neighbours of the seeds out[:, 0] by rejection; filled (s,) is the size reached.

    Neighbours have the weight exp(-d**2 / (2 scale**2)) up to `reach` scales, else 0. A trial
    draws any row and accepts it with this probability; a sample that is not complete after
    `trials` of them stays incomplete. Sample i depends on (key, numbers[i]) alone.
    """
    n, size = X.shape[0], out.shape[1]
    limit, double = (reach * scale) ** 2, 2 * scale**2
    for i in range(out.shape[0]):
        row_key = mix(key, numbers[i])
        count = 1
        for t in range(trials):
            if count == size:
                break
            row = below(mix(row_key, 2 * t), n)
            squared = _squared_distance(X, out[i, 0], row)
            if squared <= limit and not _contains(out[i], count, row):
                uniform = np.float64(below(mix(row_key, 2 * t + 1), 2.0**53)) * 2.0**-53
                if uniform < np.exp(-squared / double):
                    out[i, count] = row
                    count += 1
        filled[i] = count


@jit
def sample_from_lists(key, X, numbers, scale, reach, near, which, samples, out, filled):
    """Complete samples from lists of the nearest rows of their seeds.

    near (u, r): rows, n for padding; which (s,): the list of each of `samples`. Rows within
    `reach` scales are drawn by weight; if none is left, the nearest row is taken. Ties are
    resolved by row number.
    """
    size, width = out.shape[1], near.shape[1]
    limit, double = (reach * scale) ** 2, 2 * scale**2
    rows, squares, weights = np.empty(width, np.int64), np.empty(width), np.empty(width)
    for s in range(samples.shape[0]):
        i, row_key = samples[s], mix(key, numbers[samples[s]])
        count = 0
        for c in range(width):
            row = near[which[s], c]
            if row < X.shape[0] and not _contains(out[i], filled[i], row):
                squared = _squared_distance(X, out[i, 0], row)
                at = count
                while at > 0 and (
                    squares[at - 1] > squared or (squares[at - 1] == squared and rows[at - 1] > row)
                ):
                    rows[at], squares[at] = rows[at - 1], squares[at - 1]
                    at -= 1
                rows[at], squares[at] = row, squared
                count += 1
        for c in range(count):
            weights[c] = np.exp(-squares[c] / double) if squares[c] <= limit else 0.0
        for j in range(filled[i], size):
            at = _draw_weighted(mix(row_key, j), weights, count)
            weights[at] = -1.0
            out[i, j] = rows[at]


@jit
def _draw_weighted(bits, weights, count):
    """One of the first `count` indices in proportion to the weights; if all are 0, the first.

    A weight of -1 marks a row that is taken, 0 a row that is too far.
    """
    total = 0.0
    for c in range(count):
        if weights[c] > 0:
            total += weights[c]
    value = np.float64(below(bits, 2.0**53)) * 2.0**-53 * total
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
