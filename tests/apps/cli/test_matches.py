from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from match_scenes import right
from piforest.apps import cli
from piforest.datasets import make_plane_pair

cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def pair():
    return make_plane_pair(2, random_state=0)


@pytest.fixture(scope="module")
def folder(pair, tmp_path_factory):
    """Both images, and one of half the size."""
    made = tmp_path_factory.mktemp("images")
    first, second = (image[:, :, ::-1] for image in pair.images)
    for name, image in (("a.png", first), ("b.png", second), ("small.png", second[::2, ::2])):
        cv2.imwrite(str(made / name), image)
    np.savetxt(made / "given.csv", pair.data, delimiter=",", header="x1,y1,x2,y2", comments="")
    return made


def run(capsys, *arguments):
    code = cli.main(["matches", *(str(each) for each in arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def columns_of(path):
    rows = list(csv.DictReader(path.read_text().splitlines()))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@pytest.mark.slow
def test_wrong_matches_of_two_images_are_found(pair, folder, tmp_path, capsys):
    out, drawn = tmp_path / "m.csv", tmp_path / "m.png"
    code, printed, err = run(
        capsys, folder / "a.png", folder / "b.png", "--family", "homography", "--ratio", "1",
        "--out", out, "--draw", drawn,
    )  # fmt: skip
    assert (code, err) == (0, "")
    found = columns_of(out)
    assert list(found) == ["x1", "y1", "x2", "y2", "ratio", "score", "anomaly", "structure",
                           "distance"]  # fmt: skip
    truth = right(pair, np.column_stack([found[name] for name in ("x1", "y1", "x2", "y2")]))
    assert roc_auc_score(~truth, found["score"]) > 0.97
    assert np.mean(truth[found["anomaly"] == 0]) > 0.95
    assert f"{len(truth)} between a.png and b.png, SIFT, ratio below 1" in printed
    assert cv2.imread(str(drawn)).shape[1] > 1000


@pytest.mark.slow
def test_matches_of_a_file_are_scored_and_nothing_is_lost(pair, folder, tmp_path, capsys):
    out = tmp_path / "m.csv"
    code, printed, err = run(
        capsys, folder / "a.png", folder / "b.png", "--family", "homography", "--matches",
        folder / "given.csv", "--out", out, "--report", tmp_path / "r.html", "--model",
        tmp_path / "m.pif", "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    found = columns_of(out)
    assert np.column_stack([found[name] for name in ("x1", "y1", "x2", "y2")]) == pytest.approx(
        pair.data
    )
    assert roc_auc_score(pair.target == 0, found["score"]) > 0.99
    answer = json.loads(printed)
    assert answer["written"].keys() == {"out", "report", "model"}
    assert "data:image/" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_images_of_two_sizes_are_matched_and_drawn(folder, tmp_path, capsys):
    drawn = tmp_path / "m.png"
    code, printed, err = run(
        capsys, folder / "a.png", folder / "small.png", "--family", "homography", "--draw", drawn,
        "--no-mutual", "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert json.loads(printed)["points"] > 20
    assert drawn.exists()


@pytest.mark.slow
def test_matches_of_a_colmap_database_are_read(pair, folder, tmp_path, capsys):
    import sqlite3

    n = len(pair.data)
    database = sqlite3.connect(tmp_path / "colmap.db")
    database.execute("CREATE TABLE images (image_id INTEGER, name TEXT)")
    for table, key in (("keypoints", "image_id"), ("matches", "pair_id"),
                       ("two_view_geometries", "pair_id")):  # fmt: skip
        database.execute(
            f"CREATE TABLE {table} ({key} INTEGER, rows INTEGER, cols INTEGER, data BLOB)"
        )
    ends = pair.data[:, :2], pair.data[::-1, 2:]
    for number, (name, points) in enumerate(zip(("a.png", "b.png"), ends), 1):
        database.execute("INSERT INTO images VALUES (?, ?)", (number, name))
        data = points.astype(np.float32).tobytes()
        database.execute("INSERT INTO keypoints VALUES (?, ?, 2, ?)", (number, n, data))
    pairs = np.column_stack([np.arange(n), np.arange(n)[::-1]]).astype(np.uint32)
    database.execute("INSERT INTO matches VALUES (?, ?, 2, ?)", (2147483649, n, pairs.tobytes()))
    database.commit()
    database.close()
    command = (folder / "a.png", folder / "b.png", "--family", "homography", "--matches",
               tmp_path / "colmap.db")  # fmt: skip
    code, _, err = run(capsys, *command, "--out", tmp_path / "m.csv")
    assert (code, err) == (0, "")
    assert roc_auc_score(pair.target == 0, columns_of(tmp_path / "m.csv")["score"]) > 0.99
    code, _, err = run(capsys, *command, "--pair", "a.png,c.png")
    assert code == 1
    assert "no image 'c.png'; its images: a.png, b.png" in err


@pytest.mark.slow
def test_matches_outside_of_the_images_raise_a_warning(folder, tmp_path, capsys):
    code, _, err = run(
        capsys, folder / "a.png", folder / "small.png", "--family", "homography", "--matches",
        folder / "given.csv",
    )  # fmt: skip
    assert code == 0
    assert err.startswith("piforest: warning: ")
    assert "lie outside the images (640 x 480 and 320 x 240 pixels)" in err
    assert err.count("\n") == 1


def blank(folder, tmp_path):
    cv2.imwrite(str(tmp_path / "blank.png"), np.full((50, 50), 99, np.uint8))
    return [folder / "a.png", tmp_path / "blank.png"]


def no_image(folder, tmp_path):
    (tmp_path / "text.png").write_text("text")
    return [folder / "a.png", tmp_path / "text.png"]


def too_few(folder, tmp_path):
    (tmp_path / "few.csv").write_text("x1,y1,x2,y2\n1,2,3,4\n5,6,7,8\n")
    return [folder / "a.png", folder / "b.png", "--matches", tmp_path / "few.csv"]


def unnamed(folder, tmp_path):
    (tmp_path / "named.csv").write_text("u1,v1,u2,v2\n1,2,3,4\n5,6,7,8\n")
    return [folder / "a.png", folder / "b.png", "--matches", tmp_path / "named.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (blank, "there are no matches between a.png and blank.png"),
        (no_image, "text.png is not an image that OpenCV can read"),
        (too_few, "a comparison of families needs at least 8 matches, got 2. Find more"),
        (unnamed, "must have the columns x1, y1, x2, y2"),
        (lambda f, t: [f / "a.png", f / "c.png"], "there is no file"),
        (lambda f, t: [f / "a.png", f / "b.png", "--family", "line"], "does not take matches"),
        (lambda f, t: [f / "a.png", f / "b.png", "--family", "essential"], "look like pixels"),
        (lambda f, t: [f / "a.png", f / "b.png", "--out", t / "m.bin"], "must end in one of"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(arguments, message, folder, tmp_path, capsys):
    code, printed, err = run(capsys, *arguments(folder, tmp_path))
    assert code == 1
    assert "models" not in printed
    assert message in err
    assert err.startswith("piforest: ")
    assert err.count("\n") == 1


def test_without_opencv_the_error_says_what_to_install(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    code, _, err = run(capsys, folder / "a.png", folder / "b.png")
    assert code == 1
    assert "pip install 'piforest[vision]'" in err


@pytest.mark.parametrize("extra", [["--ratio", "0"], ["--ratio", "x"], ["--pair", "a"]])
def test_an_invalid_command_line_exits_with_two(extra, folder):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["matches", "a.png", "b.png", *extra])
    assert stopped.value.code == 2


@pytest.mark.slow
def test_without_a_family_the_matches_suggest_one(folder, capsys):
    code, printed, err = run(capsys, folder / "given.csv", "--json")
    assert (code, err) == (0, "")
    found = json.loads(printed)
    names = {each["family"] for each in found["proposals"]["proposals"]}
    assert {"homography", "fundamental", "affinity", "translation"} <= names
    assert not names & {"essential", "rotation", "vanishing_point"}, "no cameras, no segments"
    assert found["structures"][0]["family"] == found["proposals"]["proposals"][0]["family"]


def test_one_image_is_an_error(folder, capsys):
    code, _, err = run(capsys, folder / "a.png")
    assert code == 2
    assert "a.png is one image; name two, or a folder of images." in err


@pytest.mark.slow
def test_the_comparison_of_families_draws_a_picture_and_nothing_else(folder, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    given = folder / "given.csv"
    code, out, _ = run(capsys, given, "--suggest", "--plot", tmp_path / "s.png")
    assert code == 0
    assert f"wrote {tmp_path / 's.png'}" in out
    assert (tmp_path / "s.png").read_bytes()[:4] == b"\x89PNG"
    code, _, err = run(capsys, given, "--suggest", "--out", tmp_path / "s.csv")
    assert code == 2
    assert "--suggest fits nothing that --out could hold" in err


@pytest.mark.slow
def test_there_is_one_matrix_of_a_structure_the_refined_one(folder, capsys):
    given = folder / "given.csv"
    _, out, _ = run(capsys, given, "--family", "homography", "--json")
    for each in json.loads(out)["structures"]:
        assert np.allclose(each["matrix"], each["H"], rtol=1e-12)
        assert np.allclose(each["parameters"]["H"], each["H"], rtol=1e-12)
    _, printed, _ = run(capsys, given, "--family", "homography")
    assert each["equation"] in printed


@pytest.mark.slow
def test_smaller_images_have_matches_in_pixels_of_the_files(pair, folder, tmp_path, capsys):
    out = tmp_path / "m.csv"
    code, printed, _ = run(
        capsys, folder / "a.png", folder / "b.png", "--family", "homography", "--max-size", 320,
        "--out", out,
    )  # fmt: skip
    assert code == 0
    assert "on images of at most 320 pixels" in printed
    found = columns_of(out)
    X = np.column_stack([found[name] for name in ("x1", "y1", "x2", "y2")])[found["anomaly"] == 0]
    assert X.max() > 400
    assert np.mean(right(pair, X)) > 0.9
    _, _, err = run(capsys, folder / "given.csv", "--max-size", 320)
    assert "--max-size applies to matching" in err


@pytest.mark.slow
def test_the_picture_of_matches_that_follow_nothing_says_so(tmp_path, capsys, monkeypatch):
    plots = pytest.importorskip("piforest.plots")
    titles, draw = [], plots.plot_matches
    monkeypatch.setattr(
        plots, "plot_matches", lambda *a, **more: titles.append(more["title"]) or draw(*a, **more)
    )
    X = np.random.default_rng(1).uniform(0, 500, (60, 4))
    np.savetxt(tmp_path / "m.csv", X, delimiter=",", header="x1,y1,x2,y2", comments="")
    _, out, _ = run(capsys, tmp_path / "m.csv", "--family", "homography", "--plot",
                    tmp_path / "m.png")  # fmt: skip
    assert titles == ["60 matches: no motion was found"]
    assert "The two images may show nothing in common: look at them." in out
