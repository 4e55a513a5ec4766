"""The forest of a stream from its definition: lists of rows, and cells that are sets of rows."""

from __future__ import annotations

import numpy as np

from piforest._random import Stream, choose, mix
from piforest.forest.path_length import expected_depth
from piforest.models.membership import sample_membership
from piforest.preferences import Gaussian, Preferences

from .forest import _growing_cell, height_limit, subsample
from .metrics import tanimoto


class NaiveStream:
    """Scores rows, then learns them, with the models that it is given at each renewal.

    A leaf is the set of the rows in it, so that counts need no bookkeeping.
    """

    def __init__(self, window, n_trees, max_samples, pool, key):
        self.window, self.n_trees, self.max_samples = window, n_trees, max_samples
        self.pool_size, self.key = pool, key
        self.rows = {}
        self.n_seen, self.trees = 0, None

    def pass_row(self, x):
        """The score of a row, which is then learned; NaN before the first renewal."""
        score, paths = self._score(x)
        number, oldest = self.n_seen, self.n_seen - self.window
        if self.trees is not None:
            for tree, leaf in zip(self.leaves, paths):
                for cell in tree:
                    if oldest in cell:
                        cell.remove(oldest)
                        if leaf is not None:
                            leaf.add(number)
                        break
        self.rows.pop(oldest, None)
        self.rows[number] = x
        self.n_seen += 1
        return score

    def forget(self, n):
        for number in sorted(self.rows)[:n]:
            del self.rows[number]
            for tree in self.leaves:
                for cell in tree:
                    cell.discard(number)

    def renew(self, models):
        """Grow new trees from a sample of the window."""
        stream = Stream(self.key).child("renewal", self.n_seen)
        numbers = np.array(sorted(self.rows))
        numbers = numbers[choose(stream.child("pool"), len(numbers), self.pool_size)]
        self.preferences = Preferences([models], Gaussian(), sample_membership([models]))
        self.pool = np.array([self._bytes(self.rows[number]) for number in numbers])
        D = np.array([[tanimoto(a, b) for b in self.pool] for a in self.pool])
        self.psi = min(self.max_samples, len(D))
        self.trees, self.leaves = [], []
        for tree in range(self.n_trees):
            key, leaves = stream.child("trees", tree).key, []
            points = subsample(key, len(D), self.psi)
            self.trees.append(self._tree(D, points, 0, key, 0, numbers, leaves))
            self.leaves.append(leaves)

    def _tree(self, D, points, depth, key, node, numbers, leaves):
        """Algorithm 2 with two seeds; a leaf is the set of the numbers of its rows."""
        if depth >= height_limit(self.psi, 2) or len(points) < 2:
            leaves.append({int(numbers[row]) for row in points})
            return leaves[-1]
        node_key = mix(mix(key, 1), node)
        seeds = [row for _, row in sorted((int(mix(node_key, row)), row) for row in points)[:2]]
        cells = [[], []]
        for row in points:
            cells[_growing_cell(D, row, seeds, node_key)].append(row)
        return seeds, [
            self._tree(D, cell, depth + 1, key, 2 * node + k + 1, numbers, leaves)
            for k, cell in enumerate(cells)
        ]

    def _bytes(self, x):
        rows = self.preferences.rows_of(np.array([x]))
        dense = np.zeros(rows.n_columns, np.int64)
        dense[rows.indices] = rows.data
        return dense

    def _score(self, x):
        if self.trees is None:
            return np.nan, None
        row, c = self._bytes(x), expected_depth(self.psi, 2)
        if not row.any():
            return 2.0 ** (-1.0 / (2 * c[-1])), [None] * self.n_trees
        distances, paths, total = [tanimoto(row, other) for other in self.pool], [], 0.0
        for tree in self.trees:
            length = 0.0
            while isinstance(tree, tuple):
                seeds, children = tree
                one, two = (distances[seed] for seed in seeds)
                nearest, tree = (two, children[1]) if two < one else (one, children[0])
                length += 2.0 - nearest if nearest > 1e-6 else 1.0
            paths.append(tree)
            total += length + c[len(tree)]
        return 2.0 ** (-total / self.n_trees / (2 * c[-1])), paths
