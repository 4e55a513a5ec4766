"""Some of the nearest points of a seed."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .select import select

# A word of eight bytes, each 0 or 1, times this has their sum in its highest byte.
_SUM = np.uint64(0x0101010101010101)
_TOP = np.uint64(56)
_GUESSES = 24


@jit
def among_nearest(X, candidates, seeds, limits, order, ranks, out):
    """out (s, r): for each seed, the ranks-th of its limits[s] nearest candidates.

    seeds (s,) rows of X, which are no neighbours of their own; order (s,): samples with
    equal seeds together and their limits descending, so that distances are computed once,
    and each search starts from where the one before ended. The nearest ones are counted in
    the order of `candidates`, and so are ties at the last distance. O(seeds c d + s c).
    """
    n = candidates.shape[0]
    distances, scratch = np.empty(n), np.empty(n)
    near = np.zeros((n + 7) // 8 * 8, np.uint8)
    words = near.view(np.uint64)
    last, bound, left = -1, np.inf, n
    for sample in order:
        seed, limit = seeds[sample], limits[sample]
        if seed != last:
            last, bound, left = seed, 0.0, n - 1
            for c in range(n):
                total = 0.0
                for d in range(X.shape[1]):
                    gap = X[candidates[c], d] - X[seed, d]
                    total += gap * gap
                bound = total if total > bound else bound
                distances[c] = np.inf if candidates[c] == seed else total
        bound = _bound(distances, limit, bound, left, scratch)
        left = limit
        held = 0
        for c in range(n):
            near[c] = distances[c] <= bound
            held += near[c]
        c = n
        while held > limit:
            c -= 1
            if distances[c] == bound:
                near[c] = 0
                held -= 1
        for j in range(ranks.shape[1]):
            out[sample, j] = candidates[_nth(near, words, ranks[sample, j])]


@jit
def _bound(values, k, high, upto, scratch):
    """A number that k of the values are at most; with ties, the k-th smallest value.

    `upto` >= k of them are at most `high`. A guess is checked by counting, which takes no
    branch: the next by interpolation or halfway. Ties may not let this end; then by selection.
    """
    low, below = 0.0, 0
    for guess in range(_GUESSES):
        share = (k - below) / (upto - below + 1) if guess % 2 == 0 else 0.5
        at = low + share * (high - low)
        count = 0
        for c in range(values.shape[0]):
            count += values[c] <= at
        if count == k:
            return at
        if count < k:
            low, below = at, count
        else:
            high, upto = at, count
    for c in range(values.shape[0]):
        scratch[c] = values[c]
    return select(scratch, k - 1)


@jit
def _nth(near, words, rank):
    """Where the rank-th byte that is set stands, 0 = first."""
    w = 0
    here = np.int64((words[0] * _SUM) >> _TOP)
    while rank >= here:
        rank -= here
        w += 1
        here = np.int64((words[w] * _SUM) >> _TOP)
    at = 8 * w
    while rank > 0 or near[at] == 0:
        rank -= near[at]
        at += 1
    return at
