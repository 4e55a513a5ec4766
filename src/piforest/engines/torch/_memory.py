"""Copies of rows to a device, and errors if its memory is full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def uploads(X: Any, size: int, device: Any) -> Iterator[Any]:
    """Blocks of rows as float64 on the device. Those of the host are copied to a GPU while it
    computes with the block before."""
    if device.type != "cuda" or not isinstance(X, np.ndarray):
        for start in range(0, len(X), size):
            yield to_device(X[start : start + size], device)
        return
    # Copies from pinned memory need neither the host nor the stream of the computation. Two
    # buffers: one is filled while the other is copied.
    stream, current = torch.cuda.Stream(device), torch.cuda.current_stream(device)
    shape = (min(size, len(X)), X.shape[1])
    buffers = [torch.empty(shape, dtype=torch.float64, pin_memory=True) for _ in range(2)]
    copied = [torch.cuda.Event(), torch.cuda.Event()]
    for number, start in enumerate(range(0, len(X), size)):
        part, buffer, done = X[start : start + size], buffers[number % 2], copied[number % 2]
        done.synchronize()
        buffer.numpy()[: len(part)] = part
        with torch.cuda.stream(stream):
            block = buffer[: len(part)].to(device, non_blocking=True)
            done.record(stream)
        current.wait_event(done)
        block.record_stream(current)
        yield block


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
