"""`jit`: numba's decorator with the options of all compiled functions, and the compile time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba.core import event

# Without the C wrapper, which nobody calls and which takes a fifth more time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def jit(function: Callable[..., Any]) -> Any:
    """Compile on first use, without the interpreter lock, and cache on disk.

    `fastmath` stays off, because the order of a sum would depend on the vector width. If no
    cache folder is writable, the function is compiled again in every process. Compiled
    functions avoid what makes numba generate much code: assignments to slices, min and max,
    array methods, and allocations, which the caller can make.
    """
    try:
        compiled = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba found no folder
        return numba.njit(**_OPTIONS)(function)
    _ignore_cache_errors(compiled)
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a part of a compiled function into it, so that it is not also compiled alone."""
    return numba.njit(inline="always")(function)


def _ignore_cache_errors(compiled: Any) -> None:
    """Go on without the cache if its folder is gone or read-only, or the disk is full."""
    cache: Any = compiled._cache
    for name in ("load_overload", "save_overload"):
        setattr(cache, name, _none_on_os_error(getattr(cache, name)))


def _none_on_os_error(function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*args: Any) -> Any:
        with suppress(OSError):
            return function(*args)
        return None

    return guarded


class _CompileTimer(event.Listener):  # type: ignore[misc]
    """Sums the compile time; numba compiles one function at a time. Garbage collection is off
    meanwhile: it would take an eighth more time and find hardly anything."""

    seconds = 0.0

    def __init__(self) -> None:
        self.depth, self.start, self.gc_was_enabled = 0, 0.0, False

    def on_start(self, event: Any) -> None:
        # A function that exec defines has no module.
        module = event.data["dispatcher"].py_func.__module__ or ""
        ours = module.startswith("piforest.")
        if self.depth == 0 and ours:
            self.start, self.gc_was_enabled = time.perf_counter(), gc.isenabled()
            gc.disable()
        if self.depth or ours:
            self.depth += 1

    def on_end(self, event: Any) -> None:
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.start
            if self.gc_was_enabled:
                gc.enable()


_timer = _CompileTimer()
event.register("numba:compile", _timer)


def seconds_compiling() -> float:
    """The time spent on compiling in this process so far."""
    return _timer.seconds
