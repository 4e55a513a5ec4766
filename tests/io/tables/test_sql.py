"""Queries of databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from cli_runs import line_scene, rows_of, run
from piforest.apps import cli
from piforest.io.tables import read_blocks, read_table

pytest.importorskip("sqlalchemy")
QUICK = ["--family", "line", "--models", "300", "--trees", "10"]
QUERY = "SELECT id, x, y FROM points ORDER BY id"


@pytest.fixture
def database(tmp_path):
    X, _ = line_scene()
    path = tmp_path / "points.db"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE points (id INTEGER, x REAL, y REAL, note TEXT, raw BLOB)")
        rows = [(k, x, y, "a" if k else None, b"\1\2") for k, (x, y) in enumerate(X.tolist())]
        base.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?)", rows)
    return path


def test_a_query_gives_a_table_in_parts(database):
    table = read_table(database, sql="SELECT * FROM points ORDER BY id")
    assert table.names == ["id", "x", "y", "note", "raw"]
    assert np.array_equal(table.numbers(["x", "y"]), line_scene()[0])
    assert table.columns["note"][0] is None
    assert table.columns["raw"][0] == "0102"
    url = f"sqlite:///{database}"
    blocks = list(read_blocks(url, 100, sql=QUERY))
    assert [(len(block), block.first_row) for block in blocks] == [(100, 1), (100, 101), (57, 201)]
    assert np.array_equal(np.concatenate([b.numbers(["x"]) for b in blocks]), table.numbers(["x"]))


def test_a_query_may_hold_colons_and_per_cent(database):
    table = read_table(database, sql="SELECT x, '12:30 :a %s 5%' AS t FROM points")
    assert table.columns["t"][0] == "12:30 :a %s 5%"


@pytest.mark.slow
def test_commands_read_queries(database, tmp_path, capsys):
    out, model = tmp_path / "o.csv", tmp_path / "m.pif"
    options = ["--sql", QUERY, "--out", out, "--model", model]
    code, printed, err = run(capsys, "detect", database, *QUICK, *options)
    assert (code, err) == (0, "")
    assert "257 in columns x, y of sqlite:////" in printed
    again = tmp_path / "again.csv"
    command = ["score", f"sqlite:///{database}", "--sql", QUERY, "--model", model, "--out", again]
    assert run(capsys, *command)[0] == 0
    assert rows_of(again) == rows_of(out)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT colour FROM points", r"the query fails \(no such column: colour\)"),
        ("SELEC 1", r"the query fails \(.*syntax error\)"),
        ("SELECT x, y AS x FROM points", "the query gives two columns named 'x'; rename one"),
        ("SELECT x FROM points WHERE x > 99", "the query gives no rows"),
        ("DELETE FROM points", "the query fails .*(readonly|read-only)"),
        ("", "the query must give rows|the query fails"),
    ],
)
def test_queries_that_fail_are_one_line(sql, said, database):
    with pytest.raises(ValueError, match=said) as raised:
        read_table(database, sql=sql)
    assert "points.db" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(read_table(database, sql=QUERY)) == 257  # nothing was changed


def test_databases_that_cannot_be_opened_are_named(tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match=r"absent\.db: there is no such file"):
        read_table(tmp_path / "absent.db", sql="SELECT 1")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"points\.csv: FILE must be the URL of a database"):
        read_table("points.csv", sql="SELECT 1")
    (tmp_path / "cut.db").write_bytes(b"SQLite format 3\0" + b"\1" * 50)
    with pytest.raises(ValueError, match=r"cut\.db.*: the query fails \(file is not a database\)"):
        read_table(tmp_path / "cut.db", sql="SELECT * FROM points")
    code, _, err = run(
        capsys, "detect", "nosuch://me:secret@host/name", *QUICK, "--sql", "SELECT 1"
    )
    assert code == 1
    assert "secret" not in err
    assert len(err.splitlines()) == 1


def test_the_password_of_a_url_is_not_in_the_command_that_reports_show():
    shown = cli._without_passwords("piforest detect 'postgresql://me:secret@host/name' --sql 'x'")
    assert shown == "piforest detect 'postgresql://me:***@host/name' --sql 'x'"
