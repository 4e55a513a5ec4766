"""Residuals on a device: the formula of a family, or its residuals on the host."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Hashable
from functools import cache, lru_cache
from types import FunctionType
from typing import Any, cast

import numpy as np
import torch

from ..._validation import warn_user
from ...families._formula import prepared_params
from ...families.scaled import has_formula
from ...models.bounds import CELLS, CELLS_2D
from ...models.drawing import ModelSet
from ...models.residuals import residual_blocks

# Up to this many models, nothing is compiled: PyTorch's compiler takes seconds, and step by step a
# million rows move some tens of gigabytes, which takes about ten milliseconds. It depends on the
# model alone, so that no row is computed in two ways.
FEW_MODELS = 128


class DeviceModels:
    """The models of one family as columns on a device, padded to `width` with the last one."""

    def __init__(self, models: ModelSet, width: int, device: Any) -> None:
        self.family, self.models, self.width = models.family, models, width
        self.theta: Any = None
        if self.has_formula:
            prepared = prepared_params(self.family, models.params)
            last = np.repeat(prepared[-1:], width - len(prepared), axis=0)
            columns = np.ascontiguousarray(np.concatenate([prepared, last]).T)
            self.theta = torch.as_tensor(columns, device=device)
        self.bounds: Any = None
        bounds = models.bounds
        if self.has_formula and bounds is not None:
            at = np.minimum(np.arange(width), len(models) - 1)
            arrays = bounds.low[at].T, bounds.size[at].T, bounds.cells[at]
            self.bounds = [
                torch.as_tensor(np.ascontiguousarray(each), device=device) for each in arrays
            ]

    @property
    def has_formula(self) -> bool:
        return has_formula(self.family)

    def apply(self, step: Any, X: Any, *others: Any) -> Any:
        """step(residuals (r, width), *others), compiled as one function if there is a formula.

        step: a module-level or cached function, so that its compiled form is found again.
        """
        if self.has_formula and self.bounds is not None:
            return fused_bounded(cast(Hashable, self.family), step)(
                X, self.theta, *self.bounds, *others
            )
        if self.has_formula:
            return fused(cast(Hashable, self.family), step)(X, self.theta, *others)
        return step(self._host_residuals(X), *others)

    def _host_residuals(self, X: Any) -> Any:
        """Residuals computed on the host, checked and in blocks of one size."""
        R = np.full((len(X), self.width), np.inf)
        for rows, part in residual_blocks(X.cpu().numpy(), [self.models]):
            R[rows, : len(self.models)] = part
        return torch.as_tensor(R, device=X.device)


@lru_cache(maxsize=128)
def fused(family: Any, step: Any) -> Any:
    """(X (r, d), theta (p, width), *others) -> step(residuals, *others).

    For several sets of models at once, X is (g, r, d), and all others have axes (g, 1, width)."""

    def function(X: Any, theta: Any, *others: Any) -> Any:
        x = [X[..., c, None] for c in range(X.shape[-1])]
        return step(family.formula(x, [theta[k] for k in range(len(theta))], torch), *others)

    return compiled(function, _has_many_models)


@lru_cache(maxsize=128)
def fused_bounded(family: Any, step: Any) -> Any:
    """`fused` for bounded models: residuals outside the bounds (low, size, cells) are infinite."""

    def function(X: Any, theta: Any, low: Any, size: Any, cells: Any, *others: Any) -> Any:
        x = [X[..., c, None] for c in range(X.shape[-1])]
        columns = [theta[k] for k in range(len(theta))]
        b = CELLS if cells.shape[-1] == CELLS else CELLS_2D
        cell: Any = 0
        for axis, value in enumerate(family.chart(x, columns, torch)):
            t = (value - low[axis]) / size[axis] * b
            cell = cell * b + torch.where(t >= 1.0, t.clamp(max=b - 1), 0.0).to(torch.int64)
        inside = cells.expand(*cell.shape, -1).gather(-1, cell[..., None])[..., 0]
        R = torch.where(inside, family.formula(x, columns, torch), torch.inf)
        return step(R, *others)

    return compiled(function, _has_many_models)


def _has_many_models(X: Any, theta: Any, *others: Any) -> bool:
    return bool(theta.shape[1] > FEW_MODELS)


def compiled(function: Any, pays: Any = lambda *args: True) -> Any:
    """Compile a function for tensors on a GPU; unchanged for other tensors, without Triton, and
    where it does not pay."""
    fast = None

    def run(*args: Any) -> Any:
        nonlocal fast
        if not (args[0].is_cuda and pays(*args) and has_triton()):
            return function(*args)
        if fast is None:
            fast = torch.compile(_with_unique_code(function), dynamic=True, fullgraph=True)
        return fast(*args)

    return run


@cache
def has_triton() -> bool:
    """Whether code can be compiled for a GPU; a warning if not."""
    installed = importlib.util.find_spec("triton") is not None
    if not installed:
        warn_user("Triton is not installed, so nothing is compiled for the GPU, which is slower.")
    return installed


_number = itertools.count()


def _with_unique_code(function: Any) -> Any:
    """A copy of the function with a separate code object: families share the code, and PyTorch
    compiles at most eight variants of a code object."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{next(_number)}")
    return FunctionType(
        code, function.__globals__, code.co_name, function.__defaults__, function.__closure__
    )
