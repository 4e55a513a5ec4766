"""Grow PI-Trees and descend them, by look-ups in a matrix of distances: Algorithms 2 and 4.

A tree is three arrays over its nodes in breadth-first order: `first_child` (the children of a
node are adjacent; -1 for a leaf), `seed` (the pool row whose Voronoi cell the node is; -1 for the
root) and `size` (the number of the tree's points in the node).
"""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import below, mix
from .select import selection_bound
from .sparse import dense_products, products

# A row at most this far from a seed counts as equal to it.
ZERO_DISTANCE = 1e-6
_ONE, _TWO = np.uint64(1), np.uint64(2)
# Typed, because a function is compiled for every literal argument.
_FIRST, _SECOND, _BOTH, _ALL = np.int64(0), np.int64(1), np.int64(2), np.int64(-1)


@jit
def grow_trees(
    D, dense, sums, key, tree, max_samples, branching, limit, seed_hashes, hashes, rows, ordered,
    seeds, counts, place, roots, first_child, seed, size,
):  # fmt: skip
    """Algorithm 2 of the paper: grow the trees number `tree`, tree + 1, ...

    Tree i has the nodes roots[i] to roots[i + 1].

    D (pool, pool), or empty for two branches and the distances of Tanimoto: dense (pool, m) are
    then the rows as bytes, and sums (pool,) their sums of squares. A tree needs few distances.

    A tree depends on (D, mix(key, its number)) alone: every decision is a hash
    of that key, a node and a row, where the root has number 0 and child k of node v has number
    b v + k + 1. The points of a tree are the max_samples rows with the smallest hashes, the
    seeds of a node the b points with the smallest, in that order. Ties go to a random one of
    the nearest seeds, and a seed belongs to its own cell. The points of a node are adjacent in
    `rows`. O(pool + max_samples b height).

    Workspace: hashes, rows, ordered (pool,), seeds, counts (b,), place (nodes, 3) for the first
    point, the depth and the number of a node; seed_hashes (b,), or None if b is 2, so that the
    code for more branches is not compiled.
    """
    node = 0
    for which in range(roots.shape[0] - 1):
        tree_key = mix(key, tree + which)
        subsample(mix(tree_key, _FIRST), max_samples, hashes, rows)
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
            if seed_hashes is None:
                _split_in_two(D, dense, sums, members, node_key, seeds, counts, ordered)
            else:
                _split(D, members, node_key, seed_hashes, seeds, counts, ordered)
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
def _split(D, members, node_key, hashes, seeds, counts, ordered):
    """The Voronoi partition of Algorithm 2: choose the seeds, order the members by cell, and count
    the members of each cell."""
    branching = seeds.shape[0]
    ends = np.empty(branching, np.int64)
    cell = np.empty(members.shape[0], np.uint32)
    _smallest_hashes(members, node_key, seeds, hashes)
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
def _pool_distance(D, dense, sums, i, j):
    """The distance of two rows of the pool; that of `sparse.one_minus_ratio` if D is empty."""
    if D.shape[0] > 0:
        return D[i, j]
    shared = np.int32(0)
    for c in range(dense.shape[1]):
        shared += np.int32(dense[i, c]) * np.int32(dense[j, c])
    both = np.float64(shared)
    union = sums[i] + sums[j] - both
    distance = 1.0 - (both / union if union > 0.0 else 0.0)
    return distance if distance > 0.0 else 0.0


