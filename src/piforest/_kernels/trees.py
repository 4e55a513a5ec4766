"""Growing PI-Trees and descending them: look-ups in a table of distances, nothing else.

A tree is three arrays over its nodes in breadth-first order: `first_child`
(the children of a node follow one another; -1 for a leaf), `seed` (the pool row
whose Voronoi cell the node is; -1 for the root) and `size` (how many of the
tree's points fell into it).
"""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import below, mix

SAME = 1e-6


@jit
def grow_tree(D, key, max_samples, branching, limit, first_child, seed, size):
    """One tree from (D, key); returns its number of nodes.

    D (pool, pool). Every decision is a word of (key, node, row), where the root
    has number 0 and child k of node v has number b v + k + 1: the tree's points
    are the max_samples rows with the smallest words, a node's seeds the b points
    with the smallest, in that order. Ties go to a random one of the nearest seeds, and
    a seed falls into its own cell. O(pool + max_samples b height).
    """
    rows = subsample(D.shape[0], mix(key, 0), max_samples)
    nodes_key = mix(key, 1)
    start = np.empty(first_child.shape[0], np.int64)
    depth = np.empty(first_child.shape[0], np.int64)
    number = np.empty(first_child.shape[0], np.int64)
    seeds = np.empty(branching, np.int64)
    words = np.empty(branching, np.uint64)
    cell = np.empty(max_samples, np.int64)
    ordered = np.empty(max_samples, np.int64)
    start[0], depth[0], number[0] = 0, 0, 0
    seed[0], size[0] = -1, max_samples
    n_nodes = 1
    node = 0
    while node < n_nodes:
        n = size[node]
        if n < branching or depth[node] >= limit:
            first_child[node] = -1
            node += 1
            continue
        node_key = mix(nodes_key, number[node])
        members = rows[start[node] : start[node] + n]
        _smallest_words(members, node_key, seeds, words)
        for i in range(n):
            cell[i] = _cell_of(D, members[i], seeds, node_key)
        first_child[node] = n_nodes
        at = 0
        for k in range(branching):
            child = n_nodes + k
            start[child] = start[node] + at
            depth[child] = depth[node] + 1
            number[child] = branching * number[node] + k + 1
            seed[child] = seeds[k]
            before = at
            for i in range(n):
                if cell[i] == k:
                    ordered[at] = members[i]
                    at += 1
            size[child] = at - before
        members[:] = ordered[:n]
        n_nodes += branching
        node += 1
    return n_nodes


@jit
def subsample(pool, key, max_samples):
    words = np.empty(pool, np.uint64)
    for i in range(pool):
        words[i] = mix(key, i)
    last = np.sort(words)[max_samples - 1]
    rows = np.empty(max_samples, np.int64)
    at = 0
    for i in range(pool):
        if words[i] <= last and at < max_samples:
            rows[at] = i
            at += 1
    return rows


@jit
def _smallest_words(members, key, seeds, words):
    """The members with the smallest words, ascending."""
    held = 0
    for member in members:
        word = mix(key, member)
        if held == seeds.shape[0] and word >= words[held - 1]:
            continue
        at = held if held < seeds.shape[0] else held - 1
        while at > 0 and words[at - 1] > word:
            words[at], seeds[at] = words[at - 1], seeds[at - 1]
            at -= 1
        words[at], seeds[at] = word, member
        held = min(held + 1, seeds.shape[0])


@jit
def _cell_of(D, row, seeds, node_key):
    """Which seed's cell a row falls into while growing."""
    nearest = D[row, seeds[0]]
    tied = 0
    for k in range(seeds.shape[0]):
        if seeds[k] == row:
            return k
        distance = D[row, seeds[k]]
        if distance < nearest:
            nearest = distance
            tied = 1
        elif distance == nearest:
            tied += 1
    pick = below(mix(mix(node_key, row), 0), tied) if tied > 1 else 0
    for k in range(seeds.shape[0]):
        if D[row, seeds[k]] == nearest:
            if pick == 0:
                return k
            pick -= 1
    return 0


@jit
def descend(D, roots, first_child, seed, ends, branching, soft, out):
    """Path lengths out (rows, t): the edges walked plus the leaf's entry in ends (nodes,).

    D (rows, pool). A tie goes to the seed that stands first. A soft edge into the
    cell of a seed at distance tau counts 2 - tau, but 1 at no distance: a row that
    equals the seed is not to gain by it. O(rows t b height).
    """
    for i in range(D.shape[0]):
        for tree in range(out.shape[1]):
            root = roots[tree]
            node = root
            length = 0.0
            while first_child[node] >= 0:
                child = root + first_child[node]
                node = child
                nearest = D[i, seed[child]]
                for k in range(1, branching):
                    distance = D[i, seed[child + k]]
                    if distance < nearest:
                        nearest = distance
                        node = child + k
                length += 2.0 - nearest if soft and nearest > SAME else 1.0
            out[i, tree] = length + ends[node]


@jit
def scores(lengths, normaliser, out):
    """out (rows,) = 2 ** (-mean path length / normaliser), summed in the order of the trees."""
    for i in range(lengths.shape[0]):
        total = 0.0
        for tree in range(lengths.shape[1]):
            total += lengths[i, tree]
        out[i] = 2.0 ** (-total / lengths.shape[1] / normaliser)
