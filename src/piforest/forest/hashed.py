"""Trees that hash rows to children in place of measuring distances (RuzHash).

Two rows go to the same child with probability R + (1 - R) / b, where R is their Ruzicka similarity
and b the branching: no distance is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._kernels import hashing, trees
from .._random import Stream
from .._rows import SparseRows
from ..metrics import METRICS
from ..protocols import Floats
from .path_length import expected_depth, height_limit

# Rows that a thread scores at a time.
_BLOCK_ROWS = 256


@dataclass(frozen=True)
class HashedTrees:
    """Trees of `max_samples` pool points each, with `branching` children per node and one leaf for
    rows that exceed no threshold. Tree i has the nodes roots[i] to roots[i + 1]."""

    max_samples: int
    branching: int
    key: int = 0
    """of the hashes of all trees"""
    top: float = 1.0
    """the value that exceeds every threshold: the largest of the pool"""
    roots: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    nodes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """one word each, see `piforest._kernels.hashing`"""

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
        """c_b(psi)."""
        return float(self.depths[-1])

    @cached_property
    def first_child(self) -> NDArray[np.int64]:
        """The first child of each node relative to the root, 0 for a leaf."""
        return (self.nodes >> np.uint64(32)).astype(np.int64)

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """The number of points of each node."""
        return (self.nodes & np.uint64(2**32 - 1)).astype(np.int64)

    def bounds(self, rows: SparseRows) -> NDArray[np.uint32]:
        """For each entry the largest threshold, of 2**32 equally likely ones, that it exceeds.

        In fixed point, entry k exceeds k of `top` equally likely steps: the product is a whole
        number, and its quotient is rounded up without error.
        """
        if rows.exact:
            steps = np.arange(128, dtype=np.uint64) << np.uint64(32)
            top = np.uint64(int(self.top))
            table = np.minimum((steps + top - np.uint64(1)) // top, np.uint64(2**32))
            table[1:] -= np.uint64(1)  # row 0 is never used: no stored entry is 0
            return np.asarray(table.astype(np.uint32)[rows.data])
        share = np.minimum(rows.data / self.top, 1.0) * 2.0**32
        return np.asarray(np.maximum(np.ceil(share) - 1, 0), np.uint32)

    def grow(self, rows: SparseRows, bounds: NDArray[np.uint32], numbers: range) -> HashedTrees:
        """Grow these trees only; tree i depends on (rows, key, i)."""
        b, limit, pool = self.branching, self.height_limit, len(rows)
        # In each level, every node that is split has at least b points.
        max_nodes = 1 + (b + 1) * limit * (self.max_samples // b)
        hashes = np.empty(pool, np.uint64)
        members, ordered, child = np.empty((3, pool), np.int64)
        counts, place = np.empty(b + 1, np.int64), np.empty((max_nodes, 2), np.int64)
        nodes, grown = np.empty(max_nodes, np.uint64), []
        for number in numbers:
            n_nodes = hashing.grow_tree(
                rows.indptr, rows.indices, bounds, np.uint64(Stream(self.key).child(number).key),
                self.max_samples, b, limit, hashes, members, ordered, child, counts, place, nodes,
            )  # fmt: skip
            grown.append(nodes[:n_nodes].copy())
        roots = np.concatenate([[0], np.cumsum([len(tree) for tree in grown])]).astype(np.int64)
        return replace(self, roots=roots, nodes=np.concatenate(grown))

    def path_lengths(self, rows: SparseRows) -> Floats:
        """Path lengths (rows, t)."""
        out = np.empty((len(rows), len(self)))
        hashing.descend(
            rows.indptr, rows.indices, self.bounds(rows), np.uint64(self.key), self.roots,
            self.nodes, self.depths, self.branching, out,
        )  # fmt: skip
        return out

    def is_valid(self, pool: int) -> bool:
        """Whether all indices are in range and every path ends; for trees read from a file."""
        roots, nodes = self.roots, self.nodes
        if not (
            roots.ndim == nodes.ndim == 1
            and roots.dtype == np.int64
            and nodes.dtype == np.uint64
            and 2 <= self.branching <= self.max_samples <= pool
            and len(roots) > 1
            and roots[0] == 0
            and roots[-1] == len(nodes)
            and (roots[1:] > roots[:-1]).all()
        ):
            return False
        tree_sizes = np.diff(roots)
        position = np.arange(len(nodes)) - np.repeat(roots[:-1], tree_sizes)
        end, inner = np.repeat(tree_sizes, tree_sizes), self.first_child > 0
        last = self.first_child + self.branching + 1
        return bool(
            # Children follow their parent in the same tree, so every path ends.
            (self.first_child[inner] > position[inner]).all()
            and (last[inner] <= end[inner]).all()
            and (self.size <= self.max_samples).all()
        )


def join(parts: list[HashedTrees]) -> HashedTrees:
    """All trees of all parts, in order."""
    counts = np.concatenate([np.diff(part.roots) for part in parts])
    roots = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return replace(parts[0], roots=roots, nodes=np.concatenate([part.nodes for part in parts]))


class HashedForest:
    """Computes path lengths and scores of rows by hashing them.

    As in `PooledForest`, the path length of a row without entries is 1 in every tree.
    """

    def __init__(self, pool: SparseRows, trees: HashedTrees) -> None:
        self.metric = METRICS.get("ruzicka")
        self.pool = pool
        self.trees = trees

    def __reduce__(self) -> tuple[Any, ...]:
        return HashedForest, (self.pool, self.trees)

    @classmethod
    def grow(
        cls, pool: Any, empty: HashedTrees, n_trees: int, stream: Stream, n_jobs: int | None
    ) -> HashedForest:
        """Grow a forest of the pool; the result does not depend on n_jobs."""
        rows: SparseRows = METRICS.get("ruzicka").rows(pool)
        top = float(rows.data.max(initial=0)) or 1.0
        shape = replace(empty, key=stream.key, top=top)
        bounds = shape.bounds(rows)
        parts = min(effective_n_jobs(n_jobs), n_trees)
        cuts = [n_trees * k // parts for k in range(parts + 1)]
        grown = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(shape.grow)(rows, bounds, range(cuts[k], cuts[k + 1])) for k in range(parts)
        )
        return cls(rows, join(list(grown)))

    def rows_of(self, X: Any) -> SparseRows:
        """X as sparse rows."""
        rows: SparseRows = self.metric.rows(X)
        return rows

    def prepare(self) -> None:
        """Compute what all threads share."""
        _ = self.trees.depths

    @property
    def block_rows(self) -> int:
        """The number of rows to score at a time."""
        return _BLOCK_ROWS

    def path_lengths(self, rows: SparseRows) -> Floats:
        """(rows, t)."""
        lengths = self.trees.path_lengths(rows)
        lengths[rows.counts == 0] = 1.0
        return lengths

    def scores(self, rows: SparseRows) -> Floats:
        """(rows,) anomaly scores in (0, 1]."""
        lengths = self.path_lengths(rows)
        out = np.empty(len(lengths))
        trees.scores(lengths, self.trees.normaliser, out)
        return out

    def ceiling(self) -> float:
        """The score of a row that exceeds no threshold in any tree, as one without entries: rows
        with few small entries come near it, so that there is no gap below it."""
        return float(2.0 ** (-1 / self.trees.normaliser))
