"""Every kind of file: what Studio finds is what the command and the script find, bit for bit."""

from __future__ import annotations

import csv
import io
import runpy
import shlex

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
from piforest import PreferenceIsolationForest
from piforest.apps import cli
from piforest.datasets import make_lines, make_motion_pair
from piforest.io.tables import read_table
from studio_runs import lines_csv, studio_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by_path")
    with studio_in(tmp_path_factory.mktemp("home"), [folder], True, allow_code=True) as made:
        made.folder = folder
        yield made


@pytest.fixture
def again(asking, tmp_path, monkeypatch, capsys):
    """Repeats a job in an empty folder, by its command and by its script: the names of the
    script, and the folder."""

    def run(project, job, command=True, **query):
        for k, each in enumerate(asking.get(f"/projects/{project}").json()["sources"]):
            content = asking.get(f"/projects/{project}/sources/{k}").content
            (tmp_path / each["name"]).write_bytes(content)
        monkeypatch.chdir(tmp_path)
        if command:
            text = asking.file(job, "command.sh", **query).decode()
            words = shlex.split(text.splitlines()[-1])
            # One process: those of another run would still be in its folder.
            assert cli.main([*words[1:], "--jobs=1"]) == 0
        (tmp_path / "script.py").write_bytes(asking.file(job, "script.py", **query))
        by_command = tmp_path / "rows.csv"
        rows = by_command.rename("by_command.csv").read_bytes() if by_command.exists() else None
        names = runpy.run_path("script.py")
        if rows is not None:
            assert by_command.read_bytes() == rows, "the script writes what the command writes"
        return names, tmp_path

    return run


def score_column(path):
    return read_table(path).numbers(["score"])[:, 0]


def test_a_law_in_a_table(asking, again):
    project = asking.example("motors")
    job = asking.run(project["id"], **{**project["settings"], "models": 500})
    scores = asking.array(job, "scores")
    names, folder = again(project["id"], job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)
    result = asking.result(job)
    assert result["view"]["law"] is True
    assert result["derived"] == ["predicted power_w"]
    assert len(asking.array(job, "column:predicted power_w")) == 600


def test_the_family_that_the_rows_suggest(asking, again):
    project = asking.project(("lines.csv", lines_csv()))
    job = asking.run(project, models=500)
    scores = asking.array(job, "scores")
    assert asking.result(job)["summary"]["family"] == ["line"]
    names, folder = again(project, job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)
    assert asking.file(job, "report.html").startswith(b"<!doctype html>")


def test_a_scan(asking, again):
    project = asking.example("room")["id"]
    job = asking.run(project, models=500, voxel=0.1)
    scores = asking.array(job, "scores")
    names, folder = again(project, job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)
    assert asking.result(job)["view"]["mode"] == "3d"
    assert asking.file(job, "rows.ply").startswith(b"ply")
    assert b"surfaces" in asking.file(job, "surfaces.json")


def test_two_images(asking, again):
    pytest.importorskip("cv2", reason="piforest[vision] is not installed")
    project = asking.example("photographs")
    key = project["id"]
    about = asking.get(f"/projects/{key}/columns").json()
    assert about["images"] == [{"width": 640, "height": 480}] * 2
    assert len(about["keypoints"][0]) > 100
    picture = asking.get(f"/projects/{key}/images/1")
    assert picture.content[:3] in (b"\xff\xd8\xff", b"\x89PN")
    assert asking.get(f"/projects/{key}/images/2").status_code == 422
    job = asking.run(key, **{**project["settings"], "models": 500})
    scores = asking.array(job, "scores")
    names, folder = again(key, job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)
    assert asking.result(job)["view"]["mode"] == "matches"


def test_matches_of_a_table_with_a_quality(asking, again):
    X = make_motion_pair(2, random_state=0).data
    score = np.random.default_rng(0).uniform(size=len(X))
    lines = [",".join(f"{v:.4f}" for v in (*row, q)) for row, q in zip(X, score)]
    content = "\n".join(["x1,y1,x2,y2,sure", *lines, ""]).encode()
    project = asking.project(("pairs.csv", content), kind="matches")
    job = asking.run(project, models=500, families=["homography"], roles={"sure": "quality"})
    names, folder = again(project, job)
    assert np.array_equal(names["scores"], asking.array(job, "scores"))
    assert np.array_equal(score_column(folder / "rows.csv"), asking.array(job, "scores"))


def test_matches_of_a_file(asking, again):
    X = make_motion_pair(2, random_state=0).data
    content = io.BytesIO()
    np.savez(content, mkpts0_f=X[:, :2], mkpts1_f=X[:, 2:])
    project = asking.project(("pair.npz", content.getvalue()))
    job = asking.run(project, models=500)
    scores = asking.array(job, "scores")
    names, folder = again(project, job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)


