"""The models of a stream: a reservoir, of which a tenth is drawn anew at every renewal.

A renewal is a function of the rows of the window, the models before it and a random stream alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._random import Stream
from .._validation import NoModels
from ..bands.evidence import (
    Bands,
    BandTable,
    kernel_scales,
    least_ratio,
    measure_bands,
    model_weights,
)
from ..bands.ladder import WIDTHS, Grid, Ladder, ladder_of
from ..bands.resolution import find_resolution
from ..families import extent
from ..models.bounds import Bounds, find_bounds, unbounded
from ..models.drawing import ModelSet, draw_models
from ..models.membership import sample_membership
from ..models.refit import can_refit, refit_models
from ..protocols import Floats, Ints, ModelFamily, Sampler
from ..selection import name_counts

# A renewal draws this many candidates for each model that it replaces, and keeps the best.
_CANDIDATES = 10
# The first renewal draws this many for each model.
_FIRST_CANDIDATES = 4
_REFITS = 1
# As in a fit of all rows: models that each row names, by the size of the minimal sample, ...
_NAMED_REFITTED, _NAMED_SMALL, _NAMED_LARGE, _LARGE = 3, 10, 30, 7
# ... the factor of the scale of models that are measured on the rows that they were fitted to, ...
_REFIT_SCALE = 1.25
# ... and the points for each of a minimal sample with which a single one hardly moves a model.
_ENOUGH = 10
# The bounds of a model are found anew at every tenth renewal: they take most of the time.
_BOUNDS_EVERY = 10


@dataclass(frozen=True)
class ReservoirSettings:
    """How models are drawn."""

    family: ModelFamily
    sampler: Sampler
    n_models: int
    sigma: float | None
    """None: estimate it at every renewal"""

    @property
    def n_new(self) -> int:
        """The number of models that a renewal replaces."""
        return max(1, self.n_models // 10)


@dataclass(frozen=True)
class Renewal:
    """The models after a renewal, as measured on the window."""

    models: ModelSet
    sigma: float
    found: bool
    """whether any band is denser than its surroundings"""
    X: Floats
    """the rows that were measured, rounded values spread over their step"""
    table: BandTable | None


def renew(
    before: ModelSet | None,
    X: Floats,
    numbers: Ints,
    settings: ReservoirSettings,
    stream: Stream,
    renewal: int,
    dither: Stream,
) -> Renewal:
    """Draw candidates from the rows X, and let the best take the place of the least named tenth.

    numbers (n,) of the rows in the stream; renewal: its number; dither: the same at all renewals,
    so that a rounded row is always spread to the same place.

    Rows name the models that they prefer most; a model that rows do not name any more tells
    nothing about them. (The least gain alone would be a poor rule: in the end all models would
    describe the densest structure.) All models are measured again, so that scales and weights are
    those of the window.

    Raises
    ------
    NoModels
        If no minimal sample of X determines a model, or nearly all rows are equal.
    """
    family, m = settings.family, settings.n_models
    resolution = find_resolution(family, X, dither)
    rows = resolution.dithered(X, numbers)
    size = extent(family, rows)
    if not size > 0:
        raise NoModels("nearly all rows of the window are equal.")
    effect = resolution.effect(family, X, rows)
    ladder = ladder_of(family, rows, Grid(size * WIDTHS), stream.child("null"), effect)
    meter = _Meter(rows, ladder, settings)
    if before is None:
        drawn = _drawn(rows, _FIRST_CANDIDATES * m, settings, stream)
        models = meter.refitted(meter.most_named(meter.measured(drawn)[0], m))
    else:
        models = _replaced(before, meter, settings, stream)
    return meter.finished(models, stream, renewal)


def _drawn(X: Floats, n: int, settings: ReservoirSettings, stream: Stream) -> ModelSet:
    """n models of minimal samples of X, or fewer if many samples are degenerate."""
    with warnings.catch_warnings():
        # A stream may be constant for a while, which is no reason to warn at every renewal.
        warnings.filterwarnings("ignore", "only .* models of family")
        models, _ = draw_models(X, settings.family, settings.sampler, n, stream.child("models"))
    return models


def _replaced(
    before: ModelSet, meter: _Meter, settings: ReservoirSettings, stream: Stream
) -> ModelSet:
    """The models with the best of new candidates in place of the least named; new ones have no
    bounds yet."""
    drawn = _drawn(meter.X, _CANDIDATES * settings.n_new, settings, stream)
    n, m = len(before), settings.n_models
    both, _ = meter.measured(joined([replace(before, bounds=None), drawn]))
    named = meter.named(both)
    kept = _largest(named[:n], m - settings.n_new)
    fresh = n + _largest(named[n:], m - len(kept))
    models = joined([both.take(kept), meter.refitted(both.take(fresh))])
    return replace(models, bounds=_extended(before.bounds, kept, len(fresh)))


def _extended(bounds: Bounds | None, kept: Ints, n_fresh: int) -> Bounds | None:
    """The bounds of the kept models, and of `n_fresh` models without any."""
    if bounds is None:
        return None
    old = bounds[kept]
    return Bounds(
        np.concatenate([old.low, np.zeros((n_fresh, 2))]),
        np.concatenate([old.size, np.full((n_fresh, 2), np.inf)]),
        np.concatenate([old.cells, np.ones((n_fresh, old.cells.shape[1]), np.bool_)]),
    )


class _Meter:
    """Measures models on the rows of the window."""

    def __init__(self, X: Floats, ladder: Ladder, settings: ReservoirSettings) -> None:
        self.X, self.ladder, self.settings = X, ladder, settings

    def measured(self, models: ModelSet, keep: bool = False) -> tuple[ModelSet, Bands]:
        """The models with the scales and weights of their bands, and the bands."""
        bands, self.table = measure_bands(
            self.X, models, sample_membership([models]), self.ladder, keep=keep
        )
        sigma = self.settings.sigma
        estimate = bands.sigma if np.isfinite(bands.sigma) else self._guess
        scale = kernel_scales(bands, "adaptive", sigma, estimate)
        return replace(models, scale=scale, weight=model_weights(bands, "gain")), bands

    @property
    def _guess(self) -> float:
        """Half the median half-width, for a window without structure."""
        return float(extent(self.settings.family, self.X) * WIDTHS[len(WIDTHS) // 2] / 2)

    def named(self, models: ModelSet) -> Ints:
        """(m,) how many rows have each model among those that they prefer most."""
        return name_counts([models], self.X, sample_membership([models]), self._n_named(models))

    def _n_named(self, models: ModelSet) -> int:
        if can_refit(models.family):
            return _NAMED_REFITTED
        return _NAMED_LARGE if models.samples.shape[1] >= _LARGE else _NAMED_SMALL

    def most_named(self, models: ModelSet, n: int) -> ModelSet:
        return models.take(_largest(self.named(models), n))

    def refitted(self, models: ModelSet) -> ModelSet:
        """The models, refitted to the rows of their bands if the family can do so."""
        if not can_refit(models.family):
            return models
        for _ in range(_REFITS):
            fitted = refit_models(models, self.X, sample_membership([models]))
            models, bands = self.measured(fitted)
        points = bands.ratio / np.where(bands.gain > 0, bands.gain, np.inf)
        return replace(models, excludes_sample=points < _ENOUGH * models.samples.shape[1])

    def finished(self, models: ModelSet, stream: Stream, renewal: int) -> Renewal:
        """The models with all that depends on the window: scales, weights and bounds."""
        bounds, n_drawn = models.bounds, _CANDIDATES * self.settings.n_models
        models = replace(own_samples(models), bounds=None, n_drawn=n_drawn)
        models, bands = self.measured(models, keep=True)
        factor = np.sqrt(np.maximum(self.named(models), 1))
        widen = _REFIT_SCALE if can_refit(models.family) else 1.0
        models = replace(models, scale=widen * models.scale, weight=models.weight * factor)
        found = bool(bands.gain.any())
        if not found:
            models = replace(models, weight=np.ones(len(models)))
        elif bands.ratio.max() > least_ratio(n_drawn):
            models = replace(models, bounds=self._bounds(models, bounds, stream, renewal))
        sigma = self.settings.sigma
        if sigma is None:
            sigma = bands.sigma if found else self._guess
        return Renewal(models, sigma, found, self.X, self.table)

    def _bounds(
        self, models: ModelSet, before: Bounds | None, stream: Stream, renewal: int
    ) -> Bounds | None:
        """The bounds, found anew for every tenth model and for new ones, whose size is infinite."""
        never, m = unbounded(models), len(models)
        if never is None:
            return None
        bounds = never if before is None else before[np.arange(m)]
        due = np.arange(m) % _BOUNDS_EVERY == renewal % _BOUNDS_EVERY
        chosen = np.flatnonzero(due | np.isinf(bounds.size[:, 0]))
        found = find_bounds(models.take(chosen), self.X, stream.child("bounds"))
        if found is None:
            bounds.size[chosen], bounds.cells[chosen] = 1.0, True
        else:
            bounds.low[chosen], bounds.size[chosen] = found.low, found.size
            bounds.cells[chosen] = found.cells
        return bounds


def own_samples(models: ModelSet) -> ModelSet:
    """The models with numbers of their samples that refer to their points alone: the rows leave
    the window, the models stay."""
    at = np.searchsorted(np.unique(models.samples), models.samples)
    points = models.points[at.ravel()]
    return replace(models, samples=np.arange(at.size).reshape(at.shape), points=points)


def joined(sets: Sequence[ModelSet]) -> ModelSet:
    """The models of all sets, which are of one family; without bounds."""
    parts = [own_samples(each) for each in sets]
    excludes = [
        np.ones(len(each), np.bool_) if each.excludes_sample is None else each.excludes_sample
        for each in parts
    ]
    samples = np.concatenate([each.samples for each in parts])
    return ModelSet(
        parts[0].family,
        np.asfortranarray(np.concatenate([each.params for each in parts])),
        np.arange(samples.size).reshape(samples.shape),
        np.concatenate([each.points for each in parts]),
        np.concatenate([each.scale for each in parts]),
        np.concatenate([each.weight for each in parts]),
        excludes_sample=np.concatenate(excludes),
    )


def _largest(values: Ints, n: int) -> Ints:
    """The indices of the n largest values, ascending; of equal values the first."""
    return np.sort(np.argsort(-values, kind="stable")[:n])
