"""Rows of a file: its columns by name, as they stood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..protocols import Floats


@dataclass(frozen=True)
class Table:
    """What was read, so that it can be written again with nothing changed but what is added."""

    columns: Mapping[str, NDArray[Any]]
    """name to (n,) values in the order of the file: numbers, or text as it stood"""
    source: str
    """the file's name, for messages"""
    form: Any = None
    """what else the writer of the same format needs: a delimiter, other parts of a scan"""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    def numbers(self, names: Sequence[str] | None = None) -> Floats:
        """(n, d) the named columns (all, if None) as float64; what is missing is nan."""
        wanted = self.names if names is None else list(names)
        for name in wanted:
            if name not in self.columns:
                listed = ", ".join(self.names)
                raise ValueError(f"{self.source} has no column {name!r}; its columns: {listed}.")
        return np.column_stack([np.asarray(self.columns[name], np.float64) for name in wanted])

    def with_columns(self, added: Mapping[str, NDArray[Any]]) -> Table:
        """The same with more columns; one of the same name is replaced where it stands."""
        return replace(self, columns={**self.columns, **added})
