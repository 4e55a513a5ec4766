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
from .select import bound

SAME = 1e-6
_ONE, _TWO = np.uint64(1), np.uint64(2)
# Typed, since a kernel is compiled for every literal that it is called with.
_FIRST, _SECOND, _BOTH = np.int64(0), np.int64(1), np.int64(2)


@jit
def grow_trees(
    D, key, tree, max_samples, branching, limit, seed_words, words, rows, ordered, seeds, counts,
    place, roots, first_child, seed, size,
):  # fmt: skip
    """Trees number `tree` and on, one behind the other; roots (t + 1,) is where they begin.

    D (pool, pool). A tree is what (D, mix(key, its number)) says: every decision is a word
    of that key, a node and a row, where the root has number 0 and child k of node v has
    number b v + k + 1. The tree's points are the max_samples rows with the smallest words,
    a node's seeds the b points with the smallest, in that order. Ties go to a random one
    of the nearest seeds, and a seed falls into its own cell. A node's points stand together
    in `rows`. O(pool + max_samples b height).

    Room: words, rows, ordered (pool,), seeds, counts (b,), place (nodes, 3) for where a node's
    points start, its depth and number; seed_words (b,), None for two: then the code for several
    is not compiled.
    """
    node = 0
    for which in range(roots.shape[0] - 1):
        tree_key = mix(key, tree + which)
        subsample(mix(tree_key, _FIRST), max_samples, words, rows)
        nodes_key = mix(tree_key, _SECOND)
        root, n_nodes = node, node + 1
        roots[which] = root
        place[root, 0], place[root, 1], place[root, 2] = 0, 0, 0
        seed[root], size[root] = -1, max_samples
        while node < n_nodes:
            n, start, depth, number = size[node], place[node, 0], place[node, 1], place[node, 2]
            if n < branching or depth >= limit:
                first_child[node] = -1
                node += 1
                continue
            node_key = mix(nodes_key, number)
            members = rows[start : start + n]
            if seed_words is None:
                _halve(D, members, node_key, seeds, counts, ordered)
            else:
                _split(D, members, node_key, seed_words, seeds, counts, ordered)
            first_child[node] = n_nodes - root
            for k in range(branching):
                child = n_nodes + k
                place[child, 0], place[child, 1] = start, depth + 1
                place[child, 2] = branching * number + k + 1
                seed[child], size[child] = seeds[k], counts[k]
                start += counts[k]
            n_nodes += branching
            node += 1
        roots[which + 1] = node


@jit
def _split(D, members, node_key, words, seeds, counts, ordered):
    """Choose the seeds, order the members by cell, and count those of each."""
    branching = seeds.shape[0]
    ends = np.empty(branching, np.int64)
    cell = np.empty(members.shape[0], np.uint32)
    _smallest_words(members, node_key, seeds, words)
    for k in range(branching):
        counts[k] = 0
    for i in range(members.shape[0]):
        cell[i] = _cell_of(D[members[i]], members[i], seeds, node_key)
        counts[cell[i]] += 1
    at = 0
    for k in range(branching):
        ends[k], at = at, at + counts[k]
    for i in range(members.shape[0]):
        ordered[ends[cell[i]]] = members[i]
        ends[cell[i]] += 1
    for i in range(members.shape[0]):
        members[i] = ordered[i]


@jit
def _halve(D, members, node_key, seeds, counts, ordered):
    """`_split` between two seeds: the same in half the time, without loops over the seeds and
    with hardly a branch."""
    first = second = np.uint64(0)
    least = next_least = ~np.uint64(0)
    for i in range(members.shape[0]):
        row = np.uint64(members[i])
        word = mix(node_key, members[i])
        before = word < least
        second = first if before else row if word < next_least else second
        next_least = least if before else word if word < next_least else next_least
        first = row if before else first
        least = word if before else least
    left = right = np.uint64(0)
    for i in range(members.shape[0]):
        row = np.uint64(members[i])
        # A seed is nearer to itself than any other could be.
        one = -1.0 if row == first else D[row, first]
        two = -1.0 if row == second else D[row, second]
        crosses = two < one
        if one == two:
            crosses = below(mix(mix(node_key, members[i]), _FIRST), _BOTH) == 1
        members[left] = ordered[right] = row
        left += np.uint64(not crosses)
        right += np.uint64(crosses)
    for i in range(right):
        members[left + i] = ordered[i]
    seeds[0], seeds[1] = first, second
    counts[0], counts[1] = left, right


@jit
def subsample(key, max_samples, words, rows):
    """Put the `max_samples` of the rows 0 .. pool with the smallest words, ascending, in front
    of rows (pool,). words (pool,) is room. O(pool)."""
    for i in range(words.shape[0]):
        words[i] = mix(key, i)
    last = bound(words, words, max_samples, ~np.uint64(0), words.shape[0])
    at = np.uint64(0)
    for i in range(words.shape[0]):
        rows[at] = i
        at += np.uint64(words[i] <= last)


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
    pick = below(mix(mix(node_key, row), _FIRST), tied)
    for k in range(seeds.shape[0]):
        if near[np.uint64(seeds[k])] == nearest:
            if pick == 0:
                return k
            pick -= 1
    return at


@jit
def descend(D, roots, nodes, ends, branching, soft, node, active, walked, out):
    """Path lengths out (rows, t): the edges walked plus the leaf's entry in ends (nodes,).

    D (rows, pool); nodes (nodes, 2) has where the first child stands, 0 for a leaf, and the
    seed. A tie goes to the seed that stands first. A soft edge into the cell of a seed at
    distance tau counts 2 - tau, but 1 at no distance: a row that equals the seed is not to
    gain by it. O(rows t b height). A few rows go down a tree together, level by level: the
    tree stays in the cache, and the look-ups of different rows do not wait for each other.
    node, active and walked are room for them.
    """
    b = np.uint64(branching)
    for start in range(0, D.shape[0], walked.shape[0]):
        near = D[start : start + walked.shape[0]]
        n = near.shape[0]
        for tree in range(out.shape[1]):
            root = np.uint32(roots[tree])
            for i in range(n):
                node[i] = root
                active[i] = i
                walked[i] = 0.0
            on_the_way = np.uint64(n if nodes[root, 0] > 0 else 0)
            while on_the_way > 0:
                kept = np.uint64(0)
                for a in range(on_the_way):
                    i = active[a]
                    first = np.uint64(nodes[node[i], 0])
                    # Two of them without a loop, which would take twice the time.
                    one, two = near[i, nodes[first, 1]], near[i, nodes[first + _ONE, 1]]
                    at = first + np.uint64(two < one)
                    nearest = two if two < one else one
                    for k in range(first + _TWO, first + b):
                        distance = near[i, nodes[k, 1]]
                        at = k if distance < nearest else at
                        nearest = distance if distance < nearest else nearest
                    walked[i] += 2.0 - nearest if soft and nearest > SAME else 1.0
                    node[i] = at
                    active[kept] = i
                    kept += np.uint64(nodes[at, 0] > 0)
                on_the_way = kept
            for i in range(n):
                out[start + i, tree] = walked[i] + ends[node[i]]


@jit
def scores(lengths, normaliser, out):
    """out (rows,) = 2 ** (-mean path length / normaliser), summed in the order of the trees."""
    for i in range(lengths.shape[0]):
        total = 0.0
        for tree in range(lengths.shape[1]):
            total += lengths[i, tree]
        out[i] = 2.0 ** (-total / lengths.shape[1] / normaliser)
