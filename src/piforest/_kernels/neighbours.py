"""Some of the nearest points of a seed."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .select import bound

# A word of eight bytes, each 0 or 1, times this has their sum in its highest byte.
_SUM = np.uint64(0x0101010101010101)
_TOP = np.uint64(56)


@jit
def among_nearest(X, candidates, seeds, limits, order, ranks, distances, bits, near, words, out):
    """out (s, r): for each seed, the ranks-th of its limits[s] nearest candidates.

    seeds (s,) rows of X, which are no neighbours of their own; order (s,): samples with
    equal seeds together and their limits descending, so that distances are computed once,
    and each search starts from where the one before ended. The nearest ones are counted in
    the order of `candidates`, and so are ties at the last distance. O(seeds c d + s c).
    Room: distances (c,) and near, bytes for whole words, zeros; bits and words are the same
    memory as 64-bit integers.
    """
    n = candidates.shape[0]
    last, most, left = -1, np.inf, n
    for sample in order:
        seed, limit = seeds[sample], limits[sample]
        if seed != last:
            last, most, left = seed, 0.0, n - 1
            for c in range(n):
                total = 0.0
                for d in range(X.shape[1]):
                    gap = X[candidates[c], d] - X[seed, d]
                    total += gap * gap
                most = total if total > most else most
                distances[c] = np.inf if candidates[c] == seed else total
        most = bound(distances, bits, limit, most, left)
        left = limit
        held = 0
        for c in range(n):
            near[c] = distances[c] <= most
            held += near[c]
        c = n
        while held > limit:
            c -= 1
            if distances[c] == most:
                near[c] = 0
                held -= 1
        for j in range(ranks.shape[1]):
            out[sample, j] = candidates[_nth(near, words, ranks[sample, j])]


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
