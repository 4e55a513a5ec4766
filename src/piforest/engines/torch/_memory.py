"""What travels to a device, and what does not fit there."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
import torch


def to_device(X: Any, device: Any) -> Any:
    """Rows as float64 on the device. PyTorch warns of arrays that it cannot write to."""
    if isinstance(X, np.ndarray) and not X.flags.writeable:
        X = X.copy()
    return torch.as_tensor(X).to(device, torch.float64)


def worded(method: Any) -> Any:
    """A method of what has a `device`; that this is full is told in words."""

    @wraps(method)
    def told(self: Any, *args: Any) -> Any:
        try:
            return method(self, *args)
        except torch.OutOfMemoryError as error:
            raise MemoryError(
                f"device {self.device} has no memory left for this fit; use device='cpu', or fewer "
                "models or a smaller pool."
            ) from error

    return told
