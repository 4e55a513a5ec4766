"""Distances from exact products: the metrics that a device knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

# Not products but distances already.
TABLE = "table"
# 127 ** 2 times as many shared models stay below 2 ** 31.
_COLUMNS_FOR_INT32 = 130_000


def binary(metric: str) -> bool:
    """Does every preference count as 1?"""
    return metric == "jaccard"


def products(rows: Any, pool: Any) -> Any:
    """(r, m), (pool, m) of int8 to exact sums (r, pool), int64 where int32 is too small."""
    m = rows.shape[1]
    if not rows.is_cuda:
        # Integers below 2 ** 53 are exact in float64, and the CPU's product of bytes is slow.
        sums = rows.to(torch.float64) @ pool.to(torch.float64).T
        return sums.to(torch.int32 if m <= _COLUMNS_FOR_INT32 else torch.int64)
    if m <= _COLUMNS_FOR_INT32:
        return torch._int_mm(rows, pool.T)
    parts = range(0, m, _COLUMNS_FOR_INT32)
    chunks = (slice(start, start + _COLUMNS_FOR_INT32) for start in parts)
    return sum(
        torch._int_mm(rows[:, chunk].contiguous(), pool[:, chunk].contiguous().T).to(torch.int64)
        for chunk in chunks
    )


def distance(metric: str, shared: Any, a: Any, b: Any) -> Any:
    """From sums over shared columns and the sums of squares of both rows, as float64."""
    if metric == TABLE:
        return shared
    both = shared.to(torch.float64)
    if metric == "cosine":
        norms = _root(a) * _root(b)
        similarity = torch.where(norms > 0, both / norms, 0.0)
    else:
        union = a + b - both
        similarity = torch.where(union > 0, both / union, 0.0)
    return torch.clamp(1 - similarity, min=0.0)


def vector_distances(metric: str, rows: Any, pool: Any) -> Any:
    """(r, d), (pool, d) to (r, pool), column by column as the CPU sums them. Not compiled: a
    product and a sum in one step would round once, not twice."""
    total = torch.zeros((len(rows), len(pool)), dtype=torch.float64, device=rows.device)
    for c in range(rows.shape[1]):
        gap = rows[:, c, None] - pool[:, c]
        total += gap * gap if metric == "euclidean" else gap.abs()
    return _root(total) if metric == "euclidean" else total


def _root(values: Any) -> Any:
    """Correctly rounded everywhere; PyTorch's own root on the CPU is not."""
    if values.is_cuda:
        return torch.sqrt(values)
    return torch.from_numpy(np.sqrt(values.numpy()))