def test_a_map(asking, again):
    values = 0.1 * np.mgrid[:24, :30][1] + np.random.default_rng(0).normal(0, 0.05, (24, 30))
    values[10:16, 15:22] += 3
    content = io.BytesIO()
    np.save(content, values)
    project = asking.project(("depth.npy", content.getvalue()), kind="map")
    about = asking.get(f"/projects/{project}/columns").json()
    assert about["images"] == [{"width": 30, "height": 24}]
    assert asking.get(f"/projects/{project}/images/0").content.startswith(b"\x89PNG")
    job = asking.run(project)
    found = asking.array(job, "map:scores")
    names, folder = again(project, job)
    assert np.array_equal(names["scores"].astype(np.float32), found)
    assert np.array_equal(np.load(folder / "scores.npy").astype(np.float32), found)
    result = asking.result(job)
    assert [each["left"] for each in result["defects"]] == [int(names["defects"][0].box[0])]
    assert asking.file(job, "defects.csv") == (folder / "defects.csv").read_bytes()
    assert asking.get(f"/jobs/{job}/explain/3").status_code == 422


def test_a_map_at_another_threshold_needs_no_new_run(asking, again):
    values = 0.1 * np.mgrid[:24, :30][1] + np.random.default_rng(0).normal(0, 0.05, (24, 30))
    values[10:16, 15:22] += 3
    values[2:4, 2:14] += 0.2
    content = io.BytesIO()
    np.save(content, values)
    project = asking.project(("depth.npy", content.getvalue()), kind="map")
    job = asking.run(project)
    scores = np.sort(asking.array(job, "map:scores").ravel().astype(float))
    threshold = round(float(scores[-120]), 6)
    found = asking.get(f"/jobs/{job}/found", params={"threshold": threshold}).json()
    assert found["defects"] != asking.result(job)["defects"]
    names, folder = again(project, job, threshold=threshold)
    assert [each["area"] for each in found["defects"]] == [each.area for each in names["defects"]]
    table = asking.file(job, "defects.csv", threshold=threshold)
    assert table == (folder / "defects.csv").read_bytes()
    assert asking.file(job, "picture.png", threshold=threshold)[:4] == b"\x89PNG"
    assert asking.file(job, "defects.csv") != table, "the file of the run stays"


def test_a_series_at_another_threshold_needs_no_new_run(asking, again):
    project = asking.example("pump")
    job = asking.run(project["id"], **project["settings"])
    threshold = round(float(np.sort(asking.array(job, "scores"))[-150]), 6)
    found = asking.get(f"/jobs/{job}/found", params={"threshold": threshold}).json()
    names, folder = again(project["id"], job, threshold=threshold)
    assert [each["reason"] for each in found["runs"]] == [each.reason for each in names["runs"]]
    assert len(found["runs"]) > len(asking.result(job)["runs"])
    for name in ("runs.csv", "rows.csv"):
        content = asking.file(job, name, threshold=threshold)
        assert content == (folder / name).read_bytes(), name
    row = found["runs"][0]["first"]
    reason = asking.get(f"/jobs/{job}/explain/{row}", params={"threshold": threshold}).json()
    assert found["runs"][0]["reason"] in reason["text"]
    assert f"threshold {threshold:.3f}" in reason["text"]


def test_a_scan_in_windows_at_another_threshold_needs_no_new_run(asking, again):
    project = asking.example("room")["id"]
    job = asking.run(project, local=True, families=["plane"], voxel=0.08)
    threshold = round(float(np.sort(asking.array(job, "scores"))[-900]), 6)
    names, folder = again(project, job, threshold=threshold)
    assert np.array_equal(names["scores"], asking.array(job, "scores"))
    assert names["anomalous"].sum() < asking.result(job)["summary"]["anomalies"]
    assert asking.file(job, "rows.ply", threshold=threshold) == (folder / "rows.ply").read_bytes()


def test_a_series(asking, again):
    project = asking.example("pump")
    job = asking.run(project["id"], **project["settings"])
    scores = asking.array(job, "scores")
    names, folder = again(project["id"], job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)
    runs = asking.result(job)["runs"]
    assert len(runs) == len(names["runs"]) >= 2
    inside = asking.get(f"/jobs/{job}/explain/{runs[0]['first']}").json()
    assert runs[0]["reason"] in inside["text"]


def test_a_database_of_colmap(asking, again, tmp_path_factory):
    pycolmap = pytest.importorskip("pycolmap", reason="pycolmap is not installed")
    assert pycolmap
    from colmap_files import put_real_colmap

    path = tmp_path_factory.mktemp("colmap") / "database.db"
    put_real_colmap(path)
    project = asking.project(("database.db", path.read_bytes()))
    assert asking.get(f"/projects/{project}").json()["kind"] == "pairs"
    job = asking.run(project)
    result = asking.result(job)
    names, folder = again(project, job)
    assert [each["kept"] for each in result["pairs"]] == [
        int(each.kept.sum()) for each in names["results"]
    ]
    assert asking.file(job, "filtered.db")[:6] == b"SQLite"
    table = list(csv.DictReader((folder / "pairs.csv").open()))
    assert [int(row["kept"]) for row in table] == asking.array(job, "kept").tolist()


