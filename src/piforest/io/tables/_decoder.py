"""Decoders that may crash, run out of memory or never end: run in a child process with limits.

The size of a file bounds what an honest one can hold, but a decoder written in C or Rust may still
abort the process when a damaged file is handed to it. A child process dies alone, and its death
becomes one line of text.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Seconds without a single block before the child is considered to hang.
PATIENCE = 60.0
# What a child may take: this much memory, and a multiple of the file's size; this much processor
# time, and some for each byte that it is to produce.
_FREE_MEMORY, _MEMORY_A_BYTE = 2 * 2**30, 4
_FREE_SECONDS, _BYTES_A_SECOND = 60, 2**20

Read = Callable[[int], bytearray]


class DecoderFailed(ValueError):
    """The child process died, hung or gave up; the message says which."""


@contextmanager
def decoder(script: Path, path: Path, expected: int, *arguments: object) -> Iterator[Read]:
    """Run a script on a file, and read what it writes to its standard output.

    Parameters
    ----------
    script
        The script, called with its limits of memory and time, `path` and `arguments`.
    path
        The file to decode.
    expected
        Bytes that the script is to write in all; they set its limit of processor time.

    Yields
    ------
    read
        `read(n)` gives the next n bytes, fewer at the end. It raises `DecoderFailed` if the
        child ends badly, or gives nothing for `PATIENCE` seconds.
    """
    memory = _FREE_MEMORY + _MEMORY_A_BYTE * path.stat().st_size
    seconds = _FREE_SECONDS + expected // _BYTES_A_SECOND
    program = [sys.executable, "-P", str(script)]
    command = [*program, str(memory), str(seconds), os.fspath(path), *map(str, arguments)]
    # One thread and one arena: each would reserve memory that the limit counts.
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
    }
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
        )
        try:
            yield lambda n: _read(child, n, errors)
        finally:
            child.kill()
            child.wait()
            assert child.stdout is not None
            child.stdout.close()


def _read(child: Any, n: int, errors: Any) -> bytearray:
    content, done = bytearray(n), 0
    view = memoryview(content)
    late = threading.Event()

    def give_up() -> None:
        late.set()
        child.kill()

    while done < n:
        alarm = threading.Timer(PATIENCE, give_up)
        alarm.daemon = True
        alarm.start()
        try:
            got = child.stdout.readinto(view[done : done + 2**20])
        finally:
            alarm.cancel()
        if not got:
            _check_end(child.wait(), late.is_set(), errors)
            break
        done += got
    view.release()
    del content[done:]
    return content


def _check_end(code: int, late: bool, errors: Any) -> None:
    if late:
        raise DecoderFailed(f"its decoder gave nothing for {PATIENCE:g} seconds")
    if code < 0:
        raise DecoderFailed(f"its decoder ended with {signal.Signals(-code).name}")
    if code > 0:
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        raise DecoderFailed(lines[-1] if lines else f"its decoder ended with code {code}")
