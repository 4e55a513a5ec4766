"""Distances with ties, and flat trees in the format of the naive ones."""

from __future__ import annotations

import numpy as np


def distances(n, seed, levels):
    """A symmetric matrix of distances; few levels give many ties."""
    rng = np.random.default_rng(seed)
    D = rng.integers(1, levels + 1, (n, n)).astype(float)
    D = np.minimum(D, D.T)
    np.fill_diagonal(D, 0)
    return D


def nested(forest, tree):
    """A flat tree in the format of the naive one."""
    low, high = forest.roots[tree], forest.roots[tree + 1]
    first_child, seed, size = (
        getattr(forest, name)[low:high] for name in ("first_child", "seed", "size")
    )

    def node(i):
        if first_child[i] < 0:
            return int(size[i])
        children = range(first_child[i], first_child[i] + forest.branching)
        return [int(seed[child]) for child in children], [node(child) for child in children]

    return node(0)
