"""Choose the half-widths of a family: narrow or wide, by evidence on some rows and models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._kernels.bands import NO_BAND
from .._random import Stream, choose
from ..bands.evidence import BandTable, full_band_table
from ..bands.ladder import N_NULL, N_WIDE, WIDE_WIDTHS, WIDTHS, Grid, Ladder, ladder_of
from ..bands.resolution import DitherEffect, Resolution, levels_matter
from ..families import extent, marginal_rows
from ..models.drawing import ModelSet, draw_models
from ..models.membership import first_occurrences, sample_membership
from ..models.refit import can_refit
from ..protocols import Bools, Floats, ModelFamily
from ..sampling import resolve_sampler
from ..structures.greedy import (
    BandCounts,
    Candidate,
    evidence_rows,
    greedy,
    significance_limit,
)
from ..structures.laws import description_gain, law_of_all, target_of, without_heaps
from ..structures.ridges import stand_out

_ROWS, _MODELS = 1000, 1000
# Wide bands must explain the data better by this factor: several neighbouring structures are also
# one wide band, but with less evidence.
_MUCH_BETTER = 2.0
_REACH = 2.0
# Selections with narrower and narrower bands, over four octaves.
_STARTS = 8
# Random samples of more points are rarely free of anomalies: those of the fit were concentrated.
_FEW_POINTS = 5


def steady_grid(
    X: Floats, models: ModelSet, resolution: Resolution, n_jobs: int | None, raw: Floats
) -> Grid:
    """`choose_grid` for the models of a fit; for tables, by random numbers of its own.

    Where narrow and wide bands describe a table nearly as well, models and dither of another seed
    choose otherwise, and other rows are flagged. So three draws vote that are the same for all
    seeds. X: `raw` with the dither of the resolution.
    """
    family = models.family
    if not _has_law(family) or models.samples.shape[1] > _FEW_POINTS:
        stream = Stream(resolution.key).child("widths")
        return choose_grid(X, models, stream, resolution.effect(family, raw, X), n_jobs, raw)
    votes: list[Grid] = []
    for number in range(3):
        grid = _own_choice(family, resolution, n_jobs, raw, Stream(0).child("steady", number))
        if any(grid.n_wide == each.n_wide for each in votes):
            return grid
        votes.append(grid)
    return votes[0]


def _own_choice(
    family: ModelFamily, resolution: Resolution, n_jobs: int | None, raw: Floats, stream: Stream
) -> Grid:
    """`choose_grid` by dither and models of this stream."""
    own = replace(resolution, key=stream.key)
    rows = own.dithered(raw, np.arange(len(raw)))
    with warnings.catch_warnings():
        # The draws of the fit itself warn.
        warnings.simplefilter("ignore", UserWarning)
        sampler = resolve_sampler("mixed")
        drawn, _ = draw_models(rows, family, sampler, _MODELS, stream.child("models"))
    effect = own.effect(family, raw, rows)
    return choose_grid(rows, drawn, stream.child("widths"), effect, n_jobs, raw)


def choose_grid(
    X: Floats,
    models: ModelSet,
    stream: Stream,
    effect: DitherEffect | None,
    n_jobs: int | None,
    raw: Floats,
) -> Grid:
    """The half-widths for the rows X and the models drawn from them; raw: X without dither."""
    size = extent(models.family, X)
    if levels_matter(models.family, raw):
        # Null rows have the same levels.
        return Grid(np.asarray(size * WIDE_WIDTHS), len(WIDE_WIDTHS))
    some, few = X[choose(stream.child("rows"), len(X), _ROWS)], models.first(_MODELS)
    grid = Grid(np.asarray(size * WIDE_WIDTHS), N_WIDE)
    ladder = ladder_of(models.family, some, grid, stream.child("null"), effect)
    table = full_band_table(some, few, sample_membership([few]), ladder, n_jobs)
    without = _without_wide(table)
    counted = evidence_rows([BandCounts(some, few, table)], np.ones(len(some), np.bool_))
    wide, narrow = (_selected(some, few, each, counted) for each in (table, without))
    least = _MUCH_BETTER * _evidence(some, narrow)
    # All widths compared with the same null rows: no width has an advantage.
    against_null = Grid(grid.widths, len(grid.widths))
    if _total(wide) > least:  # else those that stand out have no more either
        value = _evidence(some, wide)
        if value > least and value > _best_evidence(some, few, without, counted):
            return against_null
    if least == 0:
        ladder = Ladder(against_null, ladder.null, ladder.effect)
        if _evidence(some, _selected(some, few, table._replace(ladder=ladder), counted)) > 0:
            return against_null
        distinct = first_occurrences(some, (), np.ones(len(some), np.bool_))
        if law_of_all(models.family, some[distinct]) is not None:
            return against_null
    elif _has_law(models.family) and _is_one_law(some, few, without, counted):
        return against_null
    return Grid(np.asarray(size * WIDTHS))


def _has_law(family: ModelFamily) -> bool:
    """Whether least squares give the law of all rows of a table."""
    return target_of(family) is not None and can_refit(family)


def _is_one_law(X: Floats, models: ModelSet, narrow: BandTable, counted: Bools) -> bool:
    """Whether the law of all rows of a table, or none, describes the counted ones better than
    narrow bands, which may hold a part of the rows while the others scatter about that law."""
    family, rows = models.family, X[counted]
    law = law_of_all(family, rows)
    whole = [] if law is None else [law]
    bands = BandCounts(X, models, narrow)
    found = without_heaps(greedy([bands], counted, _REACH), rows)
    laws = [(each.params, each.half_width / 2) for each in found]
    null = marginal_rows(family, rows, N_NULL, Stream(0).child("one law"))
    price = significance_limit([bands])
    one, many = (
        description_gain(family, each, rows, null) - price * len(each) for each in (whole, laws)
    )
    return max(one, 0.0) > many


def _selected(
    X: Floats, models: ModelSet, table: BandTable, counted: Bools, widest: float = np.inf
) -> list[Candidate]:
    """What greedy selection finds among the counted rows, with half-widths of at most `widest`."""
    return greedy([BandCounts(X, models, table)], counted, _REACH, widest=widest)


def _total(found: Sequence[Candidate]) -> float:
    """The log-likelihood ratio of structures."""
    return sum(each.log_ratio for each in found)


def _evidence(X: Floats, found: Sequence[Candidate]) -> float:
    """The log-likelihood ratio of those that stand out."""
    dense = stand_out(X, [each.structure() for each in found], Stream(0).child("beside"))
    return _total([each for each, seen in zip(found, dense) if seen])


def _best_evidence(X: Floats, models: ModelSet, table: BandTable, counted: Bools) -> float:
    """The largest evidence of a selection with narrower and narrower bands: the first one may
    take a wide band around several structures, which has less evidence than all of them."""
    starts = table.ladder.widths[:_STARTS]
    return max(_total(_selected(X, models, table, counted, float(width))) for width in starts)


def _without_wide(table: BandTable) -> BandTable:
    """The table without the widths that only a wide grid has."""
    n = len(WIDE_WIDTHS) - len(WIDTHS)
    ladder, bins, counts = table.ladder, table.bins, table.counts
    narrow = Ladder(Grid(ladder.widths[n:]), None, ladder.effect)
    # In bytes, which overflow: the wide bands become the highest ones, and NO_BAND lies below them.
    # All bits are set by vectors, which assignments under a mask are not.
    shifted = bins - np.uint8(n)
    shifted |= np.uint8(NO_BAND) * (shifted >= len(WIDTHS)).view(np.uint8)
    return BandTable(narrow, shifted, counts[n:])
