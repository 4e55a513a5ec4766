"""Find structures of one family on some rows, and fit each of them well enough to compare."""

from __future__ import annotations

import warnings

import numpy as np

from .._random import Stream
from .._validation import NoModels
from ..bands import full_band_table
from ..families import layout_of
from ..fitting.widths import choose_grid
from ..heaps import filled_cells
from ..ladder import ladder_of
from ..membership import sample_membership
from ..models import draw_models
from ..protocols import Floats, ModelFamily
from ..resolution import find_resolution
from ..sampling import resolve_sampler
from ..structure_search import find_structures
from ..structures import BandCounts
from .description import Described, describe, kernel

# Samples of many points are rarely free of anomalies.
N_MODELS, N_LARGE_MODELS, _LARGE_SAMPLE = 2000, 6000, 7
# Steps of the least-squares fit of a structure.
_STEPS = 4
# It starts from the best of this many minimal samples of the rows within this many sigmas.
_SAMPLES, _NEAR_ROWS = 48, 3.0
# The difference for derivatives, in sigmas.
_STEP = 1e-3
_DAMPING = 1e-4
# Sigmas between the half-widths of the grid, which are half an octave apart.
_FINER = 2.0**-0.25
# Points of a structure fill at least this many cells of four sigmas along each direction.
_CELLS = 4.0
# A step changes sigma by at most this many octaves.
_NEAR = 0.6


def find_described(
    family: ModelFamily, X: Floats, null: Floats, stream: Stream
) -> list[Described] | None:
    """The significant structures of a family in the rows X, compared with null rows; None if no
    minimal sample determines a model."""
    resolution = find_resolution(family, X, stream.child("dither"))
    rows = resolution.dithered(X, np.arange(len(X)))
    sampler = resolve_sampler("mixed")
    large = family.sample_size(X.shape[1]) >= _LARGE_SAMPLE and layout_of(family).kind == "matches"
    n_models = N_LARGE_MODELS if large else N_MODELS
    with warnings.catch_warnings():
        # Few valid samples only mean less to find here; the fit itself warns.
        warnings.simplefilter("ignore", UserWarning)
        try:
            models, _ = draw_models(rows, family, sampler, n_models, stream.child("models"))
        except NoModels:
            return None
    effect = resolution.effect(family, X, rows)
    grid = choose_grid(rows, models, stream.child("widths"), effect, 1, X)
    ladder = ladder_of(family, rows, grid, stream.child("null"), effect)
    table = full_band_table(rows, models, sample_membership([models]), ladder, 1)
    bands = BandCounts(rows, models, table, X)
    found = find_structures([bands], np.ones(len(X), np.bool_), stream.child("structures"))
    half = ladder.widths[::-1] / 2
    sigmas = np.sort(np.concatenate([half, half * _FINER]))
    rng = stream.child("samples").generator()
    fitted = [_fitted(family, each.params, rows, null, sigmas, rng) for each in found]
    return [each for each in fitted if not _is_heap(each, rows)]


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
    sigmas = seed.sigma * 2.0 ** (np.arange(-6, 5) / 4)
    rng = stream.generator()
    sample = _start(seed, X, rng, family)
    if sample is None:
        return []
    params, valid = family.solve(sample[None])
    return [_fitted(family, params[0, 0], X, null, sigmas, rng)] if valid[0, 0] else []


def _fitted(
    family: ModelFamily,
    params: Floats,
    rows: Floats,
    null: Floats,
    sigmas: Floats,
    rng: np.random.Generator,
) -> Described:
    """The structure of a model after least-squares steps, if they describe the rows better."""
    best = describe(family, params, rows, null, sigmas)
    sample = _start(best, rows, rng)
    for _ in range(_STEPS):
        step = None if sample is None else _step(best, sample, rows)
        if step is None:
            break
        sample, params = step
        near = np.abs(np.log2(sigmas / best.sigma)) <= _NEAR
        new = describe(family, params, rows, null, sigmas[near])
        if new.evidence > best.evidence:
            best = new
    return best


def _step(found: Described, sample: Floats, rows: Floats) -> tuple[Floats, Floats] | None:
    """One step of Gauss and Newton: the points of a minimal sample (k, d) move so that the squared
    residuals of the near rows become smaller. Returns the moved sample and its model,
    None if there is none.

    It needs `solve` and `residuals` only, and so applies to every family.
    """
    family, sigma, size = found.family, found.sigma, sample.size
    shifts = _STEP * sigma * np.eye(size).reshape(size, *sample.shape)
    solved, valid = family.solve(np.concatenate([sample[None], sample + shifts]))
    if not valid[:, 0].all():
        return None
    R = np.asarray(family.residuals(rows, solved[:, 0]))
    near = (R[:, 0] <= _NEAR_ROWS * sigma) & np.isfinite(R).all(axis=1)
    R = R[near]
    if len(R) <= size / sample.shape[1]:
        return None
    weights = np.sqrt(kernel(R[:, 0], 2 * sigma))
    J = (R[:, 1:] - R[:, :1]) / _STEP * weights[:, None]
    A = J.T @ J
    A[np.diag_indices(size)] += _DAMPING * max(float(np.trace(A)) / size, 1e-300)
    move = np.linalg.solve(A, -J.T @ (R[:, 0] * weights))
    moved = sample + np.clip(move, -3 * sigma, 3 * sigma).reshape(sample.shape)
    solved, valid = family.solve(moved[None])
    return (moved, solved[0, 0]) if valid[0, 0] else None


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
    if not valid[:, 0].any():
        return None
    R = np.asarray(family.residuals(near, solved[:, 0]))
    loss = np.sum(np.minimum(R, _NEAR_ROWS * found.sigma), axis=0)
    best = int(np.argmin(np.where(valid[:, 0], loss, np.inf)))
    return np.asarray(near[picks[best]])
