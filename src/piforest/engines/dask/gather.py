"""Some rows of a Dask collection, by their numbers, in one pass over its partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import delayed
from sklearn.utils.validation import check_array

from ..._validation import check_magnitude
from ...protocols import Floats, Ints
from .packed import identity


@dataclass(frozen=True)
class _Wanted:
    """Numbers of rows, ascending, and where partitions begin."""

    numbers: Ints
    starts: Ints

    def of(self, partition: int) -> Ints:
        """The wanted rows of a partition, counted from its first."""
        bounds = [*self.starts[partition : partition + 2], np.iinfo(np.int64).max]
        low, high = np.searchsorted(self.numbers, bounds[:2])
        return np.asarray(self.numbers[low:high] - self.starts[partition])


@dataclass(frozen=True)
class _Taken:
    """Of one partition."""

    rows: Floats
    length: int
    largest: float
    """the largest number without its sign, of all rows; nan if there is a nan"""


def is_frame(X: Any) -> bool:
    """Does X have columns with names? Else it is a Dask array."""
    return hasattr(X, "columns")


def check_rows(X: Any) -> None:
    axes = getattr(X, "ndim", None)
    if not (isinstance(axes, int) and axes == 2):
        what = f"one of {axes} axes" if isinstance(axes, int) else f"a {type(X).__name__}"
        raise ValueError(f"X must be a Dask array or data frame of rows with columns, got {what}.")


def with_fixed_partitions(X: Any) -> Any:
    """X with the same partitions for every later question: Dask joins those of Parquet files,
    more of them the fewer columns are read."""
    check_rows(X)
    return X if hasattr(X, "chunks") else X.optimize()


def lengths_of(X: Any) -> Ints:
    """(partitions,) the number of rows of each, counted where Dask does not know it. The
    partitions of X are fixed."""
    chunks = getattr(X, "chunks", None)
    if chunks is not None and not np.isnan(chunks[0]).any():
        return np.asarray(chunks[0], np.int64)
    return np.asarray(list(_each(X, _length, None).compute()), np.int64)


def gather(X: Any, quality: Any, groups: Any, lengths: Ints, numbers: Ints) -> tuple[Any, Any, Any]:
    """The rows of X with these numbers, ascending, and quality and groups of the same rows.

    All partitions are read once, and all rows checked to be finite. Rows of a data frame come
    back as one, so that the names of columns are known.
    """
    jobs = [
        _each(X, _take, _Wanted(numbers, np.cumsum(lengths) - lengths)),
        _column("quality", quality, int(lengths.sum()), numbers),
        _column("groups", groups, int(lengths.sum()), numbers),
    ]
    taken, *columns = compute(*jobs)  # type: ignore[no-untyped-call]
    _check(list(taken), lengths)
    rows = np.concatenate([part.rows for part in taken])
    if is_frame(X):
        rows = type(X._meta)(rows, columns=X.columns)
    lazy = map(is_dask_collection, jobs[1:])
    quality, groups = (
        np.concatenate(list(part)) if joined else part for part, joined in zip(columns, lazy)
    )
    return rows, quality, groups


def _column(name: str, column: Any, n: int, numbers: Ints) -> Any:
    """The same for a column that may be a Dask collection, in memory, or not there."""
    if column is None:
        return None
    lazy = is_dask_collection(column)
    column = column.optimize() if lazy and not hasattr(column, "chunks") else column
    lengths = lengths_of(column) if lazy else np.asarray(np.shape(column)[:1], np.int64)
    if lengths.sum() != n or np.ndim(column) != 1:
        raise ValueError(f"{name} must have one value for each of the {n} rows of X.")
    if not lazy:
        return np.asarray(column)[numbers]
    return _each(column, _take_values, _Wanted(numbers, np.cumsum(lengths) - lengths))


def _each(X: Any, function: Callable[[Any, int, Any], Any], wanted: Any) -> Any:
    """function(part, number of the part, wanted) for each partition, lazily. Not as delayed
    partitions, of which each would carry the graph of all."""
    wanted = delayed(identity, pure=False)(wanted)
    if not hasattr(X, "chunks"):
        return X.map_partitions(_of_frame, function, wanted, meta=(None, object))
    one = ((1,) * len(X.chunks[0]),)
    drop = {"drop_axis": 1} if X.ndim == 2 else {}
    X = X.rechunk({1: -1}) if X.ndim == 2 else X
    meta = np.empty(0, object)
    return X.map_blocks(_of_array, function, wanted, dtype=object, meta=meta, chunks=one, **drop)


def _of_frame(part: Any, function: Any, wanted: Any, partition_info: Any = None) -> Any:
    import pandas as pd

    return pd.Series([function(part, partition_info["number"], wanted)], dtype=object)


def _of_array(part: Any, function: Any, wanted: Any, block_id: Any = None) -> Any:
    answer = np.empty(1, object)
    answer[0] = function(part, block_id[0], wanted)
    return answer


def _length(part: Any, number: int, wanted: None) -> int:
    return len(part)


def _take(part: Any, number: int, wanted: _Wanted) -> _Taken:
    if len(part) == 0:
        return _Taken(np.empty((0, part.shape[1])), 0, 0.0)
    X = check_array(part, dtype=np.float64, order="C", ensure_all_finite=False)
    return _Taken(X[wanted.of(number)], len(X), float(np.abs(X).max()))


def _take_values(part: Any, number: int, wanted: _Wanted) -> Any:
    return np.asarray(part)[wanted.of(number)]


def _check(taken: list[_Taken], lengths: Ints) -> None:
    """All rows are finite and of a size that can be squared; and none came or went."""
    for number, (part, length) in enumerate(zip(taken, lengths)):
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
    check_magnitude(np.array([part.largest for part in taken]))
