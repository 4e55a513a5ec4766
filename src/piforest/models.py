"""Minimal samples to models: the driver that draws, solves and drops what is degenerate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._random import Stream
from ._validation import check_row_numbers, check_shape, nothing_valid, warn_user
from .protocols import Floats, Ints, ModelFamily, Sampler

__all__ = ["ModelSet"]

# With this many rounds, each up to 16 times as large as what is missing, all models
# are found as long as about one sample in fifty is valid.
_ROUNDS = 12
# Minimal samples that are gathered and solved at once: this many, in at most so many bytes.
# Solvers make several arrays of that size.
_CHUNK, _CHUNK_BYTES = 16384, 2**25


@dataclass(frozen=True)
class ModelSet:
    """The models of one family: what they are, what they came from, how they are used."""

    family: ModelFamily
    params: Floats
    """(m, p)"""
    samples: Ints
    """(m, k) rows of the training data"""
    points: Floats
    """(u, d) the training rows that are in a sample, in ascending order of their numbers"""
    scale: Floats
    """(m,) the kernel's sigma for each model, in residual units"""
    weight: Floats
    """(m,) how much a preference for each model counts"""

    def __len__(self) -> int:
        return len(self.params)

    def first(self, m: int) -> ModelSet:
        """The first m models."""
        kept = np.isin(np.unique(self.samples), self.samples[:m])
        cut = {name: getattr(self, name)[:m] for name in ("params", "samples", "scale", "weight")}
        return replace(self, points=self.points[kept], **cut)


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
    """`n_models` valid models, and how many minimal samples were degenerate on the way.

    Degenerate samples are drawn again, a bounded number of times. Fewer models
    than asked for are a warning, none at all is an error that says why.
    """
    size = family.sample_size(X.shape[1])
    params: list[Floats] = []
    samples: list[Ints] = []
    found = drawn = degenerate = 0
    for round_number in range(_ROUNDS):
        wanted = (n_models - found) * min(2**round_number, 16)
        rows = sampler.draw(
            X, size, wanted, stream.child(round_number), quality=quality, groups=groups
        )
        rows = check_shape(f"samples of sampler {sampler.name!r}", rows, (wanted, size))
        check_row_numbers(f"samples of sampler {sampler.name!r}", rows, len(X))
        step = max(1, min(_CHUNK, _CHUNK_BYTES // (8 * size * X.shape[1])))
        for start in range(0, wanted, step):
            chunk = rows[start : start + step]
            theta, valid = _solve(family, X[chunk])
            # Up to the model that completes the set, so that the count of degenerate
            # samples does not depend on the chunk.
            full = np.cumsum(valid.sum(axis=1)) >= n_models - found
            used = int(np.argmax(full)) + 1 if full.any() else len(chunk)
            drawn += used
            degenerate += int(np.sum(~valid[:used].any(axis=1)))
            at_sample, at_model = np.nonzero(valid[:used])
            params.append(theta[at_sample, at_model][: n_models - found])
            samples.append(chunk[at_sample][: n_models - found])
            found += len(params[-1])
            if found >= n_models:
                return _join(X, family, params, samples), degenerate
    if found == 0:
        raise nothing_valid(family, X, drawn)
    warn_user(
        f"only {found} of {n_models} models of family {family.name!r} could be drawn: "
        f"{degenerate} of {drawn} minimal samples were degenerate. "
        "Repeated rows are the usual reason."
    )
    return _join(X, family, params, samples), degenerate


def _solve(family: ModelFamily, samples: Floats) -> tuple[Floats, Any]:
    """family.solve, checked: what is wrong here would surface far away."""
    answer = family.solve(samples)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"solve of family {family.name!r} must return parameters and valid.")
    theta, valid = answer
    shape = (len(samples), family.max_models)
    valid = check_shape(f"valid of family {family.name!r}", valid, shape).astype(np.bool_)
    theta = check_shape(f"parameters of family {family.name!r}", theta, (*shape, None))
    return theta.astype(np.float64, copy=False), valid


def _join(X: Floats, family: ModelFamily, params: list[Any], samples: list[Any]) -> ModelSet:
    # A family may not know how many parameters a model has before it finds one.
    params = [part for part in params if len(part)]
    rows = np.concatenate(samples)
    # By columns: residuals run over all models, parameter by parameter.
    theta = np.empty((len(rows), params[0].shape[1]), order="F")
    np.concatenate(params, out=theta)
    ones = np.ones(len(theta))
    return ModelSet(family, theta, rows, X[np.unique(rows)], ones, ones)
