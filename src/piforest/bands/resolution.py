"""The resolution of rounded data: the step of each column, and the dither that replaces it.

A level of a rounded column is a model with many points in a band of no width, so rounded data seem
to have many structures and no noise. Minimal samples and bands are therefore taken from a copy of
the training rows in which each rounded value is drawn uniformly from the values that are rounded
to it. Rows to score are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._random import Stream, choose, mix
from .._threads import in_threads, n_threads
from ..families import layout_of
from ..families.scaled import column_units
from ..models.drawing import ModelSet
from ..protocols import Floats, Ints, ModelFamily

# Steps that are finer than this share of the range are below the narrowest band.
_FINEST = 1e-4
# A column with fewer levels has categories, not rounded values.
_MIN_LEVELS = 8
# Evenly spaced values that do not repeat are a grid, such as the time of a series.
_MIN_REPEATED = 0.05
_MIN_MULTIPLES = 0.98
_TOLERANCE = 0.1  # of a step, for decimal steps in single precision
# Levels of a depth camera have steps that grow with the depth. They are recognised if most values
# repeat and hardly any difference is below this share of the median; 7 % if values are random.
_MOSTLY_REPEATED = 0.5
_REGULAR = 0.4
_RANGE = (1, 99)  # percentiles
_EFFECT_ROWS = 100
# A value that at least this share of the rows has, and this many rows, is a level of the column.
_COMMON, _MIN_COMMON = 0.1, 10
_MOST_PLACES = 3


@dataclass(frozen=True, eq=False)
class Resolution:
    """The steps of rounded columns and the seed of their dither."""

    steps: Floats
    """(d,) 0 for a column that is not rounded"""
    key: int

    def __bool__(self) -> bool:
        return bool(self.steps.any())

    def dithered(self, X: Floats, numbers: Ints) -> Floats:
        """A copy of the rows X with these numbers; X itself if no column is rounded.

        The shift of a value is uniform within half a step. It depends on the seed, the row number
        and the column only.
        """
        if not self:
            return X
        rows = X.copy()
        for column in np.flatnonzero(self.steps):
            bits = mix(Stream(self.key).child(int(column)).key, numbers) >> np.uint64(11)
            rows[:, column] += (bits.astype(np.float64) * 2.0**-53 - 0.5) * self.steps[column]
        return rows

    def dithered_samples(self, models: ModelSet) -> ModelSet:
        """The models with the dithered rows of their samples as points."""
        if not self:
            return models
        return replace(models, points=self.dithered(models.points, np.unique(models.samples)))

    def effect(self, family: ModelFamily, X: Floats, dithered: Floats) -> DitherEffect | None:
        """The effect of the dither on residuals, from some rows X; None without rounded columns."""
        if not self:
            return None
        some = choose(Stream(self.key).child("effect"), len(X), _EFFECT_ROWS)
        # The coordinates of a point are usually computed from each other: x from the depth z.
        points = layout_of(family).kind in ("points", "oriented points")
        steps = self.steps / column_units(family, X.shape[1])
        least = float(steps[steps > 0].min()) if points else 0.0
        return DitherEffect(X[some], dithered[some], least)


class DitherEffect(NamedTuple):
    """Some rows before and after the dither."""

    raw: Floats
    dithered: Floats
    least: float
    """the smallest floor of any model"""

    def floors(self, family: ModelFamily, params: Floats) -> Floats:
        """(m,) the half-width below which the band of each model would show the steps of the data.

        It is one step for a model that is perpendicular to a rounded column, and `least` for a
        model that contains its direction.
        """
        after, before = family.residuals(self.dithered, params), family.residuals(self.raw, params)
        # A row on the wrong side of a model stays at an infinite distance.
        moved = np.isfinite(after) | np.isfinite(before)
        change = np.subtract(after, before, out=np.zeros(moved.shape), where=moved)
        # A quarter of a step is the median of a uniform shift by at most half a step.
        steps = 4 * np.median(np.nan_to_num(np.abs(change), nan=0.0), axis=0)
        return np.asarray(np.maximum(steps, self.least))


def find_resolution(family: ModelFamily, X: Floats, stream: Stream) -> Resolution:
    """The steps of the columns of X whose levels look like models of the family."""
    layout, d = layout_of(family), X.shape[1]
    steps = np.zeros(d)
    if layout.kind == "table" and layout.target is not None:
        # A level of the target is a law, one of a feature is not.
        columns = [layout.target % d]
    else:
        columns = list(range(3 if layout.kind == "oriented points" else d))
    if layout.kind != "matches":
        values = [(X[:, column],) for column in columns]
        steps[columns] = list(in_threads(step_of, values, n_threads(), len(values)))
        return Resolution(steps, stream.key)
    for column in columns:
        steps[column] = step_of(X[:, column])
        if steps[column] == 0:
            # The residuals of matches are continuous as soon as one coordinate is.
            return Resolution(np.zeros(d), stream.key)
    return Resolution(steps, stream.key)


def levels_matter(family: ModelFamily, X: Floats) -> bool:
    """Whether a level of the target of a table would look like a law: "target = 0" holds for many
    rows in a band of no width, whatever the other columns are."""
    layout = layout_of(family)
    if layout.kind != "table" or layout.target is None:
        return False
    return _has_levels(X[:, layout.target % X.shape[1]])


def is_grid_of_levels(family: ModelFamily, X: Floats) -> bool:
    """Whether flats of a grid of levels, such as answers from 1 to 5, would look like structures:
    as many columns have levels as a structure has directions across.

    Points of two or three columns are places, where lines and planes of equal values are real.
    """
    d = X.shape[1]
    if layout_of(family).kind != "points" or d <= _MOST_PLACES:
        return False
    return sum(map(_has_levels, X.T)) >= family.codimension(d)


def _has_levels(values: Floats) -> bool:
    """Whether a column has few values, or one that many rows have."""
    counts = np.unique(values, return_counts=True)[1]
    return is_categorical(values) or bool(counts.max() >= max(_MIN_COMMON, _COMMON * len(values)))


def is_categorical(values: Floats) -> bool:
    """Whether a column has few levels, which repeat."""
    return 2 <= len(np.unique(values)) < min(_MIN_LEVELS, len(values) / 2)


def step_of(values: Floats) -> float:
    """The step that values are rounded to; 0 if they are not.

    It is the smallest difference of distinct values, if nearly all differences are multiples of
    it and values repeat, or the median difference of levels that are spaced less evenly. Exact
    under scaling by powers of two. O(n log n).
    """
    values = np.sort(values)
    low, high = np.percentile(values, _RANGE)
    gaps, finest = np.diff(values), _FINEST * (high - low)
    # Equal up to rounding errors.
    repeated = gaps <= finest / 64
    gaps = gaps[~repeated]
    if len(gaps) + 1 < _MIN_LEVELS or np.mean(repeated) < _MIN_REPEATED or not finest > 0:
        return 0.0
    # A few values between the steps must not hide them.
    for candidate in (gaps.min(), np.quantile(gaps, 0.1, method="lower")):
        step = _refined(gaps, float(candidate))
        if step >= finest and _share_of_multiples(gaps, step) >= _MIN_MULTIPLES:
            return step
    low, middle = np.quantile(gaps, [0.05, 0.5])
    regular = low >= _REGULAR * middle and np.mean(repeated) >= _MOSTLY_REPEATED
    return float(middle) if regular and middle >= finest else 0.0


def _refined(gaps: Floats, step: float) -> float:
    """The step from all gaps: rounding errors of a single gap would add up in its multiples."""
    for reach in (1.5, 8.0, 64.0, np.inf):
        some = gaps[(gaps <= reach * step) & (gaps > step / 2)]
        step = float(some.sum() / np.round(some / step).sum())
    return step


def _share_of_multiples(gaps: Floats, step: float) -> float:
    multiples = gaps / step
    return float(np.mean(np.abs(multiples - np.round(multiples)) <= _TOLERANCE))
