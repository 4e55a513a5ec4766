"""The forest on a table of distances, for any metric, branching and edge; and an extended
isolation forest. `paper.py` has the paper's own algorithms."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
from scipy.special import ndtri

from piforest._random import below, mix


def smallest_words(key, n, size):
    """The `size` of the numbers below n with the smallest words, ascending."""
    words = sorted((int(mix(key, row)), row) for row in range(n))
    return sorted(row for _, row in words[:size])


def subsample(key, pool, psi):
    return smallest_words(mix(key, 0), pool, psi)


def pi_tree(D, P, e, limit, b, key, number=0):
    """Algorithm 2. A leaf is its size; a node is (seeds, children)."""
    if e >= limit or len(P) < b:
        return len(P)
    node_key = mix(mix(key, 1), number)
    seeds = [row for _, row in sorted((int(mix(node_key, row)), row) for row in P)[:b]]
    cells = [[] for _ in seeds]
    for row in P:
        cells[_growing_cell(D, row, seeds, node_key)].append(row)
    children = [
        pi_tree(D, cell, e + 1, limit, b, key, b * number + k + 1) for k, cell in enumerate(cells)
    ]
    return seeds, children


def _growing_cell(D, row, seeds, node_key):
    if row in seeds:
        return seeds.index(row)
    distances = [D[row, seed] for seed in seeds]
    nearest = [k for k, distance in enumerate(distances) if distance == min(distances)]
    return nearest[int(below(mix(mix(node_key, row), 0), len(nearest)))]


def pi_forest(D, stream, t, psi, b):
    """Algorithm 3."""
    limit = height_limit(psi, b)
    forest = []
    for tree in range(t):
        key = stream.child(tree).key
        forest.append(pi_tree(D, subsample(key, len(D), psi), 0, limit, b, key))
    return forest


def height_limit(psi, b):
    return next(limit for limit in range(100) if b**limit >= psi)


@cache
def c(n, b):
    """Expected depth of n points, all splits into b non-empty parts equally likely."""
    if n <= 1:
        return 0.0
    if b == 2:
        return 2 * sum(1 / i for i in range(1, n)) - 2 * (n - 1) / n
    if n < b:
        return 1.0
    return 1 + sum(
        b * (j / n) * comb(n - j - 1, b - 2) / comb(n - 1, b - 1) * c(j, b)
        for j in range(1, n - b + 2)
    )


def path_length(distances, tree, b, e=0, soft=False):
    """Algorithm 4, for a row of distances to the pool; a tie goes to the first seed."""
    if isinstance(tree, int):
        return e + c(tree, b)
    seeds, children = tree
    nearest = min(range(b), key=lambda k: (distances[seeds[k]], k))
    tau = distances[seeds[nearest]]
    edge = 2 - tau if soft and tau > 1e-6 else 1
    return path_length(distances, children[nearest], b, e + edge, soft)


def scores(D, empty, forest, psi, b, soft=False):
    """Section IV-C; a row that prefers nothing has path length 1 in every tree."""
    lengths = np.array(
        [
            [1.0 if none else path_length(row, tree, b, soft=soft) for tree in forest]
            for row, none in zip(D, empty)
        ]
    )
    return lengths, 2.0 ** (-lengths.mean(axis=1) / c(psi, b) / (2 if soft else 1))


def share(key, column, use):
    """A number in (0, 1) from 16 of the 64 bits of the word that four columns share."""
    return ((int(mix(key, 2 * (column // 4) + use)) >> 16 * (column % 4)) % 2**16 + 0.5) / 2**16


def extended_path_lengths(X, key, psi):
    """Path length of every row of X in one tree of random hyperplanes."""
    limit, lengths = height_limit(psi, 2), np.zeros(len(X))

    def node(own, members, depth, number):
        if depth >= limit or len(own) <= 1:
            lengths[members] = depth + c(len(own), 2)
            return
        node_key = mix(mix(key, 1), number)
        columns = range(X.shape[1])
        direction = np.array([round(1024 * ndtri(share(node_key, j, 0))) for j in columns])
        along = np.array([share(node_key, j, 1) for j in columns])
        low, high = X[own].min(axis=0), X[own].max(axis=0)
        offset = (low + along * (high - low)) @ direction
        for side, child in ((False, 1), (True, 2)):
            here = [
                [i for i in rows if (X[i] @ direction > offset) == side] for rows in (own, members)
            ]
            node(*here, depth + 1, 2 * number + child)

    node(subsample(key, len(X), psi), list(range(len(X))), 0, 0)
    return lengths
