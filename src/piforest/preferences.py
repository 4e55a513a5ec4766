"""Residuals to preferences: a kernel, fixed point, sparse rows; in blocks of rows.

The dense n x m matrix is never built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._kernels.preferences import collect, collect_gaussian, fixed_point
from ._registry import Registry
from ._rows import UNIT, SparseRows, grow_array, index_dtype
from ._tensors import is_tensor
from ._validation import (
    check_not_increasing,
    check_positive,
    check_shape,
    check_unit_interval,
)
from .membership import SampleMembership
from .models import ModelSet
from .protocols import Floats, Ints, Kernel
from .residuals import block_rows, residual_blocks

__all__ = ["Binary", "Gaussian", "Paper", "list_kernels"]

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
    """Of arrays and of tensors."""
    return values.exp() if is_tensor(values) else np.exp(values)  # type: ignore[attr-defined,no-any-return]


def list_kernels() -> list[str]:
    """List the names that `kernel=` takes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from piforest.preferences import list_kernels
    >>> list_kernels()
    ['binary', 'gaussian', 'paper']
    """
    return KERNELS.names()


def knows_kernel(kernel: Any) -> bool:
    """Whether it is a built-in kernel, which every engine can compute."""
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
    """A user-defined function."""

    function: Any
    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return np.asarray(self.function(r, sigma), np.float64)


def _name(kernel: Any) -> str:
    function = getattr(kernel, "function", kernel)
    return getattr(function, "__name__", type(function).__name__)


def _limits(kernel: Kernel, scale: Floats, unit: Floats) -> Floats:
    """(m,) the residuals beyond which a preference is 0 or rounds to it: models of little weight
    are cut off earlier."""
    limit: Floats = kernel.cutoff * scale
    if type(kernel) is not Gaussian:
        return limit
    # unit exp(-z^2 / 2) < 1 / 2, and a little more, for rounding.
    least = np.maximum(2 * unit, 1.0)
    reach = np.sqrt(2 * np.log(least) + 1e-12)
    return np.where(2 * unit > 1 - 1e-9, np.minimum(limit, reach * scale), -1.0)


# Entries that a kernel which is not compiled turns into preferences at once: each call of NumPy
# releases and takes the interpreter lock, which other threads wait for.
_ENOUGH = 65_536
# The share of all entries that is allocated at the start; pages that are never written to take
# no memory.
_DENSE = 1 / 8


class Preferences:
    """Preferences of rows for some models; what depends on the models alone is computed once."""

    def __init__(
        self,
        models: Sequence[ModelSet],
        kernel: Kernel,
        membership: SampleMembership | None = None,
    ) -> None:
        self.models, self.kernel, self.membership = models, kernel, membership
        self.scale = np.concatenate([part.scale for part in models])
        weight = np.concatenate([part.weight for part in models])
        self.unit = UNIT * weight / weight.max()
        self.limit = _limits(kernel, self.scale, self.unit)

    def rows_of(self, X: Floats) -> SparseRows:
        """Preferences (n, m) of the rows of X for all models, in fixed point.

        The byte is round(127 w phi / max w), w the model's weight; what rounds to 0
        is not stored. With `membership`, a row has no preference for the models that it is a
        sample of. Row i depends on row i alone.
        """
        n, m = len(X), len(self.scale)
        nothing = np.zeros(n, np.int64)
        members = self.membership
        starts, ends = (nothing, nothing) if members is None else members.of(X)
        skipped = nothing[:0] if members is None else members.columns
        flags, hits = np.zeros(-(-m // 8) * 8, np.uint8), np.empty(m // 8 + 2, np.uint32)
        finding = flags, flags.view(np.uint64), hits
        block = block_rows(self.models) * m + 8
        size = block + int(_DENSE * n * m)
        columns, values = np.empty(size, index_dtype(m)), np.empty(size, np.int8)
        compiled = type(self.kernel) is Gaussian
        powers = np.empty(m)
        r, sigma = np.empty((2, 0 if compiled else block + _ENOUGH))
        counts = np.empty(n, np.int64)
        # Entries up to `end` are collected; those up to `start`, of rows up to `first`, are final.
        first = start = end = 0
        for rows, R in residual_blocks(X, self.models):
            if end + block > len(values):
                size = 2 * len(values)
                columns, values = grow_array(columns, end, size), grow_array(values, end, size)
            to = starts[rows], ends[rows], skipped, *finding
            if compiled:
                end += int(
                    collect_gaussian(
                        R, self.limit, self.scale, self.unit, *to, powers, counts[rows],
                        columns[end:], values[end:],
                    )
                )  # fmt: skip
                continue
            held = end - start
            end += int(
                collect(
                    R, self.limit, self.scale, *to, counts[rows], columns[end:], r[held:],
                    sigma[held:],
                )
            )  # fmt: skip
            held = end - start
            if held > _ENOUGH or rows.stop == n:
                some = counts[first : rows.stop], columns[start:], values[start:]
                end = start + self._fixed_point(r[:held], sigma[:held], *some)
                first, start = rows.stop, end
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return SparseRows(indptr, columns[:end], values[:end], m)

    def _fixed_point(
        self, r: Floats, sigma: Floats, counts: Ints, columns: NDArray[Any], values: NDArray[Any]
    ) -> int:
        """Apply the kernel in place; returns the number of entries that are left."""
        phi = np.asarray(self.kernel(r, sigma), np.float64)
        # Compiled code must not read beyond an array.
        check_shape(f"kernel {_name(self.kernel)}(r, sigma)", phi, r.shape)
        left = int(fixed_point(phi, self.unit, counts, columns, values))
        if left < 0:
            check_unit_interval(_name(self.kernel), phi)
        return left
