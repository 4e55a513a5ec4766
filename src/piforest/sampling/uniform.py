"""The sampler "uniform": any points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._random import Stream
from ..protocols import Floats, Ints
from ._common import reject_unused, uniform


@dataclass(frozen=True)
class UniformSampler:
    """All sets of points are equally likely. O(s k**2), independent of n."""

    name: ClassVar[str] = "uniform"

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
        reject_unused(self.name, quality=quality, groups=groups)
        return uniform(stream, len(X), size, n_samples)
