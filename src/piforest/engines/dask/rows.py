"""Fetch rows of a Dask collection by their numbers, in one pass over its partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import delayed
from sklearn.utils.validation import check_array

from ..._validation import check_magnitude
from ...fitted import TrainingRows
from ...protocols import Floats, Ints
from .packed import identity

# Partitions whose results are in memory at once.
_GROUP = 64


@dataclass(frozen=True)
class _Selection:
    """Row numbers, ascending, and the first row number of each partition."""

    numbers: Ints
    starts: Ints

    def in_partition(self, partition: int) -> Ints:
        """The selected rows of a partition, relative to its first row."""
        bounds = [*self.starts[partition : partition + 2], np.iinfo(np.int64).max]
        low, high = np.searchsorted(self.numbers, bounds[:2])
        return np.asarray(self.numbers[low:high] - self.starts[partition])


@dataclass(frozen=True)
class _Partition:
    """What was computed from one partition, such as its selected rows, and a summary of all its
    rows."""

    result: Any
    length: int
    largest: float
    """the largest absolute value of all rows; NaN if there is a NaN"""


def is_frame(X: Any) -> bool:
    """Whether X is a data frame; else it is a Dask array."""
    return hasattr(X, "columns")


def check_rows(X: Any) -> None:
    axes = getattr(X, "ndim", None)
    if not (isinstance(axes, int) and axes == 2):
        what = f"one of {axes} axes" if isinstance(axes, int) else f"a {type(X).__name__}"
        raise ValueError(f"X must be a Dask array or data frame of rows with columns, got {what}.")


def with_fixed_partitions(X: Any) -> Any:
    """X with partitions that stay the same: Dask merges those of Parquet files, depending on the
    number of columns that are read."""
    check_rows(X)
    return X if hasattr(X, "chunks") else X.optimize()


def lengths_of(X: Any) -> Ints:
    """(partitions,) the number of rows of each, counted if Dask does not know it. The partitions
    of X must be fixed."""
    chunks = getattr(X, "chunks", None)
    if chunks is not None and not np.isnan(chunks[0]).any():
        return np.asarray(chunks[0], np.int64)
    return np.asarray(list(_map_partitions(X, _length, None).compute()), np.int64)


def fetch_rows(
    X: Any, quality: Any, groups: Any, lengths: Ints, numbers: Ints
) -> tuple[Any, Any, Any]:
    """The rows of X with these numbers, ascending, and quality and groups of the same rows.

    All partitions are read once, and all rows are checked to be finite. Rows of a data frame are
    returned as one, which keeps the column names.
    """
    tasks = [
        _map_partitions(X, _select_rows, _Selection(numbers, np.cumsum(lengths) - lengths)),
        _fetch_column("quality", quality, int(lengths.sum()), numbers),
        _fetch_column("groups", groups, int(lengths.sum()), numbers),
    ]
    partitions, *columns = compute(*tasks)  # type: ignore[no-untyped-call]
    _check(list(partitions), lengths)
    rows = np.concatenate([part.result for part in partitions])
    if is_frame(X):
        rows = type(X._meta)(rows, columns=X.columns)
    lazy = map(is_dask_collection, tasks[1:])
    quality, groups = (
        np.concatenate(list(part)) if is_lazy else part for part, is_lazy in zip(columns, lazy)
    )
    return rows, quality, groups


def _fetch_column(name: str, column: Any, n: int, numbers: Ints) -> Any:
    """The values with these numbers of a column that is a Dask collection, in memory, or None."""
    if column is None:
        return None
    lazy = is_dask_collection(column)
    column = column.optimize() if lazy and not hasattr(column, "chunks") else column
    lengths = lengths_of(column) if lazy else np.asarray(np.shape(column)[:1], np.int64)
    if lengths.sum() != n or np.ndim(column) != 1:
        raise ValueError(f"{name} must have one value for each of the {n} rows of X.")
    if not lazy:
        return np.asarray(column)[numbers]
    selection = _Selection(numbers, np.cumsum(lengths) - lengths)
    return _map_partitions(column, _select_values, selection)


def _map_partitions(X: Any, function: Callable[[Any, int, Any], Any], selection: Any) -> Any:
    """function(partition, its number, selection) for each partition, lazily. Delayed partitions are
    not used, since each of them would hold the graph of all."""
    selection = delayed(identity, pure=False)(selection)
    if not hasattr(X, "chunks"):
        return X.map_partitions(_call_on_frame, function, selection, meta=(None, object))
    one = ((1,) * len(X.chunks[0]),)
    drop: dict[str, Any] = {"drop_axis": 1} if X.ndim == 2 else {}
    X = X.rechunk({1: -1}) if X.ndim == 2 else X
    options = {"dtype": object, "meta": np.empty(0, object), "chunks": one, **drop}
    return X.map_blocks(_call_on_array, function, selection, **options)


def _call_on_frame(part: Any, function: Any, selection: Any, partition_info: Any = None) -> Any:
    import pandas as pd

    return pd.Series([function(part, partition_info["number"], selection)], dtype=object)


def _call_on_array(part: Any, function: Any, selection: Any, block_id: Any = None) -> Any:
    result = np.empty(1, object)
    result[0] = function(part, block_id[0], selection)
    return result


def _length(part: Any, number: int, selection: None) -> int:
    return len(part)


def _select_rows(part: Any, number: int, selection: _Selection) -> _Partition:
    if len(part) == 0:
        return _Partition(np.empty((0, part.shape[1])), 0, 0.0)
    X = check_array(part, dtype=np.float64, order="C", ensure_all_finite=False)
    return _Partition(X[selection.in_partition(number)], len(X), float(np.abs(X).max()))


@dataclass(frozen=True)
class _Work:
    """A function of rows and the number of the first, for partitions that begin at `starts`."""

    function: Callable[[Floats, int], Any]
    starts: Ints


def _apply(part: Any, number: int, work: _Work) -> _Partition:
    if len(part) == 0:
        return _Partition(None, 0, 0.0)
    X = check_array(part, dtype=np.float64, order="C", ensure_all_finite=False)
    largest = float(np.abs(X).max())
    # Rows that are not finite are an error, which the caller raises.
    result = work.function(X, int(work.starts[number])) if np.isfinite(largest) else None
    return _Partition(result, len(X), largest)


class DaskRows:
    """The rows of a Dask collection as a `RowSource`. Results of partitions are fetched in groups,
    so that not all of them are in memory at once."""

    def __init__(self, X: Any) -> None:
        self.X = with_fixed_partitions(X)
        self.lengths = lengths_of(self.X)

    def __len__(self) -> int:
        return int(self.lengths.sum())

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def map(self, function: Callable[[Floats, int], Any]) -> Iterator[Any]:
        starts = np.cumsum(self.lengths) - self.lengths
        parts = self.X.partitions if is_frame(self.X) else self.X.blocks
        for first in range(0, len(starts), _GROUP):
            group = slice(first, first + _GROUP)
            work = _Work(function, starts[group])
            found = list(_map_partitions(parts[group], _apply, work).compute())
            _check(found, self.lengths[group], first)
            yield from (each.result for each in found if each.length)

    def fetch(self, numbers: Ints) -> TrainingRows:
        rows, _, _ = fetch_rows(self.X, None, None, self.lengths, numbers)
        # The columns were checked before.
        return TrainingRows(np.asarray(rows, np.float64), numbers=numbers, n_all=len(self))


def _select_values(part: Any, number: int, selection: _Selection) -> Any:
    return np.asarray(part)[selection.in_partition(number)]


def _check(partitions: list[_Partition], lengths: Ints, first: int = 0) -> None:
    """Check that all rows are finite and not too large, and that no partition changed."""
    for number, (part, length) in enumerate(zip(partitions, lengths), start=first):
        if part.length != length:
            raise ValueError(
                f"partition {number} of X had {length} rows when they were counted and "
                f"{part.length} when they were read. X must be the same whenever it is computed."
            )
        if not np.isfinite(part.largest):
            what = "NaN" if np.isnan(part.largest) else "infinity"
            raise ValueError(
                f"Input X contains {what}, in partition {number}. Drop such rows first, with "
                "X.dropna() or a mask."
            )
    check_magnitude(np.array([part.largest for part in partitions]))
