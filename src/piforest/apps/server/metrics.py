"""Counters of the server, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from threading import Lock

_HELP = {
    "piforest_requests_total": "Requests by path and status.",
    "piforest_rows_total": "Rows that were scored.",
    "piforest_scoring_seconds_total": "Seconds of scoring, summed over requests.",
}


class Metrics:
    """Counters that several threads may increase."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._rows, self._seconds = 0, 0.0

    def count_request(self, path: str, status: int) -> None:
        """Count a request; path: of a route, not of the request, so that there are few."""
        with self._lock:
            self._requests[path, status] += 1

    def count_rows(self, rows: int, seconds: float) -> None:
        """Count the rows of a request, and the time that they took."""
        with self._lock:
            self._rows += rows
            self._seconds += seconds

    def text(self) -> str:
        """All counters."""
        with self._lock:
            samples = {
                "piforest_requests_total": [
                    (f'{{path="{path}",status="{status}"}}', str(number))
                    for (path, status), number in sorted(self._requests.items())
                ],
                "piforest_rows_total": [("", str(self._rows))],
                "piforest_scoring_seconds_total": [("", f"{self._seconds:.6f}")],
            }
        lines = []
        for name, values in samples.items():
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} counter"]
            lines += [f"{name}{labels} {value}" for labels, value in values]
        return "\n".join([*lines, ""])
