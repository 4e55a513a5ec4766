"""CPU seconds and peak memory of a call, above what the process held before."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measured(work: Callable[..., Any], *given: Any) -> tuple[Any, float, float]:
    """What the call returns, CPU seconds, and MB; nan where the system has no such counters."""
    _return_freed_memory()
    reset = _reset()
    before, start = _kilobytes("VmRSS"), time.process_time()
    result = work(*given)
    seconds = time.process_time() - start
    megabytes = (_kilobytes("VmHWM") - before) / 1000 if reset else float("nan")
    return result, seconds, max(megabytes, 0.0)


def _return_freed_memory() -> None:
    """Else a call could use what the one before had freed, and seem to need nothing."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)


def _reset() -> bool:
    """Forget the highest memory of the process so far."""
    try:
        _RESET.write_text("5")
    except OSError:
        return False
    return True


def _kilobytes(name: str) -> float:
    if not _STATUS.exists():
        return float("nan")
    lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
    return float(lines[name].split()[0])
