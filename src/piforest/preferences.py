"""Preferences from residuals: a kernel gives sparse rows of fixed-point numbers.

Rows are processed in blocks, so that the dense n x m matrix is never built.
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
from .models.drawing import ModelSet
from .models.membership import SampleMembership
from .models.residuals import block_rows, residual_blocks
from .protocols import Floats, Ints, Kernel

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
    """exp(-r^2 / (2 sigma^2)) up to 3 sigma: independent of units."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        z = r / sigma
        return exp(-0.5 * z * z)


@dataclass(frozen=True)
class Paper:
    """exp(-r^2 / sigma) up to 3 sigma: the formula of the paper as printed. Depends on units."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return exp(-r * r / sigma)


@dataclass(frozen=True)
class Binary:
    """1 up to 3 sigma: the Tanimoto distance is then the Jaccard distance."""

    cutoff: ClassVar[float] = 3.0

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        return r * 0.0 + 1.0


def exp(values: Floats) -> Floats:
    """The exponential of an array or a tensor."""
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


def is_built_in_kernel(kernel: Any) -> bool:
    """Whether the kernel is built in: every engine can compute it."""
    return isinstance(kernel, str) or KERNELS.name_of(kernel) is not None


def resolve_kernel(kernel: Any) -> Kernel:
    """The kernel of a name, or of a function (r, sigma) that does not increase in r.

    A function without a `cutoff` is 0 beyond 3 sigma.
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
    """(m,) the residuals beyond which a preference is 0 or rounds to 0, which depends on the
    weight."""
    limit: Floats = kernel.cutoff * scale
    if type(kernel) is not Gaussian:
        return limit
    # unit exp(-z^2 / 2) < 1 / 2, with a margin for rounding.
    reach = np.sqrt(2 * np.log(np.maximum(2 * unit, 1.0)) + 1e-12)
    return np.where(2 * unit > 1 - 1e-9, np.minimum(limit, reach * scale), -1.0)


# Entries in one call of a kernel that is not compiled: each call of NumPy releases and acquires the
# interpreter lock, which other threads wait for.
_BATCH_ENTRIES = 65_536
# The share of all entries that is allocated initially; pages that are never written to take no
# memory.
_INITIAL_SHARE = 1 / 8


class Preferences:
    """Computes preferences for given models; what depends on the models alone is computed once."""

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

        The byte is round(127 w phi / max w) with the model's weight w; zeros are not stored. With
        `membership`, a row has no preference for models whose minimal sample contains it. Row i
        depends on row i alone.
        """
        n, m = len(X), len(self.scale)
        zeros = np.zeros(n, np.int64)
        members = self.membership
        starts, ends = (zeros, zeros) if members is None else members.of(X)
        skipped = zeros[:0] if members is None else members.columns
        near, hits = np.zeros(-(-m // 8) * 8, np.uint8), np.empty(m // 8 + 2, np.uint32)
        workspace = near, near.view(np.uint64), hits
        block = block_rows(self.models) * m + 8
        size = block + int(_INITIAL_SHARE * n * m)
        columns, values = np.empty(size, index_dtype(m)), np.empty(size, np.int8)
        compiled = type(self.kernel) is Gaussian
        powers = np.empty(m)
        r, sigma = np.empty((2, 0 if compiled else block + _BATCH_ENTRIES))
        counts = np.empty(n, np.int64)
        # Entries up to `end` are collected; those up to `start`, in rows up to `first`, are final.
        first = start = end = 0
        for rows, R in residual_blocks(X, self.models, self.limit):
            if end + block > len(values):
                size = 2 * len(values)
                columns, values = grow_array(columns, end, size), grow_array(values, end, size)
            common = starts[rows], ends[rows], skipped, *workspace
            if compiled:
                end += int(
                    collect_gaussian(
                        R, self.limit, self.scale, self.unit, *common, powers, counts[rows],
                        columns[end:], values[end:],
                    )
                )  # fmt: skip
                continue
            pending = end - start
            end += int(
                collect(
                    R, self.limit, self.scale, *common, counts[rows], columns[end:], r[pending:],
                    sigma[pending:],
                )
            )  # fmt: skip
            pending = end - start
            if pending > _BATCH_ENTRIES or rows.stop == n:
                out = counts[first : rows.stop], columns[start:], values[start:]
                end = start + self._fixed_point(r[:pending], sigma[:pending], *out)
                first, start = rows.stop, end
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return SparseRows(indptr, columns[:end], values[:end], m)

    def _fixed_point(
        self, r: Floats, sigma: Floats, counts: Ints, columns: NDArray[Any], values: NDArray[Any]
    ) -> int:
        """Apply the kernel in place; return the number of entries left."""
        phi = np.asarray(self.kernel(r, sigma), np.float64)
        # Compiled code must not read beyond an array.
        check_shape(f"kernel {_name(self.kernel)}(r, sigma)", phi, r.shape)
        n_left = int(fixed_point(phi, self.unit, counts, columns, values))
        if n_left < 0:
            check_unit_interval(_name(self.kernel), phi)
        return n_left
