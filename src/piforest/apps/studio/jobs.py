"""Jobs: a queue, worker processes with limits, cancelling, and what survives a restart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..server.guard import Refused
from .commands import FAMILY_FILE
from .store import Store
from .worker import data_mb, fcntl, finish, memory_limit, too_long, write_json

# Seconds between two polls of the workers, and that a worker has to end after SIGTERM.
_PERIOD, _PATIENCE = 0.1, 1.0
# Seconds beyond its limit of time after which a worker that did not end itself is killed.
_GRACE = 3.0
# A worker writes its state five times a second; one that has not for this many seconds, with this
# share of its memory in use, is stuck.
_SILENT, _FULL = 5.0, 0.95
RUNNING = ("queued", "running")
_LAST_LINES = 4000


@dataclass(frozen=True)
class JobLimits:
    """The limits of a worker.

    Attributes
    ----------
    memory_mb : float
        Memory, in MB.
    timeout : float
        Seconds.
    at_once : int
        Workers that run at the same time; further jobs wait.
    """

    memory_mb: float
    timeout: float
    at_once: int = 2


class JobInput(NamedTuple):
    """What a worker needs."""

    spec: dict[str, Any]
    """for `job.json`: the command, or the job to compare with"""
    inputs: dict[str, str]
    """names of links in the folder of the command, and their targets"""
    texts: dict[str, str]
    """names of files, and their content"""


class Jobs:
    """The jobs of a store. A thread starts them, monitors them and records how they end."""

    def __init__(self, store: Store, limits: JobLimits) -> None:
        self.store, self.limits = store, limits
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._found_running: set[str] = set()
        self._lock = threading.RLock()
        self._changed, self._closed = threading.Event(), False
        self._find_running()
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        self._thread.start()

    # Called by requests.

    def add(self, project: str, kind: str, settings: dict[str, Any], made: JobInput,
            state: str = "queued") -> str:  # fmt: skip
        """Put a job into the queue, or add it as done if its results are known."""
        self.store.check_space()
        key = self.store.new_id()
        self._write_folder(self.store.job_folder(key), kind, settings, made)
        self.store.add_job(key, project, kind, state, settings, made.spec.get("command", ""))
        self._changed.set()
        return key

    def _write_folder(
        self, folder: Path, kind: str, settings: dict[str, Any], made: JobInput
    ) -> None:
        """Write the folder of a job, before the job is in the store."""
        run = folder / "run"
        run.mkdir(parents=True, mode=0o700)
        for name, target in made.inputs.items():
            (run / name).symlink_to(target)
        for name, text in made.texts.items():
            (run / name).write_text(text)
        write_json(folder / "job.json", {
            **made.spec, "kind": kind, "settings": settings, "memory_mb": self.limits.memory_mb,
            "timeout": self.limits.timeout,
        })  # fmt: skip

    def restart(self, key: str) -> None:
        """Run a job again that was interrupted, cancelled or failed."""
        with self._lock:
            job = self.store.job(key)
            if job["state"] in (*RUNNING, "done"):
                raise Refused(409, f"the job is {job['state']}; only one that ended early starts "
                              "again.")  # fmt: skip
            folder = self.store.job_folder(key)
            for name in ("outcome.json", "status.json", "result.json", "lock"):
                (folder / name).unlink(missing_ok=True)
            for each in (folder / "run").iterdir():  # what the command wrote, but no input
                if not each.is_symlink() and each.name != FAMILY_FILE:
                    each.unlink()
            self.store.change_job(key, state="queued", error=None, seconds=None, started=None)
        self._changed.set()

    def cancel(self, key: str) -> None:
        """End a job: SIGTERM, and SIGKILL if that does not help. Returns when it has ended."""
        with self._lock:
            job = self.store.job(key)
            if job["state"] not in RUNNING:
                return
            self.store.change_job(key, state="cancelled", error="cancelled.")
            worker = self._workers.get(key)
        self._terminate(key, worker)
        with self._lock:
            self._workers.pop(key, None)
            self._found_running.discard(key)

    def describe(self, job: dict[str, Any]) -> dict[str, Any]:
        """A job as a page sees it, with the stage of its worker."""
        shown = {name: job[name] for name in (
            "id", "kind", "project", "state", "settings", "created", "seconds", "memory_mb",
            "error", "command", "warnings")}  # fmt: skip
        shown |= {"stage": None, "done": None}
        if job["state"] == "running":
            shown |= self._status(job["id"])
            shown["seconds"] = round(time.time() - job["started"], 2)
        return shown

    def close(self) -> None:
        """End all workers; their jobs are interrupted and may be started again."""
        with self._lock:
            self._closed = True
            workers = dict(self._workers)
            adopted = set(self._found_running)
        self._changed.set()
        self._thread.join()
        for key in {*workers, *adopted}:
            lived = self._is_running(key, workers.get(key))
            self._terminate(key, workers.get(key))
            # A worker that was ended says that it failed, unless it was done just before.
            if not self._record_outcome(key) or (lived and self.store.job(key)["state"] != "done"):
                self.store.change_job(key, state="interrupted", error=_INTERRUPTED)

    # Called by the thread.

    def _find_running(self) -> None:
        """Find running workers of an earlier server."""
        for job in self.store.jobs_in("running"):
            if is_alive(self.store.job_folder(job["id"])):
                self._found_running.add(job["id"])
            else:
                self._record_end(job["id"], None)

    def _run(self) -> None:
        while not self._closed:
            with suppress(Exception):  # one bad job must not end all others
                self._poll()
            self._changed.wait(_PERIOD)
            self._changed.clear()

    def _poll(self) -> None:
        with self._lock:
            for key, worker in list(self._workers.items()):
                if worker.poll() is not None:
                    del self._workers[key]
                    self._record_end(key, _reason_of_end(worker.returncode, self._log(key)))
            for key in list(self._found_running):
                if not is_alive(self.store.job_folder(key)):
                    self._found_running.discard(key)
                    self._record_end(key, None)
            self._kill_over_limit()
            free = self.limits.at_once - len(self._workers) - len(self._found_running)
            for job in self.store.jobs_in("queued")[: max(0, free)]:
                self._start(job["id"])

    def _start(self, key: str) -> None:
        folder = self.store.job_folder(key)
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        # -P: the folder of a job holds untrusted files, which must not be imported.
        command = [sys.executable, "-P", "-m", "piforest.apps.studio.worker", str(folder)]
        with open(folder / "log.txt", "wb") as log:
            self._workers[key] = subprocess.Popen(
                command, cwd=folder / "run", env=environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.store.change_job(key, state="running", started=time.time())

    def _kill_over_limit(self) -> None:
        """Kill workers that exceed a limit and did not end themselves."""
        for key in (*self._workers, *self._found_running):
            error = None
            if time.time() - self.store.job(key)["started"] > self.limits.timeout + _GRACE:
                error = too_long(self.limits.timeout)
            elif self._is_stuck(key):
                error = f"not enough memory.{memory_limit(self.limits.memory_mb)}"
            if error is not None:
                finish(self.store.job_folder(key), "failed", error)
                self._signal(key, self._workers.get(key), signal.SIGKILL)

    def _is_stuck(self, key: str) -> bool:
        """Whether a worker has stopped writing its state at its memory limit, where Python may not
        even be able to raise an error."""
        folder = self.store.job_folder(key)
        try:
            silent = time.time() - (folder / "status.json").stat().st_mtime
        except OSError:
            return False
        pid = pid_of(folder) if silent > _SILENT else None
        return pid is not None and data_mb(pid) > _FULL * self.limits.memory_mb

    def _terminate(self, key: str, worker: subprocess.Popen[bytes] | None) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal(key, worker, number)
            deadline = time.monotonic() + _PATIENCE
            while self._is_running(key, worker) and time.monotonic() < deadline:
                time.sleep(0.02)

    def _is_running(self, key: str, worker: subprocess.Popen[bytes] | None) -> bool:
        return is_alive(self.store.job_folder(key)) if worker is None else worker.poll() is None

    def _signal(self, key: str, worker: subprocess.Popen[bytes] | None, number: int) -> None:
        """Signal a worker and the processes that it started: they are one session."""
        if not self._is_running(key, worker):
            return
        pid = pid_of(self.store.job_folder(key)) if worker is None else worker.pid
        with suppress(OSError):
            if pid is not None:
                os.killpg(pid, number)

    def _record_end(self, key: str, reason: str | None) -> None:
        """Record how a worker ended. reason: if it wrote no outcome; None if unknown."""
        if self.store.job(key)["state"] == "cancelled" or self._record_outcome(key):
            return
        state = "interrupted" if reason is None else "failed"
        self.store.change_job(key, state=state, error=reason or _INTERRUPTED)

    def _record_outcome(self, key: str) -> bool:
        """Record how a worker ended, if it wrote an outcome."""
        folder = self.store.job_folder(key)
        try:
            outcome = json.loads((folder / "outcome.json").read_text())
            status = self._status(key)
        except (OSError, ValueError):
            return False
        self.store.change_job(
            key, state=outcome["state"], error=outcome.get("error"),
            warnings=outcome.get("warnings", []), seconds=status.get("seconds"),
            memory_mb=status.get("most_mb"),
        )  # fmt: skip
        return True

    def _status(self, key: str) -> dict[str, Any]:
        try:
            found = json.loads((self.store.job_folder(key) / "status.json").read_text())
        except (OSError, ValueError):
            return {"stage": "starting"}
        return dict(found)

    def _log(self, key: str) -> str:
        try:
            data = (self.store.job_folder(key) / "log.txt").read_bytes()
        except OSError:
            return ""
        return data[-_LAST_LINES:].decode(errors="replace")


_INTERRUPTED = "interrupted: the server ended before the job; it can be started again."


def _reason_of_end(code: int, log: str) -> str:
    """Why a worker ended without an outcome."""
    if code == -signal.SIGKILL:
        return "the worker was killed, most often by the system when memory is short."
    lines = [line for line in log.splitlines() if line.strip()]
    last = f": {lines[-1][:300]}" if lines else ""
    return f"the worker ended with code {code}{last}. A file that is damaged can do that."


def is_alive(folder: Path) -> bool:
    """Whether the worker of a folder is running: it holds a lock until it ends."""
    if fcntl is None:
        return False
    try:
        with open(folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def pid_of(folder: Path) -> int | None:
    try:
        return int(Path(folder / "lock").read_text())
    except (OSError, ValueError):
        return None
