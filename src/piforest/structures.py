"""The structures behind the points: few, distinct, each more populated than chance allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ._kernels.scales import NO_BAND
from ._random import Stream, mix
from .bands import (
    BandTable,
    band_table,
    count_bins,
    least_ratio,
    log_likelihood_ratios,
    new_counts,
    widths_of,
    within,
)
from .models import ModelSet, distinct, own_models
from .protocols import Bools, Floats, Ints, ModelFamily

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
    """Which band of every model of a family every point lies in, and how many lie in each."""

    def __init__(self, X: Floats, models: ModelSet, table: BandTable | None = None) -> None:
        self.X, self.models, self.family = X, models, models.family
        self.codimension = models.family.codimension(X.shape[1])
        if table is None:
            widths, counts = widths_of(models.family, X), new_counts(models)
            bins = band_table(X, models, widths, own_models([models]))
            count_bins(bins, np.arange(len(X)), 1, counts)
            table = BandTable(widths, bins, counts)
        self.widths, self.bins, self.counts = table

    def ratios(self, counts: Any) -> Floats:
        """(15, m) log ratios, where so many points lie in each band."""
        return log_likelihood_ratios(within(counts), self.codimension)

    def without(self, counts: Any, rows: Ints) -> Any:
        """The counts without those of some rows."""
        left = counts.copy()
        count_bins(self.bins, rows, -1, left)
        return left

    def best_width(self, R: Floats) -> tuple[Ints, Floats]:
        """For residuals R (rows, m): which width is most striking, and its log ratio, (m,)."""
        inside = np.stack([(w >= R).sum(axis=0, dtype=np.int32) for w in self.widths])
        inside = np.maximum(inside - self.models.samples.shape[1], 0).astype(np.int32)
        ratios = log_likelihood_ratios(inside, self.codimension)
        at = np.argmax(ratios, axis=0)
        return at, ratios[at, np.arange(len(at))]


class Found(NamedTuple):
    """A structure before its members are known."""

    bank: Bank
    params: Floats
    width: float
    log_ratio: float

    def structure(self) -> Structure:
        return Structure(
            self.bank.family, self.params, self.width, self.log_ratio, np.empty(0, np.int64)
        )


def least_of(banks: Sequence[Bank]) -> float:
    """The log ratio above which a structure is not the work of chance."""
    return least_ratio(sum(len(bank.models) for bank in banks))


def greedy(banks: Sequence[Bank], active: Bools, reach: float, ahead: bool = False) -> list[Found]:
    """The most striking model of any bank among the active points, then the most striking one
    without the points that it reaches, and so on.

    ahead: prefer a model that leaves room for another over one that merges the two.
    """
    active, least = active.copy(), least_of(banks)
    counts = [bank.without(bank.counts, np.flatnonzero(~active)) for bank in banks]
    found: list[Found] = []
    while len(found) < _MOST:
        candidates = [
            each for bank, held in zip(banks, counts) for each in _striking(bank, held, least)
        ]
        if not candidates:
            break
        values = [each.log_ratio for each in candidates]
        if ahead:
            values = [
                each.log_ratio + _bonus(banks, counts, _reached(each, active, reach), least)
                for each in candidates
            ]
        best = candidates[int(np.argmax(values))]
        found.append(best)
        leaving = _reached(best, active, reach)
        active[leaving] = False
        counts = [bank.without(held, leaving) for bank, held in zip(banks, counts)]
    return found


def _striking(bank: Bank, counts: Any, least: float) -> Iterator[Found]:
    """The best model at each width, of those that chance does not explain."""
    ratios = bank.ratios(counts)
    for at, model in enumerate(np.argmax(ratios, axis=1)):
        if ratios[at, model] > least:
            width, ratio = float(bank.widths[at]), float(ratios[at, model])
            yield Found(bank, bank.models.params[model], width, ratio)


def _reached(found: Found, active: Bools, reach: float) -> Ints:
    """The active points within the reach of a structure."""
    r = found.bank.family.residuals(found.bank.X, found.params[None])[:, 0]
    return np.flatnonzero(active & (r <= reach * found.width))


def _bonus(banks: Sequence[Bank], counts: Sequence[Any], leaving: Ints, least: float) -> float:
    """How striking is the best model that is left when points leave, if it is another one."""
    tables = [bank.ratios(bank.without(held, leaving)) for bank, held in zip(banks, counts)]
    bank, after = max(zip(banks, tables), key=lambda pair: float(pair[1].max()))
    width, follower = np.unravel_index(int(np.argmax(after)), after.shape)
    bins = bank.bins[leaving, follower]
    same = np.mean((bins != NO_BAND) & (bins >= width)) > 0.5 if len(leaving) else True
    return 0.0 if same else max(0.0, float(after[width, follower]) - least)


def greedy_structures(banks: Sequence[Bank], reach: float) -> list[Structure]:
    """Structures of all points of the banks, by greedy selection alone; without members."""
    found = greedy(banks, distinct(banks[0].X), reach)
    return [each.structure() for each in found]


def find_structures(banks: Sequence[Bank], normal: Bools, stream: Stream) -> list[Structure]:
    """The structures of the points that are `normal`, by greedy selection and refinement."""
    counted, least = normal & distinct(banks[0].X), least_of(banks)
    found = greedy(banks, counted, REACH, ahead=True)
    for step in range(_REFINEMENTS):
        found = _refined(found, counted, least, stream.child(step))
    found = sorted((each for each in found if each.log_ratio > least), key=lambda f: -f.log_ratio)
    structures = [each.structure() for each in found]
    cells = members_of(banks[0].X, normal, structures)
    return [each.with_members(np.flatnonzero(cells == k)) for k, each in enumerate(structures)]


def members_of(X: Floats, normal: Bools, structures: list[Structure]) -> Ints:
    """(n,) the structure that each normal point is nearest to in half-widths; -1 beyond REACH."""
    if not structures:
        return np.full(len(X), -1)
    distances = relative_distances(X, structures)
    nearest = np.argmin(distances, axis=1)
    near = normal & (distances[np.arange(len(nearest)), nearest] <= REACH)
    return np.where(near, nearest, -1)


def _refined(found: list[Found], normal: Bools, least: float, stream: Stream) -> list[Found]:
    """Each structure replaced by a better model of its own points, if there is one; the least
    one dropped if it is not striking any more."""
    if not found:
        return found
    cells = members_of(found[0].bank.X, normal, [each.structure() for each in found])
    refined = []
    for k, (bank, params, _, _) in enumerate(found):
        free = np.flatnonzero(normal & ((cells == k) | (cells == -1)))
        members = np.flatnonzero(cells == k)
        tried = np.concatenate([params[None], *_refits(bank, members, stream.child(k))])
        at, ratios = bank.best_width(bank.family.residuals(bank.X[free], tried))
        best = int(np.argmax(ratios))
        refined.append(Found(bank, tried[best], float(bank.widths[at[best]]), float(ratios[best])))
    weakest = min(range(len(refined)), key=lambda k: refined[k].log_ratio)
    if refined[weakest].log_ratio <= least:
        del refined[weakest]
    return refined


def _refits(bank: Bank, members: Ints, stream: Stream) -> Iterator[Floats]:
    """Models of random minimal samples of the members."""
    size = bank.models.samples.shape[1]
    if len(members) <= size:
        return
    words = mix(stream.key, np.arange(_REFITS * len(members))).reshape(_REFITS, -1)
    samples = members[np.argsort(words, axis=1)[:, :size]]
    params, valid = bank.family.solve(bank.X[samples])
    yield params[valid]
