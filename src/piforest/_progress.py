"""What `verbose` prints: one line a stage, to standard error, with the share done on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ._kernels.jit import seconds_compiling

T = TypeVar("T")


class Progress:
    """Stages of a long computation. Silent unless verbose."""

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start, before = time.perf_counter(), seconds_compiling()
        yield
        compiling = seconds_compiling() - before
        if compiling > 0:
            self._write(f"piforest: compiling, {compiling:.2f} s, once", final=True)
        took = max(0.0, time.perf_counter() - start - compiling)
        self._write(f"piforest: {name}, {took:.2f} s", final=True)

    def track(self, items: Iterable[T], total: int, name: str) -> Iterator[T]:
        """The items, with the share that is done shown on a terminal."""
        for done, item in enumerate(items, 1):
            yield item
            if sys.stderr.isatty():
                self._write(f"piforest: {name} {100 * done // total} %", final=False)
        if sys.stderr.isatty():
            self._write("", final=False)

    def track_rows(self, blocks: Iterable[tuple[T, int]], total: int, name: str) -> Iterator[Any]:
        """Blocks and how many rows each has, with the share of all rows that is done."""
        done = 0
        for block, rows in blocks:
            yield block, rows
            done += rows
            if sys.stderr.isatty():
                self._write(f"piforest: {name} {100 * done // total} %", final=False)
        if sys.stderr.isatty():
            self._write("", final=False)

    def _write(self, text: str, final: bool) -> None:
        if self.verbose:
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            sys.stderr.write(clear + text + ("\n" if final else ""))
            sys.stderr.flush()
