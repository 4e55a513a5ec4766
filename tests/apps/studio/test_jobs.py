"""Worker processes: cancelled, over their limits, and across a restart of the server."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
pytest.importorskip("fcntl", reason="locks of files tell which worker lives")
from piforest.apps.studio.jobs import is_alive, pid_of
from piforest.apps.studio.studio import Studio
from studio_runs import Asking, lines_csv, make_app, options_for, studio_in

pytestmark = pytest.mark.slow
# Long enough to be caught in the middle: minutes.
LONG = {"families": ["line"], "models": 10_000_000}


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def started(asking, project, **settings):
    """A job whose command runs, and the number of its process."""
    job = asking.start(project, **{**LONG, **settings})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = asking.get(f"/jobs/{job}").json()
        if found["stage"] not in (None, "starting", "reading"):
            return job, pid_of(asking.studio.store.job_folder(job))
        assert found["state"] in ("queued", "running"), found
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_cancelled_job_is_gone_within_two_seconds(tmp_path):
    with studio_in(tmp_path) as asking:
        project = asking.project(("lines.csv", lines_csv()))
        job, pid = started(asking, project)
        start = time.monotonic()
        answer = asking.http.delete(f"/api/jobs/{job}").json()
        assert time.monotonic() - start < 2
        assert gone(pid)
        assert (answer["state"], answer["error"]) == ("cancelled", "cancelled.")
        assert asking.get(f"/jobs/{job}/result").status_code == 409
        # It can be started again, and a project can be removed while its job runs.
        assert asking.post(f"/jobs/{job}/restart").json()["state"] == "queued"
        asking.wait(job, states=("running",))
        assert asking.http.delete(f"/api/projects/{project}").status_code == 204
        assert not asking.studio.store.job_folder(job).exists()


def test_a_job_that_takes_too_long_ends_in_words(tmp_path):
    with studio_in(tmp_path, timeout=2.0) as asking:
        project = asking.project(("lines.csv", lines_csv()))
        ended = asking.wait(asking.start(project, **LONG), 40)
    assert ended["state"] == "failed"
    assert "it took longer than 2 s, the limit of time" in ended["error"]


def test_a_job_that_needs_too_much_memory_ends_in_words(tmp_path):
    """A small file that unpacks to 80 MB of rows, gigabytes in memory."""
    part = gzip.compress(b"1,2\n" * 1_000_000, 9)
    with studio_in(tmp_path, memory_mb=300.0) as asking:
        project = asking.project(("bomb.csv.gz", gzip.compress(b"x,y\n") + part * 20))
        ended = asking.wait(asking.start(project, families=["line"]), 60)
        assert ended["state"] == "failed"
        assert "The limit of a job is 300 MB; --memory sets another." in ended["error"]
        assert asking.get("/projects").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(("memory_mb", "status"), [(2000.0, 200), (60.0, 422)])
def test_a_look_at_a_file_has_the_limit_of_a_job(memory_mb, status, tmp_path):
    """The beginning of a file needs some hundred megabytes: not 60, and not 2,000."""
    part = gzip.compress(b"1,2\n" * 1_000_000, 9)
    with studio_in(tmp_path, memory_mb=memory_mb) as asking:
        project = asking.project(("bomb.csv.gz", gzip.compress(b"x,y\n") + part * 20))
        answer = asking.get(f"/projects/{project}/columns")
        assert answer.status_code == status, answer.text[:300]
        if status == 200:
            assert "many_rows" in [each["code"] for each in answer.json()["findings"]]
        else:
            assert "60 MB" in answer.json()["error"]
        assert asking.get("/projects").status_code == 200


def test_a_worker_of_an_earlier_server_is_found_again(tmp_path):
    first = Studio(options_for(tmp_path))
    asking = Asking(first, make_app(first))
    project = asking.project(("lines.csv", lines_csv()))
    job, _ = started(asking, project)
    quick = asking.start(project, families=["line"], models=300)
    asking.wait(quick)
    # The server dies without a word: its thread ends, and nobody tells the worker.
    first.jobs._closed = True
    first.jobs._thread.join()
    first.store.close()
    assert is_alive(first.store.job_folder(job))
    second = Studio(options_for(tmp_path))
    again = Asking(second, make_app(second))
    try:
        found = again.get(f"/jobs/{job}").json()
        assert found["state"] == "running"
        assert found["stage"] is not None
        assert again.get(f"/jobs/{quick}").json()["state"] == "done"
        assert len(again.array(quick, "scores")) == 150
        again.http.delete(f"/api/jobs/{job}")
        assert again.get(f"/jobs/{job}").json()["state"] == "cancelled"
        assert not is_alive(second.store.job_folder(job))
    finally:
        first.jobs._workers[job].wait()  # our own child: nobody else can
        second.close()


def test_a_worker_that_died_with_its_server_is_interrupted_and_starts_again(tmp_path):
    first = Studio(options_for(tmp_path))
    asking = Asking(first, make_app(first))
    project = asking.project(("lines.csv", lines_csv()))
    job, pid = started(asking, project)
    first.jobs._closed = True
    first.jobs._thread.join()
    os.killpg(pid, signal.SIGKILL)
    first.jobs._workers[job].wait()
    first.store.close()
    with studio_in(tmp_path) as again:
        found = again.get(f"/jobs/{job}").json()
        assert found["state"] == "interrupted"
        assert "can be started again" in found["error"]
        assert again.post(f"/jobs/{job}/restart").status_code == 200
        again.wait(job, states=("running",))
    # An orderly end of the server ends its workers.
    assert not is_alive(first.store.job_folder(job))
    with studio_in(tmp_path) as last:
        assert last.get(f"/jobs/{job}").json()["state"] == "interrupted"


def test_the_command_opens_a_page_and_ends_with_its_workers(tmp_path):
    (tmp_path / "lines.csv").write_bytes(lines_csv())
    command = [sys.executable, "-m", "piforest", "studio", "--no-browser", "--port", "0",
               "--home", str(tmp_path / "home")]  # fmt: skip
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            address = re.search(
                r"(http://127\.0\.0\.1:\d+)/\?token=(\S+)", server.stdout.readline()
            )

            def ask(path, body=None):
                data = None if body is None else json.dumps(body).encode()
                headers = {"Authorization": f"Bearer {address[2]}",
                           "Content-Type": "application/json"}  # fmt: skip
                request = urllib.request.Request(f"{address[1]}/api{path}", data, headers)
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)

            source = ask("/sources/path", {"path": "lines.csv"})
            project = ask("/projects", {"sources": [source["id"]]})
            job = ask(f"/projects/{project['id']}/jobs", {"kind": "detect", "settings": LONG})
            assert str(tmp_path / "lines.csv") in job["command"]
            folder = tmp_path / "home" / "jobs" / job["id"]
            deadline = time.monotonic() + 60
            while not is_alive(folder) and time.monotonic() < deadline:
                time.sleep(0.05)
            pid = pid_of(folder)
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 143
    assert gone(pid)
