"""The hashing forest, with rows as dicts from column to a share of the largest value as a fraction,
so that thresholds are compared without rounding."""

from __future__ import annotations

from fractions import Fraction

from piforest._random import below, mix

from .forest import c, height_limit, subsample


def shares(row, top):
    """A row of a table as a dict: the share of the largest value for each entry above 0."""
    return {
        j: min(Fraction(float(value)) / Fraction(float(top)), Fraction(1))
        for j, value in enumerate(row)
        if value > 0
    }


def child(row, node_key, b):
    """The label of the column of lowest rank whose share exceeds its threshold; b if none does."""
    exceeded = []
    for column, share in row.items():
        word = int(mix(node_key, column))
        rank, threshold = word >> 32, Fraction(word % 2**32, 2**32)
        if share > threshold:
            exceeded.append((rank, word))
    if not exceeded:
        return b
    return int(below(mix(min(exceeded)[1], 0), b))


def hashed_tree(rows, key, psi, b):
    """Nodes by their number, breadth first: (depth, rows, first child or 0)."""
    limit, sinks = height_limit(psi, b), set()
    nodes, at = [(0, subsample(key, len(rows), psi), 0)], 0
    while at < len(nodes):
        depth, members, _ = nodes[at]
        if len(members) >= b and depth < limit and at not in sinks:
            parts = [[] for _ in range(b + 1)]
            for i in members:
                parts[child(rows[i], mix(mix(key, 1), at), b)].append(i)
            nodes[at] = depth, members, len(nodes)
            nodes += [(depth + 1, part, 0) for part in parts]
            sinks.add(len(nodes) - 1)
        at += 1
    return nodes, sinks


def hashed_length(row, tree, key, b):
    """The path length of a row; 1 if it has no entries."""
    if not row:
        return 1.0
    (nodes, sinks), at = tree, 0
    while nodes[at][2]:
        at = nodes[at][2] + child(row, mix(mix(key, 1), at), b)
    depth, members, _ = nodes[at]
    return float(depth) if at in sinks else depth + c(len(members), b)
