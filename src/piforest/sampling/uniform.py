"""Any points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._random import Stream
from ..protocols import Floats, Ints
from ._common import refuse, uniform


@dataclass(frozen=True)
class UniformSampler:
    """Every set of points is as likely as any other. O(s k**2), whatever n is."""

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
        refuse(self.name, quality=quality, groups=groups)
        return uniform(stream, len(X), size, n_samples)
