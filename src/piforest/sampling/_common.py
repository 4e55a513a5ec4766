"""What several samplers share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels import random as kernels
from .._random import Stream
from ..protocols import Ints

_USERS = {"quality": "weighted", "groups": "grouped"}


def refuse(sampler: str, **given: Any) -> None:
    """What a sampler does not use is no input to pass over in silence."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"sampler {sampler!r} does not use {name}; leave it out, or pass a sampler "
                f"that does, such as {_USERS[name]!r}."
            )


def uniform(stream: Stream, n: int, size: int, n_samples: int) -> Ints:
    """Samples (n_samples, size) in which every set of points is as likely as any other."""
    return distinct(stream, np.arange(n_samples), np.full(n_samples, n), size)


def distinct(stream: Stream, numbers: Ints, limits: Ints, size: int) -> Ints:
    """Rows (s, size) of distinct integers below limits[i], from (stream, numbers[i]) alone."""
    out = np.empty((len(numbers), size), np.int64)
    kernels.distinct(np.uint64(stream.key), numbers, limits, np.empty(size, np.int64), out)
    return out


def spread(share: float, n_samples: int) -> Ints:
    """Which of the samples are not uniform ones: a share of every run of them, the first too."""
    steps = np.ceil(np.arange(n_samples + 1) * share)
    return np.flatnonzero(np.diff(steps) > 0)
