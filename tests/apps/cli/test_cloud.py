from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from piforest.apps import cli
from piforest.datasets import make_cones, make_cylinders, make_planes
from piforest.io.tables import read_table

plyfile = pytest.importorskip("plyfile")
RGB = ("red", "green", "blue")


@pytest.fixture(scope="module")
def scene():
    return make_planes(2, sizes=150, anomaly_share=0.2, random_state=0)


def write_ply(path, columns, text=False):
    vertices = np.empty(len(columns["x"]), [(name, each.dtype) for name, each in columns.items()])
    for name, each in columns.items():
        vertices[name] = each
    plyfile.PlyData([plyfile.PlyElement.describe(vertices, "vertex")], text=text).write(str(path))


@pytest.fixture
def scan(scene, tmp_path):
    """A scan with an intensity, as scanners write it."""
    rng = np.random.default_rng(0)
    columns = dict(zip("xyz", scene.data.astype(np.float32).T))
    columns["intensity"] = rng.integers(0, 60_000, len(scene.data)).astype(np.uint16)
    write_ply(tmp_path / "scan.ply", columns)
    return tmp_path / "scan.ply"


def run(capsys, *arguments):
    code = cli.main(["cloud", *(str(each) for each in arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["ply", "laz", "las", "csv"])
def test_the_scan_gets_scores_and_colours_and_loses_nothing(ending, scan, scene, tmp_path, capsys):
    out, plot = tmp_path / f"scored.{ending}", tmp_path / "p.png"
    code, printed, err = run(capsys, scan, "--out", out, "--plot", plot)
    assert (code, err) == (0, "")
    before, after = read_table(scan), read_table(out)
    assert {*before.names, "score", "anomaly", *RGB} <= set(after.names)
    assert after.numbers(("x", "y", "z")) == pytest.approx(scene.data, abs=1e-3)
    assert np.array_equal(after.numbers(["intensity"]), before.numbers(["intensity"]))
    score, flagged = after.numbers(["score", "anomaly"]).T
    assert roc_auc_score(scene.target == 0, score) > 0.95
    red, _, blue = after.numbers(RGB).T
    assert np.array_equal(red > blue, flagged == 1)
    if ending == "ply":
        assert after.columns["red"].dtype == np.uint8
    assert "of family plane" in printed
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_colours_of_a_scan_can_be_kept(scene, tmp_path, capsys):
    columns = dict(zip("xyz", scene.data.astype(np.float32).T))
    columns |= {name: np.full(len(scene.data), 7, np.uint8) for name in RGB}
    write_ply(tmp_path / "scan.ply", columns, text=True)
    for extra, kept in ((["--keep-colours"], True), ([], False)):
        out = tmp_path / f"kept{kept}.ply"
        assert run(capsys, tmp_path / "scan.ply", "--out", out, *extra)[0] == 0
        colours = read_table(out).numbers(RGB)
        assert (np.unique(colours).tolist() == [7]) == kept


def test_points_without_a_coordinate_stay_grey_and_unscored(scene, tmp_path, capsys):
    X = scene.data.astype(np.float32)
    X[5, 1] = np.nan
    write_ply(tmp_path / "scan.ply", dict(zip("xyz", X.T)))
    code, _, err = run(capsys, tmp_path / "scan.ply")
    assert code == 1
    assert "row 6 of column 'y' has no number" in err
    out = tmp_path / "scored.ply"
    code, printed, _ = run(capsys, tmp_path / "scan.ply", "--out", out, "--drop-missing")
    assert code == 0
    assert "1 lacks a coordinate" in printed
    table = read_table(out)
    assert np.flatnonzero(np.isnan(table.numbers(["score"])[:, 0])).tolist() == [5]
    assert table.numbers(RGB)[5].tolist() == [128, 128, 128]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "family"),
    [
        (make_cones, ["cone"]),
        (partial(make_cylinders, normals=True), ["cylinder", "--option", "normals=true"]),
    ],
)
def test_families_with_normals_find_their_columns(make, family, tmp_path, capsys):
    made = make(2, sizes=80, random_state=0)
    names = ("x", "y", "z", "nx", "ny", "nz")
    columns = dict(zip(names, made.data.astype(np.float32).T))
    write_ply(tmp_path / "scan.ply", {"time": columns["x"].copy(), **columns})
    out, plot = tmp_path / "scored.ply", tmp_path / "p.png"
    code, printed, err = run(
        capsys, tmp_path / "scan.ply", "--family", *family, "--plot", plot, "--out", out, "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(printed)["columns"] == list(names)
    assert roc_auc_score(made.target == 0, read_table(out).numbers(["score"])[:, 0]) > 0.95
    assert plot.exists()


def test_the_error_of_an_unreadable_scan_is_one_line(scan, tmp_path, capsys):
    whole = scan.read_bytes()
    (tmp_path / "cut.ply").write_bytes(whole[:-500])
    (tmp_path / "other.ply").write_text("no scan")
    (tmp_path / "flat.csv").write_text("x,y\n1,2\n3,4\n5,7\n")
    for name, message in (
        ("cut.ply", "cut.ply cannot be read"),
        ("other.ply", "other.ply cannot be read"),
        ("flat.csv", "needs 3 columns"),
        ("none.ply", "there is no such file"),
    ):
        code, printed, err = run(capsys, tmp_path / name)
        assert (code, printed) == (1, "")
        assert message in err
        assert err.count("\n") == 1
    code, _, err = run(capsys, tmp_path / "flat.csv", "--family", "line")
    assert code == 1
    assert "a cloud has three coordinates" in err


def test_a_sample_of_a_large_cloud_is_drawn(tmp_path, monkeypatch):
    from piforest.apps.cli import _plots

    monkeypatch.setattr(_plots, "_MAX_POINTS", 50)
    rng = np.random.default_rng(0)
    _plots.draw_cloud(tmp_path / "p.svg", rng.normal(size=(400, 3)), rng.uniform(size=400), 0.5)
    assert (tmp_path / "p.svg").stat().st_size > 1000
