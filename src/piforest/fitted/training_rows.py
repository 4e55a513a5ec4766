"""The rows that a fit uses: all training rows, or a random subset of many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._random import Stream, choose, subset
from ..models.drawing import ModelSet
from ..protocols import Floats, Ints


@dataclass(frozen=True)
class TrainingRows:
    """The rows of X that are in memory, with their numbers among all rows.

    All rows of an array are in memory. For a Dask collection, only the rows that the fit needs:
    all up to 50,000, else a random 50,000 and the pool.
    """

    X: Any
    """the rows in memory, as given or validated"""
    quality: Floats | None = None
    groups: Ints | None = None
    numbers: Ints | None = None
    """the numbers of the rows in memory, ascending; None if all rows are"""
    n_all: int = 0
    """the number of all rows, if not all are in memory"""

    def __len__(self) -> int:
        return len(self.X) if self.numbers is None else self.n_all

    def with_rows(self, X: Any) -> TrainingRows:
        """The same rows after validation."""
        return replace(self, X=X)

    def take(self, numbers: Ints) -> Any:
        """A copy of the rows with these numbers."""
        return self.X[self.positions(numbers)]

    def positions(self, numbers: Ints) -> Ints:
        """The positions in X of the rows with these numbers."""
        return numbers if self.numbers is None else np.searchsorted(self.numbers, numbers)

    def numbered(self, models: ModelSet) -> ModelSet:
        """The models with sample indices converted from positions in X to row numbers."""
        if self.numbers is None:
            return models
        return replace(models, samples=self.numbers[models.samples])

    def pool(self, stream: Stream, size: int) -> Ints:
        """The numbers of the rows in the pool."""
        return choose(stream.child("pool"), len(self), size)

    def subset(self, stream: Stream) -> Ints:
        """The numbers of the rows in the subset that represents all rows."""
        return subset(stream, len(self))
