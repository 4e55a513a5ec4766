"""Growing and descending: `piforest._kernels.trees` for all trees and a block of rows at once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from ..._kernels.trees import SAME
from ..._random import Stream
from ...forest import FlatForest
from .distances import distance
from .residuals import compiled
from .words import below, mix, ordered, signed


def grow(forest: FlatForest, D: Any, stream: Stream, n_trees: int) -> FlatForest:
    """A forest of trees 0 .. n_trees of the distances D (pool, pool), level by level.

    The nodes of a level, those of all trees, stand one after the other; a point knows the
    number of its node there. O(trees (pool + max_samples b height)).
    """
    b, size = forest.branching, forest.max_samples
    keys = mix(signed(stream.key), torch.arange(n_trees, device=D.device))
    rows = _samples(mix(keys, 0), len(D), size)
    level = _Level(
        torch.arange(n_trees, device=D.device), torch.zeros_like(keys),
        torch.full_like(keys, -1), torch.full_like(keys, size),
    )  # fmt: skip
    node = torch.arange(n_trees, device=D.device).repeat_interleave(size)
    levels = [level]
    for _ in range(forest.height_limit):
        splits = level.size >= b
        kept = splits[node]
        rows, node = rows[kept], node[kept]
        if not len(rows):
            break
        level.child[splits] = b * torch.arange(int(splits.sum()), device=D.device)
        parent, place = splits.nonzero()[:, 0], torch.cumsum(splits, 0) - 1
        node = place[node]
        node_keys = mix(mix(keys, 1)[level.tree[parent]], level.number[parent])
        seeds = _seeds(node_keys, node, rows, level.size[parent], b)
        node = b * node + _cells(D, rows, seeds[node], node_keys[node])
        offsets = torch.arange(1, b + 1, device=D.device)
        level = _Level(
            level.tree[parent].repeat_interleave(b),
            (b * level.number[parent][:, None] + offsets).flatten(),
            seeds.flatten(),
            torch.bincount(node, minlength=b * len(parent)),
        )
        levels.append(level)
    return _flat(forest, levels, n_trees)


class _Level:
    """The nodes of one depth: their trees, numbers, seeds and sizes, and where among the nodes of
    the next depth their first child stands, -1 for a leaf."""

    def __init__(self, tree: Any, number: Any, seed: Any, size: Any) -> None:
        self.tree, self.number, self.seed, self.size = tree, number, seed, size
        self.child = torch.full_like(tree, -1)


def _samples(keys: Any, pool: int, size: int) -> Any:
    """(trees * size,) the rows of each tree with the smallest words, ascending."""
    words = ordered(mix(keys[:, None], torch.arange(pool, device=keys.device)))
    return torch.topk(words, size, largest=False, sorted=False)[1].sort(dim=1)[0].flatten()


def _seeds(keys: Any, node: Any, rows: Any, sizes: Any, b: int) -> Any:
    """(nodes, b) of each node's points the rows with the smallest words, ascending."""
    by_word = torch.argsort(ordered(mix(keys[node], rows)))
    order = by_word[torch.argsort(node[by_word], stable=True)]
    starts = torch.cumsum(sizes, 0) - sizes
    return rows[order[starts[:, None] + torch.arange(b, device=rows.device)]]


def _cells(D: Any, rows: Any, seeds: Any, keys: Any) -> Any:
    """Which of its node's seeds (points, b) each point is nearest to; ties at random, a seed to
    itself."""
    near = torch.where(seeds == rows[:, None], -1.0, D[rows[:, None], seeds])
    nearest = near.min(dim=1, keepdim=True)[0]
    tied = near == nearest
    count = tied.sum(dim=1)
    pick = below(mix(mix(keys, rows), 0), count)
    # The pick-th of those that tie; the only one where none does.
    return (tied & (torch.cumsum(tied, 1) == pick[:, None] + 1)).to(torch.int8).argmax(dim=1)


def _flat(forest: FlatForest, levels: list[_Level], n_trees: int) -> FlatForest:
    """Breadth first, tree by tree."""
    tree = torch.cat([level.tree for level in levels])
    # Stable: within a tree, the order of the levels.
    order = torch.argsort(tree, stable=True)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    counts = torch.bincount(tree, minlength=n_trees)
    roots = torch.cat([counts.new_zeros(1), torch.cumsum(counts, 0)])
    firsts, start = [], 0
    for level in levels:
        start += len(level.tree)
        # The number of a first child among all nodes, levels one after the other.
        among = torch.where(level.child >= 0, level.child + start, 0)
        child = torch.where(level.child >= 0, place[among] - roots[level.tree], -1)
        firsts.append(child)
    seed, size = (
        torch.cat([getattr(level, name) for level in levels]) for name in ("seed", "size")
    )
    nodes = (part[order].to(torch.int32).cpu().numpy() for part in (torch.cat(firsts), seed, size))
    return FlatForest(
        forest.max_samples, forest.branching, roots.cpu().numpy(), *nodes, soft=forest.soft
    )


class DeviceForest:
    """The arrays of a forest on a device."""

    def __init__(self, forest: FlatForest, pool_sums: Any) -> None:
        def here(array: Any, dtype: Any) -> Any:
            return torch.as_tensor(array, device=pool_sums.device).to(dtype)

        self.branching, self.soft = forest.branching, forest.soft
        self.height, self.normaliser = forest.height_limit, forest.normaliser
        self.roots = here(forest.roots[:-1], torch.int64)
        self.children = here(forest.children, torch.int64)
        self.seed = here(forest.seed.clip(0), torch.int64)
        self.ends = here(forest.depths[forest.size], torch.float64)
        self.pool_sums = pool_sums

    def path_lengths(self, shared: Any, sums: Any, metric: str) -> Any:
        """(r, t): look-ups level by level in the products (r, pool) of a block of rows."""
        node = self.roots.expand(len(shared), -1).contiguous()
        length = torch.zeros(node.shape, dtype=torch.float64, device=shared.device)
        tables = self.children, self.seed, self.pool_sums
        descend = _descend(metric, self.branching, self.soft)
        for _ in range(self.height):
            node, length = descend(shared, sums, node, length, *tables)
        return _ended(length, node, self.ends, sums)


@lru_cache(maxsize=64)
def _descend(metric: str, branching: int, soft: bool) -> Any:
    """A function that takes every row one edge further in every tree, unless it has ended."""

    def step_down(
        shared: Any, sums: Any, node: Any, length: Any, children: Any, seed: Any, pool_sums: Any
    ) -> tuple[Any, Any]:
        def away(nodes: Any) -> Any:
            seeds = seed[nodes]
            found = torch.gather(shared, 1, seeds)
            return distance(metric, found, sums[:, None], pool_sums[seeds])

        first = children[node]
        inner = first >= 0
        at = first = torch.clamp(first, min=0)
        nearest = away(first)
        for k in range(1, branching):
            other = away(first + k)
            closer = other < nearest
            at = torch.where(closer, first + k, at)
            nearest = torch.where(closer, other, nearest)
        edge = torch.where(nearest > SAME, 2.0 - nearest, 1.0) if soft else 1.0
        return torch.where(inner, at, node), torch.where(inner, length + edge, length)

    return compiled(step_down)


def _add_ends(length: Any, node: Any, ends: Any, sums: Any) -> Any:
    """With what the leaf's points would add. A row that prefers nothing does not descend."""
    return torch.where(sums[:, None] == 0, 1.0, length + ends[node])


_ended = compiled(_add_ends)
