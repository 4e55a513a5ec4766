"""All points equally often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._kernels.samples import in_turn
from .._random import Stream
from ..protocols import Floats, Ints
from ._common import refuse


@dataclass(frozen=True)
class StratifiedSampler:
    """Random permutations of the points, one after the other, cut into samples.

    So the numbers of samples that two points are in differ by one at most, and after n / k
    samples every point has been in one. Where one permutation ends within a sample, a point
    that the sample has already waits until the next. O(n + s k**2).
    """

    name: ClassVar[str] = "stratified"

    def draw(
        self,
        X: Floats,
        size: int,
        n_samples: int,
        stream: Stream,
        *,
        quality: Floats | None = None,
        groups: Ints | None = None,
    ) -> Ints:
        refuse(self.name, quality=quality, groups=groups)
        out = np.empty((n_samples, size), np.int64)
        in_turn(np.uint64(stream.key), len(X), out)
        return out
