"""Some of the nearest points of a seed."""

from __future__ import annotations

import numpy as np

from .jit import jit


@jit
def among_nearest(X, candidates, seeds, limits, order, ranks, out):
    """out (s, r): for each seed, the ranks-th of its limits[s] nearest candidates.

    seeds (s,) rows of X, which are no neighbours of their own; order (s,): samples with
    equal seeds together and their limits descending, so that distances are computed once,
    and each selection works on what the one before left. The nearest ones are counted in
    the order of `candidates`, and so are ties at the last distance. O(seeds c d + s c).
    """
    n = candidates.shape[0]
    distances, scratch = np.empty(n), np.empty(n)
    last, left = -1, n
    for sample in order:
        seed = seeds[sample]
        if seed != last:
            for c in range(n):
                total = 0.0
                for d in range(X.shape[1]):
                    gap = X[candidates[c], d] - X[seed, d]
                    total += gap * gap
                distances[c] = np.inf if candidates[c] == seed else total
            scratch[:] = distances
            last, left = seed, n
        farthest = _select(scratch[:left], limits[sample] - 1)
        left = limits[sample]
        ties = limits[sample]
        for c in range(n):
            ties -= distances[c] < farthest
        for j in range(ranks.shape[1]):
            out[sample, j] = _nth(distances, farthest, ties, candidates, ranks[sample, j])


@jit
def _nth(distances, farthest, ties, candidates, rank):
    """The rank-th candidate that is nearer than `farthest`, or one of the first ties."""
    for c in range(candidates.shape[0]):
        near = distances[c] < farthest
        if not near and distances[c] == farthest and ties > 0:
            near = True
            ties -= 1
        if near:
            if rank == 0:
                return candidates[c]
            rank -= 1
    return candidates[0]


@jit
def _select(values, k):
    """The k-th smallest value, 0 = smallest, moved to place k, none larger before it (Hoare)."""
    low, high = 0, values.shape[0] - 1
    while low < high:
        a, b, c = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return values[k]
    return values[k]
