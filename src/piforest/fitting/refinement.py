"""Between drawing and embedding: refit models to their bands, keep those that points name, bound
them to where their points are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._random import Stream, choose
from ..bands.evidence import Bands, least_ratio
from ..models.bounds import find_bounds
from ..models.drawing import ModelSet
from ..models.heaps import can_be_heap, is_heap
from ..models.membership import sample_membership
from ..models.refit import LARGE, can_refit, refit_models
from ..protocols import Bools, Floats, Ints
from ..selection import merged_weights, name_counts, representatives

# The rows that models are refitted to and named by. A thousand points in a band determine a model.
_ROWS = 4096
_REFITS = 2
# The rows that models through heaps are looked for in.
_HEAP_ROWS = 1024
# Heaps are wider than narrow structures by this factor.
_WIDER = 1.3
# Models that each point names before a refit.
_NAMED_FIRST = 5
# Models that each point names: refitted ones, those of small minimal samples, those of large ones.
# Models of large samples are noisy, so that only many of them together describe a structure.
_NAMED_REFITTED, _NAMED_SMALL, _NAMED_LARGE = 3, 10, 30
_LARGE = 7
# A refitted band is measured on the points that it was fitted to: new points are a little farther.
_REFIT_SCALE = 1.25
# One point, and one in this many, are too few to name a model.
_FEW_NAMES = 512
# Nearly equal models are kept if fewer than this many would be left.
_FEW = 10
# With this many points for each of a minimal sample, a single point hardly moves a refitted model.
_ENOUGH = 10

Measure = Callable[[int, Floats, ModelSet], tuple[ModelSet, Bands]]


@dataclass(frozen=True)
class Steps:
    """Which steps to take. True if any follows the first measurement of the bands."""

    concentrate: bool = True
    refit: bool = True
    select: bool = True
    bound: bool = True

    def __bool__(self) -> bool:
        return self.refit or self.select or self.bound


def refine(
    models: list[ModelSet],
    bands: list[Bands],
    X: Floats,
    steps: Steps,
    measure: Measure,
    stream: Stream,
    widen: bool = True,
) -> tuple[list[ModelSet], list[Floats]]:
    """Refined models of each family, and factors (m,) of their weights.

    models: with the scales and weights of their bands. measure(i, X, models) returns the models of
    family i with the scales and weights of their bands on the rows of X, and the bands. widen:
    whether scales come from the bands, which are too narrow for new points after a refit.
    """
    rows = X[choose(stream.child("rows"), len(X), _ROWS)]
    ratios = [each.ratio for each in bands]
    if steps.refit and any(can_refit(part.family) for part in models):
        if steps.select:
            named = _name(models, rows, [max(_NAMED_FIRST, q) for q in _named(models)])
            kept = [_indices(each > 0) for each in named]
            models = [part.take(each) for part, each in zip(models, kept)]
            ratios = [each[at] for each, at in zip(ratios, kept)]
        for i, part in enumerate(models):
            if can_refit(part.family):
                models[i], ratios[i] = _refit(part, ratios[i], rows, partial(measure, i), widen)
    factors = [np.ones(len(part)) for part in models]
    if steps.select:
        models, factors = _select(models, ratios, rows)
        some = rows[choose(stream.child("heaps"), len(rows), _HEAP_ROWS)]
        models, factors = _without_heaps(models, factors, some, measure)
    if steps.bound:
        models = [
            replace(part, bounds=find_bounds(part, rows, stream.child("bounds", i)))
            for i, part in enumerate(models)
        ]
    return models, factors


def _refit(
    models: ModelSet,
    ratio: Floats,
    rows: Floats,
    measure: Callable[[Floats, ModelSet], tuple[ModelSet, Bands]],
    widen: bool,
) -> tuple[ModelSet, Floats]:
    """The refitted models, and the log-likelihood ratios of their bands; ratio: those before.

    A refitted model with many parameters is near many points, even if there is no structure.
    Therefore it is refitted only if it is significant before.
    """
    size = models.samples.shape[1]
    fitted = ratio > (least_ratio(models.n_candidates) if size >= LARGE else -1.0)
    for _ in range(_REFITS):
        moved = refit_models(models, rows, sample_membership([models]), fitted)
        models, bands = measure(rows, moved)
    # Without a gain there are no points.
    points = bands.ratio / np.where(bands.gain > 0, bands.gain, np.inf)
    few = (points < _ENOUGH * size) | ~fitted
    scale = models.scale * np.where(fitted, _REFIT_SCALE if widen else 1.0, 1.0)
    return replace(models, scale=scale, excludes_sample=few), bands.ratio


def _select(
    models: list[ModelSet], ratios: list[Floats], rows: Floats
) -> tuple[list[ModelSet], list[Floats]]:
    """The models that points name, without those that equal another one, and the factors of their
    weights."""
    named = _name(models, rows, _named(models))
    limit = least_ratio(sum(part.n_candidates for part in models)) / 2
    # A model that few points name is hardly a structure; with evidence, half as many suffice.
    few = max(1, len(rows) // _FEW_NAMES)
    kept = [_indices((n > few) | ((n > few // 2) & (r > limit))) for n, r in zip(named, ratios)]
    models = [part.take(each) for part, each in zip(models, kept)]
    counts = np.concatenate([np.maximum(n[at], 1) for n, at in zip(named, kept)])
    weight = np.concatenate([part.weight for part in models])
    same = representatives(models, rows, counts)
    if len(np.unique(same)) < _FEW:
        # Points of one structure differ by their preferences for several models of it.
        same = np.arange(len(same))
    merged = merged_weights(weight, counts, same)
    factor = merged / np.where(weight > 0, weight, 1.0)
    firsts = _split((same == np.arange(len(same))) & (weight > 0), models)
    kept = [_indices(each) for each in firsts]
    factors = [each[at] for each, at in zip(_split(factor, models), kept)]
    return [part.take(at) for part, at in zip(models, kept)], factors


def _without_heaps(
    models: list[ModelSet], factors: list[Floats], rows: Floats, measure: Measure
) -> tuple[list[ModelSet], list[Floats]]:
    """The models that do not go through heaps of points, and their factors; all of them if none
    would be left."""
    kept = []
    for i, part in enumerate(models):
        left = np.ones(len(part), np.bool_)
        if can_be_heap(part.family, rows.shape[1]):
            _, bands = measure(i, rows, part)
            # Where narrow structures cross, points are on all sides of each.
            wide = np.flatnonzero(bands.half_width > _WIDER * _narrow(bands))
            R = part.family.residuals(rows, np.asfortranarray(part.params[wide]))
            left[wide] = ~is_heap(part.family, rows, R, bands.half_width[wide])
        kept.append(np.flatnonzero(left | ~left.any()))
    factors = [each[at] for each, at in zip(factors, kept)]
    return [part.take(at) for part, at in zip(models, kept)], factors


def _narrow(bands: Bands) -> float:
    """The half-width below which the bands have a quarter of the evidence."""
    order = np.argsort(bands.half_width, kind="stable")
    evidence = np.cumsum(bands.ratio[order])
    return float(bands.half_width[order][np.searchsorted(evidence, evidence[-1] / 4)])


def _named(models: list[ModelSet]) -> list[int]:
    """How many models of each family a point names."""
    return [
        _NAMED_REFITTED
        if can_refit(part.family)
        else _NAMED_LARGE
        if part.samples.shape[1] >= _LARGE
        else _NAMED_SMALL
        for part in models
    ]


def _name(models: list[ModelSet], rows: Floats, n_named: list[int]) -> list[Ints]:
    """How many points name each model of each family. All families are compared, so that the one
    of which a point names most decides."""
    membership = sample_membership(models)
    return _split(name_counts(models, rows, membership, max(n_named)), models)


def _indices(kept: Bools) -> Ints:
    """The indices of the models to keep; one at least, so that every family has models."""
    return np.flatnonzero(kept) if kept.any() else np.zeros(1, np.int64)


def _split(values: Any, models: list[ModelSet]) -> list[Any]:
    """The parts of each family of values (m,) for all models."""
    return np.split(values, np.cumsum([len(part) for part in models])[:-1])
