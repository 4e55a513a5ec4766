"""Files that are damaged or hostile: one line that names the file, in little time and memory."""

from __future__ import annotations

import gzip
import os
import re
import signal
import sqlite3
import struct
import sys
import time
import warnings
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import laspy
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io

from piforest.io.matches import read_matches
from piforest.io.tables import (
    _decoder,
    las,
    lines,
    parquet,
    read_blocks,
    read_table,
)

XYZ = np.random.default_rng(0).uniform(-5, 5, (100, 3)).round(3)


def put_las(path, rows=100, version="1.2", point_format=1):
    scan = laspy.LasData(laspy.LasHeader(point_format=point_format, version=version))
    scan.x, scan.y, scan.z = np.resize(XYZ, (rows, 3)).T
    scan.write(path)
    return bytearray(path.read_bytes())


def refused(path, what, read=read_table):
    """The one line that a file is refused with."""
    with pytest.raises(ValueError, match=what) as raised:
        read(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def patched(path, content, at, form, *values):
    struct.pack_into(form, content, at, *values)
    path.write_bytes(content)


LAS_FIELDS = {
    "version": (24, "<B", 232, "it has version 232.2"),
    "points": (107, "<I", 800_000_000, "is cut short: 800000000 points take"),
    "one point too many": (107, "<I", 101, "is cut short: 101 points take 2828 bytes, and it has"),
    "records": (100, "<I", 2**32 - 1, "4294967295 records, more than there is space for"),
    "start": (96, "<I", 2**32 - 1, "its points begin outside of the file"),
    "header size": (94, "<H", 65535, "its points begin outside of the file"),
    "record length": (105, "<H", 3, "Incoherent point size"),
    "point format": (104, "<B", 63, "damaged or no LAS file"),
}


@pytest.mark.parametrize("field", LAS_FIELDS)
def test_a_las_header_that_asks_for_more_than_the_file_has_is_refused(field, tmp_path):
    at, form, value, what = LAS_FIELDS[field]
    path = tmp_path / "a.las"
    patched(path, put_las(path), at, form, value)
    refused(path, what)


def test_extended_records_outside_of_a_las_file_are_refused(tmp_path):
    path = tmp_path / "a.las"
    content = put_las(path, version="1.4", point_format=6)
    patched(path, content, 243, "<I", 2**32 - 1)
    refused(path, "4294967295 extended records, more than fit into it")
    for first, records in ((2**63, 1), (len(content) - 59, 1), (len(content) - 30, 2)):
        patched(path, content, 235, "<QI", first, records)
        refused(path, "its extended records are cut short")
    content += bytes(20) + struct.pack("<Q", 2**63) + bytes(32)
    patched(path, content, 235, "<QI", len(content) - 60, 1)
    refused(path, "its extended records are cut short")


def test_a_las_file_that_says_exactly_what_it_has_is_read(tmp_path):
    for version, point_format in (("1.2", 1), ("1.4", 6)):
        put_las(tmp_path / "a.las", version=version, point_format=point_format)
        assert len(read_table(tmp_path / "a.las")) == 100


def laz_start(content):
    return struct.unpack_from("<I", content, 96)[0]


def test_a_laz_header_that_asks_for_more_than_the_file_has_is_refused(tmp_path):
    path = tmp_path / "a.laz"
    content = put_las(path)
    start, size = laz_start(content), len(content)
    (table,) = struct.unpack_from("<q", content, start)
    changes = {
        f"cannot hold {4096 * (size - start) + 1} points in": (
            107,
            "<I",
            4096 * (size - start) + 1,
        ),
        "table of chunks lies outside": (start, "<q", size - 7),
        "its table of chunks lies": (start, "<q", start + 7),
        f"cannot hold {size - start + 1} chunks": (table + 4, "<I", size - start + 1),
    }
    for what, change in changes.items():
        patched(path, content.copy(), *change)
        refused(path, what)
    path.write_bytes(content[: start + 5])
    refused(path, "is cut short before its points")


def test_a_laz_file_whose_table_of_chunks_stands_at_its_end_is_read(tmp_path):
    path = tmp_path / "a.laz"
    content = put_las(path)
    start = laz_start(content)
    (table,) = struct.unpack_from("<q", content, start)
    content += struct.pack("<q", table)
    patched(path, content, start, "<q", -1)
    assert np.allclose(read_table(path).numbers(["x", "y", "z"]), XYZ, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.laz", "a.las"])
def test_compressed_points_are_those_of_the_library(name, tmp_path):
    """More than one chunk and more than one block; compression is told by the header alone."""
    put_las(tmp_path / "a.laz", 120_000)
    (tmp_path / "a.laz").replace(tmp_path / name)
    expected = laspy.read(tmp_path / name)
    table = read_table(tmp_path / name)
    blocks = list(read_blocks(tmp_path / name, 50_001))
    for name in ("x", "y", "z", "gps_time", "intensity", "return_number"):
        assert np.array_equal(table.columns[name], expected[name])
        joined = np.concatenate([block.columns[name] for block in blocks])
        assert np.array_equal(joined, expected[name])


@pytest.mark.slow
def test_a_laz_file_with_damaged_points_is_refused_or_read_but_never_fatal(tmp_path):
    path = tmp_path / "a.laz"
    content = put_las(path)
    rng = np.random.default_rng(0)
    for at in rng.integers(laz_start(content), len(content), 12):
        damaged = content.copy()
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        try:
            outcome = str(len(read_table(path)))
        except ValueError as error:
            outcome = str(error)
        assert outcome == "100" or outcome.startswith(str(path))


DECODERS = {
    "abort": ("os.abort()", "its decoder ended with SIGABRT"),
    "memory": ("bytearray(2**33)", r"MemoryError"),
    "panic": ("raise BaseException('a panic')", "a panic"),
    "exit": ("os._exit(3)", "its decoder ended with code 3"),
    "time": ("time.sleep(60)", "its decoder gave nothing for 0.2 seconds"),
    "little": ("return None", "is cut short: it has 0 of 100 points"),
}


@pytest.mark.parametrize("case", DECODERS)
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory and signals")
def test_the_death_of_a_decoder_is_one_line(case, tmp_path, monkeypatch):
    action, what = DECODERS[case]
    script = tmp_path / "bad.py"
    limits = "main.limit(int(sys.argv[1]), int(sys.argv[2]))"
    folder = str(Path(_decoder.__file__).parent)
    script.write_text(
        f"import os, sys, time\nsys.path.append({folder!r})\nimport _decode_laz as main\n{limits}\n"
        f"def act(*_): {action}\n"
        "main.decode = act\nsys.argv[3:] = ['a', '0', '0', '0', '00']\n"
        "sys.exit(main.main())"
    )
    # The time to start the program does not count as silence in the other cases.
    monkeypatch.setattr(_decoder, "PATIENCE", 0.2 if case == "time" else 30)
    started = las.decoder
    monkeypatch.setattr(las, "decoder", lambda _, *others: started(script, *others))
    path = tmp_path / "a.laz"
    put_las(path)
    refused(path, what)


def test_a_file_that_is_left_early_leaves_no_decoder_behind(tmp_path, monkeypatch):
    children = []
    started = _decoder.subprocess.Popen

    def recorded(*args, **options):
        children.append(started(*args, **options))
        return children[-1]

    monkeypatch.setattr(_decoder.subprocess, "Popen", recorded)
    path = tmp_path / "a.laz"
    put_las(path, 200_000)
    blocks = read_blocks(path, 10)
    next(blocks)
    assert children[0].poll() is None
    blocks.close()
    assert children[0].poll() == -signal.SIGKILL


SAVED = [
    {"format": "5"},
    {"format": "5", "do_compression": True},
    {"format": "4"},
]


@pytest.mark.parametrize(
    ("saved", "dtype"),
    [(saved, dtype) for saved in SAVED for dtype in ("i2", "u1", "i4", "f4", "f8", "i8", "?")
     if saved["format"] == "5" or dtype not in ("i8", "?")],
)  # fmt: skip
def test_matrices_are_those_of_scipy(saved, dtype, tmp_path):
    path = tmp_path / "a.mat"
    for shape in ((1, 2), (3, 1), (7, 3), (20_000, 2)):
        A = np.random.default_rng(0).uniform(0, 2 if dtype == "?" else 99, shape).astype(dtype)
        others = {"s": "text", "c": np.array([1, "a"], object), "one": 3.0, "z": A[:, :1] * 1j}
        if saved["format"] == "4":
            others = {"s": "text", "one": 3.0}
        scipy.io.savemat(path, {**others, "A": A, "B": A + A}, **saved)
        for name in "AB":
            table, expected = read_table(path, array=name), scipy.io.loadmat(path)[name]
            found = np.column_stack(list(table.columns.values()))
            assert np.array_equal(found, expected)
            assert found.dtype == expected.dtype


def test_the_files_that_matlab_wrote_are_read_as_scipy_reads_them():
    """Of MATLAB 4.2 to 8, on machines of both byte orders."""
    compared = 0
    for path in sorted((Path(__file__).parent / "matlab").glob("*.mat")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = scipy.io.loadmat(path)
        for name, expected in whole.items():
            if name.startswith("__") or not isinstance(expected, np.ndarray):
                continue
            if expected.ndim != 2 or expected.dtype.kind not in "iufb" or expected.size < 2:
                continue
            table = read_table(path, array=name)
            assert np.array_equal(np.column_stack(list(table.columns.values())), expected)
            compared += 1
    assert compared == 13


def mat_bytes(tmp_path, **options):
    scipy.io.savemat(tmp_path / "a.mat", {"A": XYZ}, **options)
    return bytearray((tmp_path / "a.mat").read_bytes())


@pytest.mark.parametrize("delta", [-1, 1, 2**20, -(2**31)])
def test_a_matrix_that_is_not_as_large_as_it_says_is_refused(delta, tmp_path):
    path, content = tmp_path / "a.mat", mat_bytes(tmp_path)
    # The dimensions stand 32 bytes behind the element's tag at 128.
    assert struct.unpack_from("<2i", content, 160) == (100, 3)
    patched(path, content, 160, "<i", 100 + delta)
    refused(path, "has not the size that it says|holds 0 matrices")


def test_elements_that_reach_beyond_a_mat_file_are_refused(tmp_path):
    path, content = tmp_path / "a.mat", mat_bytes(tmp_path)
    (length,) = struct.unpack_from("<I", content, 132)
    assert 136 + length == len(content)
    patched(path, content.copy(), 132, "<I", length + 1)
    refused(path, "it is cut short")
    patched(path, content.copy(), 132, "<I", length - 8)
    refused(path, "it is cut short")
    path.write_bytes(content + b"\1" * 7)
    refused(path, "bytes are asked for where")


def test_a_compressed_matrix_that_is_damaged_is_refused_by_its_checksum(tmp_path):
    path, content = tmp_path / "a.mat", mat_bytes(tmp_path, do_compression=True)
    content[-1] ^= 1
    path.write_bytes(content)
    refused(path, "incorrect data check")
    packed = zlib.compress(struct.pack("<II", 14, 2**31))
    path.write_bytes(bytes(content[:128]) + struct.pack("<II", 15, len(packed)) + packed)
    refused(path, "it is cut short|bytes are asked for")


@pytest.mark.slow
def test_cut_headers_of_arrays_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", XYZ)
    np.savez(tmp_path / "a.npz", XYZ)
    for name in ("a.npy", "a.npz"):
        whole, path = (tmp_path / name).read_bytes(), tmp_path / name
        for length in range(1, 160):
            path.write_bytes(whole[:length])
            refused(path, "cannot be read: it is damaged or no NumPy file")


@pytest.mark.slow
def test_an_array_is_refused_where_a_single_bit_of_its_archive_is_wrong(tmp_path):
    np.savez(tmp_path / "a.npz", XYZ)
    path = tmp_path / "a.npz"
    whole = bytearray(path.read_bytes())
    (start,) = (zipfile.ZipFile(path).infolist()[0].header_offset,)
    for at in range(start + 160, len(whole) - 100, 7):
        damaged = whole.copy()
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        refused(path, "cannot be read: it is damaged or no NumPy file")


def test_arrays_under_the_name_of_the_other_format_are_named(tmp_path):
    np.save(tmp_path / "a.npy", XYZ)
    np.savez(tmp_path / "b.npz", XYZ)
    (tmp_path / "a.npy").replace(tmp_path / "c.npz")
    (tmp_path / "b.npz").replace(tmp_path / "d.npy")
    refused(tmp_path / "c.npz", r"is a \.npy file under another name; rename it")
    refused(tmp_path / "d.npy", r"is a \.npz file under another name; rename it")


@pytest.mark.parametrize("shape", [(10**12, 3), (-1, 3), (101, 3), (True, 3)])
def test_shapes_that_the_file_cannot_hold_are_refused(shape, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, XYZ)
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path.write_bytes(path.read_bytes()[:10] + head.encode() + XYZ.tobytes())
    refused(path, "cannot be read: it is damaged or no NumPy file")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(100,), (100, 1), (100, 3), (1, 5)])
def test_rows_of_an_array_are_those_that_numpy_loads(order, shape, tmp_path):
    array = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    np.save(tmp_path / "a.npy", array)
    expected = array.reshape(len(array), -1)
    assert np.array_equal(read_table(tmp_path / "a.npy").numbers(), expected)
    blocks = [block.numbers() for block in read_blocks(tmp_path / "a.npy", 7)]
    assert np.array_equal(np.concatenate(blocks), expected)


def test_an_array_that_is_cut_while_it_is_read_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", XYZ)
    blocks = read_blocks(tmp_path / "a.npy", 30)
    next(blocks)
    os.truncate(tmp_path / "a.npy", 1000)
    refused(tmp_path / "a.npy", "cannot be read: it is damaged", lambda path: list(blocks))


def test_numbers_of_any_byte_order_and_width_can_be_written_anywhere(tmp_path):
    from piforest.io.tables import write_table

    records = np.zeros(3, [("a", ">f8"), ("b", "S4"), ("c", np.longdouble)])
    records["b"] = [b"x", b"yy", "ü".encode()]
    np.save(tmp_path / "a.npy", records)
    table = read_table(tmp_path / "a.npy")
    assert table.columns["b"].tolist() == ["x", "yy", "ü"]
    write_table(tmp_path / "a.parquet", table)
    assert pq.read_table(tmp_path / "a.parquet")["c"].type == pa.float64()
    np.save(tmp_path / "b.npy", np.zeros(3, [("a", "f8", (2,))]))
    refused(tmp_path / "b.npy", r": field 'a' of its records holds .*, no value")


def test_all_row_groups_of_a_parquet_file_are_read(tmp_path):
    pq.write_table(pa.table({"x": np.arange(1000.0)}), tmp_path / "a.parquet", row_group_size=300)
    assert read_table(tmp_path / "a.parquet").numbers()[:, 0].tolist() == list(range(1000))
    blocks = list(read_blocks(tmp_path / "a.parquet", 400))
    assert [block.first_row for block in blocks][-1] + len(blocks[-1]) == 1001
    assert np.concatenate([block.numbers() for block in blocks])[:, 0].tolist() == list(range(1000))


def test_a_parquet_file_that_lost_its_row_groups_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.ParquetWriter(path, pa.schema([("x", pa.float64())])).close()
    refused(path, "has no rows")
    # Compact Thrift: the number of rows, 0, and an empty list of row groups.
    whole = path.read_bytes()
    assert whole.count(b"\x16\x00\x19\x0c") == 1
    path.write_bytes(whole.replace(b"\x16\x00\x19\x0c", b"\x16\x14\x19\x0c"))
    for read in (read_table, lambda path: list(read_blocks(path, 5)), parquet.row_groups,
                 lambda path: parquet.read_group(path, 0)):  # fmt: skip
        refused(path, r"damaged \(it says 10 rows, its row groups 0\)", read)


def varint(value):
    """A number of compact Thrift."""
    value, out = 2 * value, b""
    while value > 127:
        value, out = value >> 7, out + bytes([value & 127 | 128])
    return out + bytes([value])


def test_a_parquet_file_that_cannot_have_so_many_rows_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.ones(7)}), path, write_statistics=False)
    content = path.read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") : -8]
    # Of the file and of its row group.
    changed = footer.replace(b"\x16\x0e", b"\x16" + varint(10**15))
    assert changed.count(varint(10**15)) >= 2
    start = len(content) - 8 - len(footer)
    size = len(changed).to_bytes(4, "little")
    path.write_bytes(content[:start] + changed + size + b"PAR1")
    refused(path, r"damaged \(\d+ rows do not fit into \d+ bytes\)|damaged or no Parquet file")


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"1", b"1,", b'"1'])
def test_a_line_that_never_ends_is_refused_in_little_memory(unit, tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"x,y\n1,2\n")
        for _ in range(64):
            file.write(unit * 2**20)
    seen = []
    read1 = lines._Lines.read1
    monkeypatch.setattr(lines._Lines, "read1", lambda self, n: seen.append(n) or read1(self, n))
    refused(path, "line 3 is longer than 4194304 bytes; is it a table")
    assert sum(seen) < 5 * 2**20


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_long_lines_that_end_are_read(end, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 2**14)
    (tmp_path / "a.csv").write_bytes(end.join([b"1," + b"1" * 16_000] * 40))
    assert len(read_table(tmp_path / "a.csv")) == 40
    (tmp_path / "a.csv").write_bytes(end.join([b"1," + b"1" * 2**15] * 40))
    refused(tmp_path / "a.csv", "line 1 is longer")


