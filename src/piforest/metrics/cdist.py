"""Distances between dense rows, computed by SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist

from .._rows import SparseRows
from .._validation import check_positive
from ..protocols import Floats


class _Cdist:
    name: ClassVar[str]
    empty_rows: ClassVar[bool] = False

    def rows(self, X: Any) -> Floats:
        if isinstance(X, SparseRows):
            X = X.to_csr()
        return np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, np.float64)

    def pairwise(self, A: Any, B: Any) -> Floats:
        return np.asarray(cdist(self.rows(A), self.rows(B), self.name, **self._options()))

    def _options(self) -> dict[str, float]:
        return {}


@dataclass(frozen=True)
class Chebyshev(_Cdist):
    """max |a - b|."""

    name: ClassVar[str] = "chebyshev"


@dataclass(frozen=True)
class Canberra(_Cdist):
    """sum |a - b| / (|a| + |b|)."""

    name: ClassVar[str] = "canberra"


@dataclass(frozen=True)
class BrayCurtis(_Cdist):
    """sum |a - b| / sum |a + b|; the distance between two rows of zeros is 0."""

    name: ClassVar[str] = "braycurtis"

    def pairwise(self, A: Any, B: Any) -> Floats:
        return np.nan_to_num(super().pairwise(A, B), nan=0.0)


@dataclass(frozen=True)
class Hamming(_Cdist):
    """The share of columns that differ."""

    name: ClassVar[str] = "hamming"


@dataclass(frozen=True)
class Minkowski(_Cdist):
    """(sum |a - b|^p)^(1/p)."""

    p: float = 3.0
    name: ClassVar[str] = "minkowski"

    def __post_init__(self) -> None:
        check_positive("p", self.p)

    def _options(self) -> dict[str, float]:
        return {"p": self.p}
