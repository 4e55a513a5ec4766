"""Trees of a stream: cells whose counts follow the rows of a window."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .trees import ZERO_DISTANCE, grow_trees

_ONE = np.uint64(1)


@jit
def grow_with_leaves(
    D, dense, sums, key, max_samples, limit, hashes, rows, ordered, seeds, counts, place,
    tree_roots, roots, first_child, seed, size, leaves,
):  # fmt: skip
    """`grow_trees` with two branches, one tree after the other, and the leaf of each point.

    leaves (pool, t): the node, numbered over all trees, or -1 for a row that is not one of the
    points of the tree. tree_roots (2,) is workspace, the others are those of `grow_trees`.
    """
    roots[0] = 0
    for tree in range(leaves.shape[1]):
        first = roots[tree]
        grow_trees(
            D, dense, sums, key, tree, max_samples, 2, limit, None, hashes, rows, ordered, seeds,
            counts, place[first:], tree_roots, first_child[first:], seed[first:], size[first:],
        )  # fmt: skip
        roots[tree + 1] = first + tree_roots[1]
        for i in range(leaves.shape[0]):
            leaves[i, tree] = -1
        for node in range(first, roots[tree + 1]):
            if first_child[node] < 0:
                start = place[node, 0]
                for e in range(start, start + size[node]):
                    leaves[rows[e], tree] = node


@jit
def pass_rows(D, empty, places, roots, nodes, depths, size, leaves, normaliser, path, out):
    """Score the rows one after the other, and let each take the place of an older one.

    D (rows, pool) and empty (rows,); nodes (nodes, 2) as in `descend`, with two branches and soft
    paths. Row i takes place places[i] of the pool, -1 for none: in every tree of which the row
    before it was a point, the count of that row's leaf goes down, and the count of the leaf of
    row i goes up. An empty row is in no cell. size (nodes,) and leaves (pool, t) are updated;
    path (t,) is workspace. The sum over the trees has the order of `scores`. O(rows t height).
    """
    for i in range(D.shape[0]):
        distances, total = D[i], 0.0
        for tree in range(leaves.shape[1]):
            path[tree] = -1
            if empty[i]:
                total += 1.0
                continue
            node, length = np.uint64(roots[tree]), 0.0
            while nodes[node, 0] > 0:
                first = np.uint64(nodes[node, 0])
                one, two = distances[nodes[first, 1]], distances[nodes[first + _ONE, 1]]
                node = first + np.uint64(two < one)
                nearest = two if two < one else one
                length += 2.0 - nearest if nearest > ZERO_DISTANCE else 1.0
            path[tree] = node
            total += length + depths[size[node]]
        out[i] = 2.0 ** (-total / leaves.shape[1] / normaliser)
        if places[i] >= 0:
            replace_row(places[i], path, size, leaves)


@jit
def replace_row(place, path, size, leaves):
    """Count the row with the leaves `path` (t,) in place of the one that has this place."""
    for tree in range(leaves.shape[1]):
        before = leaves[place, tree]
        if before >= 0:
            size[before] -= 1
            if path[tree] >= 0:
                size[path[tree]] += 1
            leaves[place, tree] = path[tree]