@jit
def _split_in_two(D, dense, sums, members, node_key, seeds, counts, ordered):
    """`_split` for two seeds, in half the time: no loops over the seeds and hardly a branch."""
    first = second = np.uint64(0)
    lowest = next_lowest = ~np.uint64(0)
    for i in range(members.shape[0]):
        row = np.uint64(members[i])
        row_hash = mix(node_key, members[i])
        before = row_hash < lowest
        second = first if before else row if row_hash < next_lowest else second
        next_lowest = lowest if before else row_hash if row_hash < next_lowest else next_lowest
        first = row if before else first
        lowest = row_hash if before else lowest
    left = right = np.uint64(0)
    for i in range(members.shape[0]):
        row = np.uint64(members[i])
        # A seed belongs to its own cell, even if another seed is at the same place.
        one = -1.0 if row == first else _pool_distance(D, dense, sums, row, first)
        two = -1.0 if row == second else _pool_distance(D, dense, sums, row, second)
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
def subsample(key, max_samples, hashes, rows):
    """Write the `max_samples` rows with the smallest hashes, ascending, to the start of
    rows (pool,). hashes (pool,) is workspace. O(pool)."""
    for i in range(hashes.shape[0]):
        hashes[i] = mix(key, i)
    largest = selection_bound(hashes, hashes, max_samples, ~np.uint64(0), hashes.shape[0])
    count = np.uint64(0)
    for i in range(hashes.shape[0]):
        rows[count] = i
        count += np.uint64(hashes[i] <= largest)


@jit
def _smallest_hashes(members, key, seeds, hashes):
    """Write the members with the smallest hashes, ascending, to seeds."""
    count = 0
    for member in members:
        member_hash = mix(key, member)
        if count == seeds.shape[0] and member_hash >= hashes[count - 1]:
            continue
        at = count if count < seeds.shape[0] else count - 1
        while at > 0 and hashes[at - 1] > member_hash:
            hashes[at], seeds[at] = hashes[at - 1], seeds[at - 1]
            at -= 1
        hashes[at], seeds[at] = member_hash, member
        count += 1 if count < seeds.shape[0] else 0


@jit
def _cell_of(distances, row, seeds, node_key):
    """The seed whose cell a row belongs to while growing; distances (pool,) of the row."""
    nearest, at, tied = np.inf, 0, 0
    for k in range(seeds.shape[0]):
        # A seed belongs to its own cell, even if another seed is at the same place.
        distance = -1.0 if seeds[k] == row else distances[np.uint64(seeds[k])]
        tied = 1 if distance < nearest else tied + (distance == nearest)
        at = k if distance < nearest else at
        nearest = distance if distance < nearest else nearest
    if tied == 1:
        return at
    pick = below(mix(mix(node_key, row), _FIRST), tied)
    for k in range(seeds.shape[0]):
        if distances[np.uint64(seeds[k])] == nearest:
            if pick == 0:
                return k
            pick -= 1
    return at


@jit
def descend(D, roots, nodes, ends, branching, soft, node, active, length, out):
    """Algorithm 4 of the paper: path lengths out (rows, t).

    A path length is the length of the path plus the leaf's entry in ends (nodes,).

    D (rows, pool); nodes (nodes, 2) holds the first child, 0 for a leaf, and the seed. A tie goes
    to the first seed. An edge into the cell of a seed at distance tau counts 1, a soft one
    2 - tau, but 1 if the row equals the seed, which must not gain by it. O(rows t b height).
    A few rows descend a tree together, level by level: the tree stays in the cache, and the
    look-ups of different rows do not wait for each other. Workspace: node, active and length.
    """
    b = np.uint64(branching)
    for start in range(0, D.shape[0], length.shape[0]):
        distances = D[start : start + length.shape[0]]
        n = distances.shape[0]
        for tree in range(out.shape[1]):
            root = np.uint32(roots[tree])
            for i in range(n):
                node[i] = root
                active[i] = i
                length[i] = 0.0
            n_active = np.uint64(n if nodes[root, 0] > 0 else 0)
            while n_active > 0:
                kept = np.uint64(0)
                for a in range(n_active):
                    i = active[a]
                    first = np.uint64(nodes[node[i], 0])
                    # The first two children without a loop, which would take twice the time.
                    one, two = distances[i, nodes[first, 1]], distances[i, nodes[first + _ONE, 1]]
                    child = first + np.uint64(two < one)
                    nearest = two if two < one else one
                    for k in range(first + _TWO, first + b):
                        distance = distances[i, nodes[k, 1]]
                        child = k if distance < nearest else child
                        nearest = distance if distance < nearest else nearest
                    length[i] += 2.0 - nearest if soft and nearest > ZERO_DISTANCE else 1.0
                    node[i] = child
                    active[kept] = i
                    kept += np.uint64(nodes[child, 0] > 0)
                n_active = kept
            for i in range(n):
                out[start + i, tree] = length[i] + ends[node[i]]


