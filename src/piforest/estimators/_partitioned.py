"""Dask collections among the inputs: told apart without importing Dask, answered lazily."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from .._random import SUBSET, Stream, choose, subset
from ..models import ModelSet
from ..protocols import Ints

F = TypeVar("F", bound=Callable[..., Any])


def is_dask(X: Any) -> bool:
    """Is X a Dask collection? If so, Dask is imported already."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def by_partition(method: F) -> F:
    """A method that answers each row of X alone; a Dask collection is answered lazily, with the
    same partitions and index."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return method(self, X)
        from ..engines.dask import map_rows

        return map_rows(self, method.__name__, X)

    return cast(F, answer)


def in_memory(X: Any) -> Any:
    """X, computed if it is a Dask collection: for what looks at all rows at once."""
    return X.compute() if is_dask(X) else X


@dataclass(frozen=True)
class SomeRows:
    """Some of n rows, asked for by their numbers among all."""

    rows: Any
    numbers: Ints
    """ascending"""
    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, numbers: Ints) -> Any:
        return self.rows[np.searchsorted(self.numbers, numbers)]


@dataclass(frozen=True)
class Training:
    """What `fit` was given: all rows, or of a Dask collection those that it looks at."""

    X: Any
    quality: Any = None
    groups: Any = None
    numbers: Ints | None = None
    """of the rows among all, ascending; None if they are all"""
    n: int = 0
    """how many there are, where these are not all"""

    def among_all(self, rows: Any) -> Any:
        """Validated rows, by their numbers among all."""
        return rows if self.numbers is None else SomeRows(rows, self.numbers, self.n)

    def places(self, numbers: Ints) -> Ints:
        """Where the rows of these numbers stand in X."""
        return numbers if self.numbers is None else np.searchsorted(self.numbers, numbers)

    def numbered(self, models: ModelSet) -> ModelSet:
        """Models with samples of X as models with samples of all rows."""
        if self.numbers is None:
            return models
        return replace(models, samples=self.numbers[models.samples])


def training_data(
    X: Any, stream: Stream, pool_size: int, quality: Any = None, groups: Any = None
) -> Training:
    """X as it is, or the rows of a Dask collection that `fit` looks at: all up to 50,000, else
    the subset that stands for all and the pool."""
    if not is_dask(X):
        return Training(X, quality, groups)
    from ..engines.dask import gather, lengths_of, settled

    X = settled(X)
    lengths = lengths_of(X)
    n = int(lengths.sum())
    if n <= SUBSET or pool_size >= n:
        return Training(*gather(X, quality, groups, lengths, np.arange(n)))
    pool = choose(stream.child("pool"), n, pool_size)
    numbers = np.union1d(subset(stream, n), pool)
    return Training(*gather(X, quality, groups, lengths, numbers), numbers, n)
