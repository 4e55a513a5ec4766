"""Which columns are the points, and what becomes of the others, of dates, groups and gaps."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from cli_runs import rows_of, run
from piforest.io.tables import Table, read_table
from piforest.io.tables.dates import dates_as_numbers, is_date_column

RNG = np.random.default_rng(0)
N = 120
SIZE = RNG.uniform(0, 10, N).round(3)
PRICE = (3 * SIZE + 1 + RNG.normal(0, 0.05, N)).round(3)
PRICE[:30] = RNG.uniform(0, 40, 30).round(3)
LAW = ["--family", "linear_regression", "--models", "300", "--trees", "10"]


def put(path, columns):
    rows = [",".join(map(str, row)) for row in zip(*columns.values())]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    return path


@pytest.fixture
def table(tmp_path):
    columns = {
        "id": range(1, N + 1),
        "year": [2024] * N,
        "price": PRICE,
        "size": SIZE,
        "note": ["ok", "so so"] * (N // 2),
        "when": [f"2024-01-{1 + k % 28:02d}" for k in range(N)],
        "empty": [""] * N,
    }
    return put(tmp_path / "a.csv", columns)


def test_columns_that_are_left_out_are_named_with_the_reason(table, capsys):
    code, printed, err = run(capsys, "detect", table, *LAW)
    assert (code, err) == (0, "")
    assert f"points      {N} in columns price, size of {table}\n" in printed
    assert "\ntarget      size\n" in printed
    said = (
        "id (numbers the rows), year (constant), note (text), when (dates; --dates days takes "
        "them as numbers), empty (empty)"
    )
    assert f"\nleft out    {said}\n" in printed
    _, printed, _ = run(capsys, "detect", table, *LAW, "--json")
    found = json.loads(printed)
    assert (found["columns"], found["target"]) == (["price", "size"], "size")
    assert list(found["left_out"]) == ["id", "year", "note", "when", "empty"]
    _, printed, _ = run(capsys, "detect", table, *LAW, "--columns", "size,price")
    assert "left out" not in printed


def test_many_columns_are_named_in_part(tmp_path, capsys):
    texts = {f"t{k}": ["a", "b"] * (N // 2) for k in range(15)}
    path = put(tmp_path / "a.csv", {**texts, "size": SIZE, "price": PRICE})
    _, printed, _ = run(capsys, "detect", path, *LAW)
    assert "t8 (text), t9 (text), and 5 more\n" in printed


@pytest.mark.slow
def test_the_target_is_named(table, tmp_path, capsys):
    named = ["--option", "target=price"]
    code, printed, _ = run(capsys, "detect", table, *LAW, *named, "--out", tmp_path / "a.out.csv")
    assert code == 0
    assert "\ntarget      price\n" in printed
    columns = ["--columns", "size,price", "--option", "target=1"]
    run(capsys, "detect", table, *LAW, *columns, "--out", tmp_path / "b.out.csv")
    by_name = ["--columns", "size,price", *named]
    run(capsys, "detect", table, *LAW, *by_name, "--out", tmp_path / "c.out.csv")
    one, two = (rows_of(tmp_path / f"{name}.out.csv") for name in "bc")
    assert one == two
    flagged = [row["anomaly"] == "1" for row in rows_of(tmp_path / "a.out.csv")]
    assert np.mean(flagged[:30]) > 0.7
    assert np.mean(flagged[30:]) < 0.2
    code, printed, _ = run(capsys, "explain", table, *LAW, *named, "--row", "3")
    assert code == 0


def test_a_target_that_is_no_column_of_numbers_is_an_error(table, capsys):
    for arguments, said in (
        (["--option", "target=cost"], "has no column 'cost'; its columns: id, year, price"),
        (["--option", "target=note"], "row 1 of column 'note' is 'ok', not a number"),
        (["--option", "target=price", "--columns", "size,year"],
         "the target 'price' is not among the columns size, year; add it to --columns."),
    ):  # fmt: skip
        code, _, err = run(capsys, "detect", table, *LAW, *arguments)
        assert code == 1
        assert said in err
    code, _, err = run(capsys, "detect", table, "--family", "line", "--option", "target=price")
    assert code == 1
    assert "'target'" in err


def test_a_constant_target_does_not_make_another_column_the_target(tmp_path, capsys):
    path = put(tmp_path / "a.csv", {"a": SIZE, "b": PRICE, "c": [1.0] * N})
    code, _, err = run(capsys, "detect", path, *LAW)
    assert code == 1
    assert "the target, column 'c' of X, is constant, so that there is no law to find" in err


def test_dates_are_numbers_when_asked(table, tmp_path, capsys):
    out, model = tmp_path / "o.csv", tmp_path / "m.pif"
    options = ["--dates", "days", "--out", out, "--model", model]
    code, printed, _ = run(capsys, "detect", table, *LAW, *options)
    assert code == 0
    assert "in columns price, size, when of" in printed
    assert rows_of(out)[5]["when"] == "2024-01-06"  # as it stood
    again = tmp_path / "again.csv"
    command = ["score", table, "--model", model, "--out", again]
    assert run(capsys, *command, "--dates", "days")[0] == 0
    assert rows_of(again) == rows_of(out)
    code, _, err = run(capsys, *command, "--force")
    assert code == 1
    assert "row 1 of column 'when' is '2024-01-01', not a number" in err


def test_dates_of_all_kinds_are_the_time_since_1970():
    when = ["1970-01-02", None, "1970-01-01T12:00Z", "1970-01-01 13:00+01:00"]
    object_column = np.array(when, object)
    columns = {
        "text": object_column,
        "day": np.array(["1970-01-03", "NaT", "1969-12-31", "2000-01-01"], "M8[D]"),
        "number": np.arange(4.0),
        "word": np.array(["a", "b", "1970-01-02", None], object),
    }
    table = Table(columns, "here")
    assert [is_date_column(table, name) for name in columns] == [True, True, False, False]
    hours = dates_as_numbers(table, "hours")
    assert np.array_equal(hours.columns["text"], [24, np.nan, 12, 12], equal_nan=True)
    days = dates_as_numbers(table, "days").columns["day"]
    assert np.array_equal(days, [2, np.nan, -1, 10957], equal_nan=True)
    years = dates_as_numbers(table, "years").columns["day"]
    assert years[3] == pytest.approx(30, abs=1e-2)
    assert hours.columns["word"] is columns["word"]


def test_a_cell_that_is_no_date_is_named(tmp_path):
    cells = ["2024-01-31"] * 1500 + ["soon"]
    table = read_table(put(tmp_path / "a.csv", {"when": cells, "x": range(1501)}))
    with pytest.raises(ValueError, match=r"row 1501 of column 'when' is 'soon', not a date such"):
        dates_as_numbers(table, "days")


def test_samples_are_drawn_within_groups(tmp_path, capsys):
    """Parallel laws of three shops, which overlap: within a group each is one line."""
    shop = RNG.integers(0, 3, N)
    price = 2 * SIZE + 5 * shop + RNG.normal(0, 0.01, N)
    names = np.array(["north", "south", ""])[shop]
    path = put(tmp_path / "a.csv", {"shop": names, "size": SIZE, "price": price.round(4)})
    command = ["detect", path, *LAW, "--groups", "shop", "--json"]
    code, printed, _ = run(capsys, *command)
    found = json.loads(printed)
    assert code == 0
    assert found["columns"] == ["size", "price"]
    assert found["left_out"] == {"shop": "groups"}
    assert len(found["structures"]) == 3
    code, _, err = run(capsys, "detect", path, *LAW, "--groups", "town")
    assert (code, err) == (
        1,
        f"piforest: {path} has no column 'town'; its columns: shop, size, price.\n",
    )


@pytest.mark.slow
def test_numeric_groups_are_no_coordinate(tmp_path, capsys):
    pl.DataFrame({"g": [0, 1] * (N // 2), "size": SIZE, "price": PRICE}).write_parquet(
        tmp_path / "a.parquet"
    )
    _, printed, _ = run(capsys, "detect", tmp_path / "a.parquet", *LAW, "--groups", "g")
    assert "in columns size, price of" in printed
    model = tmp_path / "m.pif"
    run(capsys, "detect", tmp_path / "a.parquet", *LAW, "--groups", "g", "--model", model)
    code, _, err = run(capsys, "explain", tmp_path / "a.parquet", "--model", model, "--groups", "g")
    assert code == 2
    assert "--groups applies to fitting" in err


def test_missing_values_are_an_error_or_skipped(tmp_path, capsys):
    sizes = ["" if k in (3, 8) else size for k, size in enumerate(SIZE)]
    path = put(tmp_path / "a.csv", {"size": sizes, "price": PRICE})
    code, _, err = run(capsys, "detect", path, *LAW)
    assert code == 1
    assert "row 4 of column 'size' has no number, and 1 more row lacks one; --missing skip" in err
    assert run(capsys, "detect", path, *LAW, "--missing", "error")[0] == 1
    code, printed, _ = run(capsys, "detect", path, *LAW, "--missing", "skip", "--json")
    assert code == 0
    assert (json.loads(printed)["skipped_rows"], json.loads(printed)["points"]) == (2, N - 2)


@pytest.mark.slow
def test_the_target_is_among_the_columns_that_are_shown(tmp_path, capsys):
    rng = np.random.default_rng(0)
    columns = {f"f{k}": rng.normal(size=N) for k in range(9)}
    columns["last"] = sum(columns.values()) + rng.normal(0, 0.1, N)
    path, page = put(tmp_path / "wide.csv", columns), tmp_path / "page.html"
    code, out, _ = run(capsys, "detect", path, *LAW, "--report", page, "--json")
    assert code == 0
    shown = list(json.loads(out)["most_anomalous"][0]["values"])
    assert shown == [*(f"f{k}" for k in range(7)), "last"]
    text = page.read_text()
    head = text[text.rindex('<thead><tr><th scope="col">Row') :].split("</thead>")[0]
    assert [name in head for name in ("f0", "f1", "f2", "f3", "last")] == [True] * 3 + [False, True]


def test_amounts_with_a_sign_are_left_out_aloud(tmp_path, capsys):
    codes = [f"A{k}" for k in range(N)]
    for cells in (
        [f"${each}" for each in PRICE], [f"{each} %" for each in PRICE],
        [f"{each:,.2f} EUR" for each in PRICE], [f"-{each}€" for each in PRICE],
    ):  # fmt: skip
        quoted = [f'"{cell}"' for cell in cells]
        path = put(tmp_path / "a.csv", {"code": codes, "size": SIZE, "y": PRICE, "price": quoted})
        code, _, err = run(capsys, "detect", path, *LAW)
        assert code == 0
        assert f"column 'price' is left out as text: its cells, such as {cells[0]!r}, are" in err
        assert "'code'" not in err


def test_a_table_of_dates_and_values_names_the_dates(tmp_path, capsys):
    days = [f"{1 + k % 28:02d}.{1 + k // 28:02d}.2024" for k in range(N)]
    path = put(tmp_path / "a.csv", {"day": days, "value": PRICE})
    for command in ("detect", "suggest"):
        code, _, err = run(capsys, command, path)
        assert code == 1
        assert "a.csv has one column of numbers, value, and structures need two." in err
        assert "The dates in day were left out: --dates days takes them as numbers" in err
    code, _, err = run(capsys, "suggest", put(tmp_path / "b.csv", {"value": PRICE}))
    assert code == 1
    assert "structures need two. Add a column, or select others with --columns." in err
    code, out, _ = run(capsys, "detect", tmp_path / "a.csv", *LAW, "--dates", "days", "--json")
    assert code == 0
    assert json.loads(out)["columns"] == ["day", "value"]


@pytest.mark.slow
def test_marks_and_missing_values_of_a_file_are_options(tmp_path, capsys):
    grouped = [f'"{1000 * each:,.0f}"' if k else "?" for k, each in enumerate(PRICE)]
    path = put(tmp_path / "a.csv", {"size": SIZE, "price": grouped})
    options = ["--thousands", ",", "--na-values=?,-", "--missing", "skip"]
    code, out, _ = run(capsys, "detect", path, *LAW, *options, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["points"], found["skipped_rows"]) == (N - 1, 1)
    assert max(row["values"]["price"] for row in found["most_anomalous"]) > 1000
