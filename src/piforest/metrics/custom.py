"""User-defined distances: a precomputed matrix, or a function of two objects."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._validation import check_table
from ..protocols import Floats


@dataclass(frozen=True)
class Precomputed:
    """Rows hold distances to all training points; a pool is an array of column numbers."""

    name: ClassVar[str] = "precomputed"
    empty_rows: ClassVar[bool] = False

    def pairwise(self, A: Any, B: Any) -> Floats:
        return np.ascontiguousarray(np.asarray(A, np.float64)[:, np.asarray(B)])


@dataclass(frozen=True)
class Callable:
    """d(a, b) of vectors, strings or any objects; one Python call for each pair."""

    function: Function[[Any, Any], float]
    name: ClassVar[str] = "callable"
    empty_rows: ClassVar[bool] = False

    def pairwise(self, A: Any, B: Any) -> Floats:
        name = getattr(self.function, "__name__", repr(self.function))
        table = np.array([[self.function(a, b) for b in B] for a in A])
        if table.ndim > 2 or table.dtype == object:
            raise ValueError(f"metric {name}(a, b) must give one number.")
        table = table.astype(np.float64).reshape(len(A), len(B))
        check_table(table, f"metric {name}(a, b)", table.shape)
        return np.asarray(table)
