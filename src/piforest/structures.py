"""The structures behind the points: few, distinct, each more populated than chance allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._kernels.scales import NO_BAND, count_bins
from ._random import Stream, mix
from .models import ModelSet, OwnModels, own_models
from .protocols import Bools, Floats, Ints, ModelFamily
from .scales import (
    BandTable,
    band_table,
    least_ratio,
    log_likelihood_ratios,
    new_counts,
    widths_of,
    within,
)

# Points within so many half-widths belong to a structure, and are taken away with it.
REACH = 3.0
_REFINEMENTS = 4
_REFITS = 100
_MOST = 100


@dataclass(frozen=True, repr=False)
class Structure:
    """One structure of the data."""

    family: ModelFamily
    params: Floats
    """(p,) as the family has them"""
    width: float
    """the half-width of its band, in the units of the data; about two sigmas"""
    log_ratio: float
    """how much more likely its points are with it than without, a logarithm"""
    members: Ints
    """rows of the training points (of a random 50,000, if there are more) that belong to it"""

    def __repr__(self) -> str:
        return (
            f"Structure({self.family.name}, {self.support} points, width {self.width:.3g}, "
            f"log ratio {self.log_ratio:.4g})"
        )

    @property
    def matrix(self) -> Floats:
        """(3, 3) of a homography or a fundamental matrix, in the coordinates of the images."""
        if not hasattr(self.family, "matrices"):
            raise AttributeError(f"family {self.family.name!r} has no matrix; see params.")
        return np.asarray(self.family.matrices(self.params[None])[0])

    def with_members(self, members: Ints) -> Structure:
        return replace(self, members=members)

    @property
    def support(self) -> int:
        return len(self.members)

    @property
    def sigma(self) -> float:
        return self.width / 2

    def residuals(self, X: Floats) -> Floats:
        """(n,) distances of the rows of X."""
        return np.asarray(self.family.residuals(X, self.params[None])[:, 0])


def relative_distances(X: Floats, structures: list[Structure]) -> Floats:
    """(n, structures) residuals in half-widths."""
    if not structures:
        return np.empty((len(X), 0))
    return np.column_stack([each.residuals(X) / each.width for each in structures])


class Bank:
    """Which band of every model every point lies in; sums of it change as points leave."""

    def __init__(
        self,
        X: Floats,
        models: ModelSet,
        own: OwnModels | None = None,
        table: BandTable | None = None,
    ) -> None:
        self.X, self.models = X, models
        self.codimension = models.family.codimension(X.shape[1])
        own = own_models([models]) if own is None else own
        if table is None:
            widths, counts = widths_of(models.family, X), new_counts(models)
            bins = band_table(X, models, widths, own)
            count_bins(bins, np.arange(len(X)), 1, counts)
            table = BandTable(widths, bins, counts)
        self.widths, self.bins, self.counts = table

    def greedy(
        self, active: Bools, reach: float, ahead: bool = False
    ) -> list[tuple[Floats, float, float]]:
        """(params, width, log ratio) of the most striking model among the active points, then
        of the most striking one without the points that it reaches, and so on.

        ahead: prefer a model that leaves room for another over one that merges the two.
        """
        counts, active = self.counts.copy(), active.copy()
        count_bins(self.bins, np.flatnonzero(~active), -1, counts)
        found: list[tuple[Floats, float, float]] = []
        while len(found) < _MOST:
            ratios = self._ratios(counts)
            candidates = self._striking(ratios)
            if not candidates:
                break
            if ahead:
                values = [self._with_next(ratios, counts, active, reach, *c) for c in candidates]
                model, at = candidates[int(np.argmax(values))]
            else:
                model, at = max(candidates, key=lambda candidate: ratios[candidate[::-1]])
            found.append(
                (self.models.params[model], float(self.widths[at]), float(ratios[at, model]))
            )
            leaving = self._leaving(active, reach, model, at)
            active[leaving] = False
            count_bins(self.bins, leaving, -1, counts)
        return found

    def _striking(self, ratios: Floats) -> list[tuple[int, int]]:
        """The best model at each width, of those that chance does not explain."""
        best = np.argmax(ratios, axis=1)
        return [
            (int(model), at)
            for at, model in enumerate(best)
            if ratios[at, model] > self.least_ratio
        ]

    def _leaving(self, active: Bools, reach: float, model: int, at: int) -> Ints:
        params, width = self.models.params[model], self.widths[at]
        r = self.models.family.residuals(self.X, params[None])[:, 0]
        return np.flatnonzero(active & (r <= reach * width))

    def _with_next(
        self, ratios: Floats, counts: Any, active: Bools, reach: float, model: int, at: int
    ) -> float:
        """The log ratio of a model, and of the best one that is left if it is another one."""
        leaving = self._leaving(active, reach, model, at)
        left = counts.copy()
        count_bins(self.bins, leaving, -1, left)
        after = self._ratios(left)
        width, follower = np.unravel_index(int(np.argmax(after)), after.shape)
        bins = self.bins[leaving, follower]
        same = np.mean((bins != NO_BAND) & (bins >= width)) > 0.5 if len(leaving) else True
        bonus = 0.0 if same else max(0.0, after[width, follower] - self.least_ratio)
        return float(ratios[at, model] + bonus)

    @property
    def least_ratio(self) -> float:
        return least_ratio(len(self.models))

    def _ratios(self, counts: Any) -> Floats:
        return log_likelihood_ratios(within(counts), self.codimension)

    def best_width(self, R: Floats, sample_size: int) -> tuple[Ints, Floats]:
        """For residuals R (rows, m): which width is most striking, and its log ratio, (m,)."""
        inside = np.stack([(w >= R).sum(axis=0, dtype=np.int32) for w in self.widths])
        ratios = log_likelihood_ratios(np.maximum(inside - sample_size, 0), self.codimension)
        at = np.argmax(ratios, axis=0)
        return at, ratios[at, np.arange(len(at))]


def greedy_structures(bank: Bank, reach: float) -> list[Structure]:
    """Structures of all points of the bank, by greedy selection alone; without members."""
    family, none = bank.models.family, np.empty(0, np.int64)
    found = bank.greedy(np.ones(len(bank.X), np.bool_), reach)
    return [Structure(family, params, width, ratio, none) for params, width, ratio in found]


def find_structures(bank: Bank, normal: Bools, stream: Stream) -> list[Structure]:
    """The structures of the points that are `normal`, by greedy selection and refinement."""
    found = bank.greedy(normal, REACH, ahead=True)
    for step in range(_REFINEMENTS):
        found = _refined(bank, normal, found, stream.child(step))
    family = bank.models.family
    found = sorted((each for each in found if each[2] > bank.least_ratio), key=lambda f: -f[2])
    none = np.empty(0, np.int64)
    structures = [Structure(family, *each, none) for each in found]
    cells = members_of(bank.X, normal, structures)
    return [each.with_members(np.flatnonzero(cells == k)) for k, each in enumerate(structures)]


def members_of(X: Floats, normal: Bools, structures: list[Structure]) -> Ints:
    """(n,) the structure that each normal point is nearest to in half-widths; -1 beyond REACH."""
    if not structures:
        return np.full(len(X), -1)
    distances = relative_distances(X, structures)
    nearest = np.argmin(distances, axis=1)
    near = normal & (distances[np.arange(len(nearest)), nearest] <= REACH)
    return np.where(near, nearest, -1)


def _cells(bank: Bank, normal: Bools, found: list[tuple[Floats, float, float]]) -> Ints:
    none = np.empty(0, np.int64)
    family = bank.models.family
    return members_of(bank.X, normal, [Structure(family, *each, none) for each in found])


def _refined(
    bank: Bank, normal: Bools, found: list[tuple[Floats, float, float]], stream: Stream
) -> list[tuple[Floats, float, float]]:
    """Each structure replaced by a better model of its own points, if there is one; the least
    one dropped if it is not striking any more."""
    cells = _cells(bank, normal, found)
    refined = []
    for k, (params, _, _) in enumerate(found):
        free = np.flatnonzero(normal & ((cells == k) | (cells == -1)))
        members = np.flatnonzero(cells == k)
        tried = np.concatenate([params[None], *_refits(bank, members, stream.child(k))])
        R = bank.models.family.residuals(bank.X[free], tried)
        at, ratios = bank.best_width(R, bank.models.samples.shape[1])
        best = int(np.argmax(ratios))
        refined.append((tried[best], float(bank.widths[at[best]]), float(ratios[best])))
    if refined:
        least = min(range(len(refined)), key=lambda k: refined[k][2])
        if refined[least][2] <= bank.least_ratio:
            del refined[least]
    return refined


def _refits(bank: Bank, members: Ints, stream: Stream) -> Iterator[Floats]:
    """Models of random minimal samples of the members."""
    size = bank.models.samples.shape[1]
    if len(members) <= size:
        return
    words = mix(stream.key, np.arange(_REFITS * len(members))).reshape(_REFITS, -1)
    samples = members[np.argsort(words, axis=1)[:, :size]]
    params, valid = bank.models.family.solve(bank.X[samples])
    yield params[valid]
