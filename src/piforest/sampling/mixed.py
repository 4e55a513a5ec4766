"""Any points and neighbours in turn, neighbours at all scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import KDTree

from .._kernels.neighbours import among_nearest
from .._random import Stream, below, choose, mix
from .._threads import allowed, in_threads
from ..protocols import Floats, Ints
from ._common import distinct, refuse, uniform

# Among this many points neighbours are sorted exactly; beyond, see MixedSampler.
_CANDIDATES = 2000
_LISTED = 512
# What a thread is given: samples, or neighbours in lists.
_PORTION, _LIST_PORTION = 256, 8192


@dataclass(frozen=True)
class MixedSampler:
    """Every other sample uniform, the others local at a random scale.

    A local sample is a random point and k - 1 of its K nearest neighbours, K
    log-uniform between k and n: small structures are found as well as large
    ones, without a scale to choose. Beyond 2,000 points, more than 512 neighbours
    are taken from a fixed random 2,000 of the points, as many as lie as near; so a
    draw costs O(s log n).
    """

    name: ClassVar[str] = "mixed"

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
        if size > 1:
            out[1::2] = _local(X, size, np.arange(1, n_samples, 2), stream.child("local"))
        return out


def _local(X: Floats, size: int, numbers: Ints, stream: Stream) -> Ints:
    """Local samples (s, size); the one with number i depends on (stream, i) alone."""
    n = len(X)
    seeds = below(mix(stream.child("seed").key, numbers), n)
    share = below(mix(stream.child("scale").key, numbers), 2**53) * 2.0**-53
    K = np.floor(np.exp(np.log(size) + share * np.log(n / size))).astype(np.int64)
    K = np.clip(K, size - 1, n - 1)
    candidates = choose(stream.child("candidates"), n, _CANDIDATES)
    listed = (K <= _LISTED) & (n > _CANDIDATES)
    # Of a random part of the points, as many as lie as near.
    limits = np.where(listed, K, np.maximum(size - 1, K * (len(candidates) - 1) // (n - 1)))
    ranks = distinct(stream.child("ranks"), numbers, limits, size - 1)
    out = np.empty((len(numbers), size), np.int64)
    out[:, 0] = seeds
    far = np.flatnonzero(~listed)
    order = far[np.lexsort((-limits[far], seeds[far]))]
    parts = np.array_split(order, min(allowed(), 1 + len(order) // _PORTION))
    work = ((X, candidates, seeds, limits, part, ranks, out[:, 1:]) for part in parts)
    list(in_threads(_among_nearest, work, len(parts), len(parts)))
    if listed.any():
        _from_lists(X, seeds, ranks, np.flatnonzero(listed), out)
    return out


def _among_nearest(
    X: Floats, candidates: Ints, seeds: Ints, limits: Ints, part: Ints, ranks: Ints, out: Ints
) -> None:
    n = len(candidates)
    distances, near = np.empty(n), np.zeros(-(-n // 8) * 8, np.uint8)
    room = (distances, distances.view(np.uint64), near, near.view(np.uint64))
    among_nearest(X, candidates, seeds, limits, part, ranks, *room, out)


def _from_lists(X: Floats, seeds: Ints, ranks: Ints, samples: Ints, out: Ints) -> None:
    """The same from lists of the nearest points, each class twice as long as the one before."""
    tree = KDTree(X)
    # No neighbour is needed beyond the last that was drawn.
    needed = 1 + ranks[samples].max(axis=1)
    classes = np.ceil(np.log2(needed)).astype(int)
    work: list[tuple[Any, ...]] = []
    for power in np.unique(classes):
        some = samples[classes == power]
        width = int(2**power)
        parts = np.array_split(some, 1 + len(some) * width // _LIST_PORTION)
        work.extend((tree, X, seeds, ranks, part, width, out) for part in parts)
    list(in_threads(_from_list, work, allowed(), len(work)))


def _from_list(
    tree: KDTree, X: Floats, seeds: Ints, ranks: Ints, some: Ints, width: int, out: Ints
) -> None:
    near = tree.query(X[seeds[some]], k=width + 1)[1]
    # Without the seed itself, which repeated points may have pushed off the list.
    own = near == seeds[some][:, None]
    own[~own.any(axis=1), -1] = True
    near = near[~own].reshape(len(some), width)
    out[some, 1:] = np.take_along_axis(near, ranks[some], axis=1)
