"""Concentrated models join those that were drawn, if rows that they have not seen support them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._random import Stream, choose
from ..bands.evidence import least_ratio, measure_bands
from ..bands.ladder import N_WIDE, WIDE_WIDTHS, Grid, Ladder, ladder_of
from ..bands.resolution import DitherEffect
from ..families import extent
from ..models.concentration import can_concentrate, concentrate
from ..models.drawing import ModelSet, joined
from ..models.membership import first_occurrences, sample_membership
from ..models.refit import ROWS_EACH
from ..protocols import Floats, Ints

# Rows to concentrate on, and as many others to measure the evidence on; more for large samples.
_ROWS, _ROWS_OF_LARGE = 1024, 32
# Shares of the rows that a model is refitted to. Points far from a model hardly count, so that
# structures of two thirds of a share are found best.
_SHARES = (0.9, 0.75, 0.6, 0.45)
# Starts for each share: fewer if one step takes many products of coordinates.
_STARTS, _FEWEST, _WORK = 32, 8, 2**24
# Drawn models that remain beside concentrated ones.
_REMAINING = 2000
# Structures are found one after the other: a large one hides smaller ones.
_ROUNDS = 3
# Points within this many half-widths of a structure belong to it.
_REACH = 1.5


class _Halves(NamedTuple):
    """Rows that models are fitted to, and others that they are measured on."""

    fitted: Floats
    others: Floats

    @classmethod
    def of(cls, X: Floats, sample_size: int, stream: Stream) -> _Halves:
        # Of equal rows one: a copy in the other half would support any model through it.
        X = X[first_occurrences(X, (), np.ones(len(X), np.bool_))]
        size = min(max(_ROWS, _ROWS_OF_LARGE * sample_size), len(X) // 2)
        rows = choose(stream, len(X), 2 * size)
        first = choose(stream.child("half"), 2 * size, size)
        return cls(X[rows[first]], X[np.delete(rows, first)])

    def without(self, model: ModelSet, reach: float) -> _Halves:
        """The rows farther from the model than `reach`."""
        far = [model.family.residuals(rows, model.params)[:, 0] > reach for rows in self]
        return _Halves(*(rows[each] for rows, each in zip(self, far)))


def with_concentrated(
    models: ModelSet, X: Floats, effect: DitherEffect | None, stream: Stream, reduce: bool
) -> ModelSet:
    """Models drawn from the rows of X, after those that were concentrated from them.

    A concentrated model joins if its band is significant on rows that it was not fitted to: with
    many parameters, some model is by chance near many of the rows that it was fitted to. If any
    joins and `reduce`, 2,000 of the drawn ones remain: most are of several structures.
    """
    if not can_concentrate(models.family, X.shape[1]):
        return models
    size = models.samples.shape[1]
    halves, n_tried = _Halves.of(X, size, stream.child("rows")), 0
    found: list[ModelSet] = []
    grid = Grid(np.asarray(extent(models.family, X) * WIDE_WIDTHS), N_WIDE)
    for starts in _starts(models):
        shares = [share for share in _SHARES if share * min(map(len, halves)) >= ROWS_EACH * size]
        if not shares:
            break
        moved = joined([concentrate(starts, halves.fitted, share) for share in shares])
        ladder = ladder_of(models.family, halves.others, grid, stream.child("null"), effect)
        kept, halves = _supported(moved, halves, ladder)
        n_tried += len(moved)
        if not len(kept):
            break
        # No single row moves a model of so many.
        found.append(replace(kept, excludes_sample=np.zeros(len(kept), np.bool_)))
    if not found:
        return models
    drawn = models.first(_REMAINING) if reduce else models
    return replace(joined([*found, drawn]), n_drawn=len(models) + n_tried)


def _starts(models: ModelSet) -> Iterator[ModelSet]:
    """The models to concentrate in each round; fewer if each has many parameters."""
    size = int(np.clip(_WORK // (_ROWS * models.samples.shape[1] ** 2), _FEWEST, _STARTS))
    for first in range(0, min(_ROUNDS * size, len(models)), size):
        yield models.take(np.arange(first, min(first + size, len(models))))


def _supported(models: ModelSet, halves: _Halves, ladder: Ladder) -> tuple[ModelSet, _Halves]:
    """The models that are significant on the other rows, and the rows without the structures
    among them, of which the most evident one is taken first."""
    membership, limit = sample_membership([models]), least_ratio(len(models), len(ladder.widths))
    kept: Ints | None = None
    while True:
        bands, _ = measure_bands(halves.others, models, membership, ladder)
        significant = np.flatnonzero(bands.ratio > limit)
        kept = significant if kept is None else kept
        if not len(significant):
            return models.take(kept), halves
        best = int(np.argmax(bands.ratio))
        halves = halves.without(models.take(np.array([best])), _REACH * bands.half_width[best])
