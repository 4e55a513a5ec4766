"""Files and requests of strangers: never an error of the server, never its end."""

from __future__ import annotations

import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
for each in ("cv2", "laspy", "pyarrow", "openpyxl"):
    pytest.importorskip(each)
from piforest.apps.studio.jobs import Jobs  # noqa: E402
from piforest.apps.studio.settings import NewProject, Settings  # noqa: E402
from piforest.apps.studio.studio import Studio  # noqa: E402
from studio_runs import (  # noqa: E402
    InlineHelpers,
    lines_csv,
    make_app,
    options_for,
    studio_in,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits of memory"),
]
FOLDER = Path(__file__).parents[2] / "hostile"
_OTHERS = {"README.md", "open.txt", "test_hostile.py"}
FILES = sorted(path for path in FOLDER.iterdir() if path.is_file() and path.name not in _OTHERS)


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    with studio_in(tmp_path_factory.mktemp("home"), memory_mb=3000.0) as made:
        yield made


def looked_at(asking, name, content, **more):
    """Upload a file, make a project of it and look at its columns or images: the answers."""
    answers = [asking.upload(name, content)]
    if answers[0].status_code == 200:
        key = answers[0].json()["id"]
        answers.append(asking.post("/projects", {"sources": [key], **more}))
    if answers[-1].status_code == 200:
        project = answers[-1].json()["id"]
        answers.append(asking.get(f"/projects/{project}/columns"))
        if answers[1].json()["kind"] == "map":
            answers.append(asking.get(f"/projects/{project}/images/0"))
    return answers


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_hostile_file_is_shown_or_refused_in_words(asking, path):
    for answer in looked_at(asking, path.name, path.read_bytes()):
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 422:
            assert len(answer.json()["error"]) > 10
    assert asking.get("/projects").status_code == 200


def huge_png():
    """A picture that claims 60,000 x 60,000 pixels and holds none."""

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 16, 0, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def huge_npy():
    content = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(content, header)
    return content.getvalue()


HOSTILE = {
    "no_table.csv": bytes(range(256)) * 50,
    "million_columns.csv": b",".join(b"c%d" % k for k in range(1_000_000)) + b"\n",
    "one_row.csv": b"x,y\n",
    "repeated.csv": b"x,x\n1,2\n",
    "script.csv": b"<script>alert(1)</script>,y\n1,2\n3,4\n",
    "huge.png": huge_png(),
    "no_image.jpg": b"\xff\xd8\xff" + b"\0" * 100,
    "huge.npy": huge_npy(),
    "no_zip.xlsx": b"PK\x03\x04" + b"\0" * 100,
    "no_database.db": b"SQLite format 3\0" + b"\xff" * 1000,
    "no_model.pif": b"PK\x03\x04",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_file_is_said_in_words(asking, name):
    answers = looked_at(asking, name, HOSTILE[name])
    assert {answer.status_code for answer in answers} <= {200, 422}
    if name not in ("script.csv", "one_row.csv"):
        # A database and a model have no columns; a job reads them.
        assert answers[-1].status_code == 422
        assert answers[-1].headers["content-type"] == "application/json"


def test_a_hostile_model_fails_a_job_and_nothing_else(asking):
    source = asking.upload("lines.csv", lines_csv()).json()["id"]
    name = "first_child_that_wraps.pif"
    project = asking.project((name, (FOLDER / name).read_bytes()))
    ended = asking.wait(asking.start(project, "score", source=source))
    assert ended["state"] == "failed"
    assert "model.pif" in ended["error"]
    assert asking.get("/projects").status_code == 200


class NoJobs(Jobs):
    """Jobs that stay in the queue."""

    def _start(self, key):
        pass


def test_studio_answers_as_it_describes_itself(tmp_path):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings

    options = options_for(tmp_path / "home", [tmp_path])
    studio = Studio(options, NoJobs, InlineHelpers())
    schema = schemathesis.openapi.from_asgi("/openapi.json", make_app(studio))
    [source] = studio.sources.example("circles")
    calls = 0

    def real_key(path):
        """The key of a new project, or of its job: half of the calls are about what is there."""
        project = studio.new_project(NewProject(sources=[source["id"]]))["id"]
        return studio.start(project, "detect", Settings())["id"] if "/jobs/{" in path else project

    try:
        for operation in schema.get_all_operations():

            @given(case=operation.ok().as_strategy())
            @settings(
                max_examples=12, deadline=None, derandomize=True, phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            def call(case):
                nonlocal calls
                calls += 1
                if calls % 2 and "key" in (case.path_parameters or {}):
                    case.path_parameters["key"] = real_key(case.path)
                answer = case.call()
                assert answer.status_code in (
                    200, 202, 204, 400, 403, 404, 405, 409, 413, 415, 422
                ), (case.path, answer.text)  # fmt: skip

            call()
    finally:
        studio.close()
    assert calls > 150
