from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest.apps import cli
from piforest.clouds import voxel_sample
from piforest.datasets import make_cones, make_cylinders, make_planes
from piforest.io.tables import Table, read_table, write_table

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
    assert "drawn, family plane" in printed
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_colours_of_a_scan_can_be_kept(scene, tmp_path, capsys):
    columns = dict(zip("xyz", scene.data.astype(np.float32).T))
    columns |= {name: np.full(len(scene.data), 7, np.uint8) for name in RGB}
    write_ply(tmp_path / "scan.ply", columns, text=True)
    for extra, kept in ((["--colours", "keep"], True), ([], False)):
        out = tmp_path / f"kept{kept}.ply"
        assert run(capsys, tmp_path / "scan.ply", "--out", out, *extra)[0] == 0
        colours = read_table(out).numbers(RGB)
        assert (np.unique(colours).tolist() == [7]) == kept


@pytest.mark.slow
def test_points_without_a_coordinate_stay_grey_and_unscored(scene, tmp_path, capsys):
    X = scene.data.astype(np.float32)
    X[5, 1] = np.nan
    write_ply(tmp_path / "scan.ply", dict(zip("xyz", X.T)))
    code, _, err = run(capsys, tmp_path / "scan.ply")
    assert code == 1
    assert "row 6 of column 'y' has no number" in err
    out = tmp_path / "scored.ply"
    code, printed, _ = run(capsys, tmp_path / "scan.ply", "--out", out, "--missing", "skip")
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


@pytest.mark.slow
def test_normals_are_estimated_where_the_scan_has_none(tmp_path, capsys):
    made = make_cylinders(2, sizes=300, normals=True, anomaly_share=0.2, random_state=0)
    write_table(tmp_path / "scan.pcd", Table(dict(zip("xyz", made.data[:, :3].T.copy())), "scan"))
    out, family = tmp_path / "scored.pcd", ["--family", "cylinder", "--option", "normals=true"]
    code, printed, err = run(capsys, tmp_path / "scan.pcd", *family, "--out", out)
    assert (code, err) == (0, "")
    assert "\nnormals     estimated from 16 neighbours\n" in printed
    table = read_table(out)
    score, *normals = table.numbers(["score", "nx", "ny", "nz"]).T
    assert np.allclose(np.linalg.norm(normals, axis=0), 1)
    assert roc_auc_score(made.target == 0, score) > 0.85
    # What is there is used: under the names of the point cloud library, too.
    words = dict(zip(("nx", "ny", "nz"), ("normal_x", "normal_y", "normal_z")))
    columns = {words.get(name, name): each for name, each in table.columns.items()}
    named = {name: columns[name] for name in ("x", "y", "z", *words.values())}
    write_table(tmp_path / "named.pcd", Table(named, "scan"))
    code, printed, _ = run(capsys, tmp_path / "named.pcd", *family, "--json")
    assert json.loads(printed)["columns"] == list(named)
    assert json.loads(printed)["normals"] == "given"


@pytest.mark.slow
def test_normals_point_to_the_viewpoint_of_a_scan(scene, tmp_path, capsys):
    path = tmp_path / "scan.pcd"
    write_table(path, Table(dict(zip("xyz", scene.data.T.copy())), "scan"))
    path.write_bytes(path.read_bytes().replace(b"VIEWPOINT 0 0 0", b"VIEWPOINT 0 0 9"))
    out = tmp_path / "scored.csv"
    _, printed, _ = run(capsys, path, "--family", "cone", "--models", "200", "--out", out)
    assert "16 neighbours, towards the viewpoint of the scan" in printed
    X = read_table(out).numbers(["x", "y", "z", "nx", "ny", "nz"])
    assert (np.sum(X[:, 3:] * ([0, 0, 9] - X[:, :3]), axis=1) >= 0).all()


@pytest.mark.slow
def test_structures_are_coloured_numbered_and_described(scan, scene, tmp_path, capsys):
    out, surfaces = tmp_path / "scored.pcd", tmp_path / "surfaces.json"
    options = ["--colours", "structure", "--surfaces", surfaces, "--out", out]
    code, printed, err = run(capsys, scan, *options)
    assert (code, err) == (0, "")
    assert f"wrote {out}, {surfaces}" in printed
    table = read_table(out)
    of, flagged = table.numbers(["structure", "anomaly"]).T
    assert set(of) == {-1, 0, 1}
    assert (of[flagged == 1] == -1).all()
    colours = [np.unique(table.numbers(RGB)[of == k], axis=0) for k in (0, 1)]
    assert [len(each) for each in colours] == [1, 1]
    assert not np.array_equal(*colours)
    assert (table.numbers(RGB)[flagged == 1] == [200, 0, 0]).all()
    content = json.loads(surfaces.read_text())
    for k, plane in enumerate(content["surfaces"]):
        X = table.numbers(["x", "y", "z"])[of == k]
        assert (plane["type"], plane["points"]) == ("plane", len(X))
        assert np.allclose([plane["bounds"]["min"], plane["bounds"]["max"]], [X.min(0), X.max(0)])
        away = np.abs(X @ plane["normal"] - plane["offset"])
        assert away.max() <= 3 * plane["half_width"] + 1e-6
    again = tmp_path / "again.pcd"
    run(capsys, out, "--colours", "structure", "--out", again)
    assert {"structure", "piforest_structure"} <= set(read_table(again).names)


