"""The half-widths that the band of a model may have, and the evidence of a count in a band.

A narrow band is compared with the widest one, as if the points of that were distributed evenly.
Wide bands, which the box of the data cuts off, are compared with null rows; where the noise is so
large that they are needed, all bands are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._kernels import bands as compiled
from .._random import Stream
from ..families import extent, has_own_null, marginal_rows, null_rows, rows_with_levels
from ..protocols import Floats, Ints, ModelFamily
from .resolution import DitherEffect

# Half-widths in units of the extent of the data, from wide to narrow: 15 over 7 octaves, and three
# above them.
WIDTHS = 0.36 * 2.0 ** (-np.arange(15) / 2)
WIDE_WIDTHS = 0.36 * 2.0 ** (-np.arange(-3, 15) / 2)
N_WIDE = 4
"""widths of a wide ladder that a narrow one lacks, or whose background it does not see: those above
0.36, and 0.36"""
N_NULL = 2000
_MIN_EXPECTED = 0.001
# Logarithms of counts below this are kept: at most 1 MB for each codimension.
_TABULATED = 2**13


class Grid(NamedTuple):
    """The half-widths of one family."""

    widths: Floats
    """(w,) descending"""
    n_wide: int = 0
    """of the first widths, those that are compared with null rows only: none, some, or all"""


def narrow_grid(family: ModelFamily, X: Floats) -> Grid:
    """The half-widths for data like X, in the units of the residuals."""
    return Grid(np.asarray(extent(family, X) * WIDTHS))


def is_noisy(grid: Grid) -> bool:
    """Whether the noise is so large that bands of all widths are compared with null rows."""
    return grid.n_wide == len(grid.widths)


@dataclass(frozen=True, eq=False)
class Ladder:
    """A grid of half-widths with the rows that counts are compared with."""

    grid: Grid
    null: Floats | None = None
    """(N, d)"""
    effect: DitherEffect | None = None
    """None if the data are not rounded"""

    @property
    def widths(self) -> Floats:
        return self.grid.widths

    def lowest(self, family: ModelFamily, params: Floats) -> Ints | None:
        """(m,) the narrowest width that each model may have; None if all are possible."""
        if self.effect is None:
            return None
        floors = self.effect.floors(family, params)
        # At least one width remains.
        return np.asarray(np.maximum(np.sum(self.widths[:, None] >= floors, axis=0), 1) - 1)

    def best(
        self,
        counts: Any,
        codimension: int,
        n: int,
        null_inside: Any = None,
        lowest: Ints | None = None,
    ) -> tuple[Ints, Floats]:
        """(w,) the model with the largest of the `ratios` at each width, and that ratio.

        counts (w, m): of the n points, those in each band alone, without those in narrower ones.
        """
        if null_inside is None and lowest is None:
            # All at once: the search for structures asks for this some hundred times.
            best, ratios = np.empty(len(counts), np.int64), np.empty(len(counts))
            shares, logs, expected_logs = _tables(codimension, len(counts), n)
            compiled.best_ratios(
                counts, shares, _MIN_EXPECTED, logs, expected_logs,
                *np.empty((2, compiled.TOGETHER), np.int32), np.empty(len(counts), np.int64), best,
                ratios,
            )  # fmt: skip
            return best, ratios
        inside = np.empty(counts.shape, np.int32)
        compiled.within(counts, inside)
        table = self.ratios(inside, codimension, n, null_inside, lowest)
        best = np.argmax(table, axis=1)
        return best, table[np.arange(len(best)), best]

    def ratios(
        self,
        inside: Any,
        codimension: int,
        n: int,
        null_inside: Any = None,
        lowest: Ints | None = None,
    ) -> Floats:
        """(w, m) log-likelihood ratios of counts.

        inside (w, m): the number of the n points in each band, without the sample of the model;
        null_inside (w, m): the number of null rows.
        """
        first = max(self.grid.n_wide - 1, 0)
        if is_noisy(self.grid):
            ratios = binomial_ratios(inside, n, null_inside, len(self.null))  # type: ignore[arg-type]
            return without_narrowest(ratios, lowest)
        ratios = np.empty(inside.shape)
        part = np.ascontiguousarray(inside[first:])
        ratios[first:] = log_likelihood_ratios(part, codimension, self.widths[first:])
        if null_inside is not None:
            wide = self.grid.n_wide or len(self.widths)
            null = two_sample_ratios(inside[:wide], n, null_inside[:wide], len(self.null))  # type: ignore[arg-type]
            # A narrow band of a family with its own null rows, or of levels, is denser than both.
            ratios[:wide] = null if first else np.minimum(ratios, null)
        return without_narrowest(ratios, lowest)


def without_narrowest(ratios: Floats, lowest: Ints | None) -> Floats:
    """Ratios (w, m) that are 0 for the widths that models may not have."""
    if lowest is not None:
        ratios[np.arange(len(ratios))[:, None] > lowest] = 0.0
    return ratios


def ladder_of(
    family: ModelFamily,
    X: Floats,
    grid: Grid,
    stream: Stream,
    effect: DitherEffect | None = None,
    *,
    levels: bool = False,
) -> Ladder:
    """The ladder of a grid, with null rows like X if they are needed; levels: see
    `is_grid_of_levels`."""
    if grid.n_wide:
        return Ladder(grid, marginal_rows(family, X, N_NULL, stream), effect)
    if has_own_null(family):
        return Ladder(grid, null_rows(family, X, N_NULL, stream), effect)
    if levels:
        return Ladder(grid, rows_with_levels(family, X, N_NULL, stream), effect)
    return Ladder(grid, None, effect)


def log_likelihood_ratios(inside: Any, codimension: int, widths: Floats = WIDTHS) -> Floats:
    """(w, m): k ln(k / E) - (k - E) if the band contains more points than expected, else 0.

    inside (w, m): k, the number of points in each band, without the sample of the model. E is the
    expected number if the points of the widest band were distributed evenly.
    """
    ratios, largest = np.empty(inside.shape), int(inside[0].max(initial=0))
    shares, logs, expected_logs = _tables(codimension, len(widths), largest)
    compiled.log_ratios(inside, shares, _MIN_EXPECTED, logs, expected_logs, ratios)
    return ratios


def _tables(codimension: int, n_widths: int, largest: int) -> tuple[Floats, Floats, Floats]:
    """`_log_tables` for counts up to the largest."""
    if largest < _TABULATED:
        # One table for many calls: the search for structures asks for a few hundred ratios.
        return _kept_tables(codimension, n_widths, 1 << largest.bit_length())
    return _log_tables(codimension, n_widths, largest + 1)


def _log_tables(codimension: int, n_widths: int, size: int) -> tuple[Floats, Floats, Floats]:
    """The shares (w,) of the widest band that narrower ones have, the logarithms (size,) of counts
    and those of the expected counts (w, size)."""
    shares = (WIDTHS[:n_widths] / WIDTHS[0]) ** codimension
    logs, expected_logs = np.empty(size), np.empty((n_widths, size))
    compiled.log_tables(shares, _MIN_EXPECTED, logs, expected_logs)
    return shares, logs, expected_logs


_kept_tables = lru_cache(maxsize=32)(_log_tables)


def two_sample_ratios(inside: Any, n: int, null_inside: Any, n_null: int) -> Floats:
    """The log-likelihood ratio of two Poisson counts, k of n points and j of the null rows, with
    different rates or the same; 0 if the rate of the points is not larger.

    Unlike a comparison with a known rate, it takes into account that null rows are random, too.
    """
    k, j = np.asarray(inside, np.float64), np.asarray(null_inside, np.float64)
    n = max(n, 1)
    rate = np.maximum(k + j, 1) / (n + n_null)
    ratio = k * np.log(np.maximum(k, 1) / (n * rate))
    ratio += j * np.log(np.maximum(j, 1) / (n_null * rate))
    return np.where(k * n_null > j * n, ratio, 0.0)


def binomial_ratios(inside: Any, n: int, null_inside: Any, n_null: int) -> Floats:
    """The log-likelihood ratio of two binomial counts, k of n points and j of the null rows, with
    different rates or the same; 0 if the rate of the points is not larger.

    A wide band holds most points, so that those outside are evidence, too. Poisson counts ignore
    them: a law that explains a third of the variance of 400 records would not be significant.
    """
    k, j = np.asarray(inside, np.float64), np.asarray(null_inside, np.float64)
    n = max(n, 1)
    rate, ratio = (k + j) / (n + n_null), np.zeros(k.shape)
    for count, of in ((k, n), (j, n_null)):
        for part, share in ((count, rate), (of - count, 1 - rate)):
            expected = np.where(part > 0, of * share, 1.0)
            ratio += part * np.log(np.maximum(part, 1) / expected)
    return np.where(k * n_null > j * n, ratio, 0.0)
