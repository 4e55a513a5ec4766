"""Evaluate the `formula` of a family: compiled for NumPy arrays, on their device for tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .._tensors import is_tensor
from ..protocols import Floats


def prepared_params(family: Any, params: Any) -> Floats:
    """Apply `family.prepared` if it is defined: (m, p) to (m, p'), the columns of `formula`."""
    if is_tensor(params):
        params = params.detach().cpu().numpy()
    params = np.asarray(params, np.float64)
    prepared = getattr(family, "prepared", None)
    return params if prepared is None else np.asarray(prepared(params), np.float64)


@lru_cache(maxsize=256)
def compiled_formula(family: Any, d: int, p: int) -> Callable[..., None] | None:
    """Return a function (X (n, d), theta (p, m), out (n, m)), or None if it cannot be compiled."""
    from ._compile import compiled  # a late import, because it imports numba

    return compiled(family.formula, d, p)


@lru_cache(maxsize=256)
def compiled_coordinate(family: Any, d: int, p: int, number: int) -> Callable[..., None]:
    """`compiled_formula` of one coordinate of the chart."""
    from ._compile import compiled

    fast = compiled(lambda x, theta, xp: family.chart(x, theta, xp)[number], d, p)
    if fast is None:
        raise ValueError(f"the chart of family {family.name!r} cannot be compiled.")
    return fast


@lru_cache(maxsize=256)
def chart_dimension(family: Any, d: int, p: int) -> int:
    """The number of coordinates of the chart, 0 if there is none; p parameters of `prepared`."""
    with np.errstate(all="ignore"):
        return len(family.chart([np.zeros((1, 1))] * d, [np.ones((1, 1))] * p, np))


def residuals_of(family: Any, X: Any, params: Any) -> Any:
    """Evaluate `formula` without compilation, in the namespace, on the device and in the precision
    of X (n, d). `params` (m, p) come from `solve`. Returns residuals (n, m)."""
    theta = np.ascontiguousarray(prepared_params(family, params).T)
    if not is_tensor(X):
        with np.errstate(all="ignore"):
            theta = theta.astype(X.dtype if X.dtype.kind == "f" else np.float64, copy=False)
            return family.formula(list(X.T[:, :, None]), list(theta[:, None]), np)
    import torch

    if not X.is_floating_point():
        X = X.to(torch.float64)
    columns = torch.as_tensor(theta, dtype=X.dtype, device=X.device)
    return family.formula(list(X.T[:, :, None]), list(columns[:, None]), torch)


class _WithSign(np.ndarray):
    """An array that keeps the sign of what `abs` was last applied to."""

    signs: list[Floats]

    def __array_finalize__(self, other: object) -> None:
        self.signs = getattr(other, "signs", [])

    def __abs__(self) -> _WithSign:
        self.signs.append(np.sign(np.asarray(self)))
        return np.abs(self).view(_WithSign)


def side_of(family: Any, X: Floats, params: Floats) -> Floats:
    """(n,) the side of a model (p,) that rows (n, d) are on, 1 or -1, where it has two: the sign of
    what the formula takes the absolute value of; 1 if it takes none."""
    formula = getattr(family, "formula", None)
    if formula is None:
        return np.ones(len(X))
    theta = prepared_params(family, params[None]).T
    signs: list[Floats] = []
    columns = [np.ascontiguousarray(column)[:, None].view(_WithSign) for column in X.T]
    for column in columns:
        column.signs = signs
    with np.errstate(all="ignore"):  # columns and parameters as in `residuals_of`
        formula(columns, list(theta[:, None]), np)
    if not signs or signs[-1].size != len(X):
        return np.ones(len(X))
    return np.where(signs[-1].ravel() < 0, -1.0, 1.0)
