"""Rows per second of `piforest serve` over loopback, as a share of scoring in the same process.

python benchmarks/serve.py [--rows 1000] [--requests 40]

Requests and batches in the process alternate, one client, one thread, so that both have the same
machine.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines

ARROW = "application/vnd.apache.arrow.stream"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=40)
    asked = parser.parse_args()
    X = make_lines(8, sizes=1000, anomaly_share=0.3, random_state=0).data
    detector = PreferenceIsolationForest("line", random_state=0, n_jobs=1).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        detector.save(Path(folder) / "model.pif")
        command = [sys.executable, "-um", "piforest", "serve", "model.pif", "--port", "0"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            try:
                address = address_of(server)
                for kind in ("json", "arrow"):
                    compare(kind, address, detector, X, asked)
            finally:
                server.terminate()


def address_of(server: subprocess.Popen[str]) -> tuple[str, str]:
    """Host and port, and the token, which the server prints."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"http://(\S+)/\?token=(\S+)", line):
            return found[1], found[2]
    raise RuntimeError("the server did not start")


def compare(
    kind: str,
    where: tuple[str, str],
    detector: PreferenceIsolationForest,
    X: np.ndarray,
    asked: argparse.Namespace,
) -> None:
    connection = http.client.HTTPConnection(where[0])
    content = ARROW if kind == "arrow" else "application/json"
    headers = {"Authorization": f"Bearer {where[1]}", "Content-Type": content, "Accept": content}
    ratios, rates = [], []
    for k in range(asked.requests + 3):
        rows = X[np.random.default_rng(k).choice(len(X), asked.rows)]
        start = time.perf_counter()
        expected = detector.anomaly_score(rows)
        inside = time.perf_counter() - start
        start = time.perf_counter()
        connection.request("POST", "/score", encoded(rows, kind), headers)
        scores = decoded(connection.getresponse().read(), kind)
        outside = time.perf_counter() - start
        assert np.array_equal(scores, expected)
        if k >= 3:  # the first compile and fill caches
            ratios.append(inside / outside)
            rates.append(asked.rows / outside)
    print(
        f"{kind:<6} {statistics.median(rates):>9,.0f} rows a second, "
        f"{statistics.median(ratios):.2f} of scoring in the process"
    )


def encoded(rows: np.ndarray, kind: str) -> bytes:
    if kind == "json":
        return json.dumps({"rows": rows.tolist()}).encode()
    table = pa.table({f"x{k}": column for k, column in enumerate(rows.T)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def decoded(body: bytes, kind: str) -> np.ndarray:
    if kind == "json":
        return np.array(json.loads(body)["scores"])
    return pa.ipc.open_stream(body).read_all()["score"].to_numpy()


if __name__ == "__main__":
    main()
