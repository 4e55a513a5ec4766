"""The sampler "mixed": uniform samples and neighbours at all scales in turn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import KDTree

from .._kernels.neighbours import among_nearest
from .._random import Stream, below, choose, mix
from .._threads import at_once, in_threads, n_threads
from ..protocols import Floats, Ints
from ._common import BaseSampler, uniform, without_replacement

# Up to this many points, neighbours are exact: among 2,000 to 5,000, all distances take a sixth to
# two thirds of the time of a tree. Beyond, see MixedSampler.
_EXACT = 5000
_CANDIDATES = 2000
_MAX_LISTED = 512
# The size of a thread's chunk: samples, or neighbours in lists.
_CHUNK_SAMPLES, _CHUNK_NEIGHBOURS = 128, 8192


@dataclass(frozen=True)
class MixedSampler(BaseSampler):
    """Every other sample is uniform, the others are local at a random scale.

    A local sample is a random point and k - 1 of its K nearest neighbours, with K log-uniform
    between k and n: it finds small and large structures, and there is no scale to choose. With
    more than 5,000 points, neighbourhoods of more than 512 points are approximated by a fixed
    random subset of 2,000 points, so a draw costs O(s log n).
    """

    name: ClassVar[str] = "mixed"

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream) -> Ints:
        out = uniform(stream, len(X), size, n_samples)
        if size > 1:
            out[1::2] = local_samples(X, size, np.arange(1, n_samples, 2), stream.child("local"))
        return out


def local_samples(X: Floats, size: int, numbers: Ints, stream: Stream) -> Ints:
    """Local samples (s, size); sample number i depends on (stream, i) alone."""
    n = len(X)
    seeds = below(mix(stream.child("seed").key, numbers), n)
    share = below(mix(stream.child("scale").key, numbers), 2**53) * 2.0**-53
    K = np.floor(np.exp(np.log(size) + share * np.log(n / size))).astype(np.int64)
    K = np.clip(K, size - 1, n - 1)
    candidates = choose(stream.child("candidates"), n, n if n <= _EXACT else _CANDIDATES)
    listed = (K <= _MAX_LISTED) & (n > _EXACT)
    # Among the candidates, K is reduced in proportion.
    limits = np.where(listed, K, np.maximum(size - 1, K * (len(candidates) - 1) // (n - 1)))
    ranks = without_replacement(stream.child("ranks"), numbers, limits, size - 1)
    out = np.empty((len(numbers), size), np.int64)
    out[:, 0] = seeds
    if size == 1:  # no neighbours
        return out
    rest = np.flatnonzero(~listed)
    order = rest[np.lexsort((-limits[rest], seeds[rest]))]
    parts = np.array_split(order, min(n_threads(), 1 + len(order) // _CHUNK_SAMPLES))
    work = [
        partial(_among_nearest, X, candidates, seeds, limits, part, ranks, out[:, 1:])
        for part in parts
    ]
    # The tree is one piece of work, as long as the others together.
    tree, *_ = at_once(partial(_tree, X) if listed.any() else _no_tree, *work)
    if tree is not None:
        _from_lists(tree, X, seeds, ranks, np.flatnonzero(listed), out)
    return out


def _tree(X: Floats) -> KDTree:
    """Split in the middle of the cells, which takes half the time of medians: the queries, some
    thousand, are as fast."""
    return KDTree(X, balanced_tree=False, compact_nodes=False)


def _no_tree() -> None:
    return None


def _among_nearest(
    X: Floats, candidates: Ints, seeds: Ints, limits: Ints, part: Ints, ranks: Ints, out: Ints
) -> None:
    n = len(candidates)
    columns = np.ascontiguousarray(X[candidates].T)
    places = np.searchsorted(candidates, seeds)
    places = np.where(candidates[np.minimum(places, n - 1)] == seeds, places, -1)
    distances, near = np.empty(n), np.zeros(-(-n // 8) * 8, np.uint8)
    workspace = (distances, distances.view(np.uint64), near, near.view(np.uint64))
    among_nearest(X, columns, candidates, places, seeds, limits, part, ranks, *workspace, out)


def _from_lists(
    tree: KDTree, X: Floats, seeds: Ints, ranks: Ints, samples: Ints, out: Ints
) -> None:
    """The same from lists of the nearest points, whose lengths are powers of two."""
    # No neighbour beyond the last one that was drawn is needed.
    needed = 1 + ranks[samples].max(axis=1)
    powers = np.ceil(np.log2(needed)).astype(int)
    work: list[tuple[Any, ...]] = []
    for power in np.unique(powers):
        some = samples[powers == power]
        width = int(2**power)
        parts = np.array_split(some, 1 + len(some) * width // _CHUNK_NEIGHBOURS)
        work.extend((tree, X, seeds, ranks, part, width, out) for part in parts)
    list(in_threads(_from_list, work, n_threads(), len(work)))


def _from_list(
    tree: KDTree, X: Floats, seeds: Ints, ranks: Ints, some: Ints, width: int, out: Ints
) -> None:
    near = tree.query(X[seeds[some]], k=width + 1)[1]
    # Without the seed itself, which repeated points may have displaced from the list.
    is_seed = near == seeds[some][:, None]
    is_seed[~is_seed.any(axis=1), -1] = True
    near = near[~is_seed].reshape(len(some), width)
    out[some, 1:] = np.take_along_axis(near, ranks[some], axis=1)
