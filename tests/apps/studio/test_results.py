"""A table from upload to what is taken away; the command and the script repeat it, bit for bit."""

from __future__ import annotations

import csv
import io
import json
import runpy
import shlex
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
from piforest import PreferenceIsolationForest, load
from piforest.apps import cli
from piforest.apps.studio import explaining
from piforest.apps.studio.files import harmless
from piforest.datasets import make_lines
from piforest.io.tables import read_table
from piforest.labels.calibration import Calibration
from studio_runs import lines_csv, studio_in

pytestmark = pytest.mark.slow
DETECT = {"families": ["line"], "models": 500, "missing": "skip"}


@pytest.fixture(scope="module")
def data():
    """A table in which one row lacks a number."""
    return lines_csv() + b"0.5,,=lost\n"


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    with studio_in(tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture(scope="module")
def project(asking, data):
    return asking.project(("lines.csv", data))


@pytest.fixture(scope="module")
def job(asking, project):
    return asking.run(project, **DETECT)


@pytest.fixture(scope="module")
def scores(asking, job):
    return asking.array(job, "scores")


def rows_of(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def repeated(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = shlex.split(command)
    assert words[0] == "piforest"
    assert cli.main(words[1:]) == 0


def test_the_command_repeats_the_scores_bit_for_bit(
    asking, job, scores, data, tmp_path, monkeypatch, capsys
):
    (tmp_path / "lines.csv").write_bytes(data)
    text = asking.file(job, "command.sh").decode()
    command = text.splitlines()[1]
    assert command == asking.result(job)["command"]
    repeated(command, tmp_path, monkeypatch)
    table = read_table(tmp_path / "rows.csv")
    found = table.numbers(["score"])[:, 0]
    assert np.array_equal(found[~np.isnan(found)], scores)
    # And the rows that Studio gives are those of the command, but for formulas.
    theirs, own = rows_of((tmp_path / "rows.csv").read_bytes()), rows_of(
        asking.file(job, "rows.csv")
    )  # fmt: skip
    assert [{**row, "note": harmless(row["note"])} for row in theirs] == own
    assert own[0]["note"] == "'=HYPERLINK(1)"
    assert own[4]["note"] == "plain"


def test_the_script_repeats_the_scores_bit_for_bit(
    asking, job, scores, data, tmp_path, monkeypatch
):
    (tmp_path / "lines.csv").write_bytes(data)
    (tmp_path / "script.py").write_bytes(asking.file(job, "script.py"))
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path("script.py")
    assert np.array_equal(names["scores"], scores)
    assert names["anomalous"].sum() == asking.result(job)["summary"]["anomalies"]
    # It writes the rows that Studio gives, but for formulas.
    written = rows_of((tmp_path / "rows.csv").read_bytes())
    own = rows_of(asking.file(job, "rows.csv"))
    assert [{**row, "note": harmless(row["note"])} for row in written] == own


def test_another_threshold_is_in_the_rows_the_command_and_the_script(
    asking, job, scores, data, tmp_path, monkeypatch, capsys
):
    threshold = float(np.median(scores))
    own = rows_of(asking.file(job, "rows.csv", threshold=threshold))
    scored = [row for row in own if row["score"]]
    assert [int(row["anomaly"]) for row in scored] == (scores > threshold).astype(int).tolist()
    (tmp_path / "lines.csv").write_bytes(data)
    command = asking.file(job, "command.sh", threshold=threshold).decode().splitlines()[1]
    repeated(command, tmp_path, monkeypatch)
    theirs = rows_of((tmp_path / "rows.csv").read_bytes())
    assert [{**row, "note": harmless(row["note"])} for row in theirs] == own
    (tmp_path / "script.py").write_bytes(asking.file(job, "script.py", threshold=threshold))
    names = runpy.run_path(str(tmp_path / "script.py"))
    assert np.array_equal(names["anomalous"], scores > threshold)
    written = rows_of((tmp_path / "rows.csv").read_bytes())
    assert [{**row, "note": harmless(row["note"])} for row in written] == own
    # The next file without a threshold has that of the run again.
    kept = rows_of(asking.file(job, "rows.csv"))
    assert sum(int(row["anomaly"] or 0) for row in kept) < len(scored) / 2


def test_a_report_at_another_threshold_tells_the_time_of_the_run(asking, job, scores):
    threshold = float(np.median(scores))
    page = asking.file(job, "report.html", threshold=threshold).decode()
    seconds = asking.result(job)["summary"]["seconds"]
    assert f"<dt>Time</dt><dd>{seconds:.3g} s<" in page
    flagged = int((scores > threshold).sum())
    assert f"<dt>Anomalies</dt><dd>{flagged}<small>above {threshold:.4f}<" in page


def test_arrays_are_those_of_the_file(asking, job, data):
    table = list(csv.DictReader(io.StringIO(data.decode())))
    x = asking.array(job, "column:x")
    rows = asking.array(job, "rows")
    assert np.array_equal(x, [float(table[row - 1]["x"]) for row in rows])
    notes = asking.get(f"/jobs/{job}/arrays/column:note")
    assert notes.headers["x-dtype"] == "json"
    assert notes.json()[:2] == ["=HYPERLINK(1)", "+plus"]
    assert asking.get(f"/jobs/{job}/arrays/none").status_code == 404
    structure, distance = asking.array(job, "structure"), asking.array(job, "distance")
    assert set(structure) == {-1, 0, 1}
    assert (distance[structure >= 0] < 8).all()


def test_the_result_says_what_was_found(asking, job):
    result = asking.result(job)
    assert "follow no line" in result["headline"]
    assert len(result["structures"]) == 2
    assert result["structures"][0]["outline"]["kind"] == "f32"
    assert result["view"]["mode"] == "2d"
    assert result["total"] == result["shown"] == 150
    assert result["summary"]["skipped_rows"] == 1
    assert {"rows.csv", "report.html", "model.pif", "script.py"} <= set(result["files"])


def test_the_false_alarm_rate_of_a_threshold_is_the_one_that_chooses_it(asking, job):
    """`--false-alarm-rate` takes the lowest threshold at which the rate is small enough."""
    result = asking.result(job)
    rates, table = result["false_alarms"], result["thresholds"]
    steps = (table["first"] + np.arange(len(rates))) / table["scale"]
    assert all(rate is None or 0 < rate <= 1 for rate in rates)
    detector = load(asking.studio.store.job_folder(job) / "run" / "model.pif")
    calibration: Calibration = detector.findings_.calibration(detector._engine().backend)
    scores = calibration.ordered
    compared = 0
    for wanted in (0.2, 0.5, 0.55, 0.6, 0.8):
        flagged = int((scores > calibration.threshold(wanted)).sum())
        passing = [k for k, rate in enumerate(rates) if rate is not None and rate <= wanted]
        by_steps = int((scores > steps[passing[0]]).sum()) if passing else 0
        assert by_steps <= flagged <= by_steps + 1  # two scores may lie within one step
        compared += bool(passing)
    assert compared >= 2


def test_a_row_is_explained_as_the_command_does(asking, job, scores):
    rows = asking.array(job, "rows")
    worst = int(rows[scores.argmax()])
    found = asking.get(f"/jobs/{job}/explain/{worst}").json()
    assert found["score"] == scores.max()
    detector = load(asking.studio.store.job_folder(job) / "run" / "model.pif")
    x = [[found["values"]["x"], found["values"]["y"]]]
    expected = detector.explain(pd.DataFrame(x, columns=["x", "y"]))[0]
    assert found["text"].startswith(expected.text)
    assert found["p_value"] == expected.p_value
    assert found["nearest"][0]["sigmas"] == expected.nearest[0].sigmas
    assert asking.get(f"/jobs/{job}/explain/151").status_code == 404  # it lacks a number


def test_a_p_that_cannot_be_smaller_is_called_so():
    X = make_lines(2, noise=0.005, anomaly_share=0.2, random_state=0).data
    detector = PreferenceIsolationForest("line", n_models=500, random_state=0).fit(X)
    ordered = np.sort(detector.p_values(X))
    normal = detector.findings_.calibration(detector.backend_).weight
    assert ordered[0] == pytest.approx(1 / (1 + normal))
    said = explaining._floor(detector, float(ordered[0]))
    assert said == (f" p is at least {ordered[0]:.3g}, 1 in {round(normal) + 1}: "
                    f"{round(normal)} normal rows can show no less.")  # fmt: skip
    assert explaining._floor(detector, float(ordered[-1])) == ""
    assert explaining._floor(detector, None) == ""


def test_marks_give_precision_and_recall_on_what_was_marked(asking, job, project, scores):
    rows = asking.array(job, "rows")
    order = np.argsort(-scores)
    high, low = rows[order[:6]].tolist(), rows[order[-6:]].tolist()
    body = {"normal": [*low, high[0]], "anomalous": [*high[1:], low[0] + 0]}
    answer = asking.http.put(f"/api/projects/{project}/marks", json=body)
    assert answer.status_code == 422  # a row cannot be both
    body["normal"].remove(low[0])
    found = asking.http.put(f"/api/projects/{project}/marks", json=body).json()
    assert found["counts"] == {"true_positives": 5, "false_positives": 1, "false_negatives": 1,
                               "true_negatives": 5, "without_score": 0}  # fmt: skip
    assert (found["precision"], found["recall"]) == (5 / 6, 5 / 6)
    above = asking.get(
        f"/projects/{project}/marks", params={"job": job, "threshold": float(scores.max())}
    ).json()
    assert (above["precision"], above["recall"]) == (None, 0.0)


def test_other_methods_score_the_same_rows(asking, job, project, data, tmp_path, monkeypatch):
    other = asking.run(project, "compare", job=job, seed=4)
    (tmp_path / "lines.csv").write_bytes(data)
    (tmp_path / "script.py").write_bytes(asking.file(other, "script.py"))
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path("script.py")
    for name in ("isolation_forest", "lof"):
        assert np.array_equal(asking.array(other, f"compare:{name}"), names[name])


def test_new_rows_are_scored_by_the_model(asking, job, project, tmp_path, monkeypatch, capsys):
    new = lines_csv(seed=1)
    source = asking.upload("new.csv", new).json()["id"]
    scored = asking.run(project, "score", job=job, source=source)
    found = asking.array(scored, "scores")
    (tmp_path / "new.csv").write_bytes(new)
    (tmp_path / "model.pif").write_bytes(asking.file(job, "model.pif"))
    repeated(asking.result(scored)["command"], tmp_path, monkeypatch)
    table = read_table(tmp_path / "rows.csv")
    assert np.array_equal(table.numbers(["score"])[:, 0], found)
    (tmp_path / "script.py").write_bytes(asking.file(scored, "script.py"))
    assert np.array_equal(runpy.run_path("script.py")["scores"], found)


def test_a_project_file_opens_again_with_everything(asking, job, project, scores):
    archive = asking.get(f"/projects/{project}/file")
    assert archive.headers["content-type"] == "application/zip"
    source = asking.upload("mine.piforest.zip", archive.content).json()["id"]
    opened = asking.post("/projects/open", {"source": source}).json()
    old = asking.get(f"/projects/{project}").json()
    assert (opened["name"], opened["kind"]) == (old["name"], old["kind"])
    jobs = {each["kind"]: each["id"] for each in opened["jobs"]}
    again = jobs["detect"]
    assert np.array_equal(asking.array(again, "scores"), scores)
    assert asking.result(again)["structures"] == asking.result(job)["structures"]
    assert asking.file(again, "rows.csv") == asking.file(job, "rows.csv")
    assert asking.file(again, "script.py") == asking.file(job, "script.py")
    first, second = (asking.get(f"/jobs/{key}/explain/3").json() for key in (job, again))
    assert first == second
    marks = [asking.get(f"/projects/{each}/marks").json() for each in (project, opened["id"])]
    assert marks[0]["anomalous"] == marks[1]["anomalous"]


def changed(archive, **entries):
    """The archive with other contents; None removes an entry."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for each in old.infolist():
            if each.filename not in entries:
                new.writestr(each.filename, old.read(each.filename))
        for name, content in entries.items():
            if content is not None:
                new.writestr(name, content)
    return out.getvalue()


def test_a_project_file_of_a_stranger_is_refused_in_words(asking, project):
    archive = asking.get(f"/projects/{project}/file").content
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        about = json.loads(old.read("project.json"))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("project.json", b"0" * 300_000_000)
    cases = [
        (b"PK", "cannot be opened"),
        (bomb.getvalue(), "200 times its size"),
        (changed(archive, **{"../../evil.txt": b""}), "an entry has the name"),
        (changed(archive, **{"jobs/0/../../x": b""}), "an entry has the name"),
        (changed(archive, **{"/etc/passwd": b""}), "an entry has the name"),
        (changed(archive, **{"project.json": None}), "it has no project.json"),
        (changed(archive, **{"project.json": b"[]"}), "project.json"),
        (changed(archive, **{"sources/0/lines.csv": None}), "it has no sources/0/lines.csv"),
        (changed(archive, **{"project.json": json.dumps({**about, "format": 2})}), "format"),
        (changed(archive, **{"jobs/0/result.json": b"[]"}), "is no result"),
        (changed(archive, **{"jobs/0/result.json": b'{"told": {"options": {"a=1)#": 1}}}'}),
         "told|options|cannot be opened"),
    ]  # fmt: skip
    before = len(asking.get("/projects").json())
    for content, text in cases:
        source = asking.upload("evil.piforest.zip", content).json()["id"]
        answer = asking.post("/projects/open", {"source": source})
        assert answer.status_code == 422
        assert any(part in answer.json()["error"] for part in text.split("|")), answer.json()
    assert len(asking.get("/projects").json()) == before


def test_a_project_file_cannot_name_files_to_read_or_code_to_run(asking, project):
    archive = asking.get(f"/projects/{project}/file").content
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        about = json.loads(old.read("project.json"))
        index = json.loads(old.read("jobs/0/arrays/index.json"))
    index["scores"]["file"] = "../../../studio.sqlite"
    code = {"source": "raise SystemExit"}
    about["jobs"][0]["settings"]["code"] = code
    about["settings"]["code"] = code
    evil = changed(
        archive,
        **{"jobs/0/arrays/index.json": json.dumps(index), "project.json": json.dumps(about),
           "jobs/0/run/family.py": b"raise SystemExit", "jobs/0/run/evil.sh": b"x"},
    )  # fmt: skip
    source = asking.upload("evil.piforest.zip", evil).json()["id"]
    opened = asking.post("/projects/open", {"source": source}).json()
    job = opened["jobs"][0]["id"]
    assert asking.get(f"/jobs/{job}/arrays/scores").status_code == 422
    run = asking.studio.store.job_folder(job) / "run"
    assert sorted(each.name for each in run.iterdir()) == ["lines.csv", "model.pif"]
    assert "code" not in opened["settings"]
    assert "code" not in opened["jobs"][0]["settings"]
