"""The ranges of the columns of the training rows: beyond them, nothing is known of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._numbers import readable
from .protocols import Bools, Floats

# A row is outside if a column is farther beyond its range than this share of it: new rows like the
# training rows are somewhat beyond the extremes of these at times.
_MARGIN = 0.1
# Rows outside are worth a word if they are more than this share, and more than this many times
# those that are beyond the extremes of as many training rows by chance.
_SHARE, _CHANCE = 0.05, 3.0
_NAMED = 4


@dataclass(frozen=True, eq=False)
class Ranges:
    """The smallest and the largest values (d,) of n training rows."""

    low: Floats
    high: Floats
    n: int

    @classmethod
    def of(cls, X: Floats, n: int) -> Ranges:
        """The ranges of rows X that represent n training rows."""
        # NumPy takes a hundred times longer for few columns at once than one by one.
        low, high = zip(*((column.min(), column.max()) for column in X.T))
        return cls(np.array(low), np.array(high), n)

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """The lowest and the highest values (d,) that are not outside."""
        margin = _MARGIN * (self.high - self.low)
        return self.low - margin, self.high + margin

    def outside(self, X: Floats) -> Bools:
        """(n, d) which values are outside."""
        low, high = self.limits
        return np.asarray((low > X) | (high < X))

    def count(self, X: Floats) -> int:
        """The number of rows that are outside in any column."""
        return int(np.sum(self.outside(X).any(axis=1)))

    def matters(self, count: int, n: int) -> bool:
        """Whether so many of n rows outside are more than anomalies and chance explain."""
        chance = 2 * len(self.low) / (self.n + 1)
        return count > n * max(_SHARE, _CHANCE * chance)

    def text(self, columns: Sequence[int], names: Sequence[str]) -> str:
        """The ranges of some columns: "x from 0 to 10"."""
        listed = ", ".join(
            f"{names[k]} from {readable(float(self.low[k]), 4)} to "
            f"{readable(float(self.high[k]), 4)}"
            for k in columns[:_NAMED]
        )
        return listed + (f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else "")


def outside_sentence(count: int, n: int) -> str:
    """The sentence about rows outside, as in warnings, on the command line and in reports."""
    verb = "is" if count == 1 else "are"
    return (
        f"{count:,} of {n:,} row{'' if n == 1 else 's'} {verb} outside the ranges in which the "
        "model was fitted: it knows nothing of what is normal there."
    )
