"""Arrow's files and streams, and Feather."""

from __future__ import annotations

import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from piforest.io.tables import read_blocks, read_table, with_scores, write_table

FRAME = {"x": [1.5, None, 3.0], "name": ["a", "b", None], "n": [1, 2, 3]}


def arrow_table(rows=100):
    columns = {
        "x": pa.array(np.arange(rows) / 7),
        "id": pa.array([None, *range(2**53 + 1, 2**53 + rows)], pa.int64()),
        "when": pa.array(np.arange(rows), pa.timestamp("ms", tz="UTC")),
        "kind": pa.array((["a", None] * rows)[:rows]).dictionary_encode(),
    }
    return pa.table(columns).replace_schema_metadata({"made": "here"})


def put(path, table=None, rows_a_batch=30, compression=None):
    table = arrow_table() if table is None else table
    new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(str(path), table.schema, options=options) as out:
        out.write_table(table, max_chunksize=rows_a_batch)
    return path


def read_again(path):
    open_ = pa.ipc.open_stream if path.suffix == ".arrows" else pa.ipc.open_file
    with pa.memory_map(str(path)) as file:
        return open_(file).read_all()


def test_files_of_pandas_and_polars_are_read(tmp_path):
    pd.DataFrame(FRAME).to_feather(tmp_path / "pandas.feather")
    pl.DataFrame(FRAME).write_ipc(tmp_path / "polars.arrow", compression="zstd")
    pl.DataFrame(FRAME).write_ipc_stream(tmp_path / "polars.arrows")
    for name in ("pandas.feather", "polars.arrow", "polars.arrows"):
        table = read_table(tmp_path / name)
        assert table.names == ["x", "name", "n"]
        assert np.array_equal(table.numbers(["x"])[:, 0], [1.5, np.nan, 3], equal_nan=True)
        write_table(tmp_path / "again.feather", table)
        assert pd.read_feather(tmp_path / "again.feather").equals(pd.DataFrame(FRAME))


@pytest.mark.parametrize("name", ["a.feather", "a.arrow", "a.ipc", "a.arrows"])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_types_and_metadata_stay_and_scores_come_beside(name, compression, tmp_path):
    table = read_table(put(tmp_path / name, compression=compression))
    scores = np.linspace(0, 1, 100)
    write_table(tmp_path / f"out_{name}", with_scores(table, scores, 0.5))
    found = read_again(tmp_path / f"out_{name}")
    assert found.select(["x", "id", "when"]).equals(arrow_table().select(["x", "id", "when"]))
    assert found["kind"].to_pylist() == arrow_table()["kind"].to_pylist()
    assert found["score"].to_pylist() == scores.tolist()
    assert found.schema.metadata[b"made"] == b"here"


def test_blocks_are_the_table_in_parts(tmp_path):
    path = put(tmp_path / "a.arrow")
    blocks = list(read_blocks(path, 25))
    assert [len(block) for block in blocks] == [25, 5, 25, 5, 25, 5, 10]
    assert [block.first_row for block in blocks] == [1, 26, 31, 56, 61, 86, 91]
    found = np.concatenate([block.columns["x"] for block in blocks])
    assert np.array_equal(found, read_table(path).columns["x"])


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows"])
def test_damaged_files_are_named(name, tmp_path):
    path = put(tmp_path / name)
    content = path.read_bytes()
    for damaged, said in (
        (content[: len(content) // 2], r"cannot be read: it is damaged or no Arrow file"),
        (content[:7], r"cannot be read: it is damaged or no Arrow file"),
        (b"x,y\n1,2\n", r"cannot be read: it is damaged or no Arrow file"),
        (b"FEA1" + content[4:], r"is a Feather file of version 1"),
        (b"", "is empty"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=said) as raised:
            list(read_blocks(path, 10))
        assert str(raised.value).startswith(str(path))
        assert "\n" not in str(raised.value)


def test_offsets_of_text_that_lead_out_of_the_file_are_refused(tmp_path):
    path = put(tmp_path / "a.arrow", pa.table({"s": ["abc", "de", "f"], "x": [1.0, 2, 3]}))
    content = path.read_bytes()
    offsets = struct.pack("<4i", 0, 3, 5, 6)
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, struct.pack("<4i", 0, 3, 2**30, 6)))
    with pytest.raises(ValueError, match=r"a\.arrow cannot be read: it is damaged .*offset"):
        read_table(path)


def test_rows_that_the_file_cannot_hold_are_refused(tmp_path):
    path = put(tmp_path / "a.arrow", pa.table({"n": pa.nulls(7)}))
    content = path.read_bytes()
    path.write_bytes(content.replace(struct.pack("<q", 7), struct.pack("<q", 2**50)))
    with pytest.raises(ValueError, match=r"a\.arrow cannot be read"):
        read_table(path)


def test_a_file_without_rows_and_repeated_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.arrow has no rows\."):
        read_table(put(tmp_path / "a.arrow", arrow_table().slice(0, 0)))
    twice = pa.Table.from_arrays([pa.array([1.0])] * 2, ["x", "x"])
    with pytest.raises(ValueError, match=r"b\.arrow has two columns named 'x'"):
        read_table(put(tmp_path / "b.arrow", twice))
