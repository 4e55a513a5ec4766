"""The metrics that a device supports, from exact products."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...metrics.overlap import COLUMNS_FOR_INT32

# In place of a metric: the values are distances, not products.
PRECOMPUTED = "precomputed"


def binary(metric: str) -> bool:
    """Whether every preference counts as 1."""
    return metric == "jaccard"


def products(rows: Any, pool: Any) -> Any:
    """(r, m), (pool, m) of int8 to exact sums (r, pool), int64 where int32 is too small."""
    m = rows.shape[1]
    if not rows.is_cuda:
        # Integers below 2 ** 53 are exact in float64, and products of bytes are slow on the CPU.
        sums = rows.to(torch.float64) @ pool.to(torch.float64).T
        return sums.to(torch.int32 if m <= COLUMNS_FOR_INT32 else torch.int64)
    if m <= COLUMNS_FOR_INT32:
        return torch._int_mm(rows, pool.T)
    parts = range(0, m, COLUMNS_FOR_INT32)
    chunks = (slice(start, start + COLUMNS_FOR_INT32) for start in parts)
    return sum(
        torch._int_mm(rows[:, chunk].contiguous(), pool[:, chunk].contiguous().T).to(torch.int64)
        for chunk in chunks
    )


def distance(metric: str, shared: Any, a: Any, b: Any) -> Any:
    """Distances from sums over shared columns and the sums of squares of both rows, as float64."""
    if metric == PRECOMPUTED:
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
    """(r, d), (pool, d) to (r, pool), summed in the order of the columns, as on the CPU. Not
    compiled: a fused product and sum would round once, not twice."""
    total = torch.zeros((len(rows), len(pool)), dtype=torch.float64, device=rows.device)
    for c in range(rows.shape[1]):
        difference = rows[:, c, None] - pool[:, c]
        total += difference * difference if metric == "euclidean" else difference.abs()
    return _root(total) if metric == "euclidean" else total


def _root(values: Any) -> Any:
    """The correctly rounded square root; that of PyTorch is not, on the CPU."""
    if values.is_cuda:
        return torch.sqrt(values)
    return torch.from_numpy(np.sqrt(values.numpy()))
