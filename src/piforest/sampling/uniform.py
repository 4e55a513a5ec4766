"""The sampler "uniform": any points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._random import Stream
from ..protocols import Floats, Ints
from ._common import BaseSampler, uniform


@dataclass(frozen=True)
class UniformSampler(BaseSampler):
    """All sets of points are equally likely. O(s k**2), independent of n."""

    name: ClassVar[str] = "uniform"

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream) -> Ints:
        return uniform(stream, len(X), size, n_samples)
