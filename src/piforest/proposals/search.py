"""Find structures of one family on some rows, and fit each of them well enough to compare."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._random import Stream
from .._validation import NoModels
from ..bands.evidence import full_band_table
from ..bands.ladder import ladder_of, narrow_grid
from ..bands.resolution import find_resolution, is_grid_of_levels
from ..families import layout_of
from ..fitting.widths import choose_grid
from ..models.drawing import draw_models
from ..models.heaps import filled_cells
from ..models.membership import sample_membership
from ..models.refit import ROWS_EACH, Lifted
from ..protocols import Bools, Floats, ModelFamily
from ..sampling import resolve_sampler
from ..structures.clusters import credible
from ..structures.greedy import BandCounts, Structure
from ..structures.laws import law_of_all
from ..structures.local_models import weighted_least_squares
from ..structures.search import rough_structures
from .description import Described, Scales, describe, kernel, scales_of
from .matrices import MatrixSteps

# Samples of many points are rarely free of anomalies.
N_MODELS, N_LARGE_MODELS, _LARGE_SAMPLE = 2000, 6000, 7
# Steps of the least-squares fit of a structure.
_STEPS = 16
# They end when one gains less than this many nats.
_LEAST_GAIN = 0.5
# It starts from the best of this many minimal samples of the rows within this many sigmas.
_SAMPLES, _NEAR_ROWS = 48, 3.0
# The difference for derivatives, in sigmas.
_STEP = 1e-3
_DAMPING = 1e-4
# Sigmas between the half-widths of the grid, which are half an octave apart.
_FINER = 2.0**-0.25
# Points of a structure fill at least this many cells of four sigmas along each direction.
_CELLS = 4.0


# A model with less than this share of the evidence of a structure before its steps stays behind
# after them.
_HOPELESS = 0.3

# A step of least squares: from a structure and a state, on rows, of some length, to the next state
# and its parameters.
_Step = Callable[[Described, Floats, Floats, float], tuple[Floats, Floats] | None]


class Found(NamedTuple):
    """The structures of one family in the rows."""

    structures: list[Described]
    rows: Floats
    """(n, d) those that the structures are fitted to, dithered where the columns are rounded"""
    sigmas: Floats
    """(w,) those that a structure may have, ascending"""


def find_described(family: ModelFamily, X: Floats, null: Floats, stream: Stream) -> Found | None:
    """The significant structures of a family in the rows X, compared with null rows, fitted by
    weighted least squares where the family has them; None if no minimal sample determines a model.
    """
    resolution = find_resolution(family, X, stream.child("dither"))
    rows = resolution.dithered(X, np.arange(len(X)))
    sampler = resolve_sampler("mixed")
    matches = layout_of(family).kind == "matches"
    large = family.sample_size(X.shape[1]) >= _LARGE_SAMPLE and matches
    n_models = N_LARGE_MODELS if large else N_MODELS
    with warnings.catch_warnings():
        # Few valid samples only mean less to find here; the fit itself warns.
        warnings.simplefilter("ignore", UserWarning)
        try:
            models, _ = draw_models(rows, family, sampler, n_models, stream.child("models"))
        except NoModels:
            return None
    effect = resolution.effect(family, X, rows)
    # Between matches, much noise is no map.
    grid = (
        narrow_grid(family, rows)
        if matches
        else choose_grid(rows, models, stream.child("widths"), effect, 1, X)
    )
    levels = is_grid_of_levels(family, X)
    ladder = ladder_of(family, rows, grid, stream.child("null"), effect, levels=levels)
    table = full_band_table(rows, models, sample_membership([models]), ladder, 1)
    bands = BandCounts(rows, models, table, X)
    found = rough_structures([bands], stream.child("structures"))
    half = ladder.widths[::-1] / 2
    sigmas = np.sort(np.concatenate([half, half * _FINER]))
    fits = [
        _weighted_fit(family, each.params, rows, null, sigmas, each.half_width / 2)
        for each in found
    ]
    if not found and len(rows) < ROWS_EACH * family.sample_size(X.shape[1]):
        # As in a fit: the samples of few rows may all miss a law that least squares find.
        law = law_of_all(family, rows)
        fits = [] if law is None else [_weighted_fit(family, law[0], rows, null, sigmas)]
    return Found(_standing_out(fits, rows), rows, sigmas)


def fitted_better(found: Found, null: Floats, stream: Stream) -> list[Described]:
    """The structures after least-squares steps of their distances."""
    rng = stream.generator()
    better = [_fitted(each, found.rows, null, found.sigmas, rng) for each in found.structures]
    return _standing_out(better, found.rows)


def _standing_out(found: Sequence[Described], rows: Floats) -> list[Described]:
    """Those that are no heaps, denser than what is beside them, and no clusters of points."""
    left = [each for each in found if not _is_heap(each, rows)]
    structures = [
        Structure(each.family, each.params, 2 * each.sigma, 0.0, np.empty(0, np.int64), each.sigma)
        for each in left
    ]
    kept = set(map(id, credible(rows, structures, Stream(0))))
    return [each for each, structure in zip(left, structures) if id(structure) in kept]


def _is_heap(found: Described, rows: Floats) -> bool:
    """Whether the points near a structure fill few cells of its width: a model through a cluster,
    or a few of them, which says nothing about the shape of a structure."""
    dimension = rows.shape[1] - found.family.codimension(rows.shape[1])
    if layout_of(found.family).kind != "points":
        return False
    r = np.asarray(found.family.residuals(rows, found.params[None])[:, 0])
    near = rows[r <= _NEAR_ROWS * found.sigma]
    return bool(filled_cells(near, 4 * found.sigma) < _CELLS**dimension)


def fit_members(
    family: ModelFamily, seed: Described, X: Floats, null: Floats, stream: Stream
) -> list[Described]:
    """A structure of the family near the rows of a structure of another one, if there is any."""
    # Wide ones, too: the means of kernels over null rows are extrapolated from those.
    sigmas = seed.sigma * 2.0 ** (np.arange(-6, 25) / 4)
    rng = stream.generator()
    steps = MatrixSteps.of(family, seed, X)
    if steps is None:
        sample = _start(seed, X, rng, family)
        if sample is None:
            return []
        params, valid = family.solve(sample[None])
        models = params[valid]
        if not len(models):
            return []
        start = models[int(np.argmin(_loss(family.residuals(X, models), seed.sigma)))]
    else:
        start = steps.params(steps.start(seed))
    first = _weighted_fit(family, start, X, null, sigmas)
    if first.evidence < _HOPELESS * seed.evidence:
        return []
    return [_fitted(first, X, null, sigmas, rng)]


def _weighted_fit(
    family: ModelFamily,
    params: Floats,
    rows: Floats,
    null: Floats,
    sigmas: Floats,
    sigma: float | None = None,
) -> Described:
    """The structure of a model after weighted least squares, if they describe the rows better.

    sigma: its noise, if it is known; the widest band of all structures together may have more
    evidence than a model that is not exact yet.
    """
    scales = scales_of(family, params, null, sigmas)
    first = describe(family, params, rows, scales if sigma is None else scales.near(sigma))
    return _weighted(first, rows, scales)


def _weighted(best: Described, rows: Floats, scales: Scales) -> Described:
    lifted = Lifted.if_linear(best.family, rows)
    if lifted is None:
        return best
    for params in weighted_least_squares(lifted, best.params, rows, 2 * best.sigma):
        new = describe(best.family, params[0], rows, scales.near(best.sigma))
        best = max(best, new, key=lambda each: each.evidence)
    return best


def _fitted(
    first: Described, rows: Floats, null: Floats, sigmas: Floats, rng: np.random.Generator
) -> Described:
    """A structure after least-squares steps, if they describe the rows better."""
    scales, best = scales_of(first.family, first.params, null, sigmas), first
    sample = _start(first, rows, rng)
    if sample is not None:
        best = _weighted(_descended(first, _step, sample, rows, scales), rows, scales)
    # Steps of a matrix find one of two optima, depending on where they start.
    starts = [best] if best is first else [first, best]
    ends = [_of_matrix(start, rows, scales) for start in starts]
    best = max(ends, key=lambda each: each.evidence)
    fine = best.sigma * 2.0 ** (np.arange(-3, 4) / 12)
    scales = scales_of(first.family, best.params, null, np.unique([*fine, *sigmas]))
    last = describe(first.family, best.params, rows, scales.near(best.sigma))
    return max(first, last, key=lambda each: each.evidence)


def _of_matrix(start: Described, rows: Floats, scales: Scales) -> Described:
    """A structure after steps of its matrix, if its family has them."""
    steps = MatrixSteps.of(start.family, start, rows)
    if steps is None:
        return start
    return _descended(start, steps.step, steps.start(start), rows, scales)


def _descended(
    found: Described, step_from: _Step, state: Floats, rows: Floats, scales: Scales
) -> Described:
    """The best structure on the way from a state, such as a minimal sample (k, d), to one of least
    squares. A step that does not help is tried again with a quarter of its length."""
    best, last, length = found, -np.inf, 1.0
    for _ in range(_STEPS):
        step = step_from(best, state, rows, length)
        if step is None:
            break
        # The null rows near a model hardly change with a step.
        new = describe(found.family, step[1], rows, scales.near(best.sigma))
        best = max(best, new, key=lambda each: each.evidence)
        gain, last = new.evidence - last, max(last, new.evidence)
        if gain > 0:
            state, length = step[0], min(1.0, 2 * length)
        else:
            length /= 4
        if 0 < gain < _LEAST_GAIN:
            break
    return best


def _step(
    found: Described, sample: Floats, rows: Floats, length: float
) -> tuple[Floats, Floats] | None:
    """One step of Gauss and Newton: the points of a minimal sample (k, d) move so that the squared
    residuals of the near rows become smaller. Returns the moved sample and its model,
    None if there is none. length: of the step, 1 for a whole one.

    It needs `solve` and `residuals` only, and so applies to every family.
    """
    family, sigma, k = found.family, found.sigma, len(sample)
    directions = _directions(family, sample)
    solved, valid = family.solve(
        np.concatenate([sample[None], sample + _STEP * sigma * directions])
    )
    if not valid.any(axis=1).all():
        return None
    R = _nearest_roots(family, solved, valid, rows, found)
    near = (R[:, 0] <= _NEAR_ROWS * sigma) & np.isfinite(R).all(axis=1)
    R = R[near]
    if len(R) <= k:
        return None
    weights = np.sqrt(kernel(R[:, 0], 2 * sigma))
    J = (R[:, 1:] - R[:, :1]) / _STEP * weights[:, None]
    A = J.T @ J
    A[np.diag_indices(len(A))] += _DAMPING * max(float(np.trace(A)) / len(A), 1e-300)
    # A distance is the length of a vector with as many components as the codimension, and tells the
    # slope of one of them.
    move = np.linalg.solve(A, -J.T @ (R[:, 0] * weights)) / family.codimension(rows.shape[1])
    move = np.clip(length * move, -3 * sigma, 3 * sigma)
    moved = sample + np.tensordot(move, directions, 1)
    solved, valid = family.solve(moved[None])
    if not valid.any():
        return None
    models = solved[0, valid[0]]
    loss = _loss(family.residuals(rows, models), sigma)
    return moved, models[int(np.argmin(loss))]


def _directions(family: ModelFamily, sample: Floats) -> Floats:
    """(s, k, d) the coordinates of a sample (k, d) that a step may move. Those of the second points
    of matches are enough for all models near."""
    k, d = sample.shape
    shifts = np.eye(k * d).reshape(k * d, k, d)
    matches = layout_of(family).kind == "matches"
    return shifts[np.tile(np.arange(d) >= d // 2, k)] if matches else shifts


def _loss(R: Any, sigma: float) -> Floats:
    """(m,) the sums of residuals (n, m), each of at most three sigmas."""
    return np.asarray(np.sum(np.fmin(R, _NEAR_ROWS * sigma), axis=0))


def _nearest_roots(
    family: ModelFamily, solved: Floats, valid: Bools, rows: Floats, found: Described
) -> Floats:
    """(n, s) the residuals of one model of each of s samples, the one that is most like the
    structure: a sample may have several models (s, q, p), in any order."""
    s, q, p = solved.shape
    R = np.asarray(family.residuals(rows, solved.reshape(s * q, p))).reshape(len(rows), s, q)
    if q == 1:
        return R[:, :, 0]
    limit = _NEAR_ROWS * found.sigma
    like = np.fmin(family.residuals(rows, found.params[None]), limit)[:, :, None]
    distance = np.sum(np.abs(np.fmin(R, limit) - like), axis=0)
    root = np.argmin(np.where(valid, distance, np.inf), axis=1)
    return np.asarray(R[:, np.arange(s), root])


def _start(
    found: Described, rows: Floats, rng: np.random.Generator, family: ModelFamily | None = None
) -> Floats | None:
    """(k, d) of random minimal samples of the near rows, the one whose model is nearest to them;
    None if there are too few. family: of the models, by default that of the structure."""
    r = np.asarray(found.family.residuals(rows, found.params[None])[:, 0])
    family = found.family if family is None else family
    k = family.sample_size(rows.shape[1])
    near = rows[r <= _NEAR_ROWS * found.sigma]
    if len(near) <= 2 * k:
        return None
    picks = np.argsort(rng.random((_SAMPLES, len(near))), axis=1)[:, :k]
    solved, valid = family.solve(near[picks])
    if not valid.any():
        return None
    loss = _loss(family.residuals(near, solved[valid]), found.sigma)
    best = int(np.nonzero(valid)[0][int(np.argmin(loss))])
    return np.asarray(near[picks[best]])
