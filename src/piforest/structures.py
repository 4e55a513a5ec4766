"""The structures of the data: few, distinct, each denser than chance allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ._kernels.bands import NO_BAND
from ._random import Stream, mix
from .bands import BandTable, count_bins, least_ratio, log_likelihood_ratios, within
from .membership import first_occurrences
from .models import ModelSet
from .protocols import Bools, Floats, Ints, ModelFamily

__all__ = ["Structure"]

# Points within this many half-widths belong to a structure.
REACH = 3.0
_REFINEMENTS = 4
_REFITS = 100
_MAX_STRUCTURES = 100


@dataclass(frozen=True, repr=False)
class Structure:
    """One structure of the data.

    Attributes
    ----------
    family : ModelFamily
        What kind of structure it is.
    params : ndarray of shape (p,)
        The parameters of the model, in the form of the family.
    half_width : float
        Half the width of its band, in the units of the data; about two sigmas.
    log_ratio : float
        The log-likelihood ratio of its points with and without the structure.
    members : ndarray of int
        The training rows that belong to it (of a random 50,000, if there are more).
    """

    family: ModelFamily
    params: Floats
    half_width: float
    log_ratio: float
    members: Ints

    def __repr__(self) -> str:
        return (
            f"Structure({self.family.name}, {self.support} points, half-width "
            f"{self.half_width:.3g}, log ratio {self.log_ratio:.4g})"
        )

    @property
    def matrix(self) -> Floats:
        """(3, 3) of a homography or a fundamental matrix, in image coordinates."""
        if not hasattr(self.family, "matrices"):
            raise AttributeError(f"family {self.family.name!r} has no matrix; see params.")
        return np.asarray(self.family.matrices(self.params[None])[0])

    def with_members(self, members: Ints) -> Structure:
        """The same structure with other members."""
        return replace(self, members=members)

    @property
    def support(self) -> int:
        """The number of members."""
        return len(self.members)

    @property
    def sigma(self) -> float:
        """The noise of its points, in the units of the data."""
        return self.half_width / 2

    def residuals(self, X: Floats) -> Floats:
        """(n,) distances of the rows of X."""
        return np.asarray(self.family.residuals(X, self.params[None])[:, 0])


def relative_distances(X: Floats, structures: list[Structure]) -> Floats:
    """(n, structures) residuals in half-widths."""
    if not structures:
        return np.empty((len(X), 0))
    return np.column_stack([each.residuals(X) / each.half_width for each in structures])


class BandCounts:
    """The bands of one family's models and the points X in them, for counting with and without
    some of the points."""

    def __init__(self, X: Floats, models: ModelSet, table: BandTable) -> None:
        self.X, self.models, self.family = X, models, models.family
        self.codimension = models.family.codimension(X.shape[1])
        self.widths, self.bins, self.counts = table

    def ratios(self, counts: Any) -> Floats:
        """(15, m) log ratios for these counts."""
        return log_likelihood_ratios(within(counts), self.codimension)

    def without(self, counts: Any, rows: Ints) -> Any:
        """The counts without those of some rows."""
        left = counts.copy()
        count_bins(self.bins, rows, -1, left)
        return left

    def best_width(self, R: Floats) -> tuple[Ints, Floats]:
        """For residuals R (rows, m): the width of largest log ratio, and that ratio, (m,)."""
        inside = np.stack([(w >= R).sum(axis=0, dtype=np.int32) for w in self.widths])
        inside = np.maximum(inside - self.models.samples.shape[1], 0).astype(np.int32)
        ratios = log_likelihood_ratios(inside, self.codimension)
        at = np.argmax(ratios, axis=0)
        return at, ratios[at, np.arange(len(at))]


class Candidate(NamedTuple):
    """A structure before its members are known."""

    bands: BandCounts
    params: Floats
    half_width: float
    log_ratio: float

    def structure(self) -> Structure:
        return Structure(
            self.bands.family, self.params, self.half_width, self.log_ratio, np.empty(0, np.int64)
        )


def least_of(families: Sequence[BandCounts]) -> float:
    """The log ratio that chance does not reach."""
    return least_ratio(sum(len(bands.models) for bands in families))


def greedy(
    families: Sequence[BandCounts], active: Bools, reach: float, ahead: bool = False
) -> list[Candidate]:
    """The model with most evidence among the active points, then the best one without the
    points that it reaches, and so on.

    ahead: prefer a model that leaves evidence for another one over a model that merges the two.
    """
    active, least = active.copy(), least_of(families)
    counts = [bands.without(bands.counts, np.flatnonzero(~active)) for bands in families]
    found: list[Candidate] = []
    while len(found) < _MAX_STRUCTURES:
        candidates = [
            each
            for bands, held in zip(families, counts)
            for each in _significant(bands, held, least)
        ]
        if not candidates:
            break
        values = [each.log_ratio for each in candidates]
        if ahead:
            values = [
                each.log_ratio + _bonus(families, counts, _reached(each, active, reach), least)
                for each in candidates
            ]
        best = candidates[int(np.argmax(values))]
        found.append(best)
        leaving = _reached(best, active, reach)
        active[leaving] = False
        counts = [bands.without(held, leaving) for bands, held in zip(families, counts)]
    return found


def _significant(bands: BandCounts, counts: Any, least: float) -> Iterator[Candidate]:
    """The best model at each width, of those that chance does not explain."""
    ratios = bands.ratios(counts)
    for at, model in enumerate(np.argmax(ratios, axis=1)):
        if ratios[at, model] > least:
            half_width, ratio = float(bands.widths[at]), float(ratios[at, model])
            yield Candidate(bands, bands.models.params[model], half_width, ratio)


def _reached(found: Candidate, active: Bools, reach: float) -> Ints:
    """The active points within the reach of a structure."""
    r = found.bands.family.residuals(found.bands.X, found.params[None])[:, 0]
    return np.flatnonzero(active & (r <= reach * found.half_width))


def _bonus(
    families: Sequence[BandCounts], counts: Sequence[Any], leaving: Ints, least: float
) -> float:
    """The evidence of the best model that is left when points leave, if it is another one."""
    tables = [bands.ratios(bands.without(held, leaving)) for bands, held in zip(families, counts)]
    bands, after = max(zip(families, tables), key=lambda pair: float(pair[1].max()))
    width, follower = np.unravel_index(int(np.argmax(after)), after.shape)
    bins = bands.bins[leaving, follower]
    same = np.mean((bins != NO_BAND) & (bins >= width)) > 0.5 if len(leaving) else True
    return 0.0 if same else max(0.0, float(after[width, follower]) - least)


def greedy_structures(families: Sequence[BandCounts], reach: float) -> list[Structure]:
    """Structures of all points by greedy selection alone; without members."""
    found = greedy(families, first_occurrences(families[0].X), reach)
    return [each.structure() for each in found]


def find_structures(
    families: Sequence[BandCounts], normal: Bools, stream: Stream
) -> list[Structure]:
    """The structures of the points that are `normal`, by greedy selection and refinement."""
    X = families[0].X
    counted, least = normal & first_occurrences(X), least_of(families)
    found = greedy(families, counted, REACH, ahead=True)
    for step in range(_REFINEMENTS):
        found = _refined(found, counted, least, stream.child(step))
    found = sorted((each for each in found if each.log_ratio > least), key=lambda f: -f.log_ratio)
    structures = [each.structure() for each in found]
    cells = members_of(X, normal, structures)
    return [each.with_members(np.flatnonzero(cells == k)) for k, each in enumerate(structures)]


def members_of(X: Floats, normal: Bools, structures: list[Structure]) -> Ints:
    """(n,) the structure that each normal point is nearest to in half-widths; -1 beyond REACH."""
    if not structures:
        return np.full(len(X), -1)
    distances = relative_distances(X, structures)
    nearest = np.argmin(distances, axis=1)
    near = normal & (distances[np.arange(len(nearest)), nearest] <= REACH)
    return np.where(near, nearest, -1)


def _refined(
    found: list[Candidate], normal: Bools, least: float, stream: Stream
) -> list[Candidate]:
    """Each structure replaced by a better model of its own points, if there is one; the weakest
    one is dropped once its evidence is too small."""
    if not found:
        return found
    cells = members_of(found[0].bands.X, normal, [each.structure() for each in found])
    refined = []
    for k, (bands, params, _, _) in enumerate(found):
        free = np.flatnonzero(normal & ((cells == k) | (cells == -1)))
        members = np.flatnonzero(cells == k)
        tried = np.concatenate([params[None], *_refits(bands, members, stream.child(k))])
        at, ratios = bands.best_width(bands.family.residuals(bands.X[free], tried))
        best = int(np.argmax(ratios))
        half_width = float(bands.widths[at[best]])
        refined.append(Candidate(bands, tried[best], half_width, float(ratios[best])))
    weakest = min(range(len(refined)), key=lambda k: refined[k].log_ratio)
    if refined[weakest].log_ratio <= least:
        del refined[weakest]
    return refined


def _refits(bands: BandCounts, members: Ints, stream: Stream) -> Iterator[Floats]:
    """Models of random minimal samples of the members."""
    size = bands.models.samples.shape[1]
    if len(members) <= size:
        return
    words = mix(stream.key, np.arange(_REFITS * len(members))).reshape(_REFITS, -1)
    samples = members[np.argsort(words, axis=1)[:, :size]]
    params, valid = bands.family.solve(bands.X[samples])
    yield params[valid]
