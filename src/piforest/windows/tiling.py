"""Overlapping windows of one size, on a regular grid over some columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from .._random import Stream, mix
from ..engines.protocol import RowSource
from ..protocols import Floats, Ints

# Windows have numbers below this, occupied or not.
_MAX_NUMBER = 2.0**62


@dataclass(frozen=True, eq=False)
class Tiling:
    """Windows of one size. Window i of an axis holds the positions from low + i step to that plus
    the side; both ends of the grid reach over the data equally far."""

    low: Floats
    """(k,)"""
    side: float
    step: float
    counts: Ints
    """(k,) the number of windows along each axis"""

    @classmethod
    def over(cls, low: Floats, high: Floats, side: float, overlap: float) -> Tiling:
        """Windows over a box; neighbours share the share `overlap` of their side."""
        step = side * (1 - overlap)
        # A box that is a multiple of the step long is not rounded up by a rounding error.
        steps = np.ceil(np.maximum(high - low - side, 0) / step - 1e-9)
        if np.prod(1 + steps) >= _MAX_NUMBER:
            raise ValueError(f"window={side:g} is too small for the range of the coordinates.")
        counts = 1 + steps.astype(np.int64)
        total = side + (counts - 1) * step
        return cls(low - (total - (high - low)) / 2, side, step, counts)

    def covering(self, positions: Floats) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of rows (r,) and windows (r,) such that the window holds the row, each pair once.

        positions (n, k); those beyond the grid count as on its border. The number of a window is
        that of `numpy.ravel_multi_index`.
        """
        total = self.side + (self.counts - 1) * self.step
        offset = np.clip(positions - self.low, 0, total)
        last = np.minimum((offset / self.step).astype(np.int64), self.counts - 1)
        first = np.floor((offset - self.side) / self.step).astype(np.int64) + 1
        first = np.clip(first, 0, last)
        strides = np.append(np.cumprod(self.counts[::-1])[-2::-1], 1)
        widest = (last - first).max(axis=0, initial=0) + 1
        for shift in product(*(range(width) for width in widest)):
            at = first + np.array(shift)
            rows = np.flatnonzero((at <= last).all(axis=1))
            yield rows, at[rows] @ strides

    def box(self, window: int) -> tuple[Floats, Floats]:
        """The lower and the upper corner of a window."""
        low = self.low + self.step * np.array(np.unravel_index(window, self.counts))
        return low, low + self.side


@dataclass(frozen=True, eq=False)
class Occupied:
    """The windows of a tiling that hold rows."""

    windows: Ints
    """(w,) their numbers, ascending"""
    n_rows: Ints
    """(w,) the number of rows in each"""
    rows: list[Ints]
    """for each window, all its rows, or a random `limit` of them; ascending"""


def occupied(
    tiling: Tiling, source: RowSource, coordinates: Ints, limit: int, stream: Stream
) -> Occupied:
    """The occupied windows. Memory is bounded by the windows times `limit`, and a block of rows;
    the result does not depend on the blocks.

    Of a window with more rows, those with the smallest hashes are taken.
    """
    find = partial(_block_pairs, tiling, coordinates, limit, stream.key)
    total = _Pairs(*np.empty((4, 0), np.int64))
    for part in source.map(find):
        numbers, counts = _added(total.numbers, total.counts, part.numbers, part.counts)
        windows = np.concatenate([total.windows, part.windows])
        rows = np.concatenate([total.rows, part.rows])
        total = _Pairs(numbers, counts, *_first_of_each(windows, rows, limit, stream.key))
    cuts = np.searchsorted(total.windows, total.numbers[1:])
    rows_of = [np.sort(part) for part in np.split(total.rows, cuts)]
    return Occupied(total.numbers, total.counts, rows_of)


class _Pairs(NamedTuple):
    """The windows of some rows."""

    numbers: Ints
    """of the windows, ascending"""
    counts: Ints
    """their rows"""
    windows: Ints
    """with `rows`: for each window all its rows, or `limit` of them"""
    rows: Ints


def _block_pairs(
    tiling: Tiling, coordinates: Ints, limit: int, key: int, X: Floats, first: int
) -> _Pairs:
    pairs = list(tiling.covering(X[:, coordinates]))
    windows = np.concatenate([each for _, each in pairs])
    rows = np.concatenate([each + first for each, _ in pairs])
    numbers, counts = np.unique(windows, return_counts=True)
    return _Pairs(numbers, counts, *_first_of_each(windows, rows, limit, key))


def _added(numbers: Ints, counts: Ints, more: Ints, extra: Ints) -> tuple[Ints, Ints]:
    """The counts of the windows with these numbers, with those of others added."""
    both = np.union1d(numbers, more)
    total = np.zeros(len(both), np.int64)
    total[np.searchsorted(both, numbers)] += counts
    total[np.searchsorted(both, more)] += extra
    return both, total


def _first_of_each(windows: Ints, rows: Ints, limit: int, key: int) -> tuple[Ints, Ints]:
    """The pairs sorted by window, of each window those of the `limit` rows with the smallest
    hashes."""
    order = np.lexsort((mix(key, rows), windows))
    windows, rows = windows[order], rows[order]
    rank = np.arange(len(windows)) - np.searchsorted(windows, windows)
    return windows[rank < limit], rows[rank < limit]
