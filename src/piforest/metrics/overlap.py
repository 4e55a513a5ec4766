"""Distances based on the overlap of two rows: Tanimoto, Jaccard, Ruzicka, cosine.

All four need one number for each pair, a sum over shared columns, and one number for each row.
They accept dense arrays, SciPy sparse matrices and `SparseRows`. With fixed-point rows every sum
is an exact integer.

The distance from or to an empty row is 1, also between two empty rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import sparse
from .._rows import DenseRows, SparseRows, sparse_rows
from .._validation import check_not_negative, different_columns
from ..protocols import Floats

# 127 ** 2 times this number of columns is below 2 ** 31.
COLUMNS_FOR_INT32 = 130_000
# A column with entries in more than this share of the pool is stored dense: a vectorised loop over
# the whole pool (measured: 0.03 to 0.045 ns per row) is faster than visiting its entries (0.8 ns).
_DENSE_SHARE = 1 / 16
# The same if all values are equal; then columns are counted, with four rows of the pool per byte.
_PACKED_SHARE = 1 / 96
# The length of a packed column is a multiple of this, since a partial vector takes longest.
_VECTOR_BYTES = 32


@dataclass(frozen=True)
class InvertedRows:
    """A pool stored by columns, for sums over shared columns."""

    pool: SparseRows
    sums: NDArray[Any]
    may_be_dense: bool
    """whether overlaps are sums of products, to which zeros add nothing"""
    slot: NDArray[np.int32] = field(init=False)
    """(columns,) the row of `dense` that holds a column, -1 for columns stored as lists"""
    dense: NDArray[np.uint8] = field(init=False)
    """(k, n); packed into (k + 1, q) if all values are equal"""
    column_max: NDArray[np.uint8] = field(init=False)
    """(k,) the largest value of each row of `dense`"""
    ends: NDArray[np.int64] = field(init=False)
    rows: NDArray[np.uint16] | NDArray[np.uint32] = field(init=False)
    values: NDArray[Any] = field(init=False)
    only_value: int = field(init=False)
    """the value of all entries, such as 127 or 1 for binary preferences; 0 if they differ"""

    def __post_init__(self) -> None:
        pool = self.pool
        counts = np.bincount(pool.indices, minlength=pool.n_columns)
        only_value = _only_value(pool) if self.exact else 0
        packed = only_value > 0
        share = _PACKED_SHARE if packed else _DENSE_SHARE
        is_dense = counts > share * len(pool) if self.exact else np.zeros(len(counts), np.bool_)
        slot = np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32)
        size = -(-len(pool) // (4 * _VECTOR_BYTES)) * _VECTOR_BYTES if packed else len(pool)
        dense = np.zeros((int(is_dense.sum()) + packed, size), np.uint8)
        n_listed = int(counts[~is_dense].sum())
        rows = np.empty(n_listed, np.uint16 if len(pool) <= 2**16 else np.uint32)
        values = np.empty(n_listed, pool.data.dtype)
        ends = np.concatenate([[0], np.cumsum(np.where(is_dense, 0, counts))]).astype(np.int64)
        column_max = np.zeros(len(dense), np.uint8)
        sparse.invert(
            pool.indptr, pool.indices, pool.data, slot, ends[:-1].copy(), rows, values, dense,
            column_max, packed,
        )  # fmt: skip
        attributes = {
            "slot": slot, "dense": dense, "column_max": column_max, "ends": ends, "rows": rows,
            "values": values, "only_value": only_value,
        }  # fmt: skip
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @property
    def exact(self) -> bool:
        return self.may_be_dense and self.pool.exact

    def supports(self, rows: SparseRows) -> bool:
        """Whether the dense columns allow sums with these rows. Packed columns are counted, so all
        values of the rows have to be equal, too."""
        if not self.exact or len(rows.data) == 0:
            return True
        return rows.exact and (self.only_value == 0 or _only_value(rows) > 0)


class Products(NamedTuple):
    """Rows of bytes and the pool that they are multiplied with, and the sums of their squares."""

    rows: SparseRows
    row_sums: Floats
    pool: InvertedRows
    pool_sums: Floats


def _dtype(rows: SparseRows, pool: SparseRows) -> Any:
    """A type that holds the sum over all columns."""
    if not (rows.exact and pool.exact):
        return np.float64
    return np.int32 if rows.n_columns <= COLUMNS_FOR_INT32 else np.int64


def _only_value(rows: SparseRows) -> int:
    values = rows.data
    return int(values[0]) if len(values) and np.all(values == values[0]) else 0


def _add_dense(rows: SparseRows, index: InvertedRows, upper: int, out: NDArray[Any]) -> None:
    """Add the products of the dense columns."""
    if not index.exact or len(rows.data) == 0:
        return
    if index.only_value:
        product = index.only_value * int(rows.data[0])
        sparse.packed_counts(rows.indptr, rows.indices, index.slot, index.dense, product, out)
    elif len(index.dense):
        size = rows.n_columns + 3
        sparse.dense_products(
            rows.indptr, rows.indices, rows.data, index.slot, index.dense, index.column_max, upper,
            np.empty(size, np.int64), np.empty(size, np.uint16), np.zeros(out.shape[1], np.uint16),
            out,
        )  # fmt: skip


class _Overlap:
    """`pairwise` from a compiled sum over shared columns and the sum of each row."""

    name: ClassVar[str]
    empty_rows: ClassVar[bool] = True
    non_negative: ClassVar[bool] = True
    _add_shared: ClassVar[Any] = staticmethod(sparse.products)
    _squared: ClassVar[bool] = True

    def prepare(self, B: Any) -> InvertedRows:
        rows = self.rows(B)
        return InvertedRows(rows, self._sums(rows), self._add_shared is sparse.products)

    def upper(self, index: InvertedRows, start: int, stop: int) -> Floats:
        """Rows start to stop of the distances within the pool, from column `start` on; entries
        left of the diagonal are not valid."""
        pool = index.pool
        rows = pool[start:stop]
        shared = self._shared(rows, index, start)
        # Contiguous, as in `pairwise`: another layout would be compiled again.
        shared = np.ascontiguousarray(shared[:, start:])
        return self._distance(shared, index.sums[start:stop], index.sums[start:])

    def pairwise(self, A: Any, B: Any) -> Floats:
        shared, index, sums = self._overlaps(A, B)
        return self._distance(shared, sums, index.sums)

    def _overlaps(self, A: Any, B: Any) -> tuple[NDArray[Any], InvertedRows, NDArray[Any]]:
        """The sums over shared columns (rows, pool), the pool by columns, and the sums of rows."""
        rows = self.rows(A)
        index = B if isinstance(B, InvertedRows) else self.prepare(B)
        pool = index.pool
        if rows.n_columns != pool.n_columns:
            raise different_columns(rows.n_columns, pool.n_columns)
        if not index.supports(rows):
            index = InvertedRows(pool, index.sums, may_be_dense=False)
        return self._shared(rows, index, -1), index, self._sums(rows)

    def _shared(self, rows: SparseRows, index: InvertedRows, upper: int) -> NDArray[Any]:
        """(rows, pool) sums over shared columns; with upper >= 0, of the pool rows from `upper` on,
        and only entries from the diagonal on."""
        shared = np.zeros((len(rows), len(index.pool)), _dtype(rows, index.pool))
        _add_dense(rows, index, upper, shared)
        starts = index.ends[:-1] if upper < 0 else index.ends[:-1].copy()
        self._add_shared(
            rows.indptr, rows.indices, rows.data, upper, starts, index.ends[1:], index.rows,
            index.values, shared,
        )  # fmt: skip
        return shared

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


class _Ratio(_Overlap):
    """Distances 1 - intersection over union."""

    def shares(self, A: Any, B: Any) -> tuple[NDArray[Any], Floats, Floats]:
        """The intersections (rows, pool), and the sums of the rows of each, from which
        `FlatForest.path_lengths_of` computes distances."""
        shared, index, sums = self._overlaps(A, B)
        return shared, sums.astype(np.float64), index.sums.astype(np.float64)

    def products(self, rows: SparseRows, index: InvertedRows) -> Products | None:
        """What `FlatForest.path_lengths_of_rows` needs, which is faster than `shares`; None if
        intersections are no products of bytes."""
        exact = rows.exact and index.exact and rows.n_columns <= COLUMNS_FOR_INT32
        if not exact or index.only_value or rows.n_columns != index.pool.n_columns:
            return None
        pool_sums = index.sums.astype(np.float64)
        return Products(rows, self._sums(rows).astype(np.float64), index, pool_sums)

    def dense(self, index: InvertedRows) -> DenseRows | None:
        """The rows of an exact pool as a matrix, if intersections are products; else None."""
        pool = index.pool
        if not pool.exact or self._add_shared is not sparse.products:
            return None
        # 16 bits: compilers have an instruction for sums of their products, not for those of bytes.
        dense = np.zeros((len(pool), pool.n_columns), np.int16)
        dense[np.repeat(np.arange(len(pool)), pool.counts), pool.indices] = pool.data
        return DenseRows(dense, index.sums.astype(np.float64))


@dataclass(frozen=True)
class Tanimoto(_Ratio):
    """1 - <a, b> / (|a|^2 + |b|^2 - <a, b>), equation (4) of the paper."""

    name: ClassVar[str] = "tanimoto"


@dataclass(frozen=True)
class Jaccard(_Ratio):
    """1 - |a and b| / |a or b|: the Tanimoto distance with every non-zero entry counted as 1."""

    name: ClassVar[str] = "jaccard"

    def rows(self, X: Any) -> SparseRows:
        rows = super().rows(X)
        ones = np.ones(len(rows.data), np.int8)
        return SparseRows(rows.indptr, rows.indices, ones, rows.n_columns)


@dataclass(frozen=True)
class Ruzicka(_Ratio):
    """1 - sum of minima / sum of maxima."""

    name: ClassVar[str] = "ruzicka"
    _add_shared: ClassVar[Any] = staticmethod(sparse.minima)
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
