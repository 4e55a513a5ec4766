"""Distances that the user brings: a table, or a function of two objects."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._validation import check_table
from ..protocols import Floats


@dataclass(frozen=True)
class Precomputed:
    """Rows are distances to all training points; a pool is a list of their numbers."""

    name: ClassVar[str] = "precomputed"
    empty_rows: ClassVar[bool] = False

    def pairwise(self, A: Any, B: Any) -> Floats:
        return np.ascontiguousarray(np.asarray(A, np.float64)[:, np.asarray(B)])


@dataclass(frozen=True)
class Callable:
    """d(a, b) for each pair: vectors, strings, any objects. A Python call for each."""

    function: Function[[Any, Any], float]
    name: ClassVar[str] = "callable"
    empty_rows: ClassVar[bool] = False

    def pairwise(self, A: Any, B: Any) -> Floats:
        table = np.array([[self.function(a, b) for b in B] for a in A], dtype=np.float64)
        name = getattr(self.function, "__name__", repr(self.function))
        return check_table(table.reshape(len(A), len(B)), f"metric {name}(a, b)")
