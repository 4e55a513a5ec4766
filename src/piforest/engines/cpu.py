"""The CPU engine: compiled code on blocks of rows, in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels.sparse import mirror
from .._rows import SparseRows, as_rows, stack
from .._tensors import to_numpy
from .._threads import in_threads
from .._validation import check_bounded
from ..fitted import FittedEmbedding, FittedForest
from ..forest import HashedForest, HashedTrees, PooledForest
from ..protocols import Floats
from .local import LocalEngine
from .protocol import ForestPlan

# The limits of a block that a thread embeds: large blocks are efficient, small ones balance better.
_EMBEDDED_ROWS = 256, 1024
# Rows that a thread scores at a time in all windows that hold them.
_MAPPED_ROWS = 8192


@dataclass(frozen=True)
class CpuEngine(LocalEngine):
    """Computes in `n_jobs` threads, on which the result does not depend."""

    n_jobs: int | None
    verbose: int = 0

    # These overrides shorten the path of arrays, the most frequent input.
    def accepts(self, X: Any) -> bool:
        return False

    def in_memory(self, X: Any) -> Any:
        return X if isinstance(X, np.ndarray) else to_numpy(X)

    def scores(self, fitted: Any, rows: Any) -> Any:
        if isinstance(fitted, FittedForest):
            return self.forest_scores(fitted, rows)
        return super().scores(fitted, rows)

    def elementwise(self, function: Callable[[Any], Any], values: Any, name: str) -> Any:
        return function(values)

    def embed(self, embedding: FittedEmbedding, X: Floats) -> Iterator[SparseRows]:
        smallest, largest = _EMBEDDED_ROWS
        size = max(smallest, min(largest, len(X) // 16))
        return self._blocks(X, embedding.preferences.rows_of, size, "preferences")

    def grow(self, plan: ForestPlan) -> tuple[PooledForest | HashedForest, Floats]:
        rows = plan.rows
        if plan.embedding is not None:
            with self.progress.stage(f"preferences of {len(rows)} points"):
                embedded = stack(self.embed(plan.embedding, rows), len(rows))
                rows = as_rows(plan.metric, embedded)
        if isinstance(plan.trees, HashedTrees):
            return self._grow_hashed(plan, plan.trees, rows)
        empty = PooledForest(plan.metric, rows if plan.pool is None else plan.pool, plan.trees)
        with self.progress.stage(f"distances within a pool of {len(rows)}"):
            empty.prepare()
            D = None if empty.dense_rows is not None else self._pool_distances(empty, rows)
        if plan.trees.soft and D is not None:
            check_bounded(plan.metric.name, D)
        with self.progress.stage(f"{plan.n_trees} trees"):
            forest = empty.grow(D, plan.n_trees, plan.stream, self.n_jobs)
        if D is not None:
            return forest, forest.scores(rows, D)
        blocks = self._blocks(rows, forest.scores, forest.block_rows, "rows")
        return forest, np.concatenate(list(blocks))

    def _grow_hashed(
        self, plan: ForestPlan, trees: HashedTrees, rows: Any
    ) -> tuple[HashedForest, Floats]:
        with self.progress.stage(f"{plan.n_trees} trees"):
            forest = HashedForest.grow(rows, trees, plan.n_trees, plan.stream, self.n_jobs)
        blocks = self._blocks(forest.pool, forest.scores, forest.block_rows, "rows")
        return forest, np.concatenate(list(blocks))

    def forest_scores(self, fitted: FittedForest, rows: Any) -> Floats:
        return self._map_rows(fitted, rows, fitted.forest.scores)

    def map_blocks(self, function: Callable[[Any, Any], Any], rows: Any) -> list[Any]:
        starts, single = range(0, len(rows), _MAPPED_ROWS), CpuEngine(None)
        tracked = self._tracked(starts, "rows") if len(starts) > 1 else starts
        blocks = ((rows[start : start + _MAPPED_ROWS], single) for start in tracked)
        return list(in_threads(function, blocks, self.n_jobs, len(starts)))

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Floats:
        return self._map_rows(fitted, rows, fitted.forest.path_lengths)

    def _map_rows(
        self, fitted: FittedForest, rows: Any, function: Callable[[Any], Floats]
    ) -> Floats:
        """function(rows in the layout of the metric), block by block."""
        forest, embedding = fitted.forest, fitted.embedding
        forest.prepare()
        if embedding is None:
            step = function
        else:
            preferences = embedding.preferences

            def step(block: Any) -> Floats:
                return function(forest.rows_of(preferences.rows_of(block)))

        return np.concatenate(list(self._blocks(rows, step, forest.block_rows, "rows")))

    def _pool_distances(self, forest: PooledForest, rows: Any) -> Floats:
        """(pool, pool) distances; only half of them are computed if the metric can do so."""
        n, size = len(rows), forest.block_rows
        if not forest.computes_half:
            return np.concatenate(list(self._blocks(rows, forest.table, size, "rows")))
        D = np.empty((n, n))

        def fill(start: int) -> None:
            stop = min(start + size, n)
            D[start:stop, start:] = forest.upper_table(start, stop)

        starts = range(0, n, size)
        tracked = self._tracked(starts, "rows")
        list(in_threads(fill, ((start,) for start in tracked), self.n_jobs, len(starts)))
        mirror(D)
        return D

    def _blocks(
        self, rows: Any, function: Callable[[Any], Any], size: int, name: str
    ) -> Iterator[Any]:
        """function(block) for blocks of rows, in threads; results in order."""
        starts = range(0, len(rows), size)
        if len(starts) == 1:
            return iter([function(rows)])
        blocks = ((rows[start : start + size],) for start in self._tracked(starts, name))
        return in_threads(function, blocks, self.n_jobs, len(starts))

    def _tracked(self, starts: range, name: str) -> Iterable[int]:
        return self.progress.track(starts, len(starts), name) if self.verbose else starts
