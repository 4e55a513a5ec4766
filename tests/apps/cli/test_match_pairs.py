"""`piforest matches` with cameras, layouts of matchers, and many pairs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from colmap_files import put_real_colmap
from hloc_files import put_hloc, split
from match_scenes import calibrated_pair
from piforest.apps import cli
from piforest.apps.cli import _match_pairs
from piforest.datasets import make_plane_pair

cv2 = pytest.importorskip("cv2")


def run(capsys, *arguments):
    try:
        code = cli.main(["matches", *(str(each) for each in arguments)])
    except SystemExit as ended:
        code = ended.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    pytest.importorskip("pycolmap")
    path = tmp_path_factory.mktemp("colmap") / "database.db"
    put_real_colmap(path, "PINHOLE")
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Matches in pixels with a score, in columns of other names, and their cameras."""
    pair = calibrated_pair()
    path = tmp_path_factory.mktemp("table") / "m.csv"
    quality = np.where(pair.true, 0.9, 0.2)
    np.savetxt(path, np.column_stack([pair.X, quality]), delimiter=",", header="a,b,c,d,conf",
               comments="")  # fmt: skip
    return path, pair


FEW = ("--models", "1500", "--trees", "30")


@pytest.mark.slow
def test_pixels_with_cameras_give_a_pose(table, tmp_path, capsys):
    path, pair = table
    K = [f"{c.fx},{c.fy},{c.cx},{c.cy}" for c in pair.cameras]
    (tmp_path / "K.json").write_text(json.dumps({"K": pair.cameras[0].K.tolist()}))
    (tmp_path / "K2.txt").write_text(" ".join(K[1].split(",")))
    command = [path, "--columns", "a,b,c,d", "--family", "essential", *FEW]
    out = tmp_path / "out.csv"
    code, printed, err = run(
        capsys, *command, "--K", K[0], "--K", K[1], "--json", "--out", out, "--model",
        tmp_path / "m.pif", "--report", tmp_path / "r.html", "--draw", tmp_path / "m.jpg",
    )  # fmt: skip
    assert (code, err) == (0, "")
    answer = json.loads(printed)
    structure = answer["structures"][0]
    assert np.allclose(structure["R"], pair.R, atol=0.02)
    assert np.dot(structure["t"], pair.t) > 0.99
    assert 0.1 < answer["sigma"] < 1  # pixels
    assert structure["note"] == ""
    assert list(rows_of(out)[0])[5:] == ["u1", "v1", "u2", "v2", "score", "anomaly",
                                         "structure", "distance"]  # fmt: skip
    again = run(
        capsys, *command, "--calibration", tmp_path / "K.json", "--calibration",
        tmp_path / "K2.txt", "--json",
    )  # fmt: skip
    assert json.loads(again[1])["structures"] == answer["structures"]
    assert cv2.imread(str(tmp_path / "m.jpg")).shape[1] > 1000


