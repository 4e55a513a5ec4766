"""One tree of the extended isolation forest: random hyperplanes."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .jit import jit
from .random import mix
from .trees import subsample

# 65,536 quantiles of the standard normal distribution, in units of 1 / SCALE. Integers, because
# their products with fixed-point rows are summed exactly in any order and so can be vectorised.
SCALE = 1024
NORMALS = np.round(SCALE * ndtri((np.arange(2**16) + 0.5) / 2**16)).astype(np.int16)

_S16, _LOW16 = np.uint64(16), np.uint64(0xFFFF)


@jit
def isolate(X, key, max_samples, limit, depths, table, lengths):
    """Fill lengths (n,) with the path length of every row of X (n, d) in one tree.

    X is int8 (fixed point) or float64. All rows descend together; only the max_samples rows
    of the tree decide its splits. The hyperplane of a node has a normally distributed
    direction and passes through a uniform point of the bounding box of the node's sampled
    rows. Hashes of (key, node, column // 4) give both, 16 bits per column.
    O(height n d + nodes d).
    """
    n, d = X.shape
    sampled = np.zeros(n, np.bool_)
    rows, above = np.empty(n, np.int64), np.empty(n, np.int64)
    subsample(mix(key, 0), max_samples, np.empty(n, np.uint64), rows)
    sampled[rows[:max_samples]] = True
    for i in range(n):
        rows[i] = i
    normal, low, high = np.empty(d, np.int16), np.empty(d, X.dtype), np.empty(d, X.dtype)
    # Stack of (start, stop, depth, number); the children of node i are 2 i + 1 and 2 i + 2.
    nodes = [(0, n, 0, 0)]
    while len(nodes) > 0:
        start, stop, depth, number = nodes.pop()
        size = 0
        for i in rows[start:stop]:
            size += sampled[i]
        if size <= 1 or depth == limit:
            for i in rows[start:stop]:
                lengths[i] = depth + depths[size]
            continue
        node_key = mix(mix(key, 1), number)
        _draw_normal(node_key, table, normal)
        first = True
        for i in rows[start:stop]:
            if sampled[i]:
                for j in range(d):
                    low[j] = X[i, j] if first else min(low[j], X[i, j])
                    high[j] = X[i, j] if first else max(high[j], X[i, j])
                first = False
        offset = _offset(node_key, normal, low, high)
        middle, n_above = start, 0
        for position in range(start, stop):
            i = rows[position]
            if _product(X[i], normal) > offset:
                above[n_above] = i
                n_above += 1
            else:
                rows[middle] = i
                middle += 1
        rows[middle:stop] = above[:n_above]
        nodes.append((start, middle, depth + 1, 2 * number + 1))
        nodes.append((middle, stop, depth + 1, 2 * number + 2))


@jit
def _draw_normal(node_key, table, normal):
    bits = np.uint64(0)
    for j in range(normal.shape[0]):
        bits = mix(node_key, j // 2) if j % 4 == 0 else bits >> _S16
        normal[j] = table[bits & _LOW16]


@jit
def _offset(node_key, normal, low, high):
    """<normal, point> for a uniform point of the box."""
    bits, offset = np.uint64(0), 0.0
    for j in range(normal.shape[0]):
        bits = mix(node_key, j // 2 + 1) if j % 4 == 0 else bits >> _S16
        share = (np.float64(bits & _LOW16) + 0.5) / 65536.0
        lowest, highest = np.float64(low[j]), np.float64(high[j])
        offset += (lowest + share * (highest - lowest)) * np.float64(normal[j])
    return offset


@jit
def _product(row, normal):
    total = row[0] * np.int64(0)  # int64 for int8 rows, float64 for float64 rows
    for j in range(row.shape[0]):
        total += row[j] * np.int32(normal[j])
    return total
