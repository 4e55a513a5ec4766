"""One tree of the extended isolation forest: random hyperplanes."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .jit import jit
from .random import mix
from .trees import subsample

# Standard normal numbers in steps of 1 / SCALE: the 65,536 quantiles, one for each 16 bits.
# Integers, since their sums with fixed-point rows are exact in any order and so vectorise.
SCALE = 1024
NORMALS = np.round(SCALE * ndtri((np.arange(2**16) + 0.5) / 2**16)).astype(np.int16)

_S16, _LOW16 = np.uint64(16), np.uint64(0xFFFF)


@jit
def isolate(X, key, max_samples, limit, depths, table, lengths):
    """Fill lengths (n,) with the path length of every row of X (n, d) in one tree.

    X is int8 (fixed point) or float64. All rows go down together while the tree's
    own max_samples rows decide where it splits: a node's hyperplane has a normal
    direction and goes through a uniform point of the box around its own rows. Words
    of (key, node, column // 4) give both, 16 bits a column. O(height n d + nodes d).
    """
    n, d = X.shape
    own = np.zeros(n, np.bool_)
    rows, aside = np.empty(n, np.int64), np.empty(n, np.int64)
    subsample(mix(key, 0), max_samples, np.empty(n, np.uint64), rows)
    own[rows[:max_samples]] = True
    for i in range(n):
        rows[i] = i
    normal, low, high = np.empty(d, np.int16), np.empty(d, X.dtype), np.empty(d, X.dtype)
    # Nodes to visit: (first row, end, depth, number); a node's children are 2 i + 1 and 2 i + 2.
    nodes = [(0, n, 0, 0)]
    while len(nodes) > 0:
        start, stop, depth, number = nodes.pop()
        size = 0
        for i in rows[start:stop]:
            size += own[i]
        if size <= 1 or depth == limit:
            for i in rows[start:stop]:
                lengths[i] = depth + depths[size]
            continue
        node_key = mix(mix(key, 1), number)
        _draw_normal(node_key, table, normal)
        first = True
        for i in rows[start:stop]:
            if own[i]:
                for j in range(d):
                    low[j] = X[i, j] if first else min(low[j], X[i, j])
                    high[j] = X[i, j] if first else max(high[j], X[i, j])
                first = False
        offset = _offset(node_key, normal, low, high)
        middle, above = start, 0
        for at in range(start, stop):
            i = rows[at]
            if _product(X[i], normal) > offset:
                aside[above] = i
                above += 1
            else:
                rows[middle] = i
                middle += 1
        rows[middle:stop] = aside[:above]
        nodes.append((start, middle, depth + 1, 2 * number + 1))
        nodes.append((middle, stop, depth + 1, 2 * number + 2))


@jit
def _draw_normal(node_key, table, normal):
    word = np.uint64(0)
    for j in range(normal.shape[0]):
        word = mix(node_key, j // 2) if j % 4 == 0 else word >> _S16
        normal[j] = table[word & _LOW16]


@jit
def _offset(node_key, normal, low, high):
    """<normal, point> for a uniform point of the box."""
    word, offset = np.uint64(0), 0.0
    for j in range(normal.shape[0]):
        word = mix(node_key, j // 2 + 1) if j % 4 == 0 else word >> _S16
        share = (np.float64(word & _LOW16) + 0.5) / 65536.0
        least, most = np.float64(low[j]), np.float64(high[j])
        offset += (least + share * (most - least)) * np.float64(normal[j])
    return offset


@jit
def _product(row, normal):
    total = row[0] * np.int64(0)  # int64 for bytes, float64 for numbers
    for j in range(row.shape[0]):
        total += row[j] * np.int32(normal[j])
    return total
