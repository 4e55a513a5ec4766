"""The forest of a stream: Voronoi cells whose counts follow the window between two renewals.

The trees are grown from a pool, which is a sample of the window, as in a fit. A row that comes
takes the place of the row that leaves the window: in every tree that the older row was a point of,
one count goes down and one goes up. Rows remember their leaves, so that forgetting needs no
distances. The seeds stay until the next renewal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import streams as compiled
from .._kernels.sparse import mirror
from .._random import Stream
from .._rows import NO_ROWS
from ..forest import FlatForest, PooledForest
from ..forest.pooled import empty_rows
from ..metrics import resolve_metric
from ..models.drawing import ModelSet
from ..models.membership import sample_membership
from ..preferences import Gaussian, Preferences
from ..protocols import Floats, Ints

_BRANCHING = 2


class Cells:
    """A forest with live counts.

    Parameters are the models, the pool (p, d) with the numbers of its rows in the stream, the
    number of trees, the number of points of a tree, and a random stream: the forest depends on
    nothing else.
    """

    def __init__(
        self,
        models: ModelSet,
        pool: Floats,
        numbers: Ints,
        n_trees: int,
        max_samples: int,
        stream: Stream,
    ) -> None:
        self.models, self.pool, self.numbers = models, pool, numbers
        self.preferences = Preferences([models], Gaussian(), sample_membership([models]))
        self.metric = resolve_metric("tanimoto")
        self.forest, self.leaves = self._grow(n_trees, min(max_samples, len(pool)), stream)
        self.size = self.forest.trees.size.astype(np.int32)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # joblib may load arrays that cannot be written to.
        self.__dict__.update(state)
        self.size, self.leaves = np.array(self.size), np.array(self.leaves)

    def _grow(
        self, n_trees: int, size: int, stream: Stream
    ) -> tuple[PooledForest, NDArray[np.int32]]:
        """The forest, and the leaf of each pool row in each tree, -1 for none."""
        rows = self.preferences.rows_of(self.pool)
        empty = FlatForest(size, _BRANCHING, soft=True)
        pooled = PooledForest(self.metric, self.metric.rows(rows), empty)  # type: ignore[attr-defined]
        D = _within_pool(pooled)
        n, max_nodes = len(D), n_trees * (2 * size - 1)
        roots = np.empty(n_trees + 1, np.int64)
        nodes = tuple(np.empty(max_nodes, np.int32) for _ in range(3))
        leaves = np.empty((n, n_trees), np.int32)
        compiled.grow_with_leaves(
            D, *NO_ROWS, np.uint64(stream.key), size, empty.height_limit, np.empty(n, np.uint64),
            np.empty(n, np.int64), np.empty(n, np.int64), np.empty(2, np.int64),
            np.empty(2, np.int64), np.empty((max_nodes, 3), np.int64), np.empty(2, np.int64),
            roots, *nodes, leaves,
        )  # fmt: skip
        trees = FlatForest(
            size, _BRANCHING, roots, *(each[: roots[-1]].copy() for each in nodes), soft=True
        )
        return PooledForest(self.metric, pooled.pool, trees, pooled._index), leaves

    def scores(self, X: Floats, numbers: Ints | None = None, capacity: int = 1) -> Floats:
        """(n,) anomaly scores of the rows X with the counts of now.

        numbers (n,) of the rows, if they come into a window of this capacity: each row is then
        counted in place of the row that is `capacity` older, after it was scored.
        """
        out = np.empty(len(X))
        trees, step = self.forest.trees, self.forest.block_rows
        path = np.empty(len(trees), np.int32)
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            rows = self.metric.rows(self.preferences.rows_of(X[block]))  # type: ignore[attr-defined]
            places = np.full(len(rows), -1)
            if numbers is not None:
                places = self._places(numbers[block] - capacity)
            compiled.pass_rows(
                self.forest.table(rows), empty_rows(self.metric, rows), places, trees.roots,
                trees._nodes, trees.depths, self.size, self.leaves, trees.normaliser, path,
                out[block],
            )  # fmt: skip
        return out

    def forget(self, numbers: Ints) -> None:
        """Count these rows no more."""
        nowhere = np.full(self.leaves.shape[1], -1, np.int32)
        for place in self._places(numbers):
            if place >= 0:
                compiled.replace_row(place, nowhere, self.size, self.leaves)

    def _places(self, numbers: Ints) -> Ints:
        """The places of these rows in the pool; -1 for rows that are not in it."""
        at = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[at] == numbers, at, -1)

    def counts_from(self, leaves: NDArray[np.int32]) -> bool:
        """Take the leaves of a saved state, and the counts that follow from them; False if these
        are not leaves of the trees."""
        trees = self.forest.trees
        first, last = trees.roots[:-1], trees.roots[1:]
        inside = (leaves >= first) & (leaves < last)
        if not (inside | (leaves == -1)).all() or (trees.first_child[leaves[inside]] >= 0).any():
            return False
        counts = np.bincount(leaves[inside], minlength=len(self.size))
        self.size = np.where(trees.first_child < 0, counts, trees.size).astype(np.int32)
        self.leaves = leaves.copy()
        return bool((self.size <= trees.max_samples).all())

    def ceiling(self) -> float:
        """The score of a row at distance 1 from every seed, with the counts of now."""
        trees, out = self.forest.trees, np.empty(1)
        compiled.pass_rows(
            np.ones((1, len(self.pool))), np.zeros(1, np.bool_), np.full(1, -1), trees.roots,
            trees._nodes, trees.depths, self.size, self.leaves, trees.normaliser,
            np.empty(len(trees), np.int32), out,
        )  # fmt: skip
        return float(out[0])


def _within_pool(forest: PooledForest) -> Floats:
    """(pool, pool) distances, block by block."""
    n, step = len(forest.pool), forest.block_rows
    D = np.empty((n, n))
    for start in range(0, n, step):
        stop = min(start + step, n)
        D[start:stop, start:] = forest.upper_table(start, stop)
    mirror(D)
    return D
