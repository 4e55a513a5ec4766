"""How soon Studio answers, and how soon a cancelled job is gone: `python benchmarks/studio.py`.

The server runs as its command starts it, with a folder of its own, and is asked over loopback.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

_ASKED, _CANCELLED = 50, 5
# So many models take minutes: the job is cancelled in the middle of its work.
_LONG = {"families": ["circle"], "models": 10_000_000}


class Server:
    """`piforest studio` in a process of its own."""

    def __init__(self, home: str) -> None:
        self.home, self.start = Path(home), time.perf_counter()
        command = [sys.executable, "-m", "piforest", "studio", "--no-browser", "--port", "0"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [*command, "--home", home], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        found = re.search(r"(http://\S+?)/\?token=(\S+)", self.process.stdout.readline())
        assert found is not None, "Studio did not start"
        self.address, self.token = found[1], found[2]

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}/api{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def seconds(server: Server, path: str) -> float:
    """The median of several answers."""
    times = []
    for _ in range(_ASKED):
        start = time.perf_counter()
        server.ask(path)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def cancelled(server: Server) -> float:
    """Seconds from the request to cancel a job in the middle of its work until it is gone."""
    sources = server.ask("/sources/example", {"name": "circles"})
    project = server.ask("/projects", {"sources": [each["id"] for each in sources]})["id"]
    body = {"kind": "detect", "settings": _LONG}
    job = server.ask(f"/projects/{project}/jobs", body)["id"]
    while "models" not in (server.ask(f"/jobs/{job}")["stage"] or ""):
        time.sleep(0.05)
    pid = int((server.home / "jobs" / job / "lock").read_text())
    start = time.perf_counter()
    server.ask(f"/jobs/{job}", method="DELETE")
    took = time.perf_counter() - start
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return took
    raise RuntimeError(f"process {pid} still runs")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        server = Server(home)
        try:
            server.ask("/projects")
            first = time.perf_counter() - server.start
            print(f"first answer, from the start of the command   {first:.2f} s")
            print(f"projects, median of {_ASKED}                        "
                  f"{1000 * seconds(server, '/projects'):.1f} ms")  # fmt: skip
            took = [cancelled(server) for _ in range(_CANCELLED)]
            print(f"a cancelled job is gone after                 "
                  f"{min(took):.2f} to {max(took):.2f} s")  # fmt: skip
        finally:
            server.end()


if __name__ == "__main__":
    main()
