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
from .select import select

SAME = 1e-6


@jit
def grow_trees(D, key, tree, max_samples, branching, limit, roots, first_child, seed, size):
    """Trees number `tree` and on, one behind the other; roots (t + 1,) is where they begin.

    D (pool, pool). A tree is what (D, mix(key, its number)) says: every decision is a word
    of that key, a node and a row, where the root has number 0 and child k of node v has
    number b v + k + 1. The tree's points are the max_samples rows with the smallest words,
    a node's seeds the b points with the smallest, in that order. Ties go to a random one
    of the nearest seeds, and a seed falls into its own cell. A node's points stand together
    in `rows`. O(pool + max_samples b height).
    """
    start, depth = (
        np.empty(first_child.shape[0], np.int64),
        np.empty(first_child.shape[0], np.int64),
    )
    number = np.empty(first_child.shape[0], np.int64)
    seeds, words = np.empty(branching, np.int64), np.empty(branching, np.uint64)
    ends, cell = np.empty(branching, np.int64), np.empty(max_samples, np.uint32)
    ordered = np.empty(max_samples, np.int64)
    node = 0
    for which in range(roots.shape[0] - 1):
        tree_key = mix(key, tree + which)
        rows = subsample(D.shape[0], mix(tree_key, 0), max_samples)
        nodes_key = mix(tree_key, 1)
        root, n_nodes = node, node + 1
        roots[which] = root
        start[root], depth[root], number[root] = 0, 0, 0
        seed[root], size[root] = -1, max_samples
        while node < n_nodes:
            n = size[node]
            if n < branching or depth[node] >= limit:
                first_child[node] = -1
                node += 1
                continue
            node_key = mix(nodes_key, number[node])
            members = rows[start[node] : start[node] + n]
            _smallest_words(members, node_key, seeds, words)
            for k in range(branching):
                ends[k] = 0
            for i in range(n):
                k = _cell_of(D[members[i]], members[i], seeds, node_key)
                cell[i] = k
                ends[k] += 1
            first_child[node] = n_nodes - root
            at = 0
            for k in range(branching):
                child = n_nodes + k
                start[child] = start[node] + at
                depth[child] = depth[node] + 1
                number[child] = branching * number[node] + k + 1
                seed[child], size[child] = seeds[k], ends[k]
                ends[k], at = at, at + ends[k]
            for i in range(n):
                ordered[ends[cell[i]]] = members[i]
                ends[cell[i]] += 1
            for i in range(n):
                members[i] = ordered[i]
            n_nodes += branching
            node += 1
        roots[which + 1] = node


@jit
def subsample(pool, key, max_samples):
    """The `max_samples` of the rows 0 .. pool with the smallest words, ascending. O(pool)."""
    words, scratch = np.empty(pool, np.uint64), np.empty(pool, np.uint64)
    for i in range(pool):
        words[i] = scratch[i] = mix(key, i)
    last = select(scratch, max_samples - 1)
    rows = np.empty(pool, np.int64)
    at = np.uint64(0)
    for i in range(pool):
        rows[at] = i
        at += np.uint64(words[i] <= last)
    return rows[:max_samples]


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
        held += 1 if held < seeds.shape[0] else 0


@jit
def _cell_of(near, row, seeds, node_key):
    """Which seed's cell a row falls into while growing; near (pool,) are its distances."""
    nearest, at, tied = np.inf, 0, 0
    for k in range(seeds.shape[0]):
        # A seed is nearer to itself than any other could be.
        distance = -1.0 if seeds[k] == row else near[np.uint64(seeds[k])]
        tied = 1 if distance < nearest else tied + (distance == nearest)
        at = k if distance < nearest else at
        nearest = distance if distance < nearest else nearest
    if tied == 1:
        return at
    pick = below(mix(mix(node_key, row), 0), tied)
    for k in range(seeds.shape[0]):
        if near[np.uint64(seeds[k])] == nearest:
            if pick == 0:
                return k
            pick -= 1
    return at


@jit
def descend(D, roots, children, seed, ends, branching, soft, out):
    """Path lengths out (rows, t): the edges walked plus the leaf's entry in ends (nodes,).

    D (rows, pool); children (nodes,) is where the first child stands, -1 for a leaf. A tie
    goes to the seed that stands first. A soft edge into the cell of a seed at distance tau
    counts 2 - tau, but 1 at no distance: a row that equals the seed is not to gain by it.
    O(rows t b height). A row goes down all trees at once, level by level: the look-ups of
    different trees do not wait for each other.
    """
    t = out.shape[1]
    node, active = np.empty(t, np.uint32), np.empty(t, np.uint32)
    b = np.uint64(branching)
    for i in range(D.shape[0]):
        near, lengths = D[i], out[i]
        on_the_way = np.uint64(0)
        for tree in range(t):
            node[tree] = roots[tree]
            lengths[tree] = 0.0
            active[on_the_way] = tree
            on_the_way += np.uint64(children[np.uint64(roots[tree])] >= 0)
        while on_the_way > 0:
            kept = np.uint64(0)
            for a in range(on_the_way):
                tree = active[a]
                first = np.uint64(children[node[tree]])
                at = first
                nearest = near[np.uint64(seed[first])]
                for k in range(first + np.uint64(1), first + b):
                    distance = near[np.uint64(seed[k])]
                    at = k if distance < nearest else at
                    nearest = distance if distance < nearest else nearest
                lengths[tree] += 2.0 - nearest if soft and nearest > SAME else 1.0
                node[tree] = at
                active[kept] = tree
                kept += np.uint64(children[at] >= 0)
            on_the_way = kept
        for tree in range(t):
            lengths[tree] += ends[node[tree]]


@jit
def scores(lengths, normaliser, out):
    """out (rows,) = 2 ** (-mean path length / normaliser), summed in the order of the trees."""
    for i in range(lengths.shape[0]):
        total = 0.0
        for tree in range(lengths.shape[1]):
            total += lengths[i, tree]
        out[i] = 2.0 ** (-total / lengths.shape[1] / normaliser)
