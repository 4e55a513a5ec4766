"""Residuals to preferences: a kernel, fixed point, sparse rows; in blocks of rows.

The dense n x m matrix is never built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._kernels.sparse import collect
from ._registry import Registry
from ._rows import UNIT, SparseRows, index_dtype
from ._validation import check_not_increasing, check_positive, check_unit_interval
from .models import ModelSet
from .protocols import Floats, Kernel

KERNELS = Registry(
    "kernel",
    {
        "binary": "piforest.preferences:Binary",
        "gaussian": "piforest.preferences:Gaussian",
        "paper": "piforest.preferences:Paper",
    },
)

# Families are always called with this many rows: a family whose residuals go through
# BLAS would otherwise round differently in blocks of different size. 16 rows of
# residuals to 10,000 models fit in a cache of 1.3 MB.
BLOCK = 16


@dataclass(frozen=True)
class Gaussian:
    """exp(-r^2 / (2 sigma^2)) up to 3 sigma: free of units."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        z = r / sigma
        return np.exp(-0.5 * z * z)


@dataclass(frozen=True)
class Paper:
    """exp(-r^2 / sigma) up to 3 sigma: the paper's formula as printed. It has units."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return np.exp(-r * r / sigma)


@dataclass(frozen=True)
class Binary:
    """1 up to 3 sigma: Tanimoto's distance is then Jaccard's."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return np.ones_like(r)


def list_kernels() -> list[str]:
    """The names that `kernel=` takes."""
    return KERNELS.names()


def resolve_kernel(kernel: Any) -> Kernel:
    """A name, or any function (r, sigma) that does not increase in r.

    A function without a `cutoff` is cut at 3 sigma.
    """
    if isinstance(kernel, str):
        return KERNELS.get(kernel)  # type: ignore[no-any-return]
    if isinstance(kernel, type) or not callable(kernel):
        raise ValueError(
            f"kernel must be one of {list_kernels()} or a function (r, sigma) with values in "
            f"[0, 1], got {kernel!r}."
        )
    resolved = kernel if hasattr(kernel, "cutoff") else _Function(kernel)
    check_positive("kernel.cutoff", resolved.cutoff)
    r = np.linspace(0, resolved.cutoff, 100)
    phi = np.asarray(resolved(r, np.ones(100)), np.float64)
    check_unit_interval(_name(resolved), phi)
    check_not_increasing(_name(resolved), phi)
    return resolved


@dataclass(frozen=True)
class _Function:
    """A plain function of the user's."""

    function: Any
    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return np.asarray(self.function(r, sigma), np.float64)


def _name(kernel: Any) -> str:
    function = getattr(kernel, "function", kernel)
    return getattr(function, "__name__", type(function).__name__)


def embed(X: Floats, models: Sequence[ModelSet], kernel: Kernel) -> SparseRows:
    """Preferences (n, m) of the rows of X for all models, in fixed point.

    The byte is round(127 w phi / max w), w the model's weight; what rounds to 0
    is not stored. Row i depends on row i alone.
    """
    scale = np.concatenate([part.scale for part in models])
    weight = np.concatenate([part.weight for part in models])
    unit = UNIT * weight / weight.max()
    counts, columns, distances = _near(X, models, kernel.cutoff)
    phi = kernel(distances, scale[columns])
    check_unit_interval(_name(kernel), phi)
    data = np.floor(unit[columns] * phi + 0.5).astype(np.int8)
    keep = data > 0
    if not keep.all():
        ends = np.cumsum(counts)
        kept = np.concatenate([[0], np.cumsum(keep)])
        counts = kept[ends] - kept[ends - counts]
        columns, data = columns[keep], data[keep]
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SparseRows(indptr, columns, data, len(scale))


def _near(X: Floats, models: Sequence[ModelSet], cutoff: float) -> tuple[Any, Any, Any]:
    """Which models each row is within the cutoff of, and how far: counts, columns, distances."""
    limit = cutoff * np.concatenate([part.scale for part in models])
    n, m = len(X), len(limit)
    counts = np.empty(n, np.int64)
    columns, distances = np.empty(BLOCK * m, index_dtype(m)), np.empty(BLOCK * m)
    found = []
    for start in range(0, n, BLOCK):
        rows = min(BLOCK, n - start)
        # The last block is filled up with copies of the last row.
        block = X[np.minimum(np.arange(start, start + BLOCK), n - 1)]
        tables = [np.asarray(p.family.residuals(block, p.params), np.float64) for p in models]
        R = tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1)
        end = collect(R, limit, counts[start : start + rows], columns, distances)
        found.append((columns[:end].copy(), distances[:end].copy()))
    return (
        counts,
        np.concatenate([part[0] for part in found] or [columns[:0]]),
        np.concatenate([part[1] for part in found] or [distances[:0]]),
    )
