"""A Studio in a test, and what a page would ask of it."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager

import numpy as np
from fastapi.testclient import TestClient

from piforest.apps.server.guard import Guard, Refused
from piforest.apps.server.limits import Limits
from piforest.apps.studio import worker
from piforest.apps.studio.app import POLICY, make_app
from piforest.apps.studio.helper_process import answer
from piforest.apps.studio.jobs import JobLimits, Jobs
from piforest.apps.studio.studio import Options, Studio

TOKEN = "secret"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ENDED = ("done", "failed", "cancelled", "interrupted")


class Asking:
    """Requests with the token, to one Studio."""

    def __init__(self, studio, app):
        self.studio, self.app = studio, app
        self.http = TestClient(app, base_url="http://127.0.0.1:8765", headers=BEARER)

    def get(self, path, **options):
        return self.http.get(f"/api{path}", **options)

    def post(self, path, body=None, **options):
        return self.http.post(f"/api{path}", json=body, **options)

    def upload(self, name, content):
        return self.http.post("/api/sources", params={"name": name}, content=content)

    def project(self, *files, **more):
        """A project of uploaded files; (name, bytes) each."""
        keys = [self.upload(name, content).json()["id"] for name, content in files]
        answer = self.post("/projects", {"sources": keys, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    def example(self, name):
        made = self.post("/sources/example", {"name": name}).json()
        answer = self.post("/projects", {"sources": [each["id"] for each in made]})
        return answer.json()

    def start(self, project, kind="detect", **settings):
        answer = self.post(f"/projects/{project}/jobs", {"kind": kind, "settings": settings})
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    def wait(self, job, seconds=120.0, states=ENDED):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.get(f"/jobs/{job}").json()
            if found["state"] in states:
                return found
            time.sleep(0.05)
        raise AssertionError(f"the job is still {found}")

    def run(self, project, kind="detect", **settings):
        """Run a job to its end; its key."""
        job = self.start(project, kind, **settings)
        ended = self.wait(job)
        assert ended["state"] == "done", ended
        return job

    def result(self, job):
        return self.get(f"/jobs/{job}/result").json()

    def array(self, job, name):
        answer = self.get(f"/jobs/{job}/arrays/{name}")
        assert answer.status_code == 200, answer.text
        shape = [int(each) for each in answer.headers["x-shape"].split(",")]
        return np.frombuffer(answer.content, answer.headers["x-dtype"]).reshape(shape)

    def file(self, job, name, **query):
        answer = self.get(f"/jobs/{job}/files/{name}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.content


def options_for(home, folders=(), **more):
    limits = JobLimits(more.pop("memory_mb", 8000.0), more.pop("timeout", 120.0))
    return Options(home=home, folders=list(folders), jobs=limits, **more)


class InlineJobs(Jobs):
    """Jobs in the thread that looks after them: the same work without the start of a process."""

    def _start(self, key):
        folder, place, warnings = self.store.job_folder(key), os.getcwd(), []
        self.store.change_job(key, state="running", started=time.time())
        spec = json.loads((folder / "job.json").read_text())
        try:
            error = worker.work(folder, spec, warnings)
        except Exception as problem:
            error = repr(problem)
        finally:
            os.chdir(place)
        worker.finish(folder, "done" if error is None else "failed", error, warnings=warnings)
        self._record_end(key, None)


class InlineHelpers:
    """Questions about files, answered in this process."""

    def ask(self, call, *, patience=None, **given):
        place = os.getcwd()
        try:
            found = answer(json.dumps({"call": call, "given": given}).encode())
        finally:
            os.chdir(place)
        if "error" in found:
            raise Refused(found["status"], found["error"])
        return json.loads(json.dumps(found["result"], allow_nan=False))

    def close(self):
        pass


@contextmanager
def studio_in(home, folders=(), inline=False, **more):
    """A Studio with a guard, and a client of it. inline: without processes of its own."""
    options = options_for(home, folders, **more)
    studio = Studio(options, InlineJobs, InlineHelpers()) if inline else Studio(options)
    limits = Limits(
        TOKEN, max_bytes=4_000_000, larger={"/api/sources": studio.options.max_upload},
        command="piforest studio", cookie="piforest_8765", policy=POLICY,
    )  # fmt: skip
    try:
        yield Asking(studio, Guard(make_app(studio), limits))
    finally:
        studio.close()


def lines_csv(n=60, seed=0):
    """A small table with two lines, text beside them and a few cells that look like formulas."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, 2 * n)
    y = np.where(np.arange(2 * n) < n, 0.5 * x + 0.2, -0.8 * x - 0.1) + rng.normal(0, 0.01, 2 * n)
    X = np.vstack([np.column_stack([x, y]), rng.uniform(-1, 1, (n // 2, 2))])
    notes = ["=HYPERLINK(1)", "+plus", "-minus", "@at", "plain"]
    rows = [f"{u:.5f},{v:.5f},{notes[k % 5]}" for k, (u, v) in enumerate(X)]
    return "\n".join(["x,y,note", *rows, ""]).encode()
