"""Triton kernels: the descent of all trees, and sums in the order of the trees.

Imported on GPUs where Triton is installed; `forest.level_by_level` and `scorer.in_order` are the
same in PyTorch. Numbers that vary are not specialised, so that a kernel is compiled once for each
metric.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..._kernels.trees import ZERO_DISTANCE

# Rows and trees of a program. All trees of a row together read each of its products once from
# memory, and then from the cache.
_ROWS, _TREES = 4, 64
_SUMMED_ROWS = 128
_ZERO = tl.constexpr(ZERO_DISTANCE)


@triton.jit
def _distance(shared, row, place, a, b, METRIC: tl.constexpr):
    """`distances.distance` of the products (or distances) at these places; for the cosine, a and b
    are roots."""
    both = tl.load(shared + row + place).to(tl.float64)
    if METRIC == "precomputed":
        result = both
    else:
        whole = a * b if METRIC == "cosine" else a + b - both
        result = tl.maximum(1.0 - tl.where(whole > 0, both / whole, 0.0), 0.0)
    return result


@triton.jit(do_not_specialize=["n_rows", "n_trees", "stride", "height", "group"])
def _descend(
    shared, sums, sides, roots, children, seed, seed_sides, ends, out,
    n_rows, n_trees, stride, height, group,
    METRIC: tl.constexpr, BRANCHING: tl.constexpr, SOFT: tl.constexpr,
    ROWS: tl.constexpr, TREES: tl.constexpr,
):  # fmt: skip
    """out (n_rows, n_trees): path lengths, as `forest.descend`; group: rows in each forest."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    tree = tl.program_id(1) * TREES + tl.arange(0, TREES)[None, :]
    known = (row < n_rows) & (tree < n_trees)
    row, tree = tl.minimum(row, n_rows - 1), tl.minimum(tree, n_trees - 1)
    a = tl.load(sides + row)
    node = tl.load(roots + row // group * n_trees + tree)
    length = tl.zeros((ROWS, TREES), tl.float64)
    zero = tl.full((ROWS, TREES), _ZERO, tl.float64)
    for _ in range(height):
        first = tl.load(children + node)
        inner = first >= 0
        first = tl.maximum(first, 0)
        child, place = first, tl.load(seed + first)
        nearest = _distance(shared, row * stride, place, a, tl.load(seed_sides + first), METRIC)
        for k in tl.static_range(1, BRANCHING):
            place = tl.load(seed + first + k)
            side = tl.load(seed_sides + first + k)
            other = _distance(shared, row * stride, place, a, side, METRIC)
            child = tl.where(other < nearest, first + k, child)
            nearest = tl.minimum(nearest, other)
        node = tl.where(inner, child, node)
        if SOFT:
            edge = tl.where(nearest > zero, 2.0 - nearest, 1.0)
        else:
            edge = tl.full((ROWS, TREES), 1.0, tl.float64)
        length = tl.where(inner, length + edge, length)
    length = tl.where(tl.load(sums + row) == 0, 1.0, length + tl.load(ends + node))
    tl.store(out + row * n_trees + tree, length, mask=known)


@triton.jit(do_not_specialize=["n_rows", "n_trees"])
def _add(lengths, out, n_rows, n_trees, ROWS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), tl.float64)
    for tree in range(n_trees):
        total += tl.load(lengths + row * n_trees + tree, mask=row < n_rows, other=0.0)
    tl.store(out + row, total, mask=row < n_rows)


def path_lengths(
    metric: str, branching: int, soft: bool, height: int, shared: Any, sums: Any, tables: Any
) -> Any:
    """`forest.descend`. The products may be a part of a wider table, as those of a padded pool."""
    roots, children, seed, seed_sums, ends = tables
    shared = shared if shared.stride(1) == 1 else shared.contiguous()
    sides, seed_sides = sums, seed_sums
    if metric == "cosine":
        sides, seed_sides = torch.sqrt(sums), torch.sqrt(seed_sums)
    out = torch.empty((len(shared), roots.shape[1]), dtype=torch.float64, device=shared.device)
    grid = (triton.cdiv(len(shared), _ROWS), triton.cdiv(roots.shape[1], _TREES))
    # No product and sum may be rounded at once.
    _descend[grid](
        shared, sums, sides, roots, children, seed, seed_sides, ends, out, *out.shape,
        shared.stride(0), height, len(shared) // len(roots),
        METRIC="overlap" if metric in ("tanimoto", "jaccard") else metric,
        BRANCHING=branching, SOFT=soft, ROWS=_ROWS, TREES=_TREES, enable_fp_fusion=False,
    )  # fmt: skip
    return out


def add_in_order(lengths: Any) -> Any:
    """(r,) the sums of the rows (r, t), in the order of the columns."""
    out = torch.empty(len(lengths), dtype=torch.float64, device=lengths.device)
    grid = (triton.cdiv(len(lengths), _SUMMED_ROWS),)
    _add[grid](lengths, out, *lengths.shape, ROWS=_SUMMED_ROWS)
    return out
