"""Stages of a long computation: `verbose` prints one line for each on standard error, and a
percentage on a terminal. A program that runs the computation may listen to them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Listener = Callable[[str, float | None], None]

_listeners: list[Listener] = []


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Call `listener(stage, share done or None)` for every stage inside the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report_progress(stage: str, done: float | None = None) -> None:
    """Report to the listeners which stage begins, or what share of it is done."""
    for listener in _listeners:
        listener(stage, done)


class Progress:
    """Reports the stages of a long computation, if verbose."""

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        # Here, so that a command line that only reports its stages does not import numba.
        from ._kernels.jit import seconds_compiling

        report_progress(name)
        start, before = time.perf_counter(), seconds_compiling()
        yield
        compiling = seconds_compiling() - before
        if compiling > 0:
            self._write(f"piforest: compiling, {compiling:.2f} s, once", final=True)
        took = max(0.0, time.perf_counter() - start - compiling)
        self._write(f"piforest: {name}, {took:.2f} s", final=True)

    def track(self, items: Iterable[T], total: int, name: str) -> Iterator[T]:
        """Yield the items and show the percentage done on a terminal."""
        for item, _ in self.track_rows(((item, 1) for item in items), total, name):
            yield item

    def track_rows(self, blocks: Iterable[tuple[T, int]], total: int, name: str) -> Iterator[Any]:
        """Yield (block, number of rows) pairs and show the percentage of rows done."""
        done = 0
        for block, rows in blocks:
            yield block, rows
            done += rows
            report_progress(name, done / total)
            if sys.stderr.isatty():
                self._write(f"piforest: {name} {100 * done // total} %", final=False)
        if sys.stderr.isatty():
            self._write("", final=False)

    def _write(self, text: str, final: bool) -> None:
        if self.verbose:
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            sys.stderr.write(clear + text + ("\n" if final else ""))
            sys.stderr.flush()
