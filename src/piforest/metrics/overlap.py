"""Distances from what two rows share: Tanimoto, Jaccard, Ruzicka, cosine.

All four need one number for each pair, a sum over shared columns, and one for
each row. They take dense arrays, SciPy sparse matrices and `SparseRows`. With
fixed-point rows every sum is an exact integer.

The distance from or to an empty row is 1, between two empty rows too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._kernels import sparse
from .._rows import SparseRows, sparse_rows
from .._validation import check_not_negative, check_same_columns
from ..protocols import Floats

# 127 ** 2 times as many shared models stay below 2 ** 31.
_COLUMNS_FOR_INT32 = 130_000
# 127 ** 2 times as many stay below 2 ** 24, where float32 still holds every integer.
_EXACT_COLUMNS = 1024
# A cell of a matrix product costs as much as this many steps through the inverted index:
# measured, 0.02 to 0.03 ns against 0.6 to 0.9.
_STEPS_PER_CELL = 0.04
# A matrix product costs as much as that of so many more columns, to set it up.
_SET_UP = 20


@dataclass(frozen=True)
class InvertedRows:
    """A pool with the rows of each column, which overlaps are summed through."""

    pool: SparseRows
    sums: NDArray[Any]
    ends: NDArray[np.int64] = field(init=False)
    rows: NDArray[np.uint16] | NDArray[np.uint32] = field(init=False)
    values: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        pool = self.pool
        ends = np.zeros(pool.n_columns + 1, np.int64)
        rows = np.empty(len(pool.indices), np.uint16 if len(pool) <= 2**16 else np.uint32)
        values = np.empty_like(pool.data)
        sparse.invert(pool.indptr, pool.indices, pool.data, ends, rows, values)
        for name, value in (("ends", ends), ("rows", rows), ("values", values)):
            object.__setattr__(self, name, value)


def _dtype(rows: SparseRows, pool: SparseRows) -> Any:
    """What holds the sum over all shared columns."""
    if not (rows.exact and pool.exact):
        return np.float64
    return np.int32 if rows.n_columns <= _COLUMNS_FOR_INT32 else np.int64


def _crowded(rows: SparseRows, index: InvertedRows) -> NDArray[np.int64]:
    """The columns for which a matrix product is cheaper than running down those of the pool.

    A few per cent of the columns may be most of the steps: those of the models that many
    points prefer.
    """
    in_rows = np.bincount(rows.indices, minlength=rows.n_columns)
    steps = in_rows * np.diff(index.ends)
    a_column = _STEPS_PER_CELL * len(rows) * len(index.pool)
    columns = np.flatnonzero(steps > a_column)
    worth_it = steps[columns].sum() > a_column * (len(columns) + _SET_UP)
    return columns if worth_it else columns[:0]


def _add_products(
    rows: SparseRows, index: InvertedRows, columns: NDArray[np.int64], out: NDArray[Any]
) -> None:
    """out += the products of these columns with the last out.shape[1] rows of the pool, by
    matrix products of so few columns that float32 is exact."""
    first = len(index.pool) - out.shape[1]
    for start in range(0, len(columns), _EXACT_COLUMNS):
        some = columns[start : start + _EXACT_COLUMNS]
        place = np.full(rows.n_columns, -1, np.int32)
        place[some] = np.arange(len(some))
        a = np.zeros((len(rows), len(some)), np.float32)
        b = np.zeros((len(some), out.shape[1]), np.float32)
        sparse.fill_rows(rows.indptr, rows.indices, rows.data, place, a)
        sparse.fill_columns(some, index.ends, index.rows, index.values, first, b)
        sparse.add_to(a @ b, out)


class _Overlap:
    """`pairwise` from a kernel that sums over shared columns, and the sums of each row."""

    name: ClassVar[str]
    empty_rows: ClassVar[bool] = True
    non_negative: ClassVar[bool] = True
    _kernel: ClassVar[Any] = staticmethod(sparse.products)
    _squared: ClassVar[bool] = True

    def prepare(self, B: Any) -> InvertedRows:
        rows = self.rows(B)
        return InvertedRows(rows, self._sums(rows))

    def upper(self, index: InvertedRows, start: int, stop: int) -> Floats:
        """Rows start to stop of the pool's own table, from column `start` on; those on the left
        of the diagonal may be missing."""
        pool = index.pool
        rows = pool[start:stop]
        if self._kernel is not sparse.products:
            return self.pairwise(rows, index)[:, start:]
        shared = np.zeros((len(rows), len(pool)), _dtype(pool, pool))
        starts = self._crowd(rows, index, shared[:, start:])
        sparse.upper_products(
            pool.indptr, pool.indices, pool.data, starts, index.ends[1:], index.rows, index.values,
            start, shared,
        )  # fmt: skip
        return self._distance(shared[:, start:], index.sums[start:stop], index.sums[start:])

    def pairwise(self, A: Any, B: Any) -> Floats:
        rows = self.rows(A)
        index = B if isinstance(B, InvertedRows) else self.prepare(B)
        pool = index.pool
        check_same_columns(rows.n_columns, pool.n_columns)
        shared = np.zeros((len(rows), len(pool)), _dtype(rows, pool))
        starts = self._crowd(rows, index, shared)
        self._kernel(
            rows.indptr, rows.indices, rows.data, starts, index.ends[1:], index.rows, index.values,
            shared,
        )  # fmt: skip
        return self._distance(shared, self._sums(rows), index.sums)

    def _crowd(self, rows: SparseRows, index: InvertedRows, out: NDArray[Any]) -> NDArray[np.int64]:
        """Add the products of the crowded columns; returns where each column's entries start,
        at their end for those that are done."""
        starts = index.ends[:-1]
        if not (self._kernel is sparse.products and rows.exact and index.pool.exact):
            return starts
        columns = _crowded(rows, index)
        if len(columns):
            _add_products(rows, index, columns, out)
            starts = starts.copy()
            starts[columns] = index.ends[columns + 1]
        return starts

    def rows(self, X: Any) -> SparseRows:
        rows = X if isinstance(X, SparseRows) else sparse_rows(X)
        if self.non_negative and not rows.exact:
            check_not_negative(self.name, rows.data)
        return rows

    def _sums(self, rows: SparseRows) -> NDArray[Any]:
        out = np.empty(len(rows), np.int64 if rows.exact else np.float64)
        sparse.row_sums(rows.indptr, rows.data, self._squared, out)
        return out

    def _distance(self, shared: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """1 - intersection over union."""
        out = np.empty(shared.shape)
        sparse.one_minus_ratio(shared, a, b, out)
        return out


@dataclass(frozen=True)
class Tanimoto(_Overlap):
    """1 - <a, b> / (|a|^2 + |b|^2 - <a, b>), equation (4) of the paper."""

    name: ClassVar[str] = "tanimoto"


@dataclass(frozen=True)
class Jaccard(_Overlap):
    """1 - |a and b| / |a or b|: Tanimoto's distance with every non-zero entry counted as 1."""

    name: ClassVar[str] = "jaccard"

    def rows(self, X: Any) -> SparseRows:
        rows = super().rows(X)
        ones = np.ones(len(rows.data), np.int8)
        return SparseRows(rows.indptr, rows.indices, ones, rows.n_columns)


@dataclass(frozen=True)
class Ruzicka(_Overlap):
    """1 - sum of minima / sum of maxima."""

    name: ClassVar[str] = "ruzicka"
    _kernel: ClassVar[Any] = staticmethod(sparse.minima)
    _squared: ClassVar[bool] = False


@dataclass(frozen=True)
class Cosine(_Overlap):
    """1 - <a, b> / (|a| |b|), in [0, 2]."""

    name: ClassVar[str] = "cosine"
    non_negative: ClassVar[bool] = False

    def _distance(self, shared: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> Floats:
        norms = np.sqrt(a.astype(np.float64))[:, None] * np.sqrt(b.astype(np.float64))[None, :]
        similarity = np.divide(shared, norms, out=np.zeros(shared.shape), where=norms > 0)
        return np.asarray(np.maximum(1 - similarity, 0.0))
