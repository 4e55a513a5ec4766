"""A job in its own process: `python -m piforest.apps.studio.worker FOLDER`.

The folder of a job:

    job.json      the command and its limits; written by the server
    lock          locked while this process lives, with its number
    status.json   the stage, the share done, memory; written a few times a second
    outcome.json  how it ended; written last, atomically
    log.txt       the output of the command
    run/          the current folder of the command: links to its inputs, its model
    result.json, arrays/   the result that a page shows
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from ..._progress import progress_listener
from ...io.atomic import atomic_write

fcntl: Any
resource: Any
try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None

# Seconds between two checks of time and memory.
_PERIOD = 0.2
# Files of a job: no single one may be larger.
_MOST_FILE = 20 * 2**30


def write_json(path: Path, content: Any) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(content, allow_nan=False).encode())


def memory_mb() -> float:
    """Memory of this process in use, in MB; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, ValueError, AttributeError):
        return 0.0


def limit_memory(most_mb: float) -> None:
    """Limit the memory of this process, so that the command fails and not the machine."""
    if resource is None or not sys.platform.startswith("linux"):
        return
    most = int(most_mb * 1e6)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE, _MOST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Status:
    """The state of the job, written to a file."""

    def __init__(self, folder: Path, timeout: float) -> None:
        self.folder, self.timeout = folder, timeout
        self.stage, self.done = "starting", None
        self.start, self.most = time.monotonic(), 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def update(self, stage: str, done: float | None) -> None:
        self.stage, self.done = stage, done  # type: ignore[assignment]

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._write()

    def _watch(self) -> None:
        while not self._ended.wait(_PERIOD):
            self._write()
            if time.monotonic() - self.start > self.timeout:
                finish(self.folder, "failed", too_long(self.timeout))
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(1.0)  # to remove what it wrote
                os._exit(1)

    def _write(self) -> None:
        now = memory_mb()
        self.most = max(self.most, now)
        write_json(self.folder / "status.json", {
            "stage": self.stage, "done": self.done, "memory_mb": round(now, 1),
            "most_mb": round(self.most, 1), "seconds": round(time.monotonic() - self.start, 2),
        })  # fmt: skip


def too_long(timeout: float) -> str:
    return (
        f"it took longer than {timeout:,.0f} s, the limit of time; start Studio with a larger "
        "--timeout, or take fewer rows or models."
    )


def memory_limit(most_mb: float) -> str:
    return f" The limit of a job is {most_mb:,.0f} MB; --memory sets another."


def data_mb(pid: int) -> float:
    """Memory of a process that its limit counts, in MB; 0 if unknown."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) / 976.5625
    except (OSError, ValueError, StopIteration):
        return 0.0


def finish(folder: Path, state: str, error: str | None, **more: Any) -> None:
    """Write the outcome, unless there is one."""
    if not (folder / "outcome.json").exists():
        write_json(folder / "outcome.json", {"state": state, "error": error, **more})


def run(folder: Path) -> int:
    """Run the job of a folder; its outcome is written there."""
    spec = json.loads((folder / "job.json").read_text())
    limit_memory(spec["memory_mb"])
    status = _Status(folder, spec["timeout"])
    warnings: list[str] = []
    try:
        with progress_listener(status.update):
            error = work(folder, spec, warnings)
    except MemoryError:
        error = "not enough memory."
    except KeyboardInterrupt:
        error = "cancelled."
    except Exception as problem:
        error = " ".join(f"{type(problem).__name__}: {problem}".split())
    status.end()
    if error is not None and "memory" in error:
        error += memory_limit(spec["memory_mb"])
    finish(folder, "done" if error is None else "failed", error, warnings=warnings,
           most_mb=round(status.most, 1))  # fmt: skip
    return 0 if error is None else 1


def work(folder: Path, spec: dict[str, Any], warnings: list[str]) -> str | None:
    """Run the command and write its result; return the error message, or None."""
    from . import comparing, running

    if spec["kind"] == "compare":
        comparing.compare(folder, spec)
        return None
    return running.run_command(folder, spec, warnings)


def main() -> int:
    folder = Path(sys.argv[1])
    lock = open(folder / "lock", "w")  # noqa: SIM115
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    lock.write(str(os.getpid()))
    lock.flush()
    code = run(folder)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads of libraries do not hold it up


if __name__ == "__main__":
    main()
