"""Which device computes: the CPU by compiled kernels, or another one through PyTorch.

PyTorch is imported only if a device asks for it or a tensor comes in.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np


def is_tensor(X: Any) -> bool:
    """Is it a torch tensor? Told without importing torch."""
    return type(X).__module__.partition(".")[0] == "torch"


def on_host(X: Any) -> Any:
    """A tensor as a NumPy array; anything else as it is."""
    if not is_tensor(X):
        return X
    if X.is_sparse or str(X.layout) != "torch.strided":
        raise ValueError(f"X must be a dense tensor, got {X.layout}; X.to_dense() is one.")
    X = X.detach().cpu()
    return (X.double() if X.is_floating_point() else X).numpy()


def like(values: Any, X: Any) -> Any:
    """Values as what X is: a tensor on the device of X, or as they are."""
    if not is_tensor(X) or is_tensor(values):
        return values
    import torch

    return torch.as_tensor(np.asarray(values), device=X.device)


# The metrics that a device knows: of preferences, and of dense vectors.
PREFERENCE_METRICS = ("cosine", "jaccard", "tanimoto")
VECTOR_METRICS = ("euclidean", "manhattan")


def resolve_device(device: Any, able: bool = True) -> Any:
    """The torch device of a parameter `device`; None for the CPU without PyTorch.

    "cpu"; "cuda" or "cuda:1"; "auto": a GPU where there is one and it is `able`; "torch": the
    code of the GPU on the CPU, for tests.
    """
    known = isinstance(device, str) and (
        device in ("cpu", "cuda", "auto", "torch")
        or (device.startswith("cuda:") and device[5:].isdecimal())
    )
    if not known:
        raise ValueError(
            f"device must be 'cpu', 'cuda', 'cuda:N', 'auto' or 'torch', got {device!r}."
        )
    if device == "cpu" or (device == "auto" and not able):
        return None
    has_torch = importlib.util.find_spec("torch") is not None
    if device == "auto" and not has_torch:
        return None
    if not has_torch:
        raise ImportError(f"device={device!r} needs PyTorch: pip install 'piforest[gpu]'")
    import torch

    if device == "torch":
        return torch.device("cpu")
    if device == "auto":
        return torch.device("cuda") if torch.cuda.is_available() else None
    found = torch.cuda.device_count()
    if int(device[5:] or 0) >= found:
        seen = f"only {found} GPUs" if found else "no GPU"
        raise ValueError(
            f"device={device!r}, but PyTorch sees {seen} here; device='auto' takes what there is."
        )
    return torch.device(device)


def sparse_tensor(P: Any, X: Any) -> Any:
    """A SciPy sparse array as a tensor of the same layout, on the device of X."""
    import torch

    parts = (torch.as_tensor(part) for part in (P.indptr, P.indices, P.data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the layout is in beta
        return torch.sparse_csr_tensor(*parts, size=P.shape, check_invariants=False).to(X.device)
