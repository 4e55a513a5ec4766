"""Do round clusters of points describe the data as well as structures through them?

A line goes through any two clusters of points, and a circle through any three. In a band as wide as
a cluster such a model has much evidence, compared with points that are spread evenly, and nothing
is beside it. But clusters describe the same points, with and without the model: it adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .._random import Stream, choose
from ..families import layout_of
from ..families._samples import freedom
from ..families.scaled import column_units
from ..models.heaps import HEAP_CELLS, filled_cells
from ..protocols import Bools, Floats, ModelFamily
from .greedy import Structure
from .ridges import standing_out

# Structures are compared with clusters if their points fill fewer cells, as wide as their bands,
# than this many clusters do for each of their dimensions.
_MANY = 4
# Rows that are described, and the largest number of clusters.
_ROWS, _MOST_CLUSTERS = 1000, 12
# Clusters that are tried before one is added, the shares of the rows that these begin with, and the
# rounds of a trial and of a mixture that is compared.
_TRIALS, _SHARES, _TRIAL_ROUNDS, _ROUNDS = 8, (0.03, 0.25), 4, 12
# No more clusters are added after this many that were not worth their price.
_PATIENCE = 2
# Up to so many doubtful structures are left out one by one, if not all of them are.
_ONE_BY_ONE = 6
# Clusters whose mean entropy is at most this lie apart, as two do at a distance of 3.2 widths: any
# noisy line is a row of clusters that overlap.
_APART = 0.14
# The density of the points may lose the other part of the price of a structure that is left out: a
# structure of few points that adds more than that is kept, although clusters are as short.
_CLEARLY = 0.5
# Uniform points that measure the part of a band where points are, and the fewest that do.
_UNIFORM, _ENOUGH = 8192, 50
# Half-widths are 1.2 to 2.5 sigmas, less where points are few: sigmas to choose from, in
# half-widths.
_NOISE = (0.4, 0.6, 0.9, 1.35)
# A part of a band of two sigmas is covered if a point of the band is within this many; the noise is
# not looked at beyond as many.
_BAND, _COVERED = 2.0, 4.0


class _Description(NamedTuple):
    """A mixture of structures, clusters and points anywhere."""

    evidence: float
    """the logarithm of the density of the rows, less the price of structures and clusters"""
    centres: Floats
    """(k, d) of the clusters"""
    widths: Floats
    """(k,)"""
    clusters: Floats
    """(n, k) the probabilities that a row belongs to each cluster"""


def without_clusters(X: Floats, structures: Sequence[Structure], stream: Stream) -> list[Structure]:
    """The structures that describe the points X better than round clusters do.

    A structure is left out if clusters that lie apart describe the points as well.
    """
    kept = list(structures)
    doubtful = [each for each in kept if _is_doubtful(X, each)]
    if not doubtful or not (np.ptp(X, axis=0) > 0).all():
        return kept
    X = X[choose(stream.child("rows"), len(X), _ROWS)]
    comparison = _Comparison(X, kept, stream)
    if comparison.gain_without(doubtful, kept) >= 0:
        return _others(kept, doubtful)
    while 1 < len(doubtful) <= _ONE_BY_ONE:
        gains = [comparison.gain_without([each], kept) for each in doubtful]
        worst = int(np.argmax(gains))
        if gains[worst] < 0:
            break
        kept = _others(kept, [doubtful.pop(worst)])
    return kept


def credible(X: Floats, structures: Sequence[Structure], stream: Stream) -> list[Structure]:
    """The structures of the points X that are denser than what is beside them, and no clusters."""
    return without_clusters(X, standing_out(X, structures, stream), stream.child("clusters"))


def _others(structures: Sequence[Structure], without: Sequence[Structure]) -> list[Structure]:
    return [each for each in structures if not any(each is other for other in without)]


def _is_doubtful(X: Floats, structure: Structure) -> bool:
    """Whether a few clusters fill as many cells of the band as the points of a structure."""
    family = structure.family
    dimension = X.shape[1] - family.codimension(X.shape[1])
    if layout_of(family).kind != "points" or dimension < 1:
        return False
    near = X[structure.residuals(X) <= structure.half_width]
    cells = filled_cells(_places(family, near), 2 * structure.half_width)
    return bool(cells < _MANY * HEAP_CELLS**dimension)


def _places(family: ModelFamily, X: Floats) -> Floats:
    """(n, d) the points in the units of the residuals."""
    return np.asarray(X / column_units(family, X.shape[1]))


class _Comparison:
    """Descriptions of the points X by some of the structures, with as many clusters as pay."""

    def __init__(self, X: Floats, structures: Sequence[Structure], stream: Stream) -> None:
        family = structures[0].family
        self.places = _places(family, X)
        self.volume = _volume(np.ptp(self.places, axis=0))
        self.smallest = min(each.sigma for each in structures) / 2
        """no cluster is smaller: repeated points are none"""
        self.stream = stream
        n, d = X.shape
        self.cluster_price = (d + 2) / 2 * np.log(n)
        # Beside the parameters of a model: its noise, its ends, and its share of the points.
        self.prices = {
            id(each): (freedom(each.family, d) + 4) / 2 * np.log(n) for each in structures
        }
        self.densities = {
            id(each): _density(each, X, stream.child("uniform", k))
            for k, each in enumerate(structures)
        }

    def gain_without(self, some: Sequence[Structure], structures: Sequence[Structure]) -> float:
        """The evidence that structures have more without some of them, less the part of the price
        of these that it must exceed; -inf if there are no clusters that lie apart in the place of
        each."""
        others = _others(structures, some)
        without = self._best(others)
        near = [self.densities[id(each)] > 0 for each in some]
        if len(without.widths) < 2 or any(_entropy(without.clusters[at]) > _APART for at in near):
            return -np.inf
        least = _CLEARLY * (self._price(structures) - self._price(others))
        return without.evidence - self._evidence_with(structures, without, near) - least

    def _evidence_with(
        self, structures: Sequence[Structure], without: _Description, near: Sequence[Bools]
    ) -> float:
        """The evidence of structures beside the clusters of a description, or beside those alone
        that are not on the structures which it is without; near: the rows on each of these."""
        rows = cKDTree(self.places).query(without.centres)[1]
        beside = ~np.any([at[rows] for at in near], axis=0)
        mixtures = []
        for kept in (np.ones(len(rows), np.bool_), beside):
            mixture = _Mixture(self.places, self._fixed(structures), self.smallest)
            for centre, width in zip(without.centres[kept], without.widths[kept]):
                mixture = mixture.with_cluster(centre, float(width))
            mixture.run(_ROUNDS)
            mixtures.append(mixture)
        return max(self._described(each, structures).evidence for each in mixtures)

    def _best(self, structures: Sequence[Structure]) -> _Description:
        """The best description by structures, with clusters that are added one by one."""
        rng = self.stream.child("clusters").generator()
        mixture = _Mixture(self.places, self._fixed(structures), self.smallest)
        mixture.run(_ROUNDS)
        best, fails = self._described(mixture, structures), 0
        for _ in range(_MOST_CLUSTERS):
            trials = [mixture.with_cluster(*self._start(mixture, rng)) for _ in range(_TRIALS)]
            for each in trials:
                each.run(_TRIAL_ROUNDS)
            mixture = max(trials, key=lambda each: each.log_density)
            mixture.run(_ROUNDS)
            this = self._described(mixture, structures)
            fails = fails + 1 if this.evidence <= best.evidence else 0
            if fails == _PATIENCE:
                break
            best = best if fails else this
        return best

    def _described(self, mixture: _Mixture, structures: Sequence[Structure]) -> _Description:
        price = self._price(structures) + len(mixture.widths) * self.cluster_price
        evidence = mixture.log_density - price
        return _Description(evidence, mixture.centres, mixture.widths, mixture.clusters)

    def _price(self, structures: Sequence[Structure]) -> float:
        return float(sum(self.prices[id(each)] for each in structures))

    def _fixed(self, structures: Sequence[Structure]) -> Floats:
        """(n, 1 + s) the densities of points anywhere, and of the structures."""
        anywhere = np.full(len(self.places), 1 / self.volume)
        return np.column_stack([anywhere, *(self.densities[id(each)] for each in structures)])

    def _start(self, mixture: _Mixture, rng: np.random.Generator) -> tuple[Floats, float]:
        """The centre and the width of a cluster at a point that nothing describes yet."""
        unexplained = np.cumsum(mixture.unexplained)
        at = int(np.searchsorted(unexplained, rng.random() * unexplained[-1]))
        centre = self.places[min(at, len(self.places) - 1)]
        squares = np.sort(np.sum((self.places - centre) ** 2, axis=1))
        n_near = int(len(squares) * rng.uniform(*_SHARES))
        return centre, max(float(np.sqrt(squares[n_near] / len(centre))), self.smallest)


class _Mixture:
    """Densities that are given, (n, s), the first of points anywhere, and round normal clusters, by
    expectation and maximisation."""

    def __init__(self, places: Floats, fixed: Floats, smallest: float) -> None:
        self.places, self.fixed, self.smallest = places, fixed, smallest
        self.centres, self.widths = np.empty((0, places.shape[1])), np.empty(0)
        self.weights = np.full(fixed.shape[1], 1 / fixed.shape[1])
        self.log_density, self.unexplained = -np.inf, np.ones(len(places))
        self.clusters = np.empty((len(places), 0))

    def with_cluster(self, centre: Floats, width: float) -> _Mixture:
        """With one more cluster."""
        new = _Mixture(self.places, self.fixed, self.smallest)
        new.centres = np.concatenate([self.centres, centre[None]])
        new.widths = np.append(self.widths, width)
        share = 1 / (1 + len(self.weights))
        new.weights = np.append((1 - share) * self.weights, share)
        return new

    def run(self, rounds: int) -> None:
        """Some rounds, and the density of the points at the end."""
        n_fixed, d = self.fixed.shape[1], self.places.shape[1]
        for step in range(rounds):
            clusters = np.exp(-0.5 * self._squares() / self.widths**2)
            clusters /= (np.sqrt(2 * np.pi) * self.widths) ** d
            P = np.concatenate([self.fixed, clusters], axis=1) * self.weights
            total = P.sum(axis=1)
            P /= total[:, None]
            if step + 1 < rounds:
                self.weights = P.mean(axis=0)
                own = P[:, n_fixed:]
                size = own.sum(axis=0) + np.finfo(float).tiny
                self.centres = own.T @ self.places / size[:, None]
                spread = np.sum(own * self._squares(), axis=0) / (size * d)
                self.widths = np.maximum(np.sqrt(spread), self.smallest)
        self.log_density, self.unexplained = float(np.log(total).sum()), P[:, 0]
        self.clusters = P[:, n_fixed:]

    def _squares(self) -> Floats:
        """(n, clusters) squared distances from the centres."""
        apart = self.places[:, None, :] - self.centres
        return np.asarray(np.einsum("nkd,nkd->nk", apart, apart))


def _entropy(P: Floats) -> float:
    """The mean entropy of the cluster of a point, from the probabilities (n, clusters)."""
    each = P.sum(axis=1)
    inside = each > 0
    shares = P[inside] / each[inside, None]
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    return float(-np.sum(P[inside] * logs) / max(each.sum(), 1e-12))


def _density(structure: Structure, X: Floats, stream: Stream) -> Floats:
    """(n,) the density of the points of a structure at X, with the noise that describes X best."""
    family = structure.family
    volume = _volume(np.ptp(_places(family, X), axis=0))
    densities = [
        _density_with(structure, share * structure.half_width, X, stream) for share in _NOISE
    ]
    return max(densities, key=lambda each: float(np.log(each * volume + 1).sum()))


def _density_with(structure: Structure, sigma: float, X: Floats, stream: Stream) -> Floats:
    """(n,) the density of the points of a structure at X: even on the part of the model where
    points are, and normal across it."""
    family, reach, density = structure.family, _COVERED * sigma, np.zeros(len(X))
    units = column_units(family, X.shape[1])
    near = X[structure.residuals(X) <= _BAND * sigma]
    if not len(near):
        return density
    points = cKDTree(_places(family, near))
    # Within the box of the points, as those anywhere are.
    low = np.maximum(near.min(axis=0) - reach * units, X.min(axis=0))
    high = np.minimum(near.max(axis=0) + reach * units, X.max(axis=0))
    uniform = low + (high - low) * stream.generator().random((_UNIFORM, X.shape[1]))

    def shape(rows: Floats) -> Floats:
        r = np.asarray(structure.residuals(rows))
        inside = np.flatnonzero(r <= reach)
        distance, _ = points.query(_places(family, rows[inside]), distance_upper_bound=reach)
        inside = inside[np.isfinite(distance)]
        values = np.zeros(len(rows))
        values[inside] = np.exp(-0.5 * (r[inside] / sigma) ** 2)
        return values

    measured = shape(uniform)
    if np.sum(measured > 0) < _ENOUGH:
        return density
    volume = _volume((high - low) / units)
    return np.asarray(shape(X) / (volume * measured.mean()))


def _volume(sides: Floats) -> float:
    """The volume of a box in the directions in which it has an extent."""
    return float(np.prod(sides[sides > 0]))
