"""The sampler "weighted": points in proportion to their quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.samples import sample_weighted
from .._random import Stream
from ..protocols import Floats, Ints
from ._common import BaseSampler, check_quality


@dataclass(frozen=True)
class WeightedSampler(BaseSampler):
    """Points in proportion to the `quality` that is passed to `fit`, without replacement.

    For matches, quality may be 1 - ratio of the distances to the best and the second-best
    candidate: false matches have ratios near 1. Only proportions matter. A point of quality 0
    is in no sample, but is scored like any other. O(s k (k + log n)).
    """

    name: ClassVar[str] = "weighted"
    needs: ClassVar[tuple[str, ...]] = ("quality",)

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream, quality: Any) -> Ints:
        out = np.empty((n_samples, size), np.int64)
        ends = np.cumsum(_to_integers(check_quality(self.name, quality, len(X), size)))
        sample_weighted(np.uint64(stream.key), ends, out)
        return out


def _to_integers(quality: Floats) -> Ints:
    """Scale to integers of at most 2**52 / n, whose sums are exact in any order."""
    with np.errstate(under="ignore"):
        units = np.ceil(quality / quality.max() * (2**52 // len(quality)))
    return np.where(quality > 0, np.maximum(units, 1), 0).astype(np.int64)
