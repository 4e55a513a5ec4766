"""Processes that are measured, and limited."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from typing import NamedTuple


class Ended(NamedTuple):
    code: int
    out: str
    peak: float
    """in bytes, of resident memory"""
    seconds: float


def measured(arguments, folder, limit=None, **environment):
    """Run Python with these arguments, in at most `limit` bytes of address space."""

    def limited():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    path = os.pathsep.join(filter(None, sys.path))
    start = time.monotonic()
    with open(folder / "output", "w+") as output:
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)], stdout=output, stderr=subprocess.STDOUT,
            preexec_fn=limited,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read()
    return Ended(process.returncode, printed, usage.ru_maxrss * 1024, time.monotonic() - start)
