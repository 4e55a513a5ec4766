"""The sampler "local": neighbours at one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import KDTree

from .._kernels.samples import sample_from_lists, sample_neighbours
from .._random import Stream, below, mix
from .._validation import check_positive
from ..protocols import Floats, Ints
from ._common import BaseSampler, check_share_of_samples, non_uniform, uniform

# The largest distance of a neighbour, in scales; beyond it the weight is below 1/90.
_REACH = 3.0
# Neighbours are drawn by rejection from all points, which takes n / (sum of weights) trials on
# average. A seed in a sparse region needs more trials than this and gets a list of neighbours.
_MAX_TRIALS = 4096
_LIST_SIZE = 256
# The length of the list of a seed with fewer neighbours within reach than a sample needs.
_SPARSE_LIST_SIZE = 64
# scale="auto" in units of the median distance between two points: a tenth of a square's side.
_AUTO_FACTOR = 0.2
_PAIRS = 2000


@dataclass(frozen=True)
class LocalSampler(BaseSampler):
    """A random point, and others in proportion to exp(-d**2 / (2 scale**2)) (Zuliani).

    Points of one structure are often close together, so more samples contain points of one
    structure only. But models of close points are inexact if the noise is not small compared
    with the scale: choose it several times the noise, and no larger than the structures.

    scale: in the units of X; "auto" is a fifth of the median distance between two points.
    share: the share of these samples. The others are uniform and find structures larger than
    the scale, so that a scale that is too small does less harm.

    Points beyond 3 scales have no weight; if there are too few points within, the sample is
    completed with the nearest points. For a seed in a region so sparse that 4,096 trials do not
    complete its sample, only the 256 nearest points are considered. So a draw costs O(s k log n).
    """

    scale: float | str = "auto"
    share: float = 0.5

    name: ClassVar[str] = "local"

    def __post_init__(self) -> None:
        if not (isinstance(self.scale, str) and self.scale == "auto"):
            check_positive("scale", self.scale, "scale='auto' takes it from the data.")
        check_share_of_samples("share", self.share)

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream) -> Ints:
        out = uniform(stream, len(X), size, n_samples)
        numbers = non_uniform(self.share, n_samples)
        scale = auto_scale(X) if isinstance(self.scale, str) else float(self.scale)
        out[numbers] = _local_samples(X, size, numbers, stream.child("local"), scale)
        return out


def auto_scale(X: Floats) -> float:
    """A fifth of the median distance between two points, which is robust against far points."""
    numbers = np.arange(_PAIRS)
    pairs = (below(mix(Stream(0).child("pairs", i).key, numbers), len(X)) for i in range(2))
    first, second = (X[rows] for rows in pairs)
    size = float(np.median(np.sqrt(np.sum((first - second) ** 2, axis=1))))
    # If half of the points coincide, use the standard deviation; if all do, any scale works.
    size = size if size > 0 else float(np.sqrt(2 * np.sum(np.var(X, axis=0))))
    return _AUTO_FACTOR * size if size > 0 else 1.0


def _local_samples(X: Floats, size: int, numbers: Ints, stream: Stream, scale: float) -> Ints:
    """Local samples (s, size); sample number i depends on (stream, i) alone."""
    n = len(X)
    out = np.empty((len(numbers), size), np.int64)
    out[:, 0] = below(mix(stream.child("seed").key, numbers), n)
    filled = np.empty(len(numbers), np.int64)
    key = np.uint64(stream.child("trials").key)
    sample_neighbours(key, X, numbers, scale, _REACH, min(n, _MAX_TRIALS), out, filled)
    short = np.flatnonzero(filled < size)
    if len(short):
        key = np.uint64(stream.child("list").key)
        seeds, seed_of = np.unique(out[short, 0], return_inverse=True)
        for listed, near in _neighbour_lists(X, seeds, size, _REACH * scale):
            list_of = np.full(len(seeds), -1)
            list_of[listed] = np.arange(len(listed))
            some = np.flatnonzero(list_of[seed_of] >= 0)
            which, samples = list_of[seed_of[some]], short[some]
            sample_from_lists(key, X, numbers, scale, _REACH, near, which, samples, out, filled)
    return out


def _neighbour_lists(
    X: Floats, seeds: Ints, size: int, radius: float
) -> Iterator[tuple[Ints, Ints]]:
    """Positions of seeds and the nearest rows of each, n for padding: those within the radius, or
    at any distance if they are too few for a sample."""
    n, tree = len(X), KDTree(X)
    width = min(n, max(_LIST_SIZE, size) + 1)
    # Slightly more: the compiled code decides which are within.
    near = _query(tree, X[seeds], width, radius * (1 + 1e-9))
    sparse = near[:, size - 1] == n
    yield np.flatnonzero(~sparse), near[~sparse]
    width = min(n, max(_SPARSE_LIST_SIZE, size) + 1)
    yield np.flatnonzero(sparse), _query(tree, X[seeds[sparse]], width)


def _query(tree: Any, points: Floats, width: int, radius: float = np.inf) -> Ints:
    rows = tree.query(points, k=np.arange(1, width + 1), distance_upper_bound=radius)[1]
    return np.asarray(rows, np.int64).reshape(len(points), width)
