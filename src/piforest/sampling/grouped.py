"""Points of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._random import Stream, below, mix
from .._validation import check_groups, check_share_of_samples
from ..protocols import Floats, Ints
from ._common import distinct, refuse, spread, uniform


@dataclass(frozen=True)
class GroupedSampler:
    """Points of one of the `groups` that `fit` is given: segments, objects, images.

    A group is drawn in proportion to its size, of those with enough points for a sample, and
    then any of its points. Points of smaller groups are in no such sample.

    share: of such samples; the others are uniform. They find structures that are spread over
    several groups. O(n log n + s k**2).
    """

    share: float = 1.0

    name: ClassVar[str] = "grouped"
    needs: ClassVar[tuple[str, ...]] = ("groups",)

    def __post_init__(self) -> None:
        check_share_of_samples("share", self.share)

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
        refuse(self.name, quality=quality)
        of, sizes = check_groups(self.name, groups, len(X), size)
        out = uniform(stream, len(X), size, n_samples)
        numbers = spread(self.share, n_samples)
        members = np.argsort(of, kind="stable")
        large = np.flatnonzero(sizes >= size)
        ends, starts = np.cumsum(sizes[large]), (np.cumsum(sizes) - sizes)[large]
        # A point of any of them, and with it its group.
        at = below(mix(stream.child("group").key, numbers), ends[-1])
        group = np.searchsorted(ends, at, side="right")
        ranks = distinct(stream.child("ranks"), numbers, sizes[large][group], size)
        out[numbers] = members[starts[group][:, None] + ranks]
        return out
