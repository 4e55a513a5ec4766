"""Residuals by a family's `formula`: compiled for NumPy arrays, on their own device for tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .._tensors import is_tensor
from ..protocols import Floats


def prepared_params(family: Any, params: Any) -> Floats:
    """(m, p) to (m, p'), on the host: what `formula` takes the columns of."""
    if is_tensor(params):
        params = params.detach().cpu().numpy()
    params = np.asarray(params, np.float64)
    prepared = getattr(family, "prepared", None)
    return params if prepared is None else np.asarray(prepared(params), np.float64)


@lru_cache(maxsize=256)
def compiled_formula(family: Any, d: int, p: int) -> Callable[..., None] | None:
    """A function (X (n, d), theta (p, m), out (n, m)); None for what cannot be compiled."""
    from ._compile import compiled  # not before it is needed: it imports numba

    return compiled(family.formula, d, p)


def residuals_of(family: Any, X: Any, params: Any) -> Any:
    """Residuals (n, m) by the family's `formula` as it stands, in the namespace of X (n, d), on
    its device and in its precision. params (m, p) are those of `solve`."""
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
