"""Some of the nearest points of a seed."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .select import selection_bound

# A 64-bit word of eight bytes, each 0 or 1, times this has their sum in its highest byte.
_SUM = np.uint64(0x0101010101010101)
_TOP = np.uint64(56)


@jit
def among_nearest(X, columns, candidates, places, seeds, limits, order, ranks, distances, bits,
                  near, words, out):  # fmt: skip
    """out (s, r): for each seed, the ranks-th of its limits[s] nearest candidates.

    columns (d, c): the coordinates of the candidates. seeds (s,): rows of X; a seed is not its own
    neighbour. places (s,): where a seed is among the candidates, or -1. order (s,): samples with
    equal seeds are adjacent and their limits descend, so that distances are computed once and each
    search starts from the result of the previous one. The nearest candidates are ranked in the
    order of `candidates`; ties at the largest distance go to the first. O(seeds c d + s c).
    Workspace: distances (c,) and near, zeroed bytes padded to a multiple of eight; bits and
    words are the same memory viewed as 64-bit integers.
    """
    n = candidates.shape[0]
    last, largest, n_within = -1, np.inf, n
    for sample in order:
        seed, limit = seeds[sample], limits[sample]
        if seed != last:
            last, n_within = seed, n - 1
            largest = _squares(X[seed], columns, distances, bits)
            if places[sample] >= 0:
                distances[places[sample]] = np.inf
        largest = selection_bound(distances, bits, limit, largest, n_within)
        n_within = limit
        n_near = 0
        for c in range(n):
            near[c] = distances[c] <= largest
            n_near += near[c]
        c = n
        while n_near > limit:
            c -= 1
            if distances[c] == largest:
                near[c] = 0
                n_near -= 1
        for j in range(ranks.shape[1]):
            out[sample, j] = candidates[_nth(near, words, ranks[sample, j])]


@jit
def _squares(x, columns, out, bits):
    """Fill out (c,), the squared distances of a point from others, given by columns (d, c); return
    their maximum. bits: the memory of out as integers, which have the same order: processors
    compare these by vectors."""
    for c in range(out.shape[0]):
        difference = columns[0, c] - x[0]
        out[c] = difference * difference
    for d in range(1, columns.shape[0]):
        for c in range(out.shape[0]):
            difference = columns[d, c] - x[d]
            out[c] += difference * difference
    farthest = np.uint64(0)
    for c in range(out.shape[0]):
        farthest = bits[c] if bits[c] > farthest else farthest
    c = 0
    while bits[c] != farthest:
        c += 1
    return out[c]


@jit
def _nth(near, words, rank):
    """The index of the byte that is set and has this rank, from 0."""
    w = 0
    n_set = np.int64((words[0] * _SUM) >> _TOP)
    while rank >= n_set:
        rank -= n_set
        w += 1
        n_set = np.int64((words[w] * _SUM) >> _TOP)
    index = 8 * w
    while rank > 0 or near[index] == 0:
        rank -= near[index]
        index += 1
    return index
