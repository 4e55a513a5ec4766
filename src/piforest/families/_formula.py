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


def residuals_by_formula(family: Any, X: Any, params: Any) -> Any:
    """Residuals (n, m) of X (n, d) to models (m, p), in the namespace of X.

    NumPy arrays are measured by compiled code, with the bits that NumPy would give.
    """
    if is_tensor(X):
        return residuals_of(family, X, params)
    theta = np.ascontiguousarray(prepared_params(family, params).T)
    X = np.ascontiguousarray(X, np.float64)
    fast = _compiled(family, X.shape[1], len(theta))
    if fast is None:
        return residuals_of(family, X, params)
    out = np.empty((len(X), len(params)))
    fast(X, theta, out)
    return out


@lru_cache(maxsize=256)
def _compiled(family: Any, d: int, p: int) -> Callable[..., None] | None:
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
