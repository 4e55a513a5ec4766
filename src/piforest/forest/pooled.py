"""A forest, the pool of rows that its trees are made of, and the metric between them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from .._kernels import trees as kernels
from .._random import Stream
from .._registry import overrides_consistently
from .._rows import SparseRows
from .._validation import check_table
from ..metrics import METRICS, as_rows
from ..protocols import Bools, Floats, Metric
from .flat import FlatForest, join

# The memory of a block's table of distances.
_TABLE_BYTES = 8 * 2**20


class PooledForest:
    """Path lengths and scores of rows: their distances to the pool, then look-ups.

    A row that prefers nothing, under a metric for which zeros mean that, does not
    descend: its path length is 1 in every tree, the least possible.
    """

    def __init__(self, metric: Metric, pool: Any, trees: FlatForest, index: Any = None) -> None:
        self.metric = metric
        self.pool = pool
        self.trees = trees
        if index is not None:
            self.__dict__["_index"] = index

    @cached_property
    def _index(self) -> Any:
        """What the metric computes once for a pool; not needed by other engines than the CPU's."""
        return getattr(self.metric, "prepare", lambda rows: rows)(self.pool)

    def __reduce__(self) -> tuple[Any, ...]:
        return PooledForest, (self.metric, self.pool, self.trees)

    def grow(
        self, D: Floats, n_estimators: int, stream: Stream, n_jobs: int | None
    ) -> PooledForest:
        """The same pool with trees, from D (pool, pool); in parallel, with the same result.

        By joblib, so that its backends, a cluster among them, can grow the trees.
        """
        parts = min(effective_n_jobs(n_jobs), n_estimators)
        cuts = [n_estimators * k // parts for k in range(parts + 1)]
        grown = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self.trees.grow)(D, stream, range(cuts[k], cuts[k + 1])) for k in range(parts)
        )
        return PooledForest(self.metric, self.pool, join(grown), self._index)

    def rows_of(self, X: Any) -> Any:
        """X in the layout of the metric: its own `rows(X)`, or a dense array."""
        own = getattr(self.metric, "rows", None)
        return own(X) if own is not None else as_rows(self.metric, X)

    def prepare(self) -> None:
        """Compute what all threads need, once."""
        _ = self._index

    @property
    def computes_half(self) -> bool:
        """Whether the metric can compute one half of the pool's symmetric table. Not if a
        subclass changed the distances of the class that can."""
        return overrides_consistently(type(self.metric), "upper", "pairwise")

    @cached_property
    def _is_trusted(self) -> bool:
        """Whether distances need no check: a built-in metric computes them from integers. The
        tests check these, and another pass takes a twentieth of the time."""
        return METRICS.name_of(self.metric) is not None and getattr(self.pool, "exact", False)

    @property
    def block_rows(self) -> int:
        """The number of rows to score at a time."""
        return max(16, min(256, _TABLE_BYTES // (8 * max(len(self.pool), len(self.trees)))))

    def table(self, rows: Any) -> Floats:
        """Distances (rows, pool)."""
        D = np.ascontiguousarray(self.metric.pairwise(rows, self._index), np.float64)
        if not self._is_trusted:
            check_table(D, f"metric {self.metric.name!r}", (len(rows), len(self.pool)))
        return D

    def upper_table(self, start: int, stop: int) -> Floats:
        """Rows start to stop of the pool's own table, from column `start` on: for metrics that
        can compute one half."""
        D: Floats = self.metric.upper(self._index, start, stop)  # type: ignore[attr-defined]
        return D

    def path_lengths(self, rows: Any, D: Floats | None = None) -> Floats:
        """(rows, t); D is their table if it is known already."""
        lengths = self.trees.path_lengths(self.table(rows) if D is None else D)
        lengths[empty_rows(self.metric, rows)] = 1.0
        return lengths

    def scores(self, rows: Any, D: Floats | None = None) -> Floats:
        """(rows,) anomaly scores in (0, 1]."""
        lengths = self.path_lengths(rows, D)
        out = np.empty(len(lengths))
        kernels.scores(lengths, self.trees.normaliser, out)
        return out


def empty_rows(metric: Metric, rows: Any) -> Bools:
    """Which rows prefer nothing."""
    if not metric.empty_rows:
        return np.zeros(len(rows), np.bool_)
    if isinstance(rows, SparseRows):
        return np.asarray(rows.counts == 0)
    dense = np.asarray(rows)
    if dense.ndim != 2:
        raise ValueError(f"metric {metric.name!r} has empty_rows; X must be rows of numbers.")
    return np.asarray(~np.any(dense != 0, axis=1))
