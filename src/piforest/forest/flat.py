"""Trees as flat arrays, which are pickled, saved and sent to workers as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import trees as compiled
from .._random import Stream
from .._rows import NO_ROWS, DenseRows
from ..metrics.overlap import Products
from ..protocols import Floats
from .path_length import expected_depth, height_limit

_NO_NODES = np.empty(0, np.int32)
# Rows that descend a tree together: enough to hide the latency of look-ups, few enough that their
# distances stay in the cache.
_ROWS_TOGETHER = 32


@dataclass(frozen=True)
class FlatForest:
    """PI-Trees of `max_samples` pool points each, with `branching` seeds per node.

    Tree i has the nodes roots[i] to roots[i + 1]. `first_child` is relative to the root, so that
    concatenating the arrays joins forests.
    """

    max_samples: int
    branching: int
    roots: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    first_child: NDArray[np.int32] = field(default_factory=lambda: _NO_NODES)
    seed: NDArray[np.int32] = field(default_factory=lambda: _NO_NODES)
    size: NDArray[np.int32] = field(default_factory=lambda: _NO_NODES)
    soft: bool = field(default=False, kw_only=True)
    """Whether an edge counts 2 - distance to the seed, instead of 1."""

    def __len__(self) -> int:
        return len(self.roots) - 1

    @property
    def height_limit(self) -> int:
        """The maximum depth of a tree."""
        return height_limit(self.max_samples, self.branching)

    @cached_property
    def depths(self) -> Floats:
        """c_b(0 .. psi)."""
        return expected_depth(self.max_samples, self.branching)

    @property
    def normaliser(self) -> float:
        """c_b(psi); twice that if an edge counts up to 2."""
        return float(self.depths[-1]) * (2 if self.soft else 1)

    def grow(
        self, D: Floats | None, stream: Stream, trees: range, rows: DenseRows | None = None
    ) -> FlatForest:
        """Grow these trees only; tree i depends on (D, stream, i). rows: if D is None, the pool for
        the distances of Tanimoto."""
        splits = (self.max_samples - 1) // (self.branching - 1)
        max_nodes = len(trees) * (1 + self.branching * splits)
        roots = np.empty(len(trees) + 1, np.int64)
        nodes = first_child, seed, size = tuple(np.empty(max_nodes, np.int32) for _ in range(3))
        D = np.empty((0, 0)) if D is None else D
        dense, sums = NO_ROWS if rows is None else rows
        b, pool = self.branching, max(len(D), len(dense))
        compiled.grow_trees(
            D, dense, sums, np.uint64(stream.key), trees.start, self.max_samples, b,
            self.height_limit, None if b == 2 else np.empty(b, np.uint64),
            np.empty(pool, np.uint64), np.empty(pool, np.int64), np.empty(pool, np.int64),
            np.empty(b, np.int64), np.empty(b, np.int64), np.empty((max_nodes, 3), np.int64),
            roots, first_child, seed, size,
        )  # fmt: skip
        grown = (array[: roots[-1]].copy() for array in nodes)
        return FlatForest(self.max_samples, self.branching, roots, *grown, soft=self.soft)

    def path_lengths(self, D: Floats) -> Floats:
        """Path lengths (rows, t) from distances D (rows, pool)."""
        if self.branching == 2:
            return self._descend_two(D, None, None)
        out = np.empty((len(D), len(self)))
        ends = self.depths[self.size]
        node, active = np.empty((2, _ROWS_TOGETHER), np.uint32)
        compiled.descend(
            D, self.roots, self._nodes, ends, self.branching, self.soft, node, active,
            np.empty(_ROWS_TOGETHER), out,
        )  # fmt: skip
        return out

    def path_lengths_of(self, shared: NDArray[Any], rows: Floats, pool: Floats) -> Floats:
        """Path lengths (rows, t), for two branches, from what rows and pool share (rows, pool) and
        the sums of each: the distances 1 - shared / (rows + pool - shared) are not stored."""
        return self._descend_two(shared, rows, pool)

    def path_lengths_of_rows(self, products: Products) -> Floats:
        """`path_lengths_of` the intersections of rows and pool, which are never all in memory."""
        rows, row_sums, index, pool_sums = products
        t, pool, size = len(self), len(pool_sums), rows.n_columns + 3
        out, (node, active) = np.empty((len(rows), t)), np.empty((2, t), np.uint32)
        compiled.descend_rows(
            rows.indptr, rows.indices, rows.data, row_sums, index.slot, index.dense,
            index.column_max, index.ends[:-1], index.ends[1:], index.rows, index.values, pool_sums,
            self.roots, self._pairs, self.depths[self.size], self.soft,
            np.empty(size, np.int64), np.empty(size, np.uint16), np.zeros(pool, np.uint16),
            np.empty((1, pool), np.int32), np.empty(pool), node, active, np.empty(t), out,
        )  # fmt: skip
        return out

    def _descend_two(self, table: NDArray[Any], rows: Any, pool: Any) -> Floats:
        t = len(self)
        out, ends = np.empty((len(table), t)), self.depths[self.size]
        node, active = np.empty((2, t), np.uint32)
        compiled.descend_two(
            table, rows, pool, self.roots, self._pairs, ends, self.soft,
            np.empty(table.shape[1]), node, active, np.empty(t), out,
        )  # fmt: skip
        return out

    @cached_property
    def children(self) -> NDArray[np.int64]:
        """`first_child` as an index into the nodes of all trees."""
        roots = np.repeat(self.roots[:-1], np.diff(self.roots))
        return np.where(self.first_child >= 0, roots + self.first_child, -1)

    @cached_property
    def _nodes(self) -> NDArray[np.uint32]:
        """(nodes, 2): the index of the first child, 0 for a leaf, and the seed; adjacent, so that
        one memory access reads both."""
        return np.stack([self.children, self.seed], axis=1).clip(0).astype(np.uint32)

    @cached_property
    def _pairs(self) -> NDArray[np.uint32]:
        """(nodes, 4): the index of the first of two children, 0 for a leaf; the seeds of the two;
        bits 0 and 1 for children that have children."""
        pairs, first = np.zeros((len(self.seed), 4), np.uint32), self.children
        inner = np.flatnonzero(first >= 0)
        pairs[inner, 0] = first[inner]
        for k in (0, 1):
            child = first[inner] + k
            pairs[inner, 1 + k] = self.seed[child]
            pairs[inner, 3] |= np.where(first[child] >= 0, np.uint32(1 + k), np.uint32(0))
        return pairs

    def is_valid(self, pool: int) -> bool:
        """Whether all indices are in range and every path ends; for trees read from a file.

        Types must match exactly, and numbers are compared, not subtracted, to avoid overflow.
        """
        arrays = (self.first_child, self.seed, self.size)
        roots, nodes = self.roots, len(self.first_child)
        if not (
            roots.ndim == 1
            and roots.dtype == np.int64
            and all(array.shape == (nodes,) and array.dtype == np.int32 for array in arrays)
            and 2 <= self.branching <= self.max_samples <= pool
            and len(roots) > 1
            and roots[0] == 0
            and roots[-1] == nodes
            and (roots[1:] > roots[:-1]).all()
        ):
            return False
        tree_sizes = np.diff(roots)
        # Children follow their parent in the same tree, so every path ends.
        position = np.arange(nodes) - np.repeat(roots[:-1], tree_sizes)
        end, inner = np.repeat(tree_sizes, tree_sizes), self.first_child >= 0
        last = self.first_child.astype(np.int64) + self.branching
        return bool(
            (self.first_child[inner] > position[inner]).all()
            and (last[inner] <= end[inner]).all()
            and ((self.seed >= 0) & (self.seed < pool) | (position == 0)).all()
            and ((self.size >= 0) & (self.size <= self.max_samples)).all()
        )


def join(forests: Sequence[FlatForest]) -> FlatForest:
    """All trees of all forests, in order."""
    nodes = np.concatenate([np.diff(forest.roots) for forest in forests])
    return FlatForest(
        forests[0].max_samples,
        forests[0].branching,
        np.concatenate([[0], np.cumsum(nodes)]).astype(np.int64),
        np.concatenate([forest.first_child for forest in forests]),
        np.concatenate([forest.seed for forest in forests]),
        np.concatenate([forest.size for forest in forests]),
        soft=forests[0].soft,
    )
