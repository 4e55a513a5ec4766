"""One tree of the extended isolation forest: random hyperplanes, level by level."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import mix
from .trees import subsample

_S11 = np.uint64(11)


@jit
def _unit(word):
    """A number in (0, 1) from a word."""
    return (np.float64(word >> _S11) + 0.5) * 2.0**-53


@jit
def _normal(key):
    """A standard normal number from a key (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log(_unit(mix(key, 0))))
    return radius * np.cos(2.0 * np.pi * _unit(mix(key, 1)))


@jit
def isolate(indptr, indices, data, n_columns, key, max_samples, limit, depths, lengths):
    """Add the path length of every row in one tree to lengths (n,).

    Rows are CSR. All rows descend together while the tree's own max_samples rows
    decide where it splits: a node's hyperplane has a normal direction and goes
    through a uniform point of the box around its rows. Words of (key, node, column)
    give both; a normal is drawn where a row needs it. O(height (entries + nodes d)).
    """
    n = indptr.shape[0] - 1
    own = np.zeros(n, np.bool_)
    own[subsample(n, mix(key, 0), max_samples)] = True
    node = np.zeros(n, np.int64)  # -1: has arrived
    size = np.array([max_samples])
    number = np.zeros(1, np.int64)
    for depth in range(limit + 1):
        splits = np.full(size.shape[0], -1, np.int64)
        active = 0
        for a in range(size.shape[0]):
            if size[a] > 1 and depth < limit:
                splits[a] = active
                active += 1
        for i in range(n):
            if node[i] >= 0 and splits[node[i]] < 0:
                lengths[i] += depth + depths[size[node[i]]]
                node[i] = -1
        if active == 0:
            return
        keys = np.empty(active, np.uint64)
        numbers = np.empty(active, np.int64)
        sizes = np.empty(active, np.int64)
        for a in range(size.shape[0]):
            if splits[a] >= 0:
                numbers[splits[a]] = number[a]
                keys[splits[a]] = mix(mix(key, 1), number[a])
                sizes[splits[a]] = size[a]
        for i in range(n):
            if node[i] >= 0:
                node[i] = splits[node[i]]
        normals = np.full((active, n_columns), np.nan)
        for i in range(n):
            if node[i] >= 0:
                for e in range(indptr[i], indptr[i + 1]):
                    j = np.int64(indices[e])
                    if np.isnan(normals[node[i], j]):
                        normals[node[i], j] = _normal(mix(keys[node[i]], 2 * j))
        offsets = _offsets(indptr, indices, data, own, node, keys, sizes, normals)
        size = np.zeros(2 * active, np.int64)
        number = np.empty(2 * active, np.int64)
        for a in range(active):
            number[2 * a], number[2 * a + 1] = 2 * numbers[a] + 1, 2 * numbers[a] + 2
        for i in range(n):
            if node[i] >= 0:
                side = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    side += data[e] * normals[node[i], np.int64(indices[e])]
                node[i] = 2 * node[i] + (1 if side > offsets[node[i]] else 0)
                if own[i]:
                    size[node[i]] += 1


@jit
def _offsets(indptr, indices, data, own, node, keys, sizes, normals):
    """<normal, point> for a uniform point of the box around each node's own rows."""
    low = np.full(normals.shape, np.inf)
    high = np.full(normals.shape, -np.inf)
    count = np.zeros(normals.shape, np.int64)
    for i in range(node.shape[0]):
        if node[i] >= 0 and own[i]:
            for e in range(indptr[i], indptr[i + 1]):
                a, j = node[i], np.int64(indices[e])
                low[a, j] = min(low[a, j], data[e])
                high[a, j] = max(high[a, j], data[e])
                count[a, j] += 1
    offsets = np.zeros(keys.shape[0])
    for a in range(keys.shape[0]):
        for j in range(normals.shape[1]):
            if count[a, j] > 0:
                least, most = low[a, j], high[a, j]
                if count[a, j] < sizes[a]:  # rows without an entry have a zero there
                    least, most = min(least, 0.0), max(most, 0.0)
                point = least + _unit(mix(keys[a], 2 * j + 1)) * (most - least)
                offsets[a] += point * normals[a, j]
    return offsets
