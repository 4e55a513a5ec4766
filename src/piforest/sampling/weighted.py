"""Good points more often than others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._kernels.samples import by_weight
from .._random import Stream
from .._validation import check_quality
from ..protocols import Floats, Ints
from ._common import refuse


@dataclass(frozen=True)
class WeightedSampler:
    """Points in proportion to the `quality` that `fit` is given, one after the other.

    For matches, quality may be 1 - ratio of the distances to the best and the second-best
    candidate: false matches have ratios near 1. Only proportions count. A point of quality 0
    is in no sample, but is scored like any other. O(s k (k + log n)).
    """

    name: ClassVar[str] = "weighted"
    needs: ClassVar[tuple[str, ...]] = ("quality",)

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
        refuse(self.name, groups=groups)
        out = np.empty((n_samples, size), np.int64)
        ends = np.cumsum(_in_units(check_quality(self.name, quality, len(X), size)))
        by_weight(np.uint64(stream.key), ends, out)
        return out


def _in_units(quality: Floats) -> Ints:
    """As integers, of which the largest is 2**52 / n: sums of them are exact, in any order."""
    with np.errstate(under="ignore"):
        units = np.ceil(quality / quality.max() * (2**52 // len(quality)))
    return np.where(quality > 0, np.maximum(units, 1), 0).astype(np.int64)
