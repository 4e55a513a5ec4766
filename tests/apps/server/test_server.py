"""The scoring server: what it answers, and whom."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("fastapi", reason="piforest[serve] is not installed")
from fastapi.testclient import TestClient

from piforest import PreferenceIsolationForest
from piforest.apps import cli
from piforest.apps.server.app import make_app
from piforest.apps.server.batches import ARROW
from piforest.apps.server.limits import Limits
from piforest.datasets import make_lines

BEARER = {"Authorization": "Bearer secret"}


@pytest.fixture(scope="module")
def X():
    return make_lines(2, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0).data


@pytest.fixture(scope="module")
def detector(X):
    frame = pd.DataFrame(X, columns=["x", "y"])
    return PreferenceIsolationForest("line", n_models=500, random_state=0).fit(frame)


def client_of(detector, **limits):
    app = make_app(detector, "model.pif", Limits("secret", **limits), concurrent=2)
    return TestClient(app, base_url="http://127.0.0.1:8000")


@pytest.fixture(scope="module")
def client(detector):
    with client_of(detector) as made:
        yield made


def ask(client, content, **headers):
    return client.post("/score", json=content, headers={**BEARER, **headers})


def test_scores_are_those_of_the_detector_to_the_last_bit(client, detector, X):
    frame = pd.DataFrame(X, columns=["x", "y"])
    expected = detector.anomaly_score(frame)
    answer = ask(client, {"rows": X.tolist()})
    assert answer.status_code == 200
    found = answer.json()
    assert np.array_equal(found["scores"], expected)
    assert np.array_equal(found["anomaly"], detector.predict(frame) == -1)
    assert found["threshold"] == detector.threshold_
    # Columns by name, in any order, with others beside them.
    columns = {"y": X[:, 1].tolist(), "other": [0.0] * len(X), "x": X[:, 0].tolist()}
    assert np.array_equal(ask(client, {"columns": columns}).json()["scores"], expected)


def test_arrow_goes_in_and_comes_out(client, detector, X):
    table = pa.table({"y": X[:, 1], "x": X[:, 0]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    headers = {**BEARER, "Content-Type": ARROW, "Accept": ARROW}
    answer = client.post("/score", content=sink.getvalue(), headers=headers)
    assert answer.headers["content-type"] == ARROW
    found = pa.ipc.open_stream(answer.content).read_all()
    expected = detector.anomaly_score(pd.DataFrame(X, columns=["x", "y"]))
    assert np.array_equal(found["score"].to_numpy(), expected)
    assert found.column_names == ["score", "anomaly"]


def test_no_rows_have_no_scores(client):
    assert ask(client, {"columns": {"x": [], "y": []}}).json()["scores"] == []


@pytest.mark.parametrize(
    ("content", "status", "text"),
    [
        ({}, 422, "either 'rows' or 'columns'"),
        ({"rows": [[1.0, 2.0, 3.0]]}, 422, "rows must have 2 columns, got 3"),
        ({"rows": [[1.0], [1.0, 2.0]]}, 422, "the same number of columns"),
        ({"rows": [[1.0, "a"]]}, 422, "the body is no batch of rows: rows.0.1"),
        ({"rows": [[1.0, None]]}, 422, "the body is no batch of rows"),
        ({"columns": {"x": [1.0]}}, 422, "columns ['y'] are missing"),
        ({"columns": {"x": [1.0], "y": []}}, 422, "the same number of values"),
        ({"rows": [[1e300, 0.0]] * 3, "more": 1}, 422, "more: Extra inputs"),
        ({"rows": [[0.0, 0.0]] * 9}, 413, "at most 8 rows, got 9"),
    ],
)
def test_other_bodies_are_refused_in_words(detector, content, status, text):
    with client_of(detector, max_rows=8) as client:
        answer = ask(client, content)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert text in answer.json()["error"]


def test_bodies_of_other_types_are_refused_in_words(client):
    for body, kind, status, text in [
        (b"{", "application/json", 422, "no batch of rows"),
        (b'{"rows": [[NaN, 1]]}', "application/json", 422, "row 0 (from 0)"),
        (b"ARROW1", ARROW, 422, "no Arrow stream"),
        (b"a,b", "text/csv", 415, "must be application/json"),
    ]:
        answer = client.post("/score", content=body, headers={**BEARER, "Content-Type": kind})
        assert answer.status_code == status
        assert text in answer.json()["error"]


def test_a_body_that_is_too_large_is_not_read(detector):
    with client_of(detector, max_bytes=100) as client:
        answer = ask(client, {"rows": [[0.0, 0.0]] * 100})
        assert answer.status_code == 413
        assert "at most 100 bytes" in answer.json()["error"]

        def parts():  # without a length
            yield from (b"[" * 50 for _ in range(50))

        headers = {**BEARER, "Content-Type": "application/json"}
        answer = client.post("/score", content=parts(), headers=headers)
        assert answer.status_code == 413


def test_every_call_but_health_needs_the_token(client):
    for path in ("/", "/model", "/metrics", "/openapi.json", "/nowhere"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert client.get(f"{path}?token=secret").status_code in (200, 404)
    assert client.get("/health").json() == {"status": "ok"}


def test_other_hosts_and_other_origins_are_refused(client):
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 421
    evil = {**BEARER, "Origin": "http://evil.example"}
    assert client.get("/model", headers=evil).status_code == 403
    own = {**BEARER, "Origin": "http://127.0.0.1:8000"}
    assert client.get("/model", headers=own).status_code == 200


def test_the_page_loads_nothing_and_names_the_calls(client):
    answer = client.get("/", headers=BEARER)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "script" not in answer.text
    for call in ("GET /health", "POST /score", "GET /model", "GET /metrics"):
        assert call in answer.text


def test_the_model_says_what_it_expects(client, detector):
    about = client.get("/model", headers=BEARER).json()
    assert about["columns"] == ["x", "y"]
    assert about["families"] == ["line"]
    assert about["threshold"] == detector.threshold_


def test_metrics_count_requests_and_rows(detector):
    with client_of(detector) as client:
        ask(client, {"rows": [[0.0, 0.0]] * 3})
        ask(client, {"rows": []})
        client.get("/nowhere", headers=BEARER)
        text = client.get("/metrics", headers=BEARER).text
    assert 'piforest_requests_total{path="/score",status="200"} 1' in text
    assert 'piforest_requests_total{path="/score",status="422"} 1' in text
    assert 'piforest_requests_total{path="other",status="404"} 1' in text
    assert "\npiforest_rows_total 3\n" in text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(
        re.fullmatch(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.]+', x) for x in lines
    )


@pytest.mark.slow
def test_the_server_answers_as_it_describes_itself(detector):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings

    app = make_app(detector, "model.pif", Limits(None, hosts=()))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)

    for operation in schema.get_all_operations():
        strategy = operation.ok().as_strategy()

        @given(case=strategy)
        @settings(
            max_examples=25, deadline=None, derandomize=True, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        def calls(case):
            answer = case.call()
            assert answer.status_code < 500
            assert answer.status_code in (200, 400, 405, 406, 413, 415, 421, 422)

        calls()


@pytest.mark.slow
def test_the_command_serves_a_file_until_it_is_told_to_end(detector, X, tmp_path):
    detector.save(tmp_path / "model.pif")
    command = [sys.executable, "-m", "piforest", "serve", "model.pif", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            server.stdout.readline()
            address = re.search(
                r"(http://127\.0\.0\.1:\d+/)\?token=(\S+)", server.stdout.readline()
            )
            body = json.dumps({"rows": X.tolist()}).encode()
            headers = {"Authorization": f"Bearer {address[2]}", "Content-Type": "application/json"}
            request = urllib.request.Request(f"{address[1]}score", body, headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                found = json.load(answer)
            expected = detector.anomaly_score(pd.DataFrame(X, columns=["x", "y"]))
            assert np.array_equal(found["scores"], expected)
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 143


def test_a_port_that_is_taken_is_one_line(detector, tmp_path, capsys):
    import socket

    detector.save(tmp_path / "model.pif")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert cli.main(["serve", str(tmp_path / "model.pif"), "--port", port]) == 1
    problem = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1, port {port}" in problem
    assert problem.count("\n") == 1


def test_a_model_that_is_missing_is_one_line(tmp_path, capsys):
    assert cli.main(["serve", str(tmp_path / "none.pif")]) == 1
    assert "none.pif" in capsys.readouterr().err
