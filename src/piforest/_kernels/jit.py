"""`jit`: numba's decorator with the options that every kernel shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def jit(function: Callable[..., Any]) -> Any:
    """Compile on first use, without the interpreter lock, and cache on disk.

    `fastmath` stays off: a reordered sum would change with the vector width.
    Numba raises RuntimeError where no cache folder can be written; the kernel
    is then compiled anew in every process.
    """
    try:
        return numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(function)
