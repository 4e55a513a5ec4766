"""The sampler "stratified": all points equally often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._kernels.samples import sample_permutations
from .._random import Stream
from ..protocols import Floats, Ints
from ._common import BaseSampler


@dataclass(frozen=True)
class StratifiedSampler(BaseSampler):
    """Consecutive random permutations of the points, cut into samples.

    All points are in equally many samples, up to one, and after n / k samples every point has been
    in one. If a permutation ends within a sample, a point that is already in it is kept for the
    next sample. O(n + s k**2).
    """

    name: ClassVar[str] = "stratified"

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream) -> Ints:
        out = np.empty((n_samples, size), np.int64)
        sample_permutations(np.uint64(stream.key), len(X), out)
        return out