@pytest.mark.slow
def test_a_table_has_a_bounded_number_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text("1," * 100_000 + "1\n")
    refused(tmp_path / "a.csv", r"has 100001 columns, and a table at most 100000; .*--delimiter")
    np.save(tmp_path / "a.npy", np.ones((1, 100_001), "u1"))
    refused(tmp_path / "a.npy", r"has 100001 columns")
    (tmp_path / "a.csv").write_text("1," * 99_999 + "1\n")
    start = time.process_time()
    table = read_table(tmp_path / "a.csv")
    table.check_names(table.names)
    assert len(table.names) == 100_000
    assert time.process_time() - start < 20, "a comparison of all names with all"


COLMAP = {
    "text for an image": ("UPDATE images SET image_id = 'a'", r"an image 'left.jpg' 'a'"),
    "no name": ("UPDATE images SET name = NULL", "an image None 2"),
    "a huge number": (f"UPDATE images SET image_id = {2**62}", f"'left.jpg' {2**62}"),
    "a name in other letters": ("UPDATE images SET name = CAST(x'ff' AS TEXT)", "UTF-8"),
    "text for rows": ("UPDATE matches SET rows = '20'", "matches has not the size it says"),
    "a fraction for rows": ("UPDATE matches SET rows = 20.0", "matches has not the size"),
    "text for the data": ("UPDATE matches SET data = 'x'", "matches has not the size"),
    "a number for the data": ("UPDATE keypoints SET data = 7", "keypoints has not the size"),
    "no columns": ("UPDATE keypoints SET cols = NULL", "keypoints has not the size"),
    "other columns": ("UPDATE matches SET rows = 10, cols = 4", "matches has not the size"),
    "negative sizes": ("UPDATE matches SET rows = -20, cols = -2", "matches has not the size"),
    "text for a pair": ("UPDATE matches SET pair_id = 'a'", "its pair 'a' is of images that"),
    "an endless view": (
        "DROP TABLE images; CREATE VIEW images AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL "
        "SELECT n + 1 FROM c) SELECT 'a' AS name, n AS image_id FROM c WHERE n < 0",
        "interrupted",
    ),
    "data from nothing": (
        "DROP TABLE matches; CREATE VIEW matches AS SELECT 1 AS pair_id, 1 AS rows, 2 AS cols, "
        "zeroblob(900000000) AS data",
        # Newer versions of SQLite read its length without making it.
        "(string or blob too big|its pair 1 is of images that are not there)",
    ),
}