@pytest.mark.slow
def test_quality_is_a_column_or_the_scores(table, tmp_path, capsys):
    path, pair = table
    command = [path, "--columns", "a,b,c,d", *FEW, "--json"]
    code, printed, _ = run(capsys, *command, "--quality", "conf")
    assert code == 0
    assert json.loads(printed)["anomalies"] > 20
    code, _, err = run(capsys, *command, "--quality")
    assert code == 1
    assert "has no scores of matches; name a column" in err
    npz = tmp_path / "loftr.npz"
    np.savez(npz, mkpts0_f=pair.X[:, :2], mkpts1_f=pair.X[:, 2:], mconf=np.where(pair.true, 1, 0.5))
    out = tmp_path / "kept.npz"
    code, printed, err = run(capsys, npz, "--quality", "--out", out, *FEW, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(printed)
    with np.load(out) as stored:
        assert len(stored["mconf"]) == answer["points"] - answer["anomalies"]
    assert answer["written"] == {"out": str(out)}
    code, printed, err = run(capsys, npz, "--array", "mkpts0_f")
    assert code == 1
    assert "must have the columns x1, y1, x2, y2" in err


@pytest.mark.slow
def test_all_pairs_of_a_database_are_written_to_a_copy(database, tmp_path, capsys):
    pycolmap = pytest.importorskip("pycolmap")
    out, pairs, matches = tmp_path / "kept.db", tmp_path / "pairs.csv", tmp_path / "all.csv"
    command = [database, "--family", "essential", *FEW]
    code, printed, err = run(capsys, *command, "--out", out, "--table", pairs, "--jobs", "2")
    assert (code, err) == (0, "")
    assert f"pairs       4 of {database}" in printed
    assert "geometry    3 calibrated, 1 none" in printed
    assert "none: 1 too few matches" in printed
    found = rows_of(pairs)
    assert list(found[0]) == [
        "image1", "image2", "matches", "kept", "motions", "largest", "geometry", "sigma",
        "threshold", "parallax", "note",
    ]  # fmt: skip
    assert [row["geometry"] for row in found] == ["calibrated"] * 2 + ["none", "calibrated"]
    opened = pycolmap.Database.open(out)
    assert opened.num_verified_image_pairs() >= 3
    assert opened.num_inlier_matches() == sum(int(row["kept"]) for row in found)
    opened.close()
    assert {each.name for each in tmp_path.iterdir()} == {"kept.db", "pairs.csv"}
    code, printed, err = run(capsys, *command, "--out", matches, "--json", "--jobs", "1")
    assert (code, err) == (0, "")
    rows = rows_of(matches)
    assert len(rows) == 3 * 120 + 9
    assert sum(row["anomaly"] == "0" for row in rows) == sum(int(row["kept"]) for row in found)
    assert json.loads(printed)["pairs"][2]["sigma"] is None


@pytest.mark.slow
def test_a_database_is_changed_in_place_and_one_pair_is_examined(database, tmp_path, capsys):
    pycolmap = pytest.importorskip("pycolmap")
    path = tmp_path / "mine.db"
    path.write_bytes(database.read_bytes())
    code, _, err = run(capsys, path, "--in-place", *FEW, "--jobs", "1")
    assert (code, err) == (0, "")
    opened = pycolmap.Database.open(path)
    assert opened.num_inlier_matches() > 200
    opened.close()
    assert {each.name for each in tmp_path.iterdir()} == {"mine.db"}
    out = tmp_path / "one.db"
    code, printed, err = run(
        capsys, path, "--pair", "c.png,a.png", "--family", "essential", *FEW, "--json", "--out", out
    )
    assert (code, err) == (0, "")
    answer = json.loads(printed)
    assert answer["matching"].endswith("between c.png and a.png")
    assert "R" in answer["structures"][0]


@pytest.mark.slow
def test_a_guessed_focal_length_is_a_warning(tmp_path, capsys):
    pytest.importorskip("pycolmap")
    put_real_colmap(tmp_path / "a.db")
    code, _, err = run(capsys, tmp_path / "a.db", "--family", "essential", *FEW, "--jobs", "1")
    assert code == 0
    assert "the focal length of 4 of 4 images is a guess of COLMAP" in err


def test_matches_of_hloc_are_written_back(table, tmp_path, capsys):
    h5py = pytest.importorskip("h5py")
    pair = table[1]
    points1, points2, index = split(pair.X)
    images = {"x/a.jpg": points1, "b.jpg": points2}
    pairs = {("x/a.jpg", "b.jpg"): (index, np.ones(len(index)))}
    matches, keypoints = put_hloc(tmp_path, images, pairs)
    out = tmp_path / "kept.h5"
    code, printed, err = run(
        capsys, matches, "--keypoints", keypoints, "--out", out, *FEW, "--json", "--jobs", "1"
    )
    assert (code, err) == (0, "")
    (row,) = json.loads(printed)["pairs"]
    with h5py.File(out) as file:
        assert (file["x-a.jpg/b.jpg/matches0"][()] >= 0).sum() == row["kept"]
    assert row["image1"] == "x/a.jpg"


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    first, second = (image[:, :, ::-1] for image in make_plane_pair(2, random_state=0).images)
    for name, image in (("p2.png", first), ("p10.png", second), ("p1.jpg", first[:, 40:])):
        cv2.imwrite(str(folder / name), image)
    (folder / "notes.txt").write_text("no image")
    return folder


@pytest.mark.slow
def test_all_images_of_a_folder_are_matched(photos, tmp_path, capsys):
    table = tmp_path / "pairs.csv"
    command = [photos, "--family", "homography", "--features", "orb", *FEW, "--jobs", "1"]
    code, printed, err = run(capsys, *command, "--table", table, "--out", tmp_path / "m.parquet")
    assert (code, err) == (0, "")
    pairs = [(row["image1"], row["image2"]) for row in rows_of(table)]
    assert pairs == [("p1.jpg", "p2.png"), ("p1.jpg", "p10.png"), ("p2.png", "p10.png")]
    assert {each.name for each in tmp_path.iterdir()} == {"pairs.csv", "m.parquet"}
    code, printed, err = run(capsys, *command, "--pairs", "sequence", "--json")
    assert [row["image2"] for row in json.loads(printed)["pairs"]] == ["p2.png", "p10.png"]
    masks = tmp_path / "masks"
    masks.mkdir()
    cv2.imwrite(str(masks / "p2.png.png"), np.zeros((480, 640), np.uint8))
    code, printed, err = run(capsys, *command, "--masks", masks, "--json")
    assert [row["matches"] > 0 for row in json.loads(printed)["pairs"]] == [False, True, False]


@pytest.mark.slow
def test_an_interrupted_run_goes_on(database, tmp_path, capsys, monkeypatch):
    out = tmp_path / "kept.db"
    command = [database, "--out", out, *FEW, "--jobs", "1"]
    monkeypatch.setattr(_match_pairs, "_write", interrupt)
    code, _, err = run(capsys, *command)
    assert code == 130
    assert {each.name for each in tmp_path.iterdir()} == {"kept.db.unfinished"}
    monkeypatch.undo()
    monkeypatch.setattr("piforest.vision.pairs.judge_pair", interrupt)
    code, _, err = run(capsys, *command, "--seed", "1")
    assert code == 1
    assert "has the finished pairs of a run with other options" in err
    code, _, err = run(capsys, *command)
    assert (code, err) == (0, "")
    assert {each.name for each in tmp_path.iterdir()} == {"kept.db"}


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.png", "b.png", "c.png"], 2, "3 inputs are too many"),
        (["a.png", "b.png", "--matches", "m.csv", "--ratio", "0.9"], 2, "--ratio applies to match"),
        (["a.db", "--matches", "m.csv"], 2, "--matches belongs to two images"),
        (["a.db", "--features", "orb"], 2, "--features applies to matching, but .* a.db"),
        (["a.png", "b.png", "--pair", "a,b"], 2, "--pair belongs to a file of matches"),
        (["a.png", "b.png", "--columns", "a"], 2, "--columns belongs to a file of matches"),
        (["a.png", "b.png", "--masks", "m"], 2, "--masks is a folder for a folder of images"),
        (["a.png", "b.png", "--table", "t.csv"], 2, "--table is for many pairs"),
        (["a.png", "b.png", "--overlap", "2"], 2, "--overlap belongs to --pairs sequence"),
        (["m.csv", "--in-place"], 2, "--in-place is for many pairs"),
        (["m.h5", "--in-place"], 2, "--in-place changes a COLMAP database"),
        (["a.db", "--draw", "a.png"], 2, "--plot is of one pair"),
        (["a.db", "--focal", "500", "--K", "1,1,1,1"], 2, "--focal and --K both give the camera"),
        (["a.db", "--K", "1,2"], 2, "must be four numbers fx,fy,cx,cy"),
        (["a.db", "--focal", "0"], 2, "must be a number above 0"),
        (["a.db", "--quality", "q"], 2, "--quality takes a column of a table"),
        (["a.db", "--family", "homography,fundamental"], 2, "--family must be one for many pairs"),
        (["no.db"], 1, "no.db: there is no such file"),
        (["a.db", "--draw", "a.gif"], 2, "must end in .png, .jpg, .jpeg, .svg or .pdf"),
    ],
)
def test_options_that_do_not_fit_are_one_line(arguments, code, message, capsys):
    import re

    got, printed, err = run(capsys, *arguments)
    assert got == code
    assert re.search(message, err)
    assert printed == ""


def test_folders_without_pairs_are_one_line(tmp_path, capsys):
    assert run(capsys, tmp_path)[2] == (
        f"piforest: {tmp_path} holds no image; pairs need two or more (JPEG, PNG, TIFF, ...).\n"
    )
    (tmp_path / "a.png").write_text("no image")
    code, _, err = run(capsys, tmp_path, "--out", tmp_path / "m.csv")
    assert "holds one image, a.png" in err
    (tmp_path / "b.png").write_text("no image")
    code, _, err = run(capsys, tmp_path, "--out", tmp_path / "m.csv", "--force", "--jobs", "1")
    assert code == 1
    assert "a.png is not an image that OpenCV can read" in err
    assert {each.name for each in tmp_path.iterdir()} == {"a.png", "b.png"}
