"""The Dask engine: a fit collects the rows that it needs, scores are computed lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from dask.base import compute
from dask.delayed import delayed
from sklearn.utils.validation import check_array, validate_data

from ..._random import SUBSET, Stream, choose, subset
from ...fitted import FittedForest, TrainingRows
from ...protocols import Floats
from .. import is_dask
from ..protocol import Backend
from .packed import PackedModel, score
from .rows import DaskRows, check_rows, fetch_rows, is_frame, lengths_of, with_fixed_partitions

# A row takes 50 to 150 microseconds on one core, so a task takes two to five seconds.
TASK_ROWS = 32_768
# Calls of `map_tasks` in a task, and tasks in a graph: windows take about 0.05 seconds and 50 kB.
_CHUNK, _CHUNKS = 4, 32


@dataclass(frozen=True)
class DaskEngine:
    """Results are lazy: arrays with the chunks of X, or series with its partitions and index."""

    backend: Backend
    """fits the collected rows on this machine"""
    device: str
    n_jobs: int | None

    def accepts(self, X: Any) -> bool:
        return is_dask(X)

    def check(self, X: Any, estimator: Any) -> None:
        """Check the columns now, not when partitions are computed."""
        check_rows(X)
        validate_data(estimator, _no_rows(X), reset=False, skip_check_array=True)

    def in_memory(self, X: Any) -> Any:
        return X.compute()

    def training_rows(
        self, X: Any, stream: Stream, pool_size: int, quality: Any = None, groups: Any = None
    ) -> TrainingRows:
        X = with_fixed_partitions(X)
        lengths = lengths_of(X)
        n = int(lengths.sum())
        if n <= SUBSET or pool_size >= n:
            return TrainingRows(*fetch_rows(X, quality, groups, lengths, np.arange(n)))
        pool = choose(stream.child("pool"), n, pool_size)
        numbers = np.union1d(subset(stream, n), pool)
        return TrainingRows(*fetch_rows(X, quality, groups, lengths, numbers), numbers, n)

    def source(self, X: Any, estimator: Any, validated: Callable[..., Any]) -> DaskRows:
        rows = DaskRows(X)
        validate_data(estimator, _no_rows(X), reset=True, skip_check_array=True)
        return rows

    def map_tasks(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], total: int
    ) -> Iterator[Any]:
        left, make = iter(arguments), delayed(call_each, pure=False)
        while chunks := list(islice(iter(lambda: list(islice(left, _CHUNK)), []), _CHUNKS)):
            tasks = [make(function, chunk) for chunk in chunks]
            for results in compute(*tasks):  # type: ignore[no-untyped-call]
                yield from results

    def scores(self, fitted: Any, rows: Any) -> Any:
        packed = PackedModel(fitted, self.device, self.n_jobs).delayed()
        if is_frame(rows):
            meta = _series(rows._meta, np.empty(0), "anomaly_score")
            return rows.map_partitions(score_partition, packed, meta=meta)
        return _score_array(rows.rechunk({1: -1}), packed)

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Any:
        raise ValueError(
            "path_lengths takes arrays, not Dask collections: pass X.compute(), or some rows of it."
        )

    def by_rows(self, function: Callable[[Any, Any], Any], X: Any, scores: Any, name: str) -> Any:
        width = X.shape[1]
        dtype = function(np.zeros((1, width)), np.zeros(1)).dtype
        if is_frame(X):
            meta = _series(X._meta, np.empty(0, dtype), name)
            parts = (X, scores, function, name)
            return X.map_partitions(_map_frame, *parts[1:], meta=meta, align_dataframes=False)
        X = X.rechunk({1: -1})
        return X.map_blocks(
            _map_array, scores[:, None], function, dtype=dtype, meta=np.empty(0, dtype),
            chunks=(X.chunks[0],), drop_axis=1,
        )  # fmt: skip

    def elementwise(self, function: Callable[[Any], Any], values: Any, name: str) -> Any:
        dtype = function(np.zeros(1)).dtype
        if is_frame(values) or hasattr(values, "divisions"):
            meta = _series(values._meta.to_frame(), np.empty(0, dtype), name)
            return values.map_partitions(_map_series, function, name, meta=meta)
        return values.map_blocks(function, dtype=dtype, meta=np.empty(0, dtype))


def _no_rows(X: Any) -> Any:
    """The columns of X without rows."""
    return X._meta if is_frame(X) else np.empty((0, X.shape[1]))


def call_each(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
    """Independent tasks on a worker."""
    return [function(*each) for each in arguments]


def _map_frame(part: Any, scores: Any, function: Callable[[Any, Any], Any], name: str) -> Any:
    return _series(part, _map_array(part, scores.to_numpy(), function), name)


def _map_array(part: Any, scores: Any, function: Callable[[Any, Any], Any]) -> Any:
    if len(part) == 0:
        return function(np.zeros((0, part.shape[1])), np.zeros(0))
    rows = check_array(part, dtype=np.float64, order="C", input_name="X")
    return function(rows, np.asarray(scores).reshape(len(rows)))


def _map_series(part: Any, function: Callable[[Any], Any], name: str) -> Any:
    values = function(part.to_numpy())
    return part._constructor(values, index=part.index, name=name)


def _score_array(X: Any, packed: Any) -> Any:
    chunks = X.chunks[0]
    parts = X.rechunk((_split(chunks), -1))
    scores = parts.map_blocks(
        score_block, packed,
        dtype=np.float64, meta=np.empty(0), chunks=(parts.chunks[0],), drop_axis=1,
    )  # fmt: skip
    return scores.rechunk((chunks,)) if parts.chunks[0] != chunks else scores


def _split(chunks: tuple[Any, ...]) -> tuple[Any, ...]:
    """Split chunks into tasks of a few seconds; chunks of unknown length stay as they are."""
    if np.isnan(chunks).any():
        return chunks
    split: list[int] = []
    for size in chunks:
        full, rest = divmod(int(size), TASK_ROWS)
        split += [TASK_ROWS] * full + [rest] * (rest > 0 or full == 0)
    return tuple(split)


def score_block(part: Any, packed: PackedModel) -> Floats:
    """Score a block on a worker. The dashboard of Dask shows this name."""
    if len(part) == 0:
        return np.empty(0)
    return score(packed, check_array(part, dtype=np.float64, order="C", input_name="X"))


def score_partition(part: Any, packed: PackedModel) -> Any:
    return _series(part, score_block(part, packed), "anomaly_score")


def _series(part: Any, values: Any, name: str) -> Any:
    return part._constructor_sliced(values, index=part.index, name=name)
