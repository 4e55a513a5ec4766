"""The device that the parameter `device` names."""

from __future__ import annotations

import importlib.util
from typing import Any

# The metrics that devices other than the CPU support.
PREFERENCE_METRICS = ("cosine", "jaccard", "tanimoto")
VECTOR_METRICS = ("euclidean", "manhattan")


def resolve_device(device: Any, cpu_only: ValueError | None = None) -> Any:
    """The torch device of the parameter `device`; None for compiled code on the CPU.

    "cpu"; "cuda" or "cuda:1"; "auto": a GPU if there is one and it supports the computation;
    "torch": the code of the GPU on the CPU, for tests. cpu_only: the error if only the CPU
    supports the computation.
    """
    known = isinstance(device, str) and (
        device in ("cpu", "cuda", "auto", "torch")
        or (device.startswith("cuda:") and device[5:].isdecimal())
    )
    if not known:
        raise ValueError(
            f"device must be 'cpu', 'cuda', 'cuda:N', 'auto' or 'torch', got {device!r}."
        )
    if device == "cpu" or (device == "auto" and cpu_only is not None):
        return None
    has_torch = importlib.util.find_spec("torch") is not None
    if device == "auto" and not has_torch:
        return None
    if not has_torch:
        raise ImportError(f"device={device!r} needs PyTorch: pip install 'piforest[gpu]'")
    torch_device = _torch_device(device)
    if torch_device is not None and cpu_only is not None:
        raise cpu_only
    return torch_device


def _torch_device(device: str) -> Any:
    import torch

    if device == "torch":
        return torch.device("cpu")
    if device == "auto":
        return torch.device("cuda") if torch.cuda.is_available() else None
    n_gpus = torch.cuda.device_count()
    if int(device[5:] or 0) >= n_gpus:
        available = f"only {n_gpus} GPUs" if n_gpus else "no GPU"
        raise ValueError(
            f"device={device!r}, but PyTorch finds {available} here; device='auto' uses a GPU if "
            "there is one."
        )
    return torch.device(device)
