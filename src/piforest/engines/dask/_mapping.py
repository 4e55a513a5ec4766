"""A detector's answer to each partition of a Dask collection, lazily."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ...protocols import Floats
from ._gather import check_rows, is_frame
from ._model import Parcel, unpacked

# A row takes some 50 to 150 microseconds of one core, so a task takes two to five seconds.
TASK_ROWS = 32_768


def map_rows(detector: Any, method: str, X: Any) -> Any:
    """`detector.method(X)`, lazily: a Dask array with the chunks of the array X, or a series
    with the partitions and the index of the data frame X."""
    check_is_fitted(detector, "forest_")
    check_rows(X)
    # What is wrong with the columns is said now, not when partitions are computed.
    empty = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    validate_data(detector, empty, reset=False, skip_check_array=True)
    parcel = Parcel(detector).delayed()
    dtype = np.dtype(np.int64 if method == "predict" else np.float64)
    if is_frame(X):
        meta = _series(X._meta, np.empty(0, dtype), method)
        return X.map_partitions(score_partition, parcel, method, dtype, meta=meta)
    return _of_arrays(X.rechunk({1: -1}), parcel, method, dtype)


def _of_arrays(X: Any, parcel: Any, method: str, dtype: Any) -> Any:
    chunks = X.chunks[0]
    parts = X.rechunk((_split(chunks), -1))
    answer = parts.map_blocks(
        score_block, parcel, method, dtype,
        dtype=dtype, meta=np.empty(0, dtype), chunks=(parts.chunks[0],), drop_axis=1,
    )  # fmt: skip
    return answer.rechunk((chunks,)) if parts.chunks[0] != chunks else answer


def _split(chunks: tuple[Any, ...]) -> tuple[Any, ...]:
    """Chunks of a few seconds of work; unknown ones stay as they are."""
    if np.isnan(chunks).any():
        return chunks
    split: list[int] = []
    for size in chunks:
        whole, rest = divmod(int(size), TASK_ROWS)
        split += [TASK_ROWS] * whole + [rest] * (rest > 0 or whole == 0)
    return tuple(split)


def score_block(part: Any, parcel: Parcel, method: str, dtype: Any) -> Floats:
    """On a worker; its name is what the dashboard shows."""
    if len(part) == 0:
        return np.empty(0, dtype)
    answer: Floats = getattr(unpacked(parcel), method)(part)
    return answer


def score_partition(part: Any, parcel: Parcel, method: str, dtype: Any) -> Any:
    return _series(part, score_block(part, parcel, method, dtype), method)


def _series(part: Any, values: Any, name: str) -> Any:
    return part._constructor_sliced(values, index=part.index, name=name.lstrip("_"))
