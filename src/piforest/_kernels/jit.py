"""`jit`: numba's decorator with the options of all compiled functions, and the compile time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import blake2b
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
    _make_robust(compiled)
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a function into the compiled functions that call it; it is not compiled separately."""
    return numba.njit(inline="always")(function)


def _make_robust(compiled: Any) -> None:
    """Recompile if the cache on disk is missing, full, read-only or damaged, instead of failing.

    Numba numbers the files of a function's signatures and writes the index before the file.
    Processes that compile at the same time may use one number for two signatures, and a process
    that is killed may leave an index entry for code of another version. Therefore a file is named
    by a hash of its signature and source, and written before the index.
    """
    cache: Any = getattr(compiled, "_cache", None)
    if cache is None:  # NUMBA_DISABLE_JIT
        return
    cache._cache_file.save = partial(_save, cache._cache_file)
    for name in ("load_overload", "save_overload"):
        setattr(cache, name, _or_nothing(cache, getattr(cache, name)))


def _save(files: Any, key: Any, data: Any) -> None:
    """Replacement of `IndexDataCacheFile.save`."""
    content = repr((key, files._source_stamp)).encode()
    name = files._data_name(int.from_bytes(blake2b(content, digest_size=8).digest()))
    files._save_data(name, data)
    files._save_index({**files._load_index(), key: name})


def _or_nothing(cache: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*args: Any) -> Any:
        try:
            return function(*args)
        except OSError:
            return None
        except Exception:  # a damaged pickle may raise any exception
            with suppress(OSError):
                cache.flush()  # so that the function can be saved again
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
