"""Grow and descend trees whose nodes hash rows to children: RuzHash.

A node draws for every column a threshold, a rank and a label. A row goes to the child that is the
label of the column of lowest rank among those whose values exceed their thresholds; to the last
child, a leaf, if there is none. All of this comes from one hash of (tree, node, column): its low 32
bits are the threshold, its high 32 bits the rank, and a hash of it is the label. Only the entries
of a row are read, and nothing is stored for a column.

A node is one word: the number of its first child relative to the root, 0 for a leaf, in the high 32
bits, and the number of the tree's points in it in the low 32. Its number relative to the root is
its name in the hash.
"""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import below, mix
from .trees import subsample

_LOW = np.uint64(2**32 - 1)
_HIGH = np.uint64(32)
# The hash of no column.
_NONE = ~np.uint64(0)
_FIRST, _SECOND = np.int64(0), np.int64(1)


@jit
def child_of(columns, bounds, node_key, branching):
    """The child that a row belongs to, 0 to `branching`, from its entries; an entry exceeds a
    threshold that is at most its bound."""
    lowest = _NONE
    for i in range(columns.shape[0]):
        word = mix(node_key, columns[i])
        word = word if (word & _LOW) <= np.uint64(bounds[i]) else _NONE
        lowest = word if word < lowest else lowest
    if lowest == _NONE:
        return branching
    return below(mix(lowest, _FIRST), branching)


@jit
def grow_tree(
    indptr, columns, bounds, key, max_samples, branching, limit, hashes, rows, ordered, child,
    counts, place, nodes,
):  # fmt: skip
    """Grow one tree from its key alone, write its nodes and return their number.

    The points of a tree are the max_samples rows with the smallest hashes. A node with fewer points
    than `branching`, or at depth `limit`, is a leaf. O(pool + entries of the points x limit).

    Workspace: hashes, rows, ordered, child (pool,), counts (branching + 1,), place (nodes, 2) for
    the first point and the depth of a node.
    """
    subsample(mix(key, _FIRST), max_samples, hashes, rows)
    nodes_key = mix(key, _SECOND)
    place[0, 0], place[0, 1] = 0, 0
    nodes[0] = max_samples
    node, n_nodes = 0, 1
    while node < n_nodes:
        n, start, depth = np.int64(nodes[node]), place[node, 0], place[node, 1]
        if n < branching or depth >= limit:
            node += 1
            continue
        node_key = mix(nodes_key, node)
        for k in range(branching + 1):
            counts[k] = 0
        for i in range(start, start + n):
            low, high = indptr[rows[i]], indptr[rows[i] + 1]
            child[i] = child_of(columns[low:high], bounds[low:high], node_key, branching)
            counts[child[i]] += 1
        nodes[node] |= np.uint64(n_nodes) << _HIGH
        first = start
        for k in range(branching + 1):
            nodes[n_nodes + k] = counts[k]
            # The depth of the last child, which is never split, is at the limit.
            place[n_nodes + k, 0] = first
            place[n_nodes + k, 1] = depth + 1 if k < branching else limit
            first, counts[k] = first + counts[k], first
        for i in range(start, start + n):
            ordered[counts[child[i]]] = rows[i]
            counts[child[i]] += 1
        for i in range(start, start + n):
            rows[i] = ordered[i]
        n_nodes += branching + 1
        node += 1
    return n_nodes


@jit
def descend(indptr, columns, bounds, key, roots, nodes, depths, branching, out):
    """Path lengths out (rows, t): the number of edges plus depths[points of the leaf].

    Points that exceed no threshold are in one leaf, but not similar to each other: nothing is added
    there, as for a leaf with one point.
    """
    for row in range(out.shape[0]):
        low, high = indptr[row], indptr[row + 1]
        own, own_bounds = columns[low:high], bounds[low:high]
        for tree in range(out.shape[1]):
            nodes_key = mix(mix(key, tree), _SECOND)
            root, node, edges, child = np.uint64(roots[tree]), np.uint64(0), 0, 0
            word = nodes[root]
            while word > _LOW:
                child = child_of(own, own_bounds, mix(nodes_key, node), branching)
                node = (word >> _HIGH) + np.uint64(child)
                word = nodes[root + node]
                edges += 1
            out[row, tree] = edges + (depths[word] if child < branching else 0.0)
