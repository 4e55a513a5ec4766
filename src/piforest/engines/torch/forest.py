"""Growing and descending all trees at once: `piforest._kernels.trees` on a device."""

from __future__ import annotations

from typing import Any

import torch

from ..._kernels.trees import ZERO_DISTANCE
from ..._random import Stream
from ...forest import FlatForest
from .distances import distance
from .random import below, mix, signed, unsigned_order
from .residuals import has_triton


def grow(forest: FlatForest, D: Any, stream: Stream, n_trees: int) -> FlatForest:
    """Grow the trees 0 .. n_trees from the distances D (pool, pool), level by level.

    The nodes of all trees in one level are numbered consecutively; `node` is the number of each
    point's node. O(trees (pool + max_samples b height)).
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
        parent, split_number = splits.nonzero()[:, 0], torch.cumsum(splits, 0) - 1
        node = split_number[node]
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
    """The nodes of one depth: their trees, numbers, seeds and sizes, and the index of their first
    child among the nodes of the next depth, -1 for a leaf."""

    def __init__(self, tree: Any, number: Any, seed: Any, size: Any) -> None:
        self.tree, self.number, self.seed, self.size = tree, number, seed, size
        self.child = torch.full_like(tree, -1)


def _samples(keys: Any, pool: int, size: int) -> Any:
    """(trees * size,) the rows of each tree with the smallest hashes, ascending."""
    hashes = unsigned_order(mix(keys[:, None], torch.arange(pool, device=keys.device)))
    return torch.topk(hashes, size, largest=False, sorted=False)[1].sort(dim=1)[0].flatten()


def _seeds(keys: Any, node: Any, rows: Any, sizes: Any, b: int) -> Any:
    """(nodes, b) the points of each node with the smallest hashes, ascending."""
    by_hash = torch.argsort(unsigned_order(mix(keys[node], rows)))
    order = by_hash[torch.argsort(node[by_hash], stable=True)]
    starts = torch.cumsum(sizes, 0) - sizes
    return rows[order[starts[:, None] + torch.arange(b, device=rows.device)]]


def _cells(D: Any, rows: Any, seeds: Any, keys: Any) -> Any:
    """The nearest of the node's seeds (points, b) for each point; ties at random, a seed to its own
    cell."""
    near = torch.where(seeds == rows[:, None], -1.0, D[rows[:, None], seeds])
    nearest = near.min(dim=1, keepdim=True)[0]
    tied = near == nearest
    count = tied.sum(dim=1)
    pick = below(mix(mix(keys, rows), 0), count)
    # The pick-th of the tied seeds, or the only nearest one.
    return (tied & (torch.cumsum(tied, 1) == pick[:, None] + 1)).to(torch.int8).argmax(dim=1)


def _flat(forest: FlatForest, levels: list[_Level], n_trees: int) -> FlatForest:
    """The levels as flat arrays: tree by tree, each in breadth-first order."""
    tree = torch.cat([level.tree for level in levels])
    # Stable, so that levels stay in order within a tree.
    order = torch.argsort(tree, stable=True)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    counts = torch.bincount(tree, minlength=n_trees)
    roots = torch.cat([counts.new_zeros(1), torch.cumsum(counts, 0)])
    firsts, start = [], 0
    for level in levels:
        start += len(level.tree)
        # The index of the first child among the nodes of all levels.
        child = torch.where(level.child >= 0, level.child + start, 0)
        firsts.append(torch.where(level.child >= 0, place[child] - roots[level.tree], -1))
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
        def tensor(array: Any, dtype: Any) -> Any:
            return torch.as_tensor(array, device=pool_sums.device).to(dtype)

        self.branching, self.soft = forest.branching, forest.soft
        self.height, self.normaliser = forest.height_limit, forest.normaliser
        self.roots = tensor(forest.roots[:-1], torch.int64)
        self.children = tensor(forest.children, torch.int64)
        self.seed = tensor(forest.seed.clip(0), torch.int64)
        self.ends = tensor(forest.depths[forest.size], torch.float64)
        self.seed_sums = pool_sums[self.seed]

    def path_lengths(self, shared: Any, sums: Any, metric: str) -> Any:
        """(r, t) path lengths from the products (r, pool) of a block of rows."""
        shape = metric, self.branching, self.soft, self.height
        tables = self.roots[None], self.children, self.seed, self.seed_sums, self.ends
        return descend(*shape, shared, sums, tables)


def descend(
    metric: str, branching: int, soft: bool, height: int, shared: Any, sums: Any, tables: Any
) -> Any:
    """(r, t) path lengths from the products (r, pool) of rows, r / g of them in each of g forests.

    tables: the roots (g, t) of the forests; for each node of all of them its first child, -1 for
    none, its seed in the pool of its forest, the sum of squares of the seed, and the expected depth
    below it.
    """
    if shared.is_cuda and has_triton():
        from .kernels import path_lengths

        return path_lengths(metric, branching, soft, height, shared, sums, tables)
    return level_by_level(metric, branching, soft, height, shared, sums, tables)


def level_by_level(
    metric: str, branching: int, soft: bool, height: int, shared: Any, sums: Any, tables: Any
) -> Any:
    """`descend` in PyTorch: all rows and trees move one edge down at a time."""
    roots, children, seed, seed_sums, ends = tables
    node = roots.repeat_interleave(len(shared) // len(roots), dim=0)
    length = torch.zeros(node.shape, dtype=torch.float64, device=shared.device)

    def seed_distance(nodes: Any) -> Any:
        products = torch.gather(shared, 1, seed[nodes])
        return distance(metric, products, sums[:, None], seed_sums[nodes])

    for _ in range(height):
        first = children[node]
        inner = first >= 0
        child = first = torch.clamp(first, min=0)
        nearest = seed_distance(first)
        for k in range(1, branching):
            other = seed_distance(first + k)
            closer = other < nearest
            child = torch.where(closer, first + k, child)
            nearest = torch.where(closer, other, nearest)
        edge = torch.where(nearest > ZERO_DISTANCE, 2.0 - nearest, 1.0) if soft else 1.0
        node = torch.where(inner, child, node)
        length = torch.where(inner, length + edge, length)
    # Add the expected depth below the leaf. An empty row does not descend.
    return torch.where(sums[:, None] == 0, 1.0, length + ends[node])
