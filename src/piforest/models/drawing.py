"""Models of minimal samples: draw samples, solve them, and drop degenerate ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._random import Stream
from .._validation import check_row_numbers, check_shape, no_valid_models, warn_user
from ..families.scaled import scaled_rows
from ..protocols import Bools, Floats, Ints, ModelFamily, Sampler

if TYPE_CHECKING:
    from .bounds import Bounds

__all__ = ["ModelSet"]

# With this number of rounds, each of up to 16 times the missing models, all models are found if
# about one sample in fifty is valid.
_MAX_ROUNDS = 12
# Multiplications, about, for samples beyond the number of models. Solving a sample takes k * k * d:
# 19,000 samples of 61 points in 61 columns. As many samples as models are drawn again in any case.
_MAX_WORK = 2**32
# Minimal samples that are solved at once: this many, in at most this many bytes. Solvers make
# several arrays of that size.
_CHUNK, _CHUNK_BYTES = 16384, 2**25
# Row numbers up to this many times their count are marked, not sorted.
_SPARSE = 16


@dataclass(frozen=True)
class ModelSet:
    """The models of one family: parameters, minimal samples, scales and weights."""

    family: ModelFamily
    params: Floats
    """(m, p)"""
    samples: Ints
    """(m, k) rows of the training data"""
    points: Floats
    """(u, d) the training rows that are in any sample, in ascending order of row numbers"""
    scale: Floats
    """(m,) the kernel's sigma for each model, in residual units"""
    weight: Floats
    """(m,) the weight of a preference for each model"""
    bounds: Bounds | None = None
    """the part of each model that its points cover; None: all of it"""
    excludes_sample: Bools | None = None
    """(m,) whether the points of the sample have no preference for the model; None: all"""
    n_drawn: int = 0
    """the number of models that these were selected from; 0: all were kept"""

    def __len__(self) -> int:
        return len(self.params)

    @property
    def n_candidates(self) -> int:
        """The number of models that were compared: those drawn."""
        return max(self.n_drawn, len(self))

    def first(self, m: int) -> ModelSet:
        """The first m models."""
        return self.take(np.arange(min(m, len(self))))

    def take(self, models: Ints) -> ModelSet:
        """The models with these indices."""
        samples, rows = self.samples[models], distinct_rows(self.samples)
        kept = _are_among(rows, samples)
        bounds, excludes = self.bounds, self.excludes_sample
        return replace(
            self,
            params=np.asfortranarray(self.params[models]),
            samples=samples,
            points=self.points[kept],
            scale=self.scale[models],
            weight=self.weight[models],
            bounds=None if bounds is None else bounds[models],
            excludes_sample=None if excludes is None else excludes[models],
            n_drawn=self.n_candidates,
        )

    def with_weights(self, weight: Floats) -> ModelSet:
        """The same models with other weights."""
        return replace(self, weight=weight)


def distinct_rows(samples: Ints) -> Ints:
    """The row numbers in any of the samples, ascending: `np.unique` without a sort, if the numbers
    are not much larger than their count."""
    highest = int(samples.max(initial=0))
    if highest > _SPARSE * samples.size:
        return np.unique(samples)
    present = np.zeros(highest + 1, np.bool_)
    present[samples.ravel()] = True
    return np.flatnonzero(present)


def _are_among(rows: Ints, samples: Ints) -> Bools:
    """(n,) which of these rows, ascending, are in any of the samples."""
    if not len(rows) or rows[-1] > _SPARSE * samples.size:
        return np.isin(rows, distinct_rows(samples), assume_unique=True)
    present = np.zeros(rows[-1] + 1, np.bool_)
    present[samples.ravel()] = True
    return present[rows]


def sample_positions(samples: Ints, models: Ints) -> Ints:
    """(models, k) the positions of the rows of these samples among the rows of all samples."""
    rows = distinct_rows(samples)
    if rows[-1] > _SPARSE * samples.size:
        return np.searchsorted(rows, samples[models])
    positions = np.empty(rows[-1] + 1, np.int64)
    positions[rows] = np.arange(len(rows))
    return np.asarray(positions[samples[models]])


