"""Some rows of a Dask collection, by their numbers, in one pass over its partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import delayed
from sklearn.utils.validation import check_array

from .._validation import check_magnitude
from ..protocols import Floats, Ints


class _Taken(NamedTuple):
    """Of one partition."""

    rows: Floats
    length: int
    largest: float
    """the largest number without its sign, of all rows; nan if there is a nan"""


def is_frame(X: Any) -> bool:
    """Does X have columns with names? Else it is a Dask array."""
    return hasattr(X, "columns")


def lengths_of(X: Any) -> Ints:
    """(partitions,) how many rows each has. Where Dask does not know, they are counted: of a
    data frame, one column is read for it."""
    if X.ndim != 2:
        raise ValueError(f"X must be a Dask array or data frame of rows, it has {X.ndim} axis.")
    return _lengths(X[X.columns[:1]] if is_frame(X) else X)


def _lengths(X: Any) -> Ints:
    chunks = getattr(X, "chunks", None)
    if chunks is not None and not np.isnan(chunks[0]).any():
        return np.asarray(chunks[0], np.int64)
    return np.asarray(_computed([delayed(len)(part) for part in _parts(X)]), np.int64)


def _parts(X: Any) -> Any:
    """The partitions, delayed; those of an array with all of their columns."""
    if hasattr(X, "chunks") and X.ndim == 2:
        X = X.rechunk({1: -1})
    return np.ravel(X.to_delayed())


def _computed(tasks: Any) -> Any:
    """In one go, on the current cluster if there is one."""
    return compute(tasks)[0]  # type: ignore[no-untyped-call]


def gather(X: Any, quality: Any, groups: Any, lengths: Ints, numbers: Ints) -> tuple[Any, Any, Any]:
    """The rows of X with these numbers, ascending, and quality and groups of the same rows.

    All partitions are read once, and all rows checked to be finite. Rows of a data frame come
    back as one, so that the names of columns are known.
    """
    columns = [
        _column_takes(name, column, int(lengths.sum()), numbers)
        for name, column in (("quality", quality), ("groups", groups))
    ]
    taken, *columns = _computed([_takes(X, lengths, numbers, _take), *columns])
    _check(taken, lengths)
    rows = np.concatenate([part.rows for part in taken])
    if is_frame(X):
        rows = type(X._meta)(rows, columns=X.columns)
    quality, groups = (np.concatenate(part) if isinstance(part, list) else part for part in columns)
    return rows, quality, groups


def _takes(X: Any, lengths: Ints, numbers: Ints, take: Any) -> list[Any]:
    """One delayed call for each partition, with the numbers of its rows."""
    starts = np.cumsum(lengths) - lengths
    shares = np.split(numbers, np.searchsorted(numbers, starts[1:]))
    return [
        delayed(take)(part, mine - start) for part, mine, start in zip(_parts(X), shares, starts)
    ]


def _column_takes(name: str, column: Any, n: int, numbers: Ints) -> Any:
    """The same for a column that may be a Dask collection, in memory, or not there."""
    if column is None:
        return None
    lazy = is_dask_collection(column)
    lengths = _lengths(column) if lazy else np.asarray(np.shape(column)[:1], np.int64)
    if lengths.sum() != n or np.ndim(column) != 1:
        raise ValueError(f"{name} must have one value for each of the {n} rows of X.")
    return _takes(column, lengths, numbers, _take_values) if lazy else np.asarray(column)[numbers]


def _take(part: Any, rows: Ints) -> _Taken:
    if len(part) == 0:
        return _Taken(np.empty((0, part.shape[1])), 0, 0.0)
    X = check_array(part, dtype=np.float64, order="C", ensure_all_finite=False)
    return _Taken(X[rows], len(X), float(np.abs(X).max()))


def _take_values(part: Any, rows: Ints) -> Any:
    return np.asarray(part)[rows]


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