def test_a_model_scores_files_and_a_folder(asking, tmp_path):
    import pandas as pd

    X = make_lines(2, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0).data
    detector = PreferenceIsolationForest("line", n_models=500, random_state=0)
    detector.fit(pd.DataFrame(X, columns=["x", "y"])).save(tmp_path / "lines.pif")
    project = asking.project(("lines.pif", (tmp_path / "lines.pif").read_bytes()))
    assert asking.get(f"/projects/{project}").json()["kind"] == "model"
    answer = asking.post(f"/projects/{project}/jobs", {"kind": "detect"})
    assert (answer.status_code, "a model scores files" in answer.text) == (422, True)
    for k in range(2):
        (asking.folder / f"new{k}.csv").write_bytes(lines_csv(n=10, seed=k))
    answer = asking.post(f"/projects/{project}/score-folder", {"folder": str(asking.folder)})
    jobs = answer.json()
    assert [each["kind"] for each in jobs] == ["score"] * 2
    for k, job in enumerate(jobs):
        assert asking.wait(job["id"])["state"] == "done"
        table = read_table(asking.folder / f"new{k}.csv")
        rows = pd.DataFrame(table.numbers(["x", "y"]), columns=["x", "y"])
        assert np.array_equal(asking.array(job["id"], "scores"), detector.anomaly_score(rows))
    outside = asking.post(f"/projects/{project}/score-folder", {"folder": "/etc"})
    assert outside.status_code == 403


def test_families_are_compared(asking, again):
    project = asking.project(("lines.csv", lines_csv()))
    job = asking.run(project, "suggest")
    result = asking.result(job)
    best = result["proposals"][0]
    assert (best["family"], best["structures"]) == ("line", 2)
    assert best["settings"] == {"families": ["line"], "options": {}}
    assert len(best["outlines"]) == 2
    labels = asking.array(job, "proposal:0")
    assert set(labels) == {-1, 0, 1}
    assert len(labels) == len(asking.array(job, "point:0")) == result["shown"]
    names, _ = again(project, job, command=False)
    theirs = [each.evidence for each in names["proposals"]]
    assert theirs == [each["evidence"] for each in result["proposals"]]


def test_families_of_motions_are_compared_for_two_images(asking, again):
    pytest.importorskip("cv2", reason="piforest[vision] is not installed")
    project = asking.example("photographs")["id"]
    job = asking.run(project, "suggest")
    result = asking.result(job)
    assert result["proposals"][0]["settings"] == {"families": ["homography"], "options": {}}
    assert len(asking.array(job, "proposal:0")) == len(asking.array(job, "point:3"))
    assert "model.pif" not in result["files"]
    names, _ = again(project, job)
    theirs = [each.evidence for each in names["proposals"]]
    assert theirs == [each["evidence"] for each in result["proposals"]]
    refused = asking.post(
        f"/projects/{project}/jobs", {"kind": "suggest", "settings": {"families": ["line"]}}
    )
    assert "families: a run of matches has no such setting" in refused.json()["error"]


CODE = """
import numpy as np

sample_size, n_features, name = 2, 2, "my_line"

def fit(points):
    (x0, y0), (x1, y1) = points
    slope = (y1 - y0) / (x1 - x0)
    return np.array([slope, y0 - slope * x0])

def residuals(X, params):
    return np.abs(X[:, 1] - params[0] * X[:, 0] - params[1])
"""


def test_a_family_of_two_functions(asking, again, tmp_path):
    project = asking.project(("lines.csv", lines_csv()))
    job = asking.run(project, code={"source": CODE}, models=300)
    scores = asking.array(job, "scores")
    assert asking.result(job)["summary"]["family"] == ["my_line"]
    assert asking.get(f"/jobs/{job}/explain/1").status_code == 200
    assert len(asking.file(job, "rows.csv").splitlines()) == len(scores) + 1
    (tmp_path / "family.py").write_text(CODE)
    names, folder = again(project, job)
    assert np.array_equal(names["scores"], scores)
    assert np.array_equal(score_column(folder / "rows.csv"), scores)
    # A Studio that was started without --allow-code does not run it again.
    asking.studio.results.code = False
    try:
        assert asking.get(f"/jobs/{job}/explain/2").status_code == 403
        assert asking.get(f"/jobs/{job}/files/report.html").status_code == 403
    finally:
        asking.studio.results.code = True
