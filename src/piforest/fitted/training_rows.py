"""Which rows a fit looks at: all of them, or the sample that stands for very many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._random import Stream, choose, subset
from ..models import ModelSet
from ..protocols import Floats, Ints


@dataclass(frozen=True)
class TrainingRows:
    """The rows of X that are at hand, numbered among all rows of X.

    Of arrays all rows are at hand. Of a Dask collection they are those that the fit needs: all
    up to 50,000, else a random 50,000 and the pool.
    """

    X: Any
    """the rows at hand, as given or validated"""
    quality: Floats | None = None
    groups: Ints | None = None
    numbers: Ints | None = None
    """of the rows at hand among all, ascending; None if they are all"""
    n_all: int = 0
    """the number of all rows, where those at hand are not all"""

    def __len__(self) -> int:
        return len(self.X) if self.numbers is None else self.n_all

    def with_rows(self, X: Any) -> TrainingRows:
        """The same rows after validation."""
        return replace(self, X=X)

    def take(self, numbers: Ints) -> Any:
        """A copy of the rows with these numbers."""
        return self.X[self.positions(numbers)]

    def positions(self, numbers: Ints) -> Ints:
        """Where the rows with these numbers stand in X."""
        return numbers if self.numbers is None else np.searchsorted(self.numbers, numbers)

    def numbered(self, models: ModelSet) -> ModelSet:
        """Models of samples of X as models of samples of all rows."""
        if self.numbers is None:
            return models
        return replace(models, samples=self.numbers[models.samples])

    def pool(self, stream: Stream, size: int) -> Ints:
        """The numbers of the rows that trees are grown from."""
        return choose(stream.child("pool"), len(self), size)

    def subset(self, stream: Stream) -> Ints:
        """The numbers of the rows that stand for all."""
        return subset(stream, len(self))
