"""Copies of rows to a device, and errors if its memory is full."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import torch

Method = TypeVar("Method", bound=Callable[..., Any])


def to_device(X: Any, device: Any) -> Any:
    """Rows as float64 on the device."""
    if isinstance(X, np.ndarray) and not X.flags.writeable:
        X = X.copy()  # PyTorch warns about read-only arrays
    return torch.as_tensor(X).to(device, torch.float64)


def explain_out_of_memory(method: Method) -> Method:
    """Decorate a method of an object with a `device`: raise a clear MemoryError if it is full."""

    @wraps(method)
    def explained(self: Any, *args: Any) -> Any:
        try:
            return method(self, *args)
        except torch.OutOfMemoryError as error:
            raise MemoryError(
                f"device {self.device} has no memory left for this fit; use device='cpu', or fewer "
                "models or a smaller pool."
            ) from error

    return cast(Method, explained)
