"""Dask clusters of this machine, started from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager

WAIT = 120


def command(*args, folder, **environment):
    connect = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": f"{WAIT}s"}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, args)], cwd=folder,
        env={**os.environ, **connect, **environment},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def end(process):
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(20)


def scheduler(folder, port=0, **environment):
    """`dask scheduler`, and its address once it answers."""
    (folder / "scheduler.json").unlink(missing_ok=True)
    process = command(
        "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show",
        "--scheduler-file", folder / "scheduler.json", folder=folder, **environment,
    )  # fmt: skip
    limit = time.monotonic() + WAIT
    # The file is there before it is written.
    while not (address := _address(folder / "scheduler.json")):
        assert process.poll() is None, "dask scheduler ended"
        assert time.monotonic() < limit, "dask scheduler did not start"
        time.sleep(0.1)
    return process, address


def _address(path):
    try:
        return json.loads(path.read_text())["address"]
    except (OSError, ValueError):
        return None


def worker(folder, *options):
    return command(
        "worker", "--scheduler-file", folder / "scheduler.json", "--nthreads", 1,
        "--no-dashboard", "--local-directory", folder / "spill", *(options or ["--no-nanny"]),
        folder=folder,
    )  # fmt: skip


@contextmanager
def ending():
    """A list of processes, which are ended with the block, the last first."""
    started = []
    try:
        yield started
    finally:
        for process in reversed(started):
            end(process)
