"""`jit`: numba's decorator with the options that every kernel shares; how long it compiled."""

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

# No way in for C: it would take a fifth more to compile, and nobody calls kernels from there.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def jit(function: Callable[..., Any]) -> Any:
    """Compile on first use, without the interpreter lock, and cache on disk.

    `fastmath` stays off: a reordered sum would change with the vector width.
    Where no cache folder can be written, the kernel is compiled anew in every process.
    Kernels avoid what makes numba generate much code: assignments to slices, min and max,
    methods of arrays, and arrays of their own, which the caller can make.
    """
    try:
        kernel = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba found no folder
        return numba.njit(**_OPTIONS)(function)
    _make_robust(kernel)
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """A part of a kernel that reads better under a name of its own. It is put into the code of
    the kernel, not compiled alone: that would be done in addition."""
    return numba.njit(inline="always")(function)


def _make_robust(kernel: Any) -> None:
    """A cache that is gone, full, read-only or damaged costs the time to compile, nothing else.

    Numba numbers the files of a function's signatures, and writes the number before the file:
    processes that compile at the same time may take one number for two signatures, and one that
    is killed may leave a number with the code of another version. So the files are named after
    what is in them, and written first.
    """
    cache: Any = getattr(kernel, "_cache", None)
    if cache is None:  # NUMBA_DISABLE_JIT
        return
    cache._cache_file.save = partial(_save, cache._cache_file)
    for name in ("load_overload", "save_overload"):
        setattr(cache, name, _or_nothing(cache, getattr(cache, name)))


def _save(files: Any, key: Any, data: Any) -> None:
    """In place of `IndexDataCacheFile.save`."""
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
        except Exception:  # what is no pickle, or half of one, fails in any way
            with suppress(OSError):
                cache.flush()  # so that the kernel can be saved again
            return None

    return guarded


class _Compiling(event.Listener):  # type: ignore[misc]
    """Counts the seconds in which kernels are compiled, one at a time (numba has a lock), and
    collects no garbage meanwhile: that would take an eighth more, and there is hardly any."""

    seconds = 0.0

    def __init__(self) -> None:
        self.depth, self.start, self.collects = 0, 0.0, False

    def on_start(self, event: Any) -> None:
        # What exec makes has no module.
        module = event.data["dispatcher"].py_func.__module__ or ""
        ours = module.startswith("piforest.")
        if self.depth == 0 and ours:
            self.start, self.collects = time.perf_counter(), gc.isenabled()
            gc.disable()
        if self.depth or ours:
            self.depth += 1

    def on_end(self, event: Any) -> None:
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.start
            if self.collects:
                gc.enable()


_compiling = _Compiling()
event.register("numba:compile", _compiling)


def seconds_compiling() -> float:
    """How long kernels were compiled in this process so far."""
    return _compiling.seconds
