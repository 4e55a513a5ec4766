"""The structures of the data: models whose bands are significantly dense."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._kernels.bands import NO_BAND
from .._random import Stream
from ..bands.evidence import (
    BandTable,
    count_bins,
    fill_bins,
    least_ratio,
    null_within,
    within,
)
from ..bands.ladder import is_noisy
from ..families import layout_of, marginal_rows
from ..models.drawing import ModelSet
from ..models.membership import first_occurrences, sample_membership
from ..models.refit import ROWS_EACH, Lifted
from ..protocols import Bools, Floats, Ints
from .description import Structure

__all__ = ["Structure"]

# Points within this many half-widths belong to a structure.
REACH = 3.0
_MAX_STRUCTURES = 100
# Models whose distances from all points are kept.
_KEPT = 256
# A search for structures keeps at most this many, those with the most evidence.
MAX_STRUCTURES = 1000


def weighted_sigma(structures: Sequence[Structure], otherwise: float) -> float:
    """The median of the sigmas, weighted by support; `otherwise` without structures."""
    each = sorted((structure.sigma, structure.support) for structure in structures)
    half = sum(support for _, support in each) / 2
    if half == 0:
        return otherwise
    below = np.cumsum([support for _, support in each])
    return each[int(np.searchsorted(below, half))][0]


def relative_distances(X: Floats, structures: list[Structure]) -> Floats:
    """(n, structures) the distances in units of the half-widths."""
    if not structures:
        return np.empty((len(X), 0))
    return np.column_stack([each.residuals(X) / each.half_width for each in structures])


class BandCounts:
    """The numbers of the points X in the bands of one family's models, with or without some of the
    points."""

    def __init__(
        self, X: Floats, models: ModelSet, table: BandTable, raw: Floats | None = None
    ) -> None:
        self.X, self.models, self.family = X, models, models.family
        self.raw = X if raw is None else raw
        self.codimension = models.family.codimension(X.shape[1])
        self.ladder, self.bins, self.counts, self.null_inside = table
        self.widths = self.ladder.widths
        self.lowest = self.ladder.lowest(models.family, models.params)
        self._distances: dict[bytes, Floats] = {}

    @cached_property
    def lifted(self) -> Lifted | None:
        """The points in the coordinates in which models are linear, if there are any."""
        return Lifted.if_linear(self.family, self.X)

    def distances(self, params: Floats) -> Floats:
        """(n,) the distances of the points from one model (p,), which a search asks for again and
        again."""
        key = params.tobytes()
        if key not in self._distances:
            if len(self._distances) >= _KEPT:
                self._distances.clear()
            self._distances[key] = self.family.residuals(self.X, params[None])[:, 0]
        return self._distances[key]

    def ratios(self, counts: Any, n: int) -> Floats:
        """(w, m) log-likelihood ratios for these counts of n points."""
        inside = within(counts)
        ratios = self.ladder.ratios(inside, self.codimension, n, self.null_inside, self.lowest)
        return self._without_few(ratios, inside)

    def _without_few(self, ratios: Floats, inside: Any) -> Floats:
        """Ratios that are 0 for bands of few points among much noise: laws are fitted to the rows
        that they are measured on, and some of these are in a narrow band by chance."""
        if is_noisy(self.ladder.grid):
            ratios[inside < ROWS_EACH * self.models.samples.shape[1]] = 0.0
        return ratios

    def best(self, counts: Any, n: int) -> tuple[Ints, Floats]:
        """(w,) the model with the largest of the `ratios` at each width, and that ratio."""
        return self.ladder.best(counts, self.codimension, n, self.null_inside, self.lowest)

    def without(self, counts: Any, rows: Ints) -> Any:
        """The counts without these rows."""
        remaining = counts.copy()
        count_bins(self.bins, rows, -1, remaining)
        return remaining

    def compared_with(self, rows: Bools) -> BandCounts:
        """The same bands, compared with null rows like these points.

        The columns of the points that remain have other distributions: anomalies beside a wide band
        would look like a structure, compared with null rows like all points.
        """
        null = self.ladder.null
        if null is None or self.ladder.grid.n_wide < len(self.widths) or not rows.any():
            return self
        stream = Stream(0).child("remaining", int(rows.sum()))
        found = copy.copy(self)
        null = marginal_rows(self.family, self.X[rows], len(null), stream)
        found.ladder = replace(self.ladder, null=null)
        found.null_inside = null_within(self.models, sample_membership([self.models]), found.ladder)
        return found

    def of_rows(self, rows: Ints) -> BandCounts:
        """The same models and these rows alone."""
        bins, counts = self.bins[rows], np.zeros_like(self.counts)
        count_bins(bins, np.arange(len(rows)), 1, counts)
        table = BandTable(self.ladder, bins, counts, self.null_inside)
        return BandCounts(self.X[rows], self.models, table, self.raw[rows])

    def best_width(self, rows: Ints, params: Floats) -> tuple[Ints, Floats]:
        """For models (m, p) and these rows: the index of the width with the largest log-likelihood
        ratio, and that ratio, (m,)."""
        inside = self._inside(self.X[rows], params)
        inside = np.maximum(inside - self.models.samples.shape[1], 0).astype(np.int32)
        null = self.ladder.null
        null_inside = None if null is None else self._inside(null, params)
        lowest = self.ladder.lowest(self.family, params)
        ratios = self.ladder.ratios(inside, self.codimension, len(rows), null_inside, lowest)
        ratios = self._without_few(ratios, inside)
        best = np.argmax(ratios, axis=0)
        return best, ratios[best, np.arange(len(best))]

    def _inside(self, X: Floats, params: Floats) -> Any:
        """(w, m) the number of rows within each half-width of models (m, p)."""
        R = np.ascontiguousarray(self.family.residuals(X, params), np.float64)
        bins, none = np.empty(R.shape, np.uint8), np.zeros(len(R), np.int64)
        fill_bins(R, self.widths, none, none, none[:0], bins)
        counts = np.zeros((len(self.widths), len(params)), np.int32)
        count_bins(bins, np.arange(len(R)), 1, counts)
        return within(counts)


class Candidate(NamedTuple):
    """A structure before its members are known."""

    bands: BandCounts
    params: Floats
    half_width: float
    log_ratio: float

    def structure(self) -> Structure:
        """Without members; sigma is half the half-width."""
        return Structure(
            self.bands.family, self.params, self.half_width, self.log_ratio,
            np.empty(0, np.int64), self.half_width / 2,
        )  # fmt: skip


def evidence_rows(families: Sequence[BandCounts], among: Bools) -> Bools:
    """(n,) the rows of `among` that count: equal rows count once, and matches that share a point
    in a view count once."""
    views = next((views for each in families if (views := layout_of(each.family).views)), ())
    # Points that were rounded to the same values are different points, unless they are matches.
    return first_occurrences(families[0].raw if views else families[0].X, views, among)


def significance_limit(families: Sequence[BandCounts]) -> float:
    """The log-likelihood ratio above which a band is significant."""
    n_widths = max(len(bands.widths) for bands in families)
    return least_ratio(sum(bands.models.n_candidates for bands in families), n_widths)


def greedy(
    families: Sequence[BandCounts],
    active: Bools,
    reach: float,
    look_ahead: bool = False,
    widest: float = np.inf,
) -> list[Candidate]:
    """Select the model with the most evidence among the active points, remove the points within
    its reach, and repeat.

    look_ahead: prefer a model that leaves evidence for another one to a model that merges the two.
    widest: the largest half-width of a structure.
    """
    active, limit = active.copy(), significance_limit(families)
    counts = [bands.without(bands.counts, np.flatnonzero(~active)) for bands in families]
    found: list[Candidate] = []
    while len(found) < _MAX_STRUCTURES:
        candidates = [
            each
            for bands, current in zip(families, counts)
            for each in _significant(bands, current, int(active.sum()), limit)
            if each.half_width <= widest
        ]
        if not candidates:
            break
        values = [each.log_ratio for each in candidates]
        if look_ahead:
            values = [
                each.log_ratio + _bonus(families, counts, active, each, reach, limit)
                for each in candidates
            ]
        best = candidates[int(np.argmax(values))]
        found.append(best)
        removed = _within_reach(best, active, reach)
        active[removed] = False
        counts = [bands.without(current, removed) for bands, current in zip(families, counts)]
        families = [bands.compared_with(active) for bands in families]
    return found


def _significant(bands: BandCounts, counts: Any, n: int, limit: float) -> Iterator[Candidate]:
    """The best model at each width, if it is significant."""
    models, ratios = bands.best(counts, n)
    params = bands.models.params
    for model, half_width, ratio in zip(models.tolist(), bands.widths.tolist(), ratios.tolist()):
        if ratio > limit:
            yield Candidate(bands, params[model], half_width, ratio)


def _within_reach(candidate: Candidate, active: Bools, reach: float) -> Ints:
    """The active points within `reach` half-widths of a structure."""
    r = candidate.bands.distances(candidate.params)
    return np.flatnonzero(active & (r <= reach * candidate.half_width))


def _bonus(
    families: Sequence[BandCounts],
    counts: Sequence[Any],
    active: Bools,
    candidate: Candidate,
    reach: float,
    limit: float,
) -> float:
    """The evidence of the best model without the points of a candidate, if it is another
    structure."""
    removed = _within_reach(candidate, active, reach)
    n = int(active.sum()) - len(removed)
    remaining = [bands.without(current, removed) for bands, current in zip(families, counts)]
    found = [bands.best(current, n) for bands, current in zip(families, remaining)]
    bands, (models, ratios) = max(zip(families, found), key=lambda pair: float(pair[1][1].max()))
    width = int(np.argmax(ratios))
    bins = bands.bins[removed, models[width]]
    same = np.mean((bins != NO_BAND) & (bins >= width)) > 0.5 if len(removed) else True
    return 0.0 if same else max(0.0, float(ratios[width]) - limit)


def greedy_structures(families: Sequence[BandCounts], reach: float) -> list[Structure]:
    """Structures of all points by greedy selection only, without members."""
    everything = np.ones(len(families[0].X), np.bool_)
    found = greedy(families, evidence_rows(families, everything), reach)
    return [each.structure() for each in found]


def members_of(X: Floats, normal: Bools, structures: list[Structure]) -> Ints:
    """(n,) the nearest structure of each normal point, in half-widths; -1 beyond REACH."""
    if not structures:
        return np.full(len(X), -1)
    return nearest_of(relative_distances(X, structures), normal)


def nearest_of(distances: Floats, normal: Bools) -> Ints:
    """(n,) the nearest structure of each normal point, from the distances (n, s) in half-widths; -1
    beyond REACH."""
    nearest = np.argmin(distances, axis=1)
    near = normal & (distances[np.arange(len(nearest)), nearest] <= REACH)
    return np.where(near, nearest, -1)
