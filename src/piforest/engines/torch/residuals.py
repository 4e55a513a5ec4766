"""Residuals on a device: a family's own formula, or its residuals on the host."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Hashable
from functools import cache, lru_cache
from types import FunctionType
from typing import Any, cast

import numpy as np
import torch

from ..._registry import overrides_consistently
from ..._validation import warn_user
from ...families._formula import prepared_params
from ...models import ModelSet
from ...residuals import residual_blocks


class DeviceModels:
    """The models of one family as columns on a device, filled up to `width` with the last one."""

    def __init__(self, models: ModelSet, width: int, device: Any) -> None:
        self.family, self.models, self.width = models.family, models, width
        self.theta: Any = None
        if self.has_formula:
            prepared = prepared_params(self.family, models.params)
            last = np.repeat(prepared[-1:], width - len(prepared), axis=0)
            columns = np.ascontiguousarray(np.concatenate([prepared, last]).T)
            self.theta = torch.as_tensor(columns, device=device)

    @property
    def has_formula(self) -> bool:
        return overrides_consistently(type(self.family), "formula", "residuals")

    def then(self, step: Any, X: Any, *others: Any) -> Any:
        """step(residuals (r, width), *others), in one compiled piece where there is a formula.

        step: a function of the module level, so that what is compiled for it is found again.
        """
        if self.has_formula:
            return fused(cast(Hashable, self.family), step)(X, self.theta, *others)
        return step(self._on_host(X), *others)

    def _on_host(self, X: Any) -> Any:
        """Checked, and in blocks of one size, as on the CPU."""
        R = np.full((len(X), self.width), np.inf)
        for rows, part in residual_blocks(X.cpu().numpy(), [self.models]):
            R[rows, : len(self.models)] = part
        return torch.as_tensor(R, device=X.device)


@lru_cache(maxsize=128)
def fused(family: Any, step: Any) -> Any:
    """(X (r, d), theta (p, width), *others) -> step(residuals, *others)."""

    def function(X: Any, theta: Any, *others: Any) -> Any:
        x = [X[:, c, None] for c in range(X.shape[1])]
        return step(family.formula(x, [theta[k] for k in range(len(theta))], torch), *others)

    return compiled(function)


def compiled(function: Any) -> Any:
    """The function made into one kernel where tensors are on a GPU; as it is elsewhere, and where
    there is no Triton to compile it."""
    fast = None

    def run(*args: Any) -> Any:
        nonlocal fast
        if not (args[0].is_cuda and _has_triton()):
            return function(*args)
        if fast is None:
            fast = torch.compile(_distinct(function), dynamic=True, fullgraph=True)
        return fast(*args)

    return run


@cache
def _has_triton() -> bool:
    found = importlib.util.find_spec("triton") is not None
    if not found:
        warn_user("Triton is not installed, so that nothing is compiled for the GPU: it is slower.")
    return found


_number = itertools.count()


def _distinct(function: Any) -> Any:
    """The same function with code of its own: PyTorch compiles no more than eight variants of
    one piece of code, and families share theirs."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{next(_number)}")
    return FunctionType(
        code, function.__globals__, code.co_name, function.__defaults__, function.__closure__
    )
