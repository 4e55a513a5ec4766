"""Sparse rows: the internal layout of preferences and of sparse user data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

# Fixed point: the stored byte k means the preference k / UNIT.
UNIT = 127


class DenseRows(NamedTuple):
    """Fixed-point rows as a matrix."""

    dense: NDArray[np.int16]
    """(n, m)"""
    sums: NDArray[np.float64]
    """(n,) the sums of their squares"""


NO_ROWS = DenseRows(np.empty((0, 0), np.int16), np.empty(0))


@dataclass(frozen=True)
class SparseRows:
    """CSR with small types: 16-bit columns where possible; int8 data are fixed point.

    Columns ascend within a row, and no stored value is zero.
    """

    indptr: NDArray[np.int64]
    """(n + 1,)"""
    indices: NDArray[Any]
    """(nnz,) uint16, int32 or int64, as n_columns needs"""
    data: NDArray[Any]
    """(nnz,) int8 or float64"""
    n_columns: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: Any) -> SparseRows:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            low, high = self.indptr[start], self.indptr[max(start, stop)]
            indptr = self.indptr[start : max(start, stop) + 1] - low
            return SparseRows(indptr, self.indices[low:high], self.data[low:high], self.n_columns)
        rows = np.asarray(rows)
        counts = self.counts[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        at = np.repeat(self.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        return SparseRows(indptr, self.indices[at], self.data[at], self.n_columns)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(n,) the number of stored entries of each row."""
        return np.diff(self.indptr)

    @property
    def exact(self) -> bool:
        """Whether sums of products are exact, in any order of summation: they are integers."""
        return self.data.dtype == np.int8

    def is_valid(self) -> bool:
        """Whether all indices are in range and ascending; for rows read from a file."""
        if not (
            self.indptr.ndim == self.indices.ndim == self.data.ndim == 1
            and len(self.indptr) > 0
            and self.indptr.dtype == np.int64
            and self.indices.dtype == index_dtype(self.n_columns)
            and self.data.dtype in (np.int8, np.float64)
            and self.indptr[0] == 0
            and (self.indptr[1:] >= self.indptr[:-1]).all()  # a difference could overflow
            and self.indptr[-1] == len(self.indices) == len(self.data)
        ):
            return False
        columns = self.indices.astype(np.int64)
        starts = np.zeros(len(columns) + 1, np.bool_)
        starts[self.indptr] = True
        ascend = (np.diff(columns) > 0) | starts[1:-1]
        return bool(ascend.all() and ((columns >= 0) & (columns < self.n_columns)).all())

    def to_csr(self) -> scipy.sparse.csr_array:
        """A SciPy array of float32; fixed point is converted to [0, 1]."""
        return stacked_csr([self], len(self))


def index_dtype(n_columns: int) -> type[np.integer[Any]]:
    return np.uint16 if n_columns <= 2**16 else np.int32 if n_columns < 2**31 else np.int64


def sparse_rows(X: Any) -> SparseRows:
    """From a SciPy sparse matrix or a dense array."""
    csr = scipy.sparse.csr_array(X)
    if scipy.sparse.issparse(X):
        csr = csr.copy()  # the next two calls work in place
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return SparseRows(
        csr.indptr.astype(np.int64),
        csr.indices.astype(index_dtype(csr.shape[1])),
        csr.data.astype(np.float64),
        csr.shape[1],
    )


def stacked_csr(parts: Iterable[SparseRows], n: int) -> scipy.sparse.csr_array:
    """Stack blocks of n rows in total into a SciPy array of float32; fixed point is converted to
    [0, 1]."""

    def put(part: SparseRows, indices: NDArray[Any], data: NDArray[Any]) -> None:
        indices[:] = part.indices
        unit = UNIT if part.exact else 1
        np.divide(part.data, unit, out=data, casting="unsafe", dtype=np.float32)

    # 32-bit indices where possible: several scikit-learn estimators accept nothing else.
    rows = _stack(
        parts, n, put, lambda part: (np.int32 if part.n_columns <= 2**31 else np.int64, np.float32)
    )
    fits = rows.indices.dtype == np.int32 and rows.indptr[-1] < 2**31
    indptr = rows.indptr.astype(np.int32 if fits else np.int64)
    indices = rows.indices.astype(indptr.dtype, copy=False)
    return scipy.sparse.csr_array((rows.data, indices, indptr), shape=(n, rows.n_columns))


def stack(parts: Iterable[SparseRows], n: int) -> SparseRows:
    """Stack blocks of n rows in total."""

    def put(part: SparseRows, indices: NDArray[Any], data: NDArray[Any]) -> None:
        indices[:], data[:] = part.indices, part.data

    return _stack(parts, n, put, lambda part: (part.indices.dtype, part.data.dtype))


def _stack(
    parts: Iterable[SparseRows],
    n: int,
    put: Callable[[SparseRows, NDArray[Any], NDArray[Any]], None],
    dtypes: Callable[[SparseRows], tuple[Any, Any]],
) -> SparseRows:
    """Copy each part into place as soon as it is computed, while threads compute the next ones.

    dtypes(part): the types of the column indices and of the values.
    """
    counts, done, end = [], 0, 0
    for part in parts:
        if done == 0:
            n_columns = part.n_columns
            indices, data = (np.empty(0, dtype) for dtype in dtypes(part))
        counts.append(part.counts)
        done += len(part)
        start, end = end, end + len(part.data)
        if end > len(data):
            # Extrapolated from the rows so far, plus a margin; pages that are never written to
            # take no memory.
            size = end + int(1.1 * (n - done) * end / done)
            indices, data = grow_array(indices, start, size), grow_array(data, start, size)
        put(part, indices[start:end], data[start:end])
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    return SparseRows(indptr, indices[:end], data[:end], n_columns)


def grow_array(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    """A copy of length `size` with the first `used` entries of the array."""
    grown = np.empty(size, array.dtype)
    grown[:used] = array[:used]
    return grown


def as_rows(metric: Any, X: Any) -> Any:
    """X in the layout of the metric: its `rows(X)` if it has this method, else a dense array."""
    to_rows = getattr(metric, "rows", None)
    if to_rows is not None:
        return to_rows(X)
    if isinstance(X, SparseRows):
        X = X.to_csr()
    return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
