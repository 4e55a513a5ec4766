"""JSON lines, and arrays of objects."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from piforest.io.tables import (
    Table,
    pick_columns,
    read_blocks,
    read_table,
    records,
    with_scores,
    write_table,
)

ROWS = [
    {"id": "a", "x": 1, "y": 0.5, "tags": ["p"], "ok": True},
    {"id": "ü", "x": -2, "y": None, "tags": [], "ok": False},
    {"id": "c", "x": 3, "y": 1e-3, "more": {"k": 1}},
]


def put(path, rows=ROWS):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_keys_are_columns_and_absent_ones_are_missing(tmp_path):
    table = read_table(put(tmp_path / "a.jsonl"))
    assert table.names == ["id", "x", "y", "tags", "ok", "more"]
    assert table.numeric() == ["x", "y"]
    assert table.missing(["y"]).tolist() == [False, True, False]
    blocks = list(read_blocks(put(tmp_path / "a.ndjson"), 2))
    assert [(len(block), block.first_row) for block in blocks] == [(2, 1), (1, 3)]


def test_what_is_written_is_what_was_read_with_scores(tmp_path):
    table = read_table(put(tmp_path / "a.jsonl"))
    scored = np.array([True, False, True])
    write_table(tmp_path / "b.jsonl", with_scores(table, np.array([0.5, 0.9]), 0.6, scored))
    found = lines(tmp_path / "b.jsonl")
    keys = ["id", "x", "y", "tags", "ok", "more"]
    for row, before in zip(found, ROWS):
        assert {key: row[key] for key in keys} == {key: before.get(key) for key in keys}
    assert [row["score"] for row in found] == [0.5, None, 0.9]
    assert [row["anomaly"] for row in found] == [False, None, True]


def test_files_of_pandas_and_polars_are_read(tmp_path):
    frame = {"x": [1.5, None, 3.0], "name": ["a", "b", None], "n": [1, 2, 3]}
    pd.DataFrame(frame).to_json(tmp_path / "pandas.jsonl", orient="records", lines=True)
    pl.DataFrame(frame).write_ndjson(tmp_path / "polars.jsonl")
    for name in ("pandas.jsonl", "polars.jsonl"):
        table = read_table(tmp_path / name)
        assert table.names == ["x", "name", "n"]
        assert np.array_equal(table.numbers(["x"])[:, 0], [1.5, np.nan, 3], equal_nan=True)
        write_table(tmp_path / "again.jsonl", table)
        assert pl.read_ndjson(tmp_path / "again.jsonl").to_dict(as_series=False) == frame


def test_cells_of_other_formats_get_their_types(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,n,zip\na,1.50,7,007\nb,,8,010\n")
    write_table(tmp_path / "a.jsonl", read_table(tmp_path / "a.csv"))
    assert lines(tmp_path / "a.jsonl") == [
        {"id": "a", "x": 1.5, "n": 7, "zip": "007"},
        {"id": "b", "x": None, "n": 8, "zip": "010"},
    ]
    columns = {
        "f": np.array([0.1, np.inf], np.float32),
        "t": np.array(["2024-01-02", "NaT"], "M8[D]"),
        "i": np.array([2**62, 1]),
    }
    write_table(tmp_path / "b.jsonl", Table(columns, "here"))
    assert lines(tmp_path / "b.jsonl") == [
        {"f": 0.1, "t": "2024-01-02", "i": 2**62},
        {"f": float("inf"), "t": None, "i": 1},
    ]
    assert "Infinity" not in (tmp_path / "b.jsonl").read_text()
    write_table(
        tmp_path / "c.parquet", read_table(put(tmp_path / "a.jsonl", [{"x": 1}, {"x": 2.5}]))
    )
    assert read_table(tmp_path / "c.parquet").columns["x"].tolist() == [1, 2.5]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"x": 1}\n{"x": 2', r"line 2 is no JSON object \(Expecting"),
        ('{"x": 1}\n\n[1, 2]\n', r"line 3 is \[1, 2\], not an object"),
        ('{"x": 1, "x": 2}\n', r"line 1 is no JSON object \(the name 'x' stands twice\)"),
        ("[" * 100_000 + "\n", r"line 1 is no JSON object \(it is nested too deeply\)"),
        ('{"x": ' + "1" * 5000 + "}\n", r"line 1 is no JSON object \(Exceeds the limit"),
        ('{"x": "\\ud800"}\n', r"line 1 has half of a surrogate pair"),
        ("{}\n{}\n", r"its first rows are empty objects"),
        ("\n \n", r"is empty"),
        ("", r"is empty"),
        ('{"x": 1}\n' * 1000 + '{"x": 1, "z": 1}\n', r"row 1001 has a name 'z' that the"),
        (b'{"x": "\xff"}\n', r"is not UTF-8 text: it has a byte 0xff"),
        (b"PAR1\0\0", r"is not UTF-8 text but binary data"),
    ],
)  # fmt: skip
def test_damaged_lines_are_named(content, said, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=said) as raised:
        list(read_blocks(path, 10))
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_an_array_of_objects_is_the_same_table_as_lines(tmp_path):
    lines_of = read_table(put(tmp_path / "a.jsonl"))
    for indent in (None, 2):
        (tmp_path / "a.json").write_text("\ufeff " + json.dumps(ROWS, indent=indent))
        array = read_table(tmp_path / "a.json")
        assert array.names == lines_of.names
        for name in array.names:
            assert array.columns[name].tolist() == lines_of.columns[name].tolist()
    blocks = list(read_blocks(tmp_path / "a.json", 2))
    assert [(len(block), block.first_row) for block in blocks] == [(2, 1), (1, 3)]
    assert read_table(put(tmp_path / "lines.json")).names == lines_of.names


@pytest.mark.parametrize("chunk", [1, 2, 7, 1000])
def test_an_array_is_the_same_in_chunks_of_any_size(chunk, tmp_path, monkeypatch):
    rows = [{"x": 10.0**k, "name": f"a,]}}{{ {k} \\"} for k in range(20)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    monkeypatch.setattr(records, "_CHUNK", chunk)
    table = read_table(tmp_path / "a.json")
    assert table.columns["x"].tolist() == [row["x"] for row in rows]
    assert table.columns["name"].tolist() == [row["name"] for row in rows]


def test_an_array_is_written_as_pandas_reads_it(tmp_path):
    frame = pd.DataFrame({"x": [1.5, None, 3.0], "name": ["a", "b", None], "n": [1, 2, 3]})
    frame.to_json(tmp_path / "pandas.json", orient="records")
    write_table(tmp_path / "again.json.gz", read_table(tmp_path / "pandas.json"))
    pd.testing.assert_frame_equal(pd.read_json(tmp_path / "again.json.gz"), frame)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", r"is empty"),
        ('[{"x": 1}, {"x": 2', r"object 2 of the array is no JSON object \(Expecting"),
        ('[{"x": 1}, 3]', r"object 2 of the array is 3, not an object"),
        ('[{"x": 1} {"x": 2}]', r"a comma or \] is missing behind object 1"),
        ('[{"x": 1}]\n[{"x": 2}]', r"there is text behind the array; is it JSON lines\?"),
        ("[" * 100_000, r"object 1 of the array is no JSON object \(it is nested too deeply\)"),
        ('[{"x": "\\ud800"}]', r"object 1 of the array has half of a surrogate pair"),
        ('[{"x": "' + "a" * 2**23 + '"}]', r"object 1 of the array is longer than 4194304"),
        ('[{"x": "' + "a" * 2**23, r"object 1 of the array is longer than 4194304"),
        ('{"x": {"0": 1, "1": 2}}', r"has no numeric column"),
    ],
)  # fmt: skip
def test_damaged_arrays_are_named(content, said, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=said) as raised:
        [pick_columns(block, None, 2) for block in read_blocks(path, 10)]
    assert str(raised.value).startswith(str(path))
