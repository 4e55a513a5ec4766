"""Child processes that answer short requests about files, so that the server reads none.

Untrusted files are read by a child with a memory limit. If it crashes, hangs or exceeds the limit,
only this child ends, and the request gets an error message.
"""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from ..server.guard import Refused

_PATIENCE = 60.0
_MODULE = "piforest.apps.studio.helper_process"


class Helper:
    """One child process, started at the first request."""

    def __init__(self, memory_mb: float, patience: float) -> None:
        self.memory_mb, self.patience = memory_mb, patience
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, call: str, patience: float | None, given: dict[str, Any]) -> Any:
        """The answer of the child; `Refused` with its message, or if it ended."""
        line = json.dumps({"call": call, "given": given}).encode() + b"\n"
        answer = self._answered(line, patience or self.patience)
        if answer is None:
            self.end()
            raise Refused(
                422, "the file could not be read: the process that read it took more than "
                f"{self.patience:,.0f} s or {self.memory_mb:,.0f} MB, or crashed. Is it damaged?"
            )  # fmt: skip
        if "error" in answer:
            raise Refused(answer["status"], answer["error"])
        return answer["result"]

    def _answered(self, line: bytes, patience: float) -> dict[str, Any] | None:
        child = self._started()
        assert child.stdin is not None
        try:
            child.stdin.write(line)
            child.stdin.flush()
            return dict(json.loads(self._line(child, patience)))
        except (OSError, ValueError, TimeoutError):
            return None

    def _line(self, child: subprocess.Popen[bytes], patience: float) -> bytes:
        assert child.stdout is not None
        deadline = time.monotonic() + patience
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
                raise TimeoutError
            part = os.read(child.stdout.fileno(), 2**20)
            if not part:
                raise OSError("the child has ended")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self._rest = b""
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE, str(self.memory_mb)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        return self._child

    def end(self) -> None:
        if self._child is None:
            return
        with suppress(OSError):
            self._child.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        self._child = None


class Helpers:
    """A few children; a request waits until one is free."""

    def __init__(self, memory_mb: float, count: int = 2, patience: float = _PATIENCE) -> None:
        self._free: queue.LifoQueue[Helper] = queue.LifoQueue()
        self._all = [Helper(memory_mb, patience) for _ in range(count)]
        for each in reversed(self._all):
            self._free.put(each)
        self._closed = False

    def ask(self, call: str, *, patience: float | None = None, **given: Any) -> Any:
        """Ask a child; may be called from any thread. patience: seconds to wait for the answer."""
        helper = self._free.get()
        try:
            if self._closed:
                raise Refused(503, "Studio is ending.")
            return helper.ask(call, patience, given)
        finally:
            self._free.put(helper)

    def close(self) -> None:
        self._closed = True
        for each in self._all:
            each.end()