@jit
def descend_two(
    table, row_sums, pool_sums, roots, nodes, ends, soft, distances, node, active, length, out
):
    """`descend` for two branches, in half the time.

    table (rows, pool): distances if row_sums is None; else what rows and pool share, from which
    the distance is 1 - shared / (row_sums + pool_sums - shared), as in `one_minus_ratio`.
    nodes (nodes, 4): the first child, its seed, the seed of the second child, and two bits that
    say which of the two have children. A row descends all trees together, level by level: its
    distances (pool,) stay in the first-level cache, and the look-ups of different trees do not
    wait for each other. Workspace: distances (pool,), node, active and length (t,).
    """
    for row in range(table.shape[0]):
        for j in range(table.shape[1]):
            if row_sums is None:
                distances[j] = table[row, j]
            else:
                both = np.float64(table[row, j])
                union = row_sums[row] + pool_sums[j] - both
                distance = 1.0 - (both / union if union > 0.0 else 0.0)
                distances[j] = distance if distance > 0.0 else 0.0
        n_active = np.uint64(0)
        for tree in range(out.shape[1]):
            node[tree] = roots[tree]
            length[tree] = 0.0
            active[n_active] = tree
            n_active += np.uint64(nodes[np.uint64(roots[tree]), 0] > 0)
        while n_active > 0:
            kept = np.uint64(0)
            for a in range(n_active):
                tree = active[a]
                at = node[tree]
                one, two = distances[nodes[at, 1]], distances[nodes[at, 2]]
                second = two < one
                nearest = two if second else one
                length[tree] += 2.0 - nearest if soft and nearest > ZERO_DISTANCE else 1.0
                node[tree] = nodes[at, 0] + np.uint32(second)
                active[kept] = tree
                kept += np.uint64((nodes[at, 3] >> np.uint32(second)) & np.uint32(1))
            n_active = kept
        for tree in range(out.shape[1]):
            out[row, tree] = length[tree] + ends[node[tree]]


@jit
def scores(lengths, normaliser, out):
    """out (rows,) = 2 ** (-mean path length / normaliser), summed in the order of the trees."""
    for i in range(lengths.shape[0]):
        total = 0.0
        for tree in range(lengths.shape[1]):
            total += lengths[i, tree]
        out[i] = 2.0 ** (-total / lengths.shape[1] / normaliser)


@jit
def descend_rows(
    indptr, indices, data, row_sums, slot, dense, column_max, starts, stops, rows, values,
    pool_sums, roots, nodes, ends, soft, at, value, short, shared, distances, node, active, length,
    out,
):  # fmt: skip
    """out (n, t): the path lengths of fixed-point rows in trees of two branches.

    As `dense_products` and `products` of all rows, and `descend_two` of what they share with the
    pool; but shared (1, pool) is one row, which stays in the cache. A table of all rows goes
    through the memory that all threads share. Workspace: as of these functions.
    """
    for i in range(out.shape[0]):
        for j in range(shared.shape[1]):
            shared[0, j] = 0
        entries, of_row = indptr[i : i + 2], slice(i, i + 1)
        dense_products(
            entries, indices, data, slot, dense, column_max, _ALL, at, value, short, shared
        )
        products(entries, indices, data, _ALL, starts, stops, rows, values, shared)
        descend_two(
            shared, row_sums[of_row], pool_sums, roots, nodes, ends, soft, distances, node, active,
            length, out[of_row],
        )  # fmt: skip
