"""Euclidean and Manhattan distances between dense or sparse rows.

A matrix product is not used: |a|^2 + |b|^2 - 2 <a, b> loses the digits that decide between near
seeds, and its last bits depend on the other rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from .._kernels import dense, sparse
from .._rows import SparseRows, sparse_rows
from .._validation import different_columns
from ..protocols import Floats


class _Lp:
    name: ClassVar[str]
    empty_rows: ClassVar[bool] = False
    _power: ClassVar[int]

    def rows(self, X: Any) -> Any:
        """Sparse rows stay sparse, anything else becomes a dense array."""
        if isinstance(X, SparseRows):
            return X
        return sparse_rows(X) if scipy.sparse.issparse(X) else np.asarray(X, np.float64)

    def pairwise(self, A: Any, B: Any) -> Floats:
        A, B = self.rows(A), self.rows(B)
        out = np.empty((len(A), len(B)))
        if isinstance(A, SparseRows) or isinstance(B, SparseRows):
            A, B = (X if isinstance(X, SparseRows) else sparse_rows(X) for X in (A, B))
            if A.n_columns != B.n_columns:
                raise different_columns(A.n_columns, B.n_columns)
            sparse.lp_distances(
                A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, self._power, out
            )
        else:
            if A.shape[1] != B.shape[1]:
                raise different_columns(A.shape[1], B.shape[1])
            dense.lp_distances(A, B, self._power, out)
        return self._finish(out)

    def _finish(self, sums: Floats) -> Floats:
        return sums


@dataclass(frozen=True)
class Euclidean(_Lp):
    """sqrt(sum (a - b)^2)."""

    name: ClassVar[str] = "euclidean"
    _power: ClassVar[int] = 2

    def _finish(self, sums: Floats) -> Floats:
        return np.sqrt(sums, out=sums)


@dataclass(frozen=True)
class Manhattan(_Lp):
    """sum |a - b|."""

    name: ClassVar[str] = "manhattan"
    _power: ClassVar[int] = 1