@pytest.mark.slow
def test_a_thinned_scan_is_fitted_and_all_of_it_is_scored(scan, scene, tmp_path, capsys):
    out = tmp_path / "scored.ply"
    code, printed, _ = run(capsys, scan, "--voxel", "0.2", "--out", out)
    rows = voxel_sample(read_table(scan).numbers(("x", "y", "z")), 0.2)
    assert code == 0
    assert f"\nfitted      {len(rows):,} points, one of each voxel of 0.2\n" in printed
    assert f"their points counted in the {len(rows):,} fitted ones" in printed
    scores = read_table(out).numbers(["score"])[:, 0]
    X = read_table(scan).numbers(("x", "y", "z"))
    detector = PreferenceIsolationForest("plane", random_state=0).fit(X[rows])
    assert np.array_equal(scores, detector.anomaly_score(X))
    assert roc_auc_score(scene.target == 0, scores) > 0.9
    for size, said in (
        ("1e-12", "--voxel: size must be at least"),
        ("100", "--voxel 100 leaves 1 of"),
    ):
        code, _, err = run(capsys, scan, "--voxel", size)
        assert code == 1
        assert said in err
    with pytest.raises(SystemExit):
        run(capsys, scan, "--voxel", "0")


def test_the_error_of_an_unreadable_scan_is_one_line(scan, tmp_path, capsys):
    whole = scan.read_bytes()
    (tmp_path / "cut.ply").write_bytes(whole[:-500])
    (tmp_path / "other.ply").write_text("no scan")
    (tmp_path / "flat.csv").write_text("x,y\n1,2\n3,4\n5,7\n")
    for name, message in (
        ("cut.ply", "cut.ply cannot be read"),
        ("other.ply", "other.ply cannot be read"),
        ("flat.csv", "a cloud has three coordinates"),
        ("none.ply", "there is no such file"),
    ):
        code, printed, err = run(capsys, tmp_path / name)
        assert (code, printed) == (1, "")
        assert message in err
        assert err.count("\n") == 1
    code, _, err = run(capsys, tmp_path / "flat.csv", "--family", "line")
    assert code == 1
    assert "a cloud has three coordinates" in err


@pytest.mark.slow
def test_a_sample_of_a_large_cloud_is_drawn(tmp_path, monkeypatch):
    from piforest.apps.cli import _plots

    monkeypatch.setattr(_plots, "_MAX_POINTS", 50)
    rng = np.random.default_rng(0)
    _plots.draw_cloud(tmp_path / "p.svg", rng.normal(size=(400, 3)), rng.uniform(size=400), 0.5)
    assert (tmp_path / "p.svg").stat().st_size > 1000


@pytest.mark.slow
def test_structures_are_classes_of_a_las_file_where_asked(scan, tmp_path, capsys):
    laspy = pytest.importorskip("laspy")
    out = tmp_path / "scored.las"
    assert run(capsys, scan, "--classify", "--out", out)[0] == 0
    points = laspy.read(out)
    structure, anomaly = np.asarray(points["structure"]), np.asarray(points["anomaly"])
    expected = np.where(anomaly == 1, 7, np.where(structure >= 0, 64 + structure, 1))
    assert np.array_equal(np.asarray(points.classification), expected)
    assert {64, 65, 7} <= set(expected)
    code, _, problem = run(capsys, scan, "--classify", "--out", tmp_path / "scored.ply")
    assert code == 2
    assert "--classify is for LAS files" in problem


@pytest.mark.slow
def test_without_a_family_the_scan_suggests_one(scan, capsys):
    code, printed, err = run(capsys, scan, "--json")
    assert (code, err) == (0, "")
    found = json.loads(printed)
    compared = [each["family"] for each in found["proposals"]["proposals"]]
    assert set(compared) == {"plane", "line", "sphere", "cylinder"}
    assert compared[0] == "plane"
    assert {each["family"] for each in found["structures"]} == {"plane"}