@pytest.mark.parametrize("case", COLMAP)
def test_a_colmap_database_with_other_types_is_refused(case, tmp_path):
    from colmap_files import put_colmap

    statements, what = COLMAP[case]
    path = put_colmap(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statements)
    refused(path, f"damaged or no COLMAP database .*{what}", read_matches)


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_only_text_is_read_from_a_pipe(tmp_path):
    for name in ("a.npy", "a.npz", "a.mat", "a.ply", "a.las", "a.laz", "a.parquet"):
        os.mkfifo(tmp_path / name)
        refused(tmp_path / name, "is no regular file, and only text can be read from a pipe")
    os.mkfifo(tmp_path / "a.db")
    refused(tmp_path / "a.db", "is no regular file", read_matches)
    (tmp_path / "a.csv").symlink_to("/dev/zero")
    refused(tmp_path / "a.csv", re.escape("is not UTF-8 text but binary data"))


@pytest.mark.parametrize(
    ("column", "values", "what"),
    [
        ("x", [1.0, np.nan], "row 2 of column 'x' is nan"),
        ("z", [1.0, 1e300], "column 'z' has numbers that are too large"),
        ("intensity", [1.0, 70_000.0], "row 2 of column 'intensity' is 70000.0"),
        ("intensity", [0.5, 1.0], "row 1 of column 'intensity' is 0.5"),
        ("intensity", [1.0, np.nan], "row 2 of column 'intensity' is nan"),
        ("return_number", [1, 99], "column 'return_number' has numbers that are too large"),
    ],
)
def test_numbers_that_a_scan_cannot_hold_are_named_and_not_changed(column, values, what, tmp_path):
    from piforest.io.tables import Table, write_table

    columns = {**dict(zip("xyz", np.ones((3, 2)))), column: np.array(values)}
    with pytest.raises(ValueError, match=rf"here: .*{what}.*LAS file cannot hold"):
        write_table(tmp_path / "a.las", Table(columns, "here"))
    assert not list(tmp_path.iterdir())