def joined(parts: Sequence[ModelSet]) -> ModelSet:
    """The models of several sets of one family, as they were drawn from the same rows."""
    if len(parts) == 1:
        return parts[0]
    samples = np.concatenate([part.samples for part in parts])
    rows = np.concatenate([distinct_rows(part.samples) for part in parts])
    first = np.unique(rows, return_index=True)[1]
    excludes = [
        np.ones(len(part), np.bool_) if part.excludes_sample is None else part.excludes_sample
        for part in parts
    ]
    return replace(
        parts[0],
        params=np.asfortranarray(np.concatenate([part.params for part in parts])),
        samples=samples,
        points=np.concatenate([part.points for part in parts])[first],
        scale=np.concatenate([part.scale for part in parts]),
        weight=np.concatenate([part.weight for part in parts]),
        excludes_sample=None if all(each.all() for each in excludes) else np.concatenate(excludes),
        n_drawn=sum(part.n_candidates for part in parts),
    )


def draw_models(
    X: Floats,
    family: ModelFamily,
    sampler: Sampler,
    n_models: int,
    stream: Stream,
    *,
    quality: Floats | None = None,
    groups: Ints | None = None,
) -> tuple[ModelSet, int]:
    """Draw `n_models` valid models; also return the number of degenerate minimal samples.

    Degenerate samples are drawn again, a bounded number of times. A smaller number of models gives
    a warning, none at all an error with the reason.
    """
    size = family.sample_size(X.shape[1])
    placed = scaled_rows(family, X)  # neighbours are those of scaled columns
    params: list[Floats] = []
    samples: list[Ints] = []
    n_found = n_drawn = n_degenerate = 0
    for round_number in range(_MAX_ROUNDS):
        n_samples = (n_models - n_found) * min(2**round_number, 16)
        if round_number > 0:
            affordable = max(_MAX_WORK // (size * size * X.shape[1]), n_models)
            n_samples = min(n_samples, affordable + n_models - n_drawn)
        if n_samples < 1:
            break
        rows = sampler.draw(
            placed, size, n_samples, stream.child(round_number), quality=quality, groups=groups
        )
        rows = check_shape(f"samples of sampler {sampler.name!r}", rows, (n_samples, size))
        check_row_numbers(f"samples of sampler {sampler.name!r}", rows, len(X))
        step = max(1, min(_CHUNK, _CHUNK_BYTES // (8 * size * X.shape[1])))
        for start in range(0, n_samples, step):
            chunk = rows[start : start + step]
            theta, valid = _solve(family, X[chunk])
            # Up to the model that completes the set, so that the number of degenerate samples
            # does not depend on the chunk.
            full = np.cumsum(valid.sum(axis=1)) >= n_models - n_found
            used = int(np.argmax(full)) + 1 if full.any() else len(chunk)
            n_drawn += used
            n_degenerate += int(np.sum(~valid[:used].any(axis=1)))
            at_sample, at_model = np.nonzero(valid[:used])
            params.append(theta[at_sample, at_model][: n_models - n_found])
            samples.append(chunk[at_sample][: n_models - n_found])
            n_found += len(params[-1])
            if n_found >= n_models:
                return _join(X, family, params, samples), n_degenerate
    if n_found == 0:
        raise no_valid_models(family, X, n_drawn)
    warn_user(
        f"only {n_found} of {n_models} models of family {family.name!r} could be drawn: "
        f"{n_degenerate} of {n_drawn} minimal samples were degenerate. "
        "Repeated rows are the usual reason."
    )
    return _join(X, family, params, samples), n_degenerate


def _solve(family: ModelFamily, samples: Floats) -> tuple[Floats, Any]:
    """family.solve with a check of the result: a wrong shape would cause an unclear error later."""
    result = family.solve(samples)
    if not isinstance(result, tuple) or len(result) != 2:
        raise ValueError(f"solve of family {family.name!r} must return parameters and valid.")
    theta, valid = result
    shape = (len(samples), family.max_models)
    valid = check_shape(f"valid of family {family.name!r}", valid, shape).astype(np.bool_)
    theta = check_shape(f"parameters of family {family.name!r}", theta, (*shape, None))
    return theta.astype(np.float64, copy=False), valid


def _join(X: Floats, family: ModelFamily, params: list[Any], samples: list[Any]) -> ModelSet:
    # A family may not know the number of parameters before it finds a model.
    params = [part for part in params if len(part)]
    rows = np.concatenate(samples)
    # By columns: residuals run over all models, parameter by parameter.
    theta = np.empty((len(rows), params[0].shape[1]), order="F")
    np.concatenate(params, out=theta)
    ones = np.ones(len(theta))
    return ModelSet(family, theta, rows, X[distinct_rows(rows)], ones, ones)
