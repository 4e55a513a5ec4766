"""A child process that runs inputs, and may die of them."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from pathlib import Path

# Seconds for one input, on a machine that others use too, and for a child to start.
PATIENCE, START = 120, 300


class Child:
    """A process that runs inputs."""

    def __init__(self, work, *seed):
        self.errors = open(work / "errors", "w+")  # noqa: SIM115
        # The child finds this package, and whatever the parent finds.
        paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", str(work), *map(str, seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            env=environment,
        )  # fmt: skip
        self.lines = b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        if self._line(START) != "ready":
            self.end()
            self.errors.seek(0)
            raise RuntimeError(f"the child did not start: {self.errors.read()[-2000:]}")

    def run(self, which):
        """Outcome, reason and place of an input: its number, or the path of a file."""
        self.process.stdin.write(f"{which}\n".encode())
        self.process.stdin.flush()
        while (line := self._line(PATIENCE)) is not None:
            words = line.split("\t")
            if words[1] != "start":
                return (*words[1:4], "", "")[:3]
        return "find", self._death(), ""

    def _line(self, seconds):
        """The next line; None where the child dies or gives none in time."""
        limit = time.monotonic() + seconds
        while b"\n" not in self.lines:
            if not self.selector.select(max(0, limit - time.monotonic())):
                return None
            part = self.process.stdout.read1()
            if not part:
                return None
            self.lines += part
        line, _, self.lines = self.lines.partition(b"\n")
        return line.decode()

    def _death(self):
        code = self.process.poll()
        if code is None:
            try:
                code = self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.end()
                return f"no answer within {PATIENCE} seconds"
        return f"the process ended with {code}"

    def ended(self):
        return self.process.poll() is not None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.selector.close()
        self.process.stdin.close()
        self.process.stdout.close()
