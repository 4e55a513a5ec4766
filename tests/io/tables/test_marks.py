"""How numbers, flags, dates and missing values are written in text."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from piforest.families import get_family
from piforest.io.tables import left_out, pick_columns, read_table, write_table
from piforest.io.tables.dates import dates_as_numbers, is_date_column

LAW = get_family("linear_regression")


def put(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "options", "numbers"),
    [
        ("x;y\n6.141,00;1\n-1.234.567,5;2\n1.234;3\n12,5;4\n", {}, [6141, -1234567.5, 1234, 12.5]),
        ('x,y\n"6,141.00",1\n"1,234",2\n12.5,3\n7,4\n', {}, [6141, 1234, 12.5, 7]),
        ('x,y\n"6,141",1\n"1,234,567",2\n12.5,3\n7,4\n', {"thousands": ","},
         [6141, 1234567, 12.5, 7]),
        ("x;y\n6.141;1\n12;2\n1;3\n2;4\n", {"thousands": "."}, [6141, 12, 1, 2]),
        ("x;y\n6 141,5;1\n12;2\n1;3\n2;4\n", {"thousands": "space", "decimal": ","},
         [6141.5, 12, 1, 2]),
    ],
)  # fmt: skip
def test_marks_between_groups_of_digits_are_read(text, options, numbers, tmp_path):
    table = read_table(put(tmp_path, text), **options)
    assert table.numbers(["x"])[:, 0].tolist() == numbers
    write_table(tmp_path / "b.parquet", table)
    assert pq.read_table(tmp_path / "b.parquet")["x"].to_pylist() == numbers
    write_table(tmp_path / "b.csv", table)
    assert read_table(tmp_path / "b.csv", **options).numbers(["x"])[:, 0].tolist() == numbers


@pytest.mark.parametrize("cell", ["1,23.5", "12,3456", "1,,234", "1.234,5", "1234,567", ",123"])
def test_groups_have_three_digits(cell, tmp_path):
    table = read_table(put(tmp_path, f'x,y\n"1,234.5",1\n"{cell}",2\n'))
    with pytest.raises(ValueError, match=r"row \d of column 'x' is .*, not a number"):
        table.numbers(["x"])


def test_errors_name_the_option_that_helps(tmp_path):
    for cell, said in (
        ("6,141", r"decimal=',' \(--decimal\), or for groups of digits thousands=',' \(--thous"),
        ("6,14", r"say decimal=',' \(--decimal\)\."),
        ("1,234,567", r"say thousands=',' \(--thousands\)"),
        ("6 141", r"say thousands='space' \(--thousands\)"),
        ("?", r"say na_values='\?' \(--na-values=\?\)"),
    ):
        table = read_table(put(tmp_path, f'x,y\n1.5,1\n"{cell}",2\n'))
        with pytest.raises(ValueError, match=said):
            table.numbers(["x"])
    with pytest.raises(ValueError, match=r"'1,604' may have .* or thousands=',' \(--thousands\)"):
        read_table(put(tmp_path, "1,604;2,259\n2,841;4,819\n"))
    for mark in ("1", "..", "-"):
        with pytest.raises(ValueError, match="thousands must be one character"):
            read_table(put(tmp_path, "x,y\n1,2\n"), thousands=mark)


def test_further_cells_are_missing_on_demand(tmp_path):
    path = put(tmp_path, "x,y\n1,2\n-,3\n?,4\nNone,5\n")
    table = read_table(path, na_values="-, ?")
    assert table.numeric() == ["x", "y"]
    assert np.isnan(table.numbers(["x"])[:, 0]).tolist() == [False, True, True, True]
    with pytest.raises(ValueError, match="na_values is no option of its format"):
        read_table(put(tmp_path, "[]", "a.json"), na_values="-")


def test_true_and_false_are_features_of_laws_and_nothing_else(tmp_path):
    path = put(tmp_path, "garden,a,b,sold\nTrue,1,2,False\nfalse,2,3,True\n,4,5,True\nTRUE,4,4,\n")
    table = read_table(path)
    assert table.numeric() == ["a", "b"]
    assert pick_columns(table, None, LAW) == ["garden", "a", "b"]
    assert pick_columns(table, None, []) == ["garden", "a", "b"]
    assert pick_columns(table, None, get_family("line")) == ["a", "b"]
    values = table.numbers(["garden"])[:, 0]
    assert values[:2].tolist() == [1, 0]
    assert np.isnan(values[2])
    assert left_out(table, ["a", "b"])["sold"] == "true or false; --columns takes it as 1 and 0"
    write_table(tmp_path / "b.csv", table)
    assert (tmp_path / "b.csv").read_text() == path.read_text()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["31.12.2023", "01.02.2024"], ["2023-12-31", "2024-02-01"]),
        (["01.02.2024", "03.04.2024"], ["2024-02-01", "2024-04-03"]),
        (["12/31/2023", "2/1/2024"], ["2023-12-31", "2024-02-01"]),
        (["31/12/2023", "01/02/2024"], ["2023-12-31", "2024-02-01"]),
        (["31-12-2023 06:30", "01-02-2024 18:00:30"], ["2023-12-31T06:30", "2024-02-01T18:00:30"]),
    ],
)
def test_dates_are_read_where_their_order_is_clear(cells, expected, tmp_path):
    table = read_table(put(tmp_path, "day,y\n" + "".join(f"{cell},1\n" for cell in cells)))
    assert is_date_column(table, "day")
    found = dates_as_numbers(table, "seconds").numbers(["day"])[:, 0]
    assert found.tolist() == [np.datetime64(each).astype("M8[s]").astype(int) for each in expected]


@pytest.mark.parametrize(
    "cells", [["01/02/2024", "03/04/2024"], ["31/12/2023", "12/31/2023"], ["1.2.24"], ["1/2.2024"]]
)
def test_other_orders_are_no_dates(cells, tmp_path):
    table = read_table(put(tmp_path, "day,y\n" + "".join(f"{cell},1\n" for cell in cells)))
    assert not is_date_column(table, "day")
