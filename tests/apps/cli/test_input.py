"""How the command line reads files of all kinds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from piforest.apps import cli
from piforest.apps.cli._summary import digits
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.io.tables import left_out, pick_columns, read_table

X = make_lines(2, sizes=40, noise=0.01, anomaly_share=0.2, random_state=0).data.round(4)


def run(capsys, *arguments):
    """The exit code, standard output and standard error of a command."""
    try:
        code = cli.main([str(each) for each in arguments])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def put(path, columns):
    """A CSV file of columns by name."""
    rows = [",".join(str(cell) for cell in row) for row in zip(*columns.values())]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    return path


@pytest.fixture
def points(tmp_path):
    return put(tmp_path / "points.csv", {"x": X[:, 0], "y": X[:, 1]})


QUICK = ("--family", "line", "--models", "200", "--trees", "5")


@pytest.mark.parametrize("family", ["line", "hyperplane", "sphere", "subspace"])
def test_families_of_any_number_of_columns_prefer_x_and_y(family, tmp_path):
    n = np.arange(len(X))
    table = {"id": n, "x": X[:, 0], "y": X[:, 1], "t": n / 7}
    path = put(tmp_path / "a.csv", table)
    read = read_table(path)
    assert pick_columns(read, None, get_family(family)) == ["x", "y"]
    assert left_out(read, ["x", "y"]) == {"id": "numbers the rows", "t": "the points are x, y"}
    path = put(tmp_path / "b.csv", {**table, "z": X[:, 0]})
    assert pick_columns(read_table(path), None, get_family(family)) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("name", "start", "step"), [("k", 0, 1), ("k", 1, 1), ("ID", 7, 1), ("row", 0, 3)]
)
def test_a_column_that_numbers_the_rows_is_not_a_coordinate(name, start, step, tmp_path, capsys):
    counts = start + step * np.arange(len(X))
    path = put(tmp_path / "a.csv", {name: counts, "east": X[:, 0], "north": X[:, 1]})
    code, printed, err = run(capsys, "detect", path, *QUICK)
    assert (code, err) == (0, "")
    assert f"\nleft out    {name} (numbers the rows)\n" in printed
    assert "in columns east, north of" in printed
    code, printed, err = run(capsys, "detect", path, *QUICK, "--columns", f"{name},east,north")
    assert code == 0
    assert f"warning: {name} varies" in err
    assert f"in columns {name}, east, north of" in printed


def test_a_counter_beside_a_single_column_is_its_time(tmp_path, capsys):
    path = put(tmp_path / "a.csv", {"t": range(len(X)), "value": X[:, 1]})
    code, printed, err = run(capsys, "detect", path, *QUICK)
    assert code == 0
    assert "warning: t varies" in err
    assert "in columns t, value of" in printed


@pytest.mark.slow
def test_whole_numbers_that_do_not_count_rows_are_coordinates(tmp_path, capsys):
    path = put(tmp_path / "a.csv", {"k": np.arange(len(X)) * 2, "u": X[:, 0], "v": X[:, 1]})
    code, printed, err = run(capsys, "detect", path, *QUICK)
    assert code == 0
    assert "warning: k varies" in err
    assert "in columns k, u, v of" in printed


@pytest.mark.parametrize("header", [None, False])
def test_decimal_commas_are_read_between_spaces(header, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("-0,604 0,2595\n-0,8415 -0,4819\n1 2,5\n")
    table = read_table(path, header=header)
    assert table.names == ["x0", "x1"]
    assert table.numbers().tolist() == [[-0.604, 0.2595], [-0.8415, -0.4819], [1, 2.5]]
    path.write_text("-0,604 0,2595\n-0,8415 -0,4819\n")
    assert read_table(path, header=header).numbers()[0].tolist() == [-0.604, 0.2595]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("1,604 0,2595,a\n2,8415 -0,4819,b\n", "604 0"),
        ("1;1.2,3.4;a;2\n2;5.6,2.5;b;3\n", "1.2,3.4"),
    ],
)
def test_numbers_split_by_a_wrong_delimiter_are_not_ignored(text, cell, tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text(text)
    code, _, err = run(capsys, "detect", path, *QUICK, "--no-header")
    assert code == 1
    assert f"of column 'x1' is '{cell}', not a number. Give the format of the file" in err
    assert "--columns" in err
    assert err.count("\n") == 1


def test_a_folder_without_write_access_is_an_error_before_the_work(
    points, tmp_path, capsys, monkeypatch
):
    def refused(dir, prefix):
        raise PermissionError(13, "Permission denied", f"{dir}/{prefix}abc")

    out = tmp_path / "scores.csv"
    with monkeypatch.context() as patched:
        patched.setattr("tempfile.mkstemp", refused)
        code, printed, err = run(capsys, "detect", points, *QUICK, "--out", out)
    assert (code, printed) == (1, "")
    why = "no file can be made in its folder (Permission denied)."
    assert err == f"piforest: cannot write {out}: {why}\n"
    assert run(capsys, "detect", points, *QUICK, "--out", out)[0] == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["points.csv", "scores.csv"]


def test_a_model_must_be_a_file(points, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "detect", points, *QUICK, "--model", "-")
    assert code == 2
    assert "argument --model: '-' is not a file" in err
    assert [each.name for each in tmp_path.iterdir()] == ["points.csv"]


def test_folders_and_missing_models_are_errors(points, tmp_path, capsys):
    code, _, err = run(capsys, "detect", tmp_path, *QUICK)
    assert (code, err) == (1, f"piforest: {tmp_path} is a folder, not a file.\n")
    code, _, err = run(capsys, "score", tmp_path, "--model", "no.pif")
    assert code == 1
    assert f"{tmp_path} is a folder, not a file; score a folder of Parquet files" in err
    assert "--dask local" in err
    code, _, err = run(capsys, "score", points, "--model", "no.pif")
    assert (code, err) == (1, "piforest: no.pif: there is no such file.\n")
    code, _, err = run(capsys, "explain", points, "--model", tmp_path)
    assert (code, err) == (1, f"piforest: {tmp_path} is a folder, not a file.\n")


@pytest.mark.parametrize("threshold", ["5", "1", "0", "-0.5"])
def test_a_threshold_lies_between_0_and_1(threshold, points, capsys):
    code, _, err = run(capsys, "score", points, "--model", "m.pif", f"--threshold={threshold}")
    assert code == 2
    assert f"'{threshold}' must be between 0 and 1, or 'auto'" in err


@pytest.mark.parametrize("option", [["--ratio", "0.8"], ["--no-mutual"]])
def test_matches_of_a_file_are_not_filtered(option, capsys):
    code, _, err = run(capsys, "matches", "a.png", "b.png", "--matches", "mm.csv", *option)
    assert code == 2
    assert err.startswith(
        f"piforest: {option[0]} applies to matching, but the matches are read from mm.csv"
    )
    assert err.count("\n") == 1


def test_a_pair_needs_a_file_of_matches(capsys):
    code, _, err = run(capsys, "matches", "a.png", "b.png", "--pair", "a,b")
    assert code == 2
    assert err.endswith("use it with --matches.\n")


def test_the_error_of_an_incomplete_match_does_not_suggest_missing_skip(tmp_path, capsys):
    cv2 = pytest.importorskip("cv2")
    image, matches = tmp_path / "a.png", tmp_path / "mm.csv"
    cv2.imwrite(str(image), np.zeros((8, 8, 3), np.uint8))
    matches.write_text("x1,y1,x2,y2\n1,2,3,4\n1,,3,4\n,2,3,4\n")
    code, _, err = run(capsys, "matches", image, image, "--matches", matches)
    assert code == 1
    assert "row 3 of column 'x1' has no number, and 1 more row lacks one; remove such rows" in err
    assert "--missing" not in err


def test_large_coordinates_are_shown_with_the_digits_in_which_they_differ(tmp_path, capsys):
    path, model = tmp_path / "far.npy", tmp_path / "m.pif"
    far = X + np.array([500_000, 4_000_000])
    np.save(path, far)
    code, printed, _ = run(capsys, "detect", path, *QUICK, "--model", model)
    assert code == 0
    shown = np.array([line.split() for line in printed.split("x1\n")[1].splitlines()[:10]], float)
    rows = shown[:, 0].astype(int) - 1
    assert np.allclose(shown[:, 2:], far[rows], rtol=0, atol=1e-4)
    _, printed, _ = run(capsys, "explain", path, "--model", model, "--row", "3")
    x, y = (float(part.split(" = ")[1]) for part in printed.splitlines()[0].split(", "))
    assert np.allclose([x, y], far[2], rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([3999999.75, 0.5], "4000000"),
        ([4000000.25, 4000001.5], "4000000.25"),
        ([0.123456789, 1.0], "0.123457"),
        ([5.0, 5.0], "5"),
        ([1e-9, 2e-9], "1e-09"),
        ([0.0, 0.0], "0"),
        ([], None),
    ],
)
def test_numbers_have_the_digits_in_which_they_differ(values, text):
    places = digits(values)
    assert text is None or f"{values[0]:.{places}g}" == text


@pytest.mark.parametrize("name", ["o.mat", "o.npz", "o.jpg"])
def test_only_formats_that_can_be_written_are_offered(name, points, tmp_path, capsys):
    code, _, err = run(capsys, "detect", points, *QUICK, "--out", tmp_path / name)
    assert code == 1
    offered = err.split("one of ")[1].split("; got")[0].rstrip(".\n")
    assert ".csv, " in offered
    assert ".mat" not in offered
    assert ".npz" not in offered


@pytest.mark.parametrize("name", ["o.npy", "o.xyz"])
def test_text_in_a_format_of_numbers_is_an_error_before_the_work(name, tmp_path, capsys):
    notes = ["1", *["a"] * (len(X) - 1)]  # the first row alone would do
    path = put(tmp_path / "a.csv", {"note": notes, "x": X[:, 0], "y": X[:, 1]})
    code, printed, err = run(capsys, "detect", path, *QUICK, "--out", tmp_path / name)
    assert (code, printed) == (1, "")
    message = "row 2 of column 'note' is 'a', not a number. Write another format, such as .csv."
    assert f"{name[1:]} files hold numbers only, and {path}: {message}" in err


@pytest.mark.slow
def test_json_has_numbers_where_the_cells_are_numbers(tmp_path, capsys):
    n = len(X)
    columns = {"id": [f"{k:03d}" for k in range(n)], "k": [5] * n, "note": ["a"] * n}
    path = put(tmp_path / "a.csv", {**columns, "x": X[:, 0], "y": X[:, 1]})
    code, printed, _ = run(capsys, "detect", path, *QUICK, "--json")
    assert code == 0
    for row in json.loads(printed)["most_anomalous"]:
        at = row["row"] - 1
        expected = {"id": f"{at:03d}", "k": 5, "note": "a", "x": X[at, 0], "y": X[at, 1]}
        assert row["values"] == expected
    path = tmp_path / "b.csv"
    path.write_text("\n".join(f"{x};{y}" for x, y in X).replace(".", ","))
    code, printed, _ = run(capsys, "detect", path, *QUICK, "--json")
    top = json.loads(printed)["most_anomalous"][0]
    assert list(top["values"].values()) == X[top["row"] - 1].tolist()


def test_the_size_of_a_sample_is_a_number_if_it_does_not_depend_on_d(capsys):
    assert json.loads(run(capsys, "families", "line", "--json")[1])["sample"] == 2
    assert json.loads(run(capsys, "families", "hyperplane", "--json")[1])["sample"] == "d"
    assert "sample    1 row\n" in run(capsys, "families", "translation")[1]


def test_one_skipped_row_is_in_the_singular(tmp_path, capsys):
    path = put(tmp_path / "a.csv", {"x": [*X[:, 0], ""], "y": [*X[:, 1], 1]})
    _, printed, _ = run(capsys, "detect", path, *QUICK, "--missing", "skip")
    assert "; 1 row lacks a number\n" in printed


def test_an_array_whose_columns_are_the_points_looks_transposed(tmp_path, capsys):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(4, 500)))
    for command in ("detect", "suggest", "cloud", "matches"):
        code, _, err = run(capsys, command, tmp_path / "a.npy")
        assert code == 1
        assert "a.npy has 4 rows and 500 columns: this looks transposed, since each point" in err
    np.save(tmp_path / "b.npy", np.random.default_rng(0).normal(size=(30, 150)))
    code, _, err = run(capsys, "suggest", tmp_path / "b.npy", "--candidates", "line")
    assert "transposed" not in err


def test_a_threshold_is_a_score(points, capsys):
    code, _, err = run(capsys, "detect", points, *QUICK, "--threshold", "2")
    assert code == 2
    assert "'2' must be above 0 and at most 1, as scores are" in err
    assert run(capsys, "detect", points, *QUICK, "--threshold", "1", "--quiet")[0] == 0
