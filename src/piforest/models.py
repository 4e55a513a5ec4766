"""Minimal samples to models: the driver that draws, solves and drops what is degenerate."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._random import Stream
from ._validation import nothing_valid
from .protocols import Floats, Ints, ModelFamily, Sampler

# With this many rounds, each up to 16 times as large as what is missing, all models
# are found as long as about one sample in fifty is valid.
_ROUNDS = 12
_CHUNK = 16384


@dataclass(frozen=True)
class ModelSet:
    """The models of one family: what they are, what they came from, how they are used."""

    family: ModelFamily
    params: Floats
    """(m, p)"""
    samples: Ints
    """(m, k) rows of the training data"""
    scale: Floats
    """(m,) the kernel's sigma for each model, in residual units"""
    weight: Floats
    """(m,) how much a preference for each model counts"""

    def __len__(self) -> int:
        return len(self.params)


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
        for start in range(0, wanted, _CHUNK):
            chunk = rows[start : start + _CHUNK]
            theta, valid = family.solve(X[chunk])
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
                return _join(family, params, samples), degenerate
    if found == 0:
        raise nothing_valid(family, X, drawn)
    warnings.warn(
        f"only {found} of {n_models} models of family {family.name!r} could be drawn: "
        f"{degenerate} of {drawn} minimal samples were degenerate. "
        "Repeated rows are the usual reason.",
        UserWarning,
        stacklevel=2,
    )
    return _join(family, params, samples), degenerate


def _join(family: ModelFamily, params: list[Any], samples: list[Any]) -> ModelSet:
    theta = np.concatenate(params)
    ones = np.ones(len(theta))
    return ModelSet(family, theta, np.concatenate(samples), ones, ones)
