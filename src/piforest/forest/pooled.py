"""A forest together with its pool of rows and its metric."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend

from .._kernels import trees as compiled
from .._random import Stream
from .._registry import overrides_consistently
from .._rows import DenseRows, SparseRows, as_rows
from .._threads import in_threads
from .._validation import check_table
from ..metrics import METRICS
from ..metrics.overlap import Products
from ..protocols import Bools, Floats, Metric
from .flat import FlatForest, join

# A hundred trees of 256 rows need 400,000 distances, each of 0.085 ns for a column; an entry of the
# table takes 8 ns: that many times as many columns cost as much as a row of the table.
_DENSE_COLUMNS = 4096
# Rows of a block: each takes some ten microseconds of the interpreter, which all threads share.
_ROWS = 512
# The memory of the distances of a block.
_TABLE_BYTES = 8 * 2**20


class PooledForest:
    """Computes path lengths and scores of rows from their distances to the pool.

    If the metric has `empty_rows`, a row of zeros does not descend: its path length is 1 in every
    tree, the smallest possible.
    """

    def __init__(self, metric: Metric, pool: Any, trees: FlatForest, index: Any = None) -> None:
        self.metric = metric
        self.pool = pool
        self.trees = trees
        if index is not None:
            self.__dict__["_index"] = index

    @cached_property
    def _index(self) -> Any:
        """What the metric computes once for a pool; only the CPU engine needs it."""
        return getattr(self.metric, "prepare", lambda rows: rows)(self.pool)

    def __reduce__(self) -> tuple[Any, ...]:
        return PooledForest, (self.metric, self.pool, self.trees)

    def grow(
        self, D: Floats | None, n_estimators: int, stream: Stream, n_jobs: int | None
    ) -> PooledForest:
        """The same pool with trees, from D (pool, pool), or from `dense_rows` if D is None; the
        result does not depend on n_jobs.

        Another backend of joblib, such as a cluster, grows the trees if one is set.
        """
        parts = min(effective_n_jobs(n_jobs), n_estimators)
        rows = self.dense_rows if D is None else None
        cuts = [n_estimators * k // parts for k in range(parts + 1)]
        work = [(D, stream, range(cuts[k], cuts[k + 1]), rows) for k in range(parts)]
        if isinstance(get_active_backend(prefer="threads")[0], ThreadingBackend):
            grown = list(in_threads(self.trees.grow, work, n_jobs, parts))
        else:
            grown = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(self.trees.grow)(*each) for each in work
            )
        return PooledForest(self.metric, self.pool, join(grown), self._index)

    def rows_of(self, X: Any) -> Any:
        """X in the layout of the metric."""
        return as_rows(self.metric, X)

    def prepare(self) -> None:
        """Compute what all threads share."""
        _ = self._index

    @property
    def computes_half(self) -> bool:
        """Whether the metric can compute one half of the symmetric distances within the pool. Not
        if a subclass overrides `pairwise` alone."""
        return overrides_consistently(type(self.metric), "upper", "pairwise")

    @cached_property
    def _is_trusted(self) -> bool:
        """Whether distances need no check, which takes a twentieth of the time: tests cover those
        that a built-in metric computes from integers."""
        return METRICS.name_of(self.metric) is not None and getattr(self.pool, "exact", False)

    @cached_property
    def _shares(self) -> bool:
        """Whether trees are descended without a table of distances, which takes a third of the
        time of scoring."""
        return self._is_trusted and self.trees.branching == 2 and hasattr(self.metric, "shares")

    @cached_property
    def dense_rows(self) -> DenseRows | None:
        """The pool for growing trees without a table of distances, if this takes less time."""
        dense = getattr(self.metric, "dense", None)
        if dense is None or not self._shares:
            return None
        few = _DENSE_COLUMNS * self.pool.n_columns < len(self.pool) ** 2
        return dense(self._index) if few else None

    @property
    def block_rows(self) -> int:
        """The number of rows to score at a time: fewer if a table of their distances is stored."""
        if self._shares and hasattr(self.metric, "products"):
            return _ROWS
        return max(16, min(_ROWS // 2, _TABLE_BYTES // (8 * max(len(self.pool), len(self.trees)))))

    def table(self, rows: Any) -> Floats:
        """Distances (rows, pool)."""
        D = np.ascontiguousarray(self.metric.pairwise(rows, self._index), np.float64)
        if not self._is_trusted:
            check_table(D, f"metric {self.metric.name!r}", (len(rows), len(self.pool)))
        return D

    def upper_table(self, start: int, stop: int) -> Floats:
        """Rows start to stop of the distances within the pool, from column `start` on, if
        `computes_half`."""
        D: Floats = self.metric.upper(self._index, start, stop)  # type: ignore[attr-defined]
        return D

    def path_lengths(self, rows: Any, D: Floats | None = None) -> Floats:
        """(rows, t); D: the distances of the rows, if they are known."""
        products = self._products(rows) if D is None and self._shares else None
        if products is not None:
            lengths = self.trees.path_lengths_of_rows(products)
        elif D is None and self._shares:
            lengths = self.trees.path_lengths_of(*self.metric.shares(rows, self._index))  # type: ignore[attr-defined]
        else:
            lengths = self.trees.path_lengths(self.table(rows) if D is None else D)
        lengths[empty_rows(self.metric, rows)] = 1.0
        return lengths

    def _products(self, rows: Any) -> Products | None:
        products = getattr(self.metric, "products", None)
        return None if products is None else products(rows, self._index)

    def scores(self, rows: Any, D: Floats | None = None) -> Floats:
        """(rows,) anomaly scores in (0, 1]."""
        lengths = self.path_lengths(rows, D)
        out = np.empty(len(lengths))
        compiled.scores(lengths, self.trees.normaliser, out)
        return out

    def ceiling(self) -> float:
        """The score of a row that descends the trees at distance 1 from every seed."""
        score, lengths = np.empty(1), self.trees.path_lengths(np.ones((1, len(self.pool))))
        compiled.scores(lengths, self.trees.normaliser, score)
        return float(score[0])


def empty_rows(metric: Metric, rows: Any) -> Bools:
    """Which rows are empty: they have no preferences."""
    if not metric.empty_rows:
        return np.zeros(len(rows), np.bool_)
    if isinstance(rows, SparseRows):
        return np.asarray(rows.counts == 0)
    dense = np.asarray(rows)
    if dense.ndim != 2:
        raise ValueError(f"metric {metric.name!r} has empty_rows; X must be rows of numbers.")
    return np.asarray(~np.any(dense != 0, axis=1))
