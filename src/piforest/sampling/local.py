"""Neighbours at one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import KDTree

from .._kernels.samples import around, from_lists
from .._random import Stream, below, mix
from .._validation import check_positive, check_share_of_samples
from ..protocols import Floats, Ints
from ._common import refuse, spread, uniform

# In scales: beyond, the weight is below 1/90.
_REACH = 3.0
# Neighbours are found by trial among all points, which needs n / (sum of weights) trials each;
# a seed in a sparse place, for which these do not do, gets a list of its neighbours.
_TRIALS = 4096
_LISTED = 256
# Of a seed with fewer neighbours than a sample needs, so many of the nearest are looked at.
_FEW = 64
# scale="auto" in median distances between two points: a tenth of a square's side.
_SHARE = 0.2
_PAIRS = 2000


@dataclass(frozen=True)
class LocalSampler:
    """A random point, and others in proportion to exp(-d**2 / (2 scale**2)) (Zuliani).

    Points of one structure often lie near one another, so that more samples hold points of
    one structure only. But models of near points are as inexact as the noise is large beside
    the scale: it should be several times the noise, and no larger than the structures.

    scale: in the units of X; "auto" is a fifth of the median distance between two points.
    share: of such samples; the others are uniform. They find what is larger than the scale, so
    that one that is too small does less harm.

    Points beyond 3 scales have no weight; where there are fewer points than a sample needs,
    it is filled up with the nearest. Of a seed in a place so sparse that 4,096 random points
    do not make its sample, no more than the 256 nearest points are looked at. So a draw costs
    O(s k log n).
    """

    scale: float | str = "auto"
    share: float = 0.5

    name: ClassVar[str] = "local"

    def __post_init__(self) -> None:
        if not (isinstance(self.scale, str) and self.scale == "auto"):
            check_positive("scale", self.scale, "scale='auto' takes it from the data.")
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
        refuse(self.name, quality=quality, groups=groups)
        out = uniform(stream, len(X), size, n_samples)
        numbers = spread(self.share, n_samples)
        scale = auto_scale(X) if isinstance(self.scale, str) else float(self.scale)
        out[numbers] = _near(X, size, numbers, stream.child("local"), scale)
        return out


def auto_scale(X: Floats) -> float:
    """A fifth of the median distance between two points; far points do not move it."""
    numbers = np.arange(_PAIRS)
    pairs = (below(mix(Stream(0).child("pairs", i).key, numbers), len(X)) for i in range(2))
    first, second = (X[rows] for rows in pairs)
    size = float(np.median(np.sqrt(np.sum((first - second) ** 2, axis=1))))
    # Where half of the points are one, their spread; where all are, it does not matter.
    size = size if size > 0 else float(np.sqrt(2 * np.sum(np.var(X, axis=0))))
    return _SHARE * size if size > 0 else 1.0


def _near(X: Floats, size: int, numbers: Ints, stream: Stream, scale: float) -> Ints:
    """Local samples (s, size); the one with number i depends on (stream, i) alone."""
    n = len(X)
    out = np.empty((len(numbers), size), np.int64)
    out[:, 0] = below(mix(stream.child("seed").key, numbers), n)
    filled = np.empty(len(numbers), np.int64)
    key = np.uint64(stream.child("trials").key)
    around(key, X, numbers, scale, _REACH, min(n, _TRIALS), out, filled)
    short = np.flatnonzero(filled < size)
    if len(short):
        key = np.uint64(stream.child("list").key)
        seeds, which = np.unique(out[short, 0], return_inverse=True)
        for lists, near in _lists(X, seeds, size, _REACH * scale):
            number = np.full(len(seeds), -1)
            number[lists] = np.arange(len(lists))
            some = np.flatnonzero(number[which] >= 0)
            from_lists(
                key, X, numbers, scale, _REACH, near, number[which[some]], short[some], out, filled
            )
    return out


def _lists(X: Floats, seeds: Ints, size: int, radius: float) -> Iterator[tuple[Ints, Ints]]:
    """Which of the seeds, and the rows that are nearest to them; n where there is none.

    Those within the radius, or where they are too few for a sample, at any distance.
    """
    n, tree = len(X), KDTree(X)
    width = min(n, max(_LISTED, size) + 1)
    # A little beyond: the kernel decides which are within.
    near = _query(tree, X[seeds], width, radius * (1 + 1e-9))
    lonely = near[:, size - 1] == n
    yield np.flatnonzero(~lonely), near[~lonely]
    yield np.flatnonzero(lonely), _query(tree, X[seeds[lonely]], min(n, max(_FEW, size) + 1))


def _query(tree: Any, points: Floats, width: int, radius: float = np.inf) -> Ints:
    found = tree.query(points, k=np.arange(1, width + 1), distance_upper_bound=radius)[1]
    return np.asarray(found, np.int64).reshape(len(points), width)
