"""Engines: compiled code on the CPU, PyTorch on another device, or a Dask cluster.

Each public method of an estimator calls `choose_engine` once. PyTorch and Dask are imported only
if they are needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .cpu import CpuEngine
from .devices import PREFERENCE_METRICS, VECTOR_METRICS, resolve_device
from .protocol import Backend, Engine, ForestPlan

__all__ = [
    "PREFERENCE_METRICS",
    "VECTOR_METRICS",
    "Backend",
    "CpuEngine",
    "Engine",
    "ForestPlan",
    "choose_engine",
    "is_dask",
]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection. Does not import Dask."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def choose_engine(
    X: Any,
    device: str,
    n_jobs: int | None,
    verbose: int,
    cpu_only: Callable[[Any], ValueError | None] = lambda X: None,
) -> Engine:
    """The engine for the input X and the parameters of an estimator.

    cpu_only(X): the error to raise if `device` names another device than the CPU but only the CPU
    supports the metric, the kernel or the rows; else None.
    """
    engine: Any = CpuEngine(n_jobs, verbose)
    torch_device = None if device == "cpu" else resolve_device(device, cpu_only(X))
    if torch_device is not None:
        from .torch.engine import TorchEngine

        engine = TorchEngine(torch_device, verbose, n_jobs)
    if is_dask(X):
        from .dask.engine import DaskEngine

        engine = DaskEngine(engine, device, n_jobs)
    chosen: Engine = engine
    return chosen
