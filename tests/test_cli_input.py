"""What people's files look like, and what the command line makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import cli
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.files import pick_columns, read_table

X = make_lines(2, sizes=40, noise=0.01, anomaly_share=0.2, random_state=0).data.round(4)


def run(capsys, *arguments):
    """The exit code, standard output and standard error of a command."""
    try:
        code = cli.main([str(each) for each in arguments])
    except SystemExit as stopped:
        code = stopped.code
    told = capsys.readouterr()
    return code, told.out, told.err


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
    with pytest.warns(UserWarning, match="columns id, t left out, since x and y are there; --col"):
        assert pick_columns(read_table(path), None, get_family(family)) == ["x", "y"]
    path = put(tmp_path / "b.csv", {**table, "z": X[:, 0]})
    with pytest.warns(UserWarning, match="columns id, t left out"):
        assert pick_columns(read_table(path), None, get_family(family)) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("name", "start", "step"), [("k", 0, 1), ("k", 1, 1), ("ID", 7, 1), ("row", 0, 3)]
)
def test_a_column_that_numbers_the_rows_is_no_coordinate(name, start, step, tmp_path, capsys):
    counts = start + step * np.arange(len(X))
    path = put(tmp_path / "a.csv", {name: counts, "east": X[:, 0], "north": X[:, 1]})
    code, told, err = run(capsys, "detect", path, *QUICK)
    assert code == 0
    assert err.count("\n") == 1
    assert f"column {name} left out, since it numbers the rows; --columns {name},east,north" in err
    assert "in columns east, north of" in told
    code, told, err = run(capsys, "detect", path, *QUICK, "--columns", f"{name},east,north")
    assert (code, err) == (0, "")
    assert f"in columns {name}, east, north of" in told


def test_a_count_beside_one_column_alone_is_its_time(tmp_path, capsys):
    path = put(tmp_path / "a.csv", {"t": range(len(X)), "value": X[:, 1]})
    code, told, err = run(capsys, "detect", path, *QUICK)
    assert (code, err) == (0, "")
    assert "in columns t, value of" in told


def test_whole_numbers_that_do_not_count_rows_are_coordinates(tmp_path, capsys):
    path = put(tmp_path / "a.csv", {"k": np.arange(len(X)) * 2, "u": X[:, 0], "v": X[:, 1]})
    code, told, err = run(capsys, "detect", path, *QUICK)
    assert (code, err) == (0, "")
    assert "in columns k, u, v of" in told


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
        ("1;1.234,5;a;2\n2;5.678,25;b;3\n", "1.234,5"),
    ],
)
def test_numbers_cut_at_the_wrong_place_are_not_passed_over(text, cell, tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text(text)
    code, _, err = run(capsys, "detect", path, *QUICK, "--no-header")
    assert code == 1
    assert f"row 1 of column 'x1' is '{cell}', not a number. Say how the file is written" in err
    assert "--columns" in err
    assert err.count("\n") == 1
