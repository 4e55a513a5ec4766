"""The sampler "grouped": points of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._random import Stream, below, mix
from ..protocols import Floats, Ints
from ._common import (
    BaseSampler,
    check_groups,
    check_share_of_samples,
    non_uniform,
    uniform,
    without_replacement,
)


@dataclass(frozen=True)
class GroupedSampler(BaseSampler):
    """Samples within one of the `groups` that are passed to `fit`: segments, objects, images.

    A group with enough points for a sample is drawn in proportion to its size, then any of its
    points. Points of smaller groups are in uniform samples only.

    share: the share of these samples. The others are uniform and find structures that extend
    over several groups. O(n log n + s k**2).
    """

    share: float = 1.0

    name: ClassVar[str] = "grouped"
    needs: ClassVar[tuple[str, ...]] = ("groups",)

    def __post_init__(self) -> None:
        check_share_of_samples("share", self.share)

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream, groups: Any) -> Ints:
        group_of, sizes = check_groups(self.name, groups, len(X), size)
        out = uniform(stream, len(X), size, n_samples)
        numbers = non_uniform(self.share, n_samples)
        members = np.argsort(group_of, kind="stable")
        large = np.flatnonzero(sizes >= size)
        ends, starts = np.cumsum(sizes[large]), (np.cumsum(sizes) - sizes)[large]
        # Each sample takes the group of a random point.
        point = below(mix(stream.child("group").key, numbers), ends[-1])
        group = np.searchsorted(ends, point, side="right")
        ranks = without_replacement(stream.child("ranks"), numbers, sizes[large][group], size)
        out[numbers] = members[starts[group][:, None] + ranks]
        return out
