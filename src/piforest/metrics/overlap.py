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
# measured, 0.03 to 0.06 ns against 1.7.
_STEPS_PER_CELL = 0.04


@dataclass(frozen=True)
class InvertedRows:
    """A pool with the rows of each column, which overlaps are summed through."""

    pool: SparseRows
    sums: NDArray[Any]
    ends: NDArray[np.int64] = field(init=False)
    rows: NDArray[np.uint16] | NDArray[np.int32] = field(init=False)
    values: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        pool = self.pool
        ends = np.zeros(pool.n_columns + 1, np.int64)
        rows = np.empty(len(pool.indices), np.uint16 if len(pool) <= 2**16 else np.int32)
        values = np.empty_like(pool.data)
        sparse.invert(pool.indptr, pool.indices, pool.data, ends, rows, values)
        for name, value in (("ends", ends), ("rows", rows), ("values", values)):
            object.__setattr__(self, name, value)


def _dtype(rows: SparseRows, pool: SparseRows) -> Any:
    """What holds the sum over all shared columns."""
    if not (rows.exact and pool.exact):
        return np.float64
    return np.int32 if rows.n_columns <= _COLUMNS_FOR_INT32 else np.int64


def _is_dense(rows: SparseRows, index: InvertedRows) -> bool:
    """Would matrix products be cheaper than running down the columns of the pool?"""
    in_rows = np.bincount(rows.indices, minlength=rows.n_columns)
    steps = float(in_rows @ np.diff(index.ends))
    return steps > _STEPS_PER_CELL * len(rows) * len(index.pool) * rows.n_columns


def _dense_products(rows: SparseRows, index: InvertedRows, out: NDArray[Any]) -> None:
    """out += rows pool', by matrix products of so few columns that float32 is exact."""
    sides = [(side, side.indptr[:-1].copy()) for side in (rows, index.pool)]
    for first in range(0, rows.n_columns, _EXACT_COLUMNS):
        a, b = (np.zeros((len(side), _EXACT_COLUMNS), np.float32) for side, _ in sides)
        for (side, cursors), dense in zip(sides, (a, b)):
            sparse.fill_columns(side.indptr, side.indices, side.data, cursors, first, dense)
        out += (a @ b.T).astype(out.dtype)


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
        """Rows start to stop of the pool's own table; right from column `start` on, at least."""
        pool = index.pool
        rows = pool[start:stop]
        if self._kernel is not sparse.products or (pool.exact and _is_dense(rows, index)):
            return self.pairwise(rows, index)
        shared = np.zeros((len(rows), len(pool)), _dtype(pool, pool))
        sparse.upper_products(
            pool.indptr, pool.indices, pool.data, index.ends, index.rows, index.values, start,
            shared,
        )  # fmt: skip
        return self._distance(shared, index.sums[start:stop], index.sums)

    def pairwise(self, A: Any, B: Any) -> Floats:
        rows = self.rows(A)
        index = B if isinstance(B, InvertedRows) else self.prepare(B)
        pool = index.pool
        check_same_columns(rows.n_columns, pool.n_columns)
        exact = rows.exact and pool.exact
        shared = np.zeros((len(rows), len(pool)), _dtype(rows, pool))
        if exact and self._kernel is sparse.products and _is_dense(rows, index):
            _dense_products(rows, index, shared)
        else:
            self._kernel(
                rows.indptr, rows.indices, rows.data, index.ends, index.rows, index.values, shared
            )
        return self._distance(shared, self._sums(rows), index.sums)

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
