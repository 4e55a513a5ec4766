"""Dask clusters of this machine, as `dask scheduler` and `dask worker` start them.

Their processes are forks of one that has imported what they need, the same in all: it takes two or
three CPU seconds, and each new process of Python would do it again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager

import dask
from distributed.utils import get_mp_context

WAIT = 120
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"}
_PRELOADED = ["dask.dataframe", "distributed.nanny", "distributed.cli.dask_scheduler",
              "distributed.cli.dask_worker", "piforest.apps.folder"]  # fmt: skip


def forking():
    """Processes of `multiprocessing`, forked from one that has imported piforest and Dask."""
    with dask.config.set(FORKED):
        context = get_mp_context()
    context.set_forkserver_preload(_PRELOADED)
    return context


def _run(args, folder, environment):
    os.chdir(folder)
    os.environ.update(environment)
    dask.config.refresh()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    from dask.__main__ import main

    sys.argv = ["dask", *args]
    main()


def command(*args, folder, **environment):
    environment |= {
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": f"{WAIT}s",
        "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
    }
    process = forking().Process(target=_run, args=([*map(str, args)], folder, environment))
    process.start()
    return process


def end(process):
    process.terminate()
    process.join(20)
    if process.exitcode is None:
        process.kill()
        process.join(20)


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
        assert process.exitcode is None, "dask scheduler ended"
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
