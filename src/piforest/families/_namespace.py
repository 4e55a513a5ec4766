"""Residuals by `formula`: a family's distances in the namespace of the arrays that come in.

The compiled kernels take NumPy arrays. A `formula` says the same once more with the elementwise
operations that NumPy and torch share, so that tensors stay on their own device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from .._tensors import is_tensor
from ..protocols import Floats

Method = TypeVar("Method", bound=Callable[..., Any])


def tensors_too(residuals: Method) -> Method:
    """A family's method `residuals` for NumPy arrays, made to take torch tensors by `formula`."""

    @wraps(residuals)
    def dispatched(self: Any, X: Any, params: Any) -> Any:
        return residuals_of(self, X, params) if is_tensor(X) else residuals(self, X, params)

    return cast(Method, dispatched)


def prepared_params(family: Any, params: Any) -> Floats:
    """(m, p) to (m, p'), on the host: what `formula` takes the columns of."""
    if is_tensor(params):
        params = params.detach().cpu().numpy()
    params = np.asarray(params, np.float64)
    prepared = getattr(family, "prepared", None)
    return params if prepared is None else np.asarray(prepared(params), np.float64)


def residuals_of(family: Any, X: Any, params: Any) -> Any:
    """Residuals (n, m) by the family's `formula`, in the namespace of X (n, d), on its device and
    in its precision. params (m, p) are those of `solve`."""
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
