"""A forest, the pool of rows that its trees are made of, and the metric between them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from .._kernels import trees as kernels
from .._random import Stream
from .._registry import keeps_up
from .._rows import SparseRows
from .._validation import check_table
from ..metrics import METRICS
from ..protocols import Bools, Floats, Metric
from .flat import FlatForest, join

# A block's table of distances takes at most this much memory.
_TABLE_BYTES = 8 * 2**20


class PooledForest:
    """Path lengths and scores of rows: their distances to the pool, then look-ups.

    A row that prefers nothing, under a metric for which zeros mean that, does not
    descend: its path length is 1 in every tree, the least possible.
    """

    def __init__(self, metric: Metric, pool: Any, forest: FlatForest, index: Any = None) -> None:
        self.metric = metric
        self.pool = pool
        self.forest = forest
        if index is not None:
            self.__dict__["_index"] = index

    @cached_property
    def _index(self) -> Any:
        """What the metric computes once for a pool; not needed where another device scores."""
        return getattr(self.metric, "prepare", lambda rows: rows)(self.pool)

    def __reduce__(self) -> tuple[Any, ...]:
        return PooledForest, (self.metric, self.pool, self.forest)

    def grow(
        self, D: Floats, n_estimators: int, stream: Stream, n_jobs: int | None
    ) -> PooledForest:
        """The same pool with trees, from D (pool, pool); in parallel, with the same result. By
        joblib, so that a cluster can be asked to grow them."""
        parts = min(effective_n_jobs(n_jobs), n_estimators)
        cuts = [n_estimators * k // parts for k in range(parts + 1)]
        grown = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self.forest.grow)(D, stream, range(cuts[k], cuts[k + 1])) for k in range(parts)
        )
        return PooledForest(self.metric, self.pool, join(grown), self._index)

    def ready(self) -> None:
        """Compute once what all threads need."""
        _ = self._index

    @property
    def knows_half(self) -> bool:
        """Can the metric leave out half of the pool's own table? Not if a subclass changed the
        distances of the class that can."""
        return keeps_up(type(self.metric), "upper", "pairwise")

    @cached_property
    def _is_sound(self) -> bool:
        """Are distances sure to be right? Those that a metric of this package computes from
        integers are: the tests look at them, and looking again takes a twentieth of the time."""
        return METRICS.name_of(self.metric) is not None and getattr(self.pool, "exact", False)

    @property
    def block_rows(self) -> int:
        """How many rows to score at a time."""
        return max(16, min(256, _TABLE_BYTES // (8 * len(self.pool))))

    def table(self, rows: Any) -> Floats:
        """Distances (rows, pool)."""
        D = np.ascontiguousarray(self.metric.pairwise(rows, self._index), np.float64)
        if not self._is_sound:
            check_table(D, f"metric {self.metric.name!r}", (len(rows), len(self.pool)))
        return D

    def upper_table(self, start: int, stop: int) -> Floats:
        """Rows start to stop of the pool's own table, from column `start` on: for metrics that
        can leave out what is left of the diagonal."""
        D: Floats = self.metric.upper(self._index, start, stop)  # type: ignore[attr-defined]
        return D

    def path_lengths(self, rows: Any, D: Floats | None = None) -> Floats:
        """(rows, t); D is their table where it is known already."""
        lengths = self.forest.path_lengths(self.table(rows) if D is None else D)
        lengths[empty_rows(self.metric, rows)] = 1.0
        return lengths

    def scores(self, rows: Any, D: Floats | None = None) -> Floats:
        """(rows,) anomaly scores in (0, 1]."""
        lengths = self.path_lengths(rows, D)
        out = np.empty(len(lengths))
        kernels.scores(lengths, self.forest.normaliser, out)
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
