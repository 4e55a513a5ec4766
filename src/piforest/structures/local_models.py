"""Models of the points of a structure: minimal samples, neighbours and least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._kernels.random import sample_smallest
from .._random import Stream
from ..bands.evidence import full_band_table
from ..families.scaled import scaled_rows
from ..models.drawing import ModelSet, distinct_rows
from ..models.membership import sample_membership
from ..models.refit import Lifted, weighted_model
from ..protocols import Bools, Floats, Ints, ModelFamily
from ..sampling.mixed import local_samples
from .greedy import BandCounts, Candidate, members_of

_MINIMAL_SAMPLES = 100
# Least squares are repeated with the weights of the previous model.
_LEAST_SQUARES = 2
# Points beyond this many half-widths, about three sigmas, have no weight in least squares.
_LEAST_SQUARES_REACH = 1.5


def local_bands(bands: BandCounts, rows: Ints, n_models: int, stream: Stream) -> BandCounts | None:
    """The bands of models of neighbours among these rows, measured on these rows alone; None if
    there are no models.

    The models of a fit describe points together, and hundreds are enough for that. A small
    structure among many needs models of its own.
    """
    X = bands.X[rows]
    models = local_models(bands.family, X, np.arange(len(X)), n_models, stream)
    if models is None:
        return None
    models = replace(models, n_drawn=bands.models.n_candidates + len(models))
    table = full_band_table(X, models, sample_membership([models]), bands.ladder)
    return BandCounts(X, models, table, bands.raw[rows])


def local_models(
    family: ModelFamily, X: Floats, rows: Ints, n_models: int, stream: Stream
) -> ModelSet | None:
    """Models of minimal samples of neighbours among these rows of X; None if there are none."""
    size = family.sample_size(X.shape[1])
    if len(rows) <= size:
        return None
    placed = scaled_rows(family, X[rows])
    samples = rows[local_samples(placed, size, np.arange(n_models), stream)]
    params, valid = family.solve(X[samples])
    at = np.nonzero(valid)[0]
    if not len(at):
        return None
    samples, ones = samples[at], np.ones(len(at))
    theta = np.asfortranarray(params[valid])
    return ModelSet(family, theta, samples, X[distinct_rows(samples)], ones, ones)


def models_of(candidate: Candidate, members: Ints, stream: Stream) -> Floats:
    """(m, p) the model of a candidate and others of these rows: of least squares about it, and of
    random minimal samples, if there are enough rows."""
    models = [candidate.params[None]]
    if len(members) > candidate.bands.models.samples.shape[1]:
        bands, lifted = candidate.bands, candidate.bands.lifted
        if lifted is not None:
            models += weighted_least_squares(
                lifted.take(members), candidate.params, bands.X[members], candidate.half_width
            )
        models.append(_of_minimal_samples(candidate.bands, members, stream))
    return np.concatenate(models)


def _of_minimal_samples(bands: BandCounts, members: Ints, stream: Stream) -> Floats:
    samples = np.empty((_MINIMAL_SAMPLES, bands.models.samples.shape[1]), np.int64)
    hashes = np.empty(samples.shape[1], np.uint64)
    sample_smallest(np.uint64(stream.key), len(members), hashes, samples)
    params, valid = bands.family.solve(bands.X[members[samples]])
    return np.asarray(params[valid])


def weighted_least_squares(
    lifted: Lifted, params: Floats, X: Floats, half_width: float
) -> list[Floats]:
    """Least-squares models, each (1, p), of the rows of X within the reach of the one before, the
    first with these parameters (p,)."""
    theta, found = params[None], list[Floats]()
    family, reach = lifted.family, _LEAST_SQUARES_REACH * half_width
    for _ in range(_LEAST_SQUARES):
        weights = np.maximum(1 - (family.residuals(X, theta)[:, 0] / reach) ** 2, 0.0) ** 2
        if np.sum(weights > 0) <= family.sample_size(X.shape[1]):
            break
        better = weighted_model(lifted, weights)
        if better is None:
            break
        theta = better[None]
        found.append(theta)
    return found


def refine(found: list[Candidate], counted: Bools, limit: float, stream: Stream) -> list[Candidate]:
    """Replace each structure by the best model of its points; drop the weakest structure if it is
    not significant."""
    if not found:
        return found
    cells = members_of(found[0].bands.X, counted, [each.structure() for each in found])
    free = counted & (cells == -1)
    better = [
        refined(each, np.flatnonzero(cells == k), free, stream.child(k))
        for k, each in enumerate(found)
    ]
    weakest = min(range(len(better)), key=lambda k: better[k].log_ratio)
    if better[weakest].log_ratio <= limit:
        del better[weakest]
    return better


def refined(candidate: Candidate, members: Ints, free: Bools, stream: Stream) -> Candidate:
    """The best model of the points of a structure; free: those of no structure."""
    models, among = models_of(candidate, members, stream), free.copy()
    among[members] = True
    return best_candidate(candidate.bands, models, np.flatnonzero(among))


def best_candidate(bands: BandCounts, models: Floats, rows: Ints) -> Candidate:
    """The model with the most evidence in these rows."""
    width, ratios = bands.best_width(rows, models)
    best = int(np.argmax(ratios))
    half_width = float(bands.widths[width[best]])
    return Candidate(bands, models[best], half_width, float(ratios[best]))
