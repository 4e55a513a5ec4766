"""Residuals to preferences: a kernel, fixed point, sparse rows; in blocks of rows.

The dense n x m matrix is never built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._device import is_tensor
from ._kernels.sparse import collect, collect_gaussian, fixed_point
from ._registry import Registry
from ._rows import UNIT, SparseRows, index_dtype
from ._validation import (
    check_not_increasing,
    check_positive,
    check_shape,
    check_unit_interval,
)
from .models import ModelSet, OwnModels, block_rows, residual_blocks
from .protocols import Floats, Kernel

KERNELS = Registry(
    "kernel",
    {
        "binary": "piforest.preferences:Binary",
        "gaussian": "piforest.preferences:Gaussian",
        "paper": "piforest.preferences:Paper",
    },
)


@dataclass(frozen=True)
class Gaussian:
    """exp(-r^2 / (2 sigma^2)) up to 3 sigma: free of units."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        z = r / sigma
        return exp(-0.5 * z * z)


@dataclass(frozen=True)
class Paper:
    """exp(-r^2 / sigma) up to 3 sigma: the paper's formula as printed. It has units."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return exp(-r * r / sigma)


@dataclass(frozen=True)
class Binary:
    """1 up to 3 sigma: Tanimoto's distance is then Jaccard's."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return r * 0.0 + 1.0


def exp(values: Floats) -> Floats:
    """Of arrays, and of tensors."""
    return values.exp() if is_tensor(values) else np.exp(values)  # type: ignore[attr-defined,no-any-return]


def list_kernels() -> list[str]:
    """The names that `kernel=` takes."""
    return KERNELS.names()


def knows_kernel(kernel: Any) -> bool:
    """Is it a built-in one, which other devices than the CPU know too?"""
    return isinstance(kernel, str) or KERNELS.name_of(kernel) is not None


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
    phi = check_shape(f"kernel {_name(resolved)}(r, sigma)", resolved(r, np.ones(100)), (100,))
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


def _limits(kernel: Kernel, scale: Floats, unit: Floats) -> Floats:
    """(m,) the residuals beyond which a preference is 0, or known to round to it: models with
    little weight are cut off earlier."""
    limit: Floats = kernel.cutoff * scale
    if type(kernel) is not Gaussian:
        return limit
    # unit exp(-z^2 / 2) < 1 / 2, and a little more, for rounding.
    least = np.maximum(2 * unit, 1.0)
    reach = np.sqrt(2 * np.log(least) + 1e-12)
    return np.where(2 * unit > 1 - 1e-9, np.minimum(limit, reach * scale), -1.0)


# So many entries are turned into preferences at once: every call of NumPy lets go of the
# interpreter lock and takes it again, which threads wait for.
_ENOUGH = 65_536


def embed(
    X: Floats, models: Sequence[ModelSet], kernel: Kernel, own: OwnModels | None = None
) -> SparseRows:
    """Preferences (n, m) of the rows of X for all models, in fixed point.

    The byte is round(127 w phi / max w), w the model's weight; what rounds to 0
    is not stored. With `own`, a row has no preference for the models that it was a
    sample of. Row i depends on row i alone.
    """
    nothing = np.zeros(len(X), np.int64)
    starts, ends = (nothing, nothing) if own is None else own.of(X)
    skipped = nothing[:0] if own is None else own.columns
    scale = np.concatenate([part.scale for part in models])
    weight = np.concatenate([part.weight for part in models])
    unit = UNIT * weight / weight.max()
    limit = _limits(kernel, scale, unit)
    m = len(scale)
    block = block_rows(models) * m
    room = block + min(block, _ENOUGH)
    near, data = np.empty(room + 8, index_dtype(m)), np.empty(room + 8, np.int8)
    compiled = type(kernel) is Gaussian
    distances, scales = np.empty((2, 0 if compiled else room))
    counts = np.empty(len(X), np.int64)
    columns, values = [near[:0]], [data[:0]]
    first = found = 0
    for rows, R in residual_blocks(X, models):
        own_rows = starts[rows], ends[rows], skipped, counts[rows], near[found:]
        if compiled:
            found += int(collect_gaussian(R, limit, scale, unit, *own_rows, data[found:]))
        else:
            found += int(collect(R, limit, scale, *own_rows, distances[found:], scales[found:]))
        if found + block <= room and rows.stop < len(X):
            continue
        if not compiled:
            phi = np.asarray(kernel(distances[:found], scales[:found]), np.float64)
            # Compiled code that reads beyond an array would find anything there.
            check_shape(f"kernel {_name(kernel)}(r, sigma)", phi, (found,))
            found = fixed_point(phi, unit, counts[first : rows.stop], near, data)
            if found < 0:
                check_unit_interval(_name(kernel), phi)
        columns.append(near[:found].copy())
        values.append(data[:found].copy())
        first, found = rows.stop, 0
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SparseRows(indptr, np.concatenate(columns), np.concatenate(values), m)
