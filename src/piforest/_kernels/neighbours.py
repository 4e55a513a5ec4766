"""Neighbours by their rank."""

from __future__ import annotations

import numpy as np

from .jit import jit


@jit
def by_rank(X, candidates, seeds, order, ranks, out):
    """out (s, r): the candidates that are the ranks-th nearest to each seed, 0 = nearest.

    seeds (s,) rows of X, which are no neighbours of their own; order (s,): samples
    with equal seeds together, so that each seed is sorted once. Neighbours at one
    distance stand in the order of `candidates`. O(seeds c log c).
    """
    distances = np.empty(candidates.shape[0])
    nearest = np.empty(0, np.int64)
    last = -1
    for sample in order:
        seed = seeds[sample]
        if seed != last:
            for c in range(candidates.shape[0]):
                total = 0.0
                for d in range(X.shape[1]):
                    gap = X[candidates[c], d] - X[seed, d]
                    total += gap * gap
                distances[c] = np.inf if candidates[c] == seed else total
            nearest = np.argsort(distances, kind="mergesort")
            last = seed
        for j in range(ranks.shape[1]):
            out[sample, j] = candidates[nearest[ranks[sample, j]]]
