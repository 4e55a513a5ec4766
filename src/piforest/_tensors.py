"""Torch tensors and Arrow streams among the inputs, without importing their libraries unless there
is one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def is_tensor(X: Any) -> bool:
    """Whether X is a torch tensor. Does not import torch."""
    return type(X).__module__.partition(".")[0] == "torch"


def to_numpy(X: Any) -> Any:
    """A tensor as a NumPy array, an Arrow stream as a table; anything else unchanged."""
    if not is_tensor(X):
        return from_arrow_stream(X)
    if X.is_sparse or str(X.layout) != "torch.strided":
        raise ValueError(f"X must be a dense tensor, got {X.layout}; X.to_dense() is one.")
    X = X.detach().cpu()
    return (X.double() if X.is_floating_point() else X).numpy()


def from_arrow_stream(X: Any) -> Any:
    """An Arrow stream that is no array, such as a relation of DuckDB, as a table of pyarrow;
    anything else unchanged. A stream can be read once."""
    if not hasattr(X, "__arrow_c_stream__") or hasattr(X, "__array__"):
        return X
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            f"{type(X).__name__} needs pyarrow: pip install 'piforest[cli]'"
        ) from error
    return pa.table(X)


def match_input_type(values: Any, X: Any) -> Any:
    """The values as a tensor on the device of X if X is a tensor; else unchanged."""
    if not is_tensor(X) or is_tensor(values):
        return values
    import torch

    return torch.as_tensor(np.asarray(values), device=X.device)


def sparse_tensor(P: Any, X: Any) -> Any:
    """A SciPy sparse array as a tensor of the same layout, on the device of X."""
    import torch

    parts = (torch.as_tensor(part) for part in (P.indptr, P.indices, P.data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the layout is in beta
        return torch.sparse_csr_tensor(*parts, size=P.shape, check_invariants=False).to(X.device)
