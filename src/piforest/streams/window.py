"""The last rows of a stream, and the scores that they had when they came."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocols import Floats, Ints


class Window:
    """A ring of `capacity` rows. Rows are numbered from 0; row i is at place i modulo capacity.

    The window holds the last `length` of `n_seen` rows.
    """

    def __init__(self, capacity: int, n_columns: int) -> None:
        self.capacity = capacity
        self.X = np.zeros((capacity, n_columns))
        self.scores = np.full(capacity, np.nan)
        self.n_seen = self.length = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        # joblib may load arrays that cannot be written to.
        self.__dict__.update(state)
        self.X, self.scores = np.array(self.X), np.array(self.scores)

    @property
    def numbers(self) -> Ints:
        """The numbers of the rows in the window, oldest first."""
        return np.arange(self.n_seen - self.length, self.n_seen)

    def places(self, numbers: Ints) -> Ints:
        """Where these rows are, or will be."""
        return numbers % self.capacity

    def append(self, X: Floats, scores: Floats) -> None:
        """Add at most `capacity` rows; the oldest leave."""
        at = self.places(np.arange(self.n_seen, self.n_seen + len(X)))
        self.X[at], self.scores[at] = X, scores
        self.n_seen += len(X)
        self.length = min(self.length + len(X), self.capacity)

    def forget(self, n: int) -> Ints:
        """Drop the n oldest rows, or all if there are fewer; return their numbers."""
        forgotten = self.numbers[:n]
        self.length -= len(forgotten)
        return forgotten
