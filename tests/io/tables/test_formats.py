"""Arrays, Parquet, MATLAB and scans: what they hold is kept, what is damaged is named."""

from __future__ import annotations

import os
import sys

import laspy
import numpy as np
import plyfile
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io

from piforest.io.tables import (
    Table,
    read_blocks,
    read_table,
    table_writer,
    with_scores,
    write_table,
)

RNG = np.random.default_rng(0)
XYZ = RNG.uniform(-5, 5, (100, 3)).round(3)
SCORES = RNG.uniform(size=100)


def put_ply(path, text=False, byte_order="<"):
    vertices = np.empty(100, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("red", "u1"), ("time", "f8")])
    for k, name in enumerate("xyz"):
        vertices[name] = XYZ[:, k]
    vertices["red"], vertices["time"] = np.arange(100), SCORES
    faces = np.empty(2, [("vertex_indices", "i4", (3,))])
    faces["vertex_indices"] = [[0, 1, 2], [3, 4, 5]]
    elements = [plyfile.PlyElement.describe(part, name) for part, name in
                ((vertices, "vertex"), (faces, "face"))]  # fmt: skip
    plyfile.PlyData(elements, text=text, byte_order=byte_order, comments=["by hand"]).write(path)


def put_las(path, point_format=1):
    header = laspy.LasHeader(point_format=point_format, version="1.2")
    header.scales, header.offsets = [0.001] * 3, [0, 0, 0]
    scan = laspy.LasData(header)
    scan.x, scan.y, scan.z = XYZ.T
    scan.intensity, scan.gps_time = np.arange(100), SCORES
    scan.add_extra_dim(laspy.ExtraBytesParams("own", "int32"))
    scan["own"] = np.arange(100) - 50
    scan.write(path)


def put_parquet(path):
    columns = {
        "x": pa.array(XYZ[:, 0]),
        "id": pa.array([None, *range(2**53 + 1, 2**53 + 100)], pa.int64()),
        "when": pa.array(np.arange(100), pa.timestamp("ms", tz="UTC")),
        "kind": pa.array(["a", None] * 50).dictionary_encode(),
        "tags": pa.array([["p", "q"]] * 100),
        "z": pa.array(XYZ[:, 2], pa.float32()),
    }
    pq.write_table(pa.table(columns).replace_schema_metadata({"made": "here"}), path)


def put(path):
    makers = {".ply": put_ply, ".las": put_las, ".laz": put_las, ".parquet": put_parquet}
    if path.suffix in makers:
        makers[path.suffix](path)
    elif path.suffix == ".npy":
        np.save(path, XYZ)
    elif path.suffix == ".npz":
        np.savez(path, XYZ)
    elif path.suffix == ".mat":
        scipy.io.savemat(path, {"scale": 3.0, "title": "scan", "points": XYZ})
    else:
        np.savetxt(path, XYZ)
    return path


FILES = ["a.npy", "a.npz", "a.mat", "a.xyz", "a.ply", "a.las", "a.laz", "a.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_points_are_read_at_once_and_in_blocks(name, tmp_path):
    path = put(tmp_path / name)
    table = read_table(path)
    wanted = [each for each in ("x", "z") if each in table.names] or ["x0", "x2"]
    assert np.allclose(table.numbers(wanted), XYZ[:, [0, 2]], atol=1e-6)
    blocks = list(read_blocks(path, 30))
    assert [len(block) for block in blocks] == [30, 30, 30, 10]
    assert [block.first_row for block in blocks] == [1, 31, 61, 91]
    for each in table.names:
        joined = np.concatenate([block.columns[each] for block in blocks])
        assert joined.tolist() == table.columns[each].tolist() or joined.dtype.kind == "f"
    assert np.array_equal(np.concatenate([block.numbers(wanted) for block in blocks]),
                          table.numbers(wanted))  # fmt: skip


WRITTEN = ["a.csv", "a.tsv", "a.txt", "a.npy", "a.xyz", "a.ply", "a.las", "a.laz", "a.parquet"]


@pytest.mark.parametrize("name", WRITTEN)
def test_any_points_are_written_in_any_format(name, tmp_path):
    text = np.array([str(value) for value in XYZ[:, 1]], object)
    table = Table({"x": XYZ[:, 0], "y": text, "z": XYZ[:, 2]}, "here")
    scored = with_scores(table, SCORES[:90], 0.5, np.arange(100) < 90)
    with table_writer(tmp_path / name, scored) as writer:
        writer.write(scored)
        writer.write(scored)
    back = read_table(tmp_path / name)
    names = [each for each in back.names if each in scored.names] or back.names
    X = back.numbers(names if name[2:] not in ("npy", "xyz") else back.names)[:, [0, 1, 2, -2]]
    if name in ("a.las", "a.laz"):
        X = back.numbers(["x", "y", "z", "score"])
    expected = np.column_stack([XYZ, with_scores(table, SCORES[:90], 0, np.arange(100) < 90)
                                .filled("score")])  # fmt: skip
    assert np.allclose(X, np.concatenate([expected] * 2), atol=1e-6, equal_nan=True)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("name", [*WRITTEN, "a.csv.gz"])
def test_a_full_disk_leaves_no_half_file(name, tmp_path):
    import resource

    table = Table(dict(zip("xyz", RNG.uniform(size=(3, 60_000)))), "here")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match=rf"cannot write .*{name}: File too large\."):
            write_table(tmp_path / name, table)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == []


def test_a_parquet_file_keeps_types_nulls_and_metadata(tmp_path):
    path = put(tmp_path / "a.parquet")
    first = None
    for block in read_blocks(path, 40):
        scored = with_scores(block, SCORES[: len(block) - 1], 0.5, np.arange(len(block)) > 0)
        first = first or scored
    with table_writer(tmp_path / "out.parquet", first) as writer:
        for block in read_blocks(path, 40):
            mask = np.arange(len(block)) > 0
            writer.write(with_scores(block, SCORES[: len(block) - 1], 0.5, mask))
    before, after = pq.read_table(path), pq.read_table(tmp_path / "out.parquet")
    assert after.select(before.column_names).equals(before)
    assert after.schema.metadata[b"made"] == b"here"
    assert after.column("anomaly").type == pa.bool_()
    assert after.column("score").null_count == after.column("anomaly").null_count == 3
    table = read_table(path)
    assert table.numeric() == ["x", "id", "z"]
    assert np.isnan(table.numbers(["id"])[0, 0])
    with pytest.raises(ValueError, match=r"column 'when' holds datetime64.*, not numbers"):
        table.numbers(["when"])


def test_flags_and_bytes_of_a_parquet_file_are_no_numbers(tmp_path):
    columns = {
        "x": pa.array([1.0, 2.0, 3.0]),
        "flag": pa.array([True, None, False]),
        "raw": pa.array([b"1", b"2", b"3"]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.numeric() == ["x"]
    write_table(tmp_path / "b.parquet", with_scores(table, np.ones(3), 0))
    assert pq.read_table(tmp_path / "b.parquet").select(list(columns)).equals(pa.table(columns))
    write_table(tmp_path / "a.csv", table.select(["x", "flag"]))
    assert (tmp_path / "a.csv").read_text() == "x,flag\n1.0,1\n2.0,\n3.0,0\n"
    with pytest.raises(ValueError, match=r"row 1 of column 'raw' is b'1', not a number"):
        write_table(tmp_path / "a.npy", table)


def test_text_becomes_numbers_in_parquet_where_nothing_is_lost(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,code,note\n1,1.5,007,a\n2,,008,\n")
    table = read_table(tmp_path / "a.csv")
    write_table(tmp_path / "a.parquet", table)
    back = pq.read_table(tmp_path / "a.parquet")
    assert [str(kind) for kind in back.schema.types] == ["int64", "double", "string", "string"]
    assert back.to_pylist()[1] == {"id": 2, "x": None, "code": "008", "note": ""}
    (tmp_path / "b.csv").write_text("id\n1\n2.5\n")
    blocks = list(read_blocks(tmp_path / "b.csv", 1))
    with (
        pytest.raises(ValueError, match=r"row 2 of column 'id' is '2.5', while .* int64; write a"),
        table_writer(tmp_path / "b.parquet", blocks[0]) as writer,
    ):
        writer.write(blocks[1])
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize(
    "cells", [("0.0", "0.0", "0.0"), ("0.0", "1", "2"), ("-0.0", "3", ""), ("0e0", "1", "2")]
)
def test_a_zero_with_a_point_is_no_whole_number_in_parquet(cells, tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n" + "".join(f"n,{cell}\n" for cell in cells))
    write_table(tmp_path / "a.parquet", read_table(tmp_path / "a.csv"))
    back = pq.read_table(tmp_path / "a.parquet").column("x")
    assert back.type == pa.float64()
    expected = [None if cell == "" else float(cell) for cell in cells]
    assert list(map(str, back.to_pylist())) == list(map(str, expected))


LONG = "a" * 32
ALIKE = {
    "accents": (["é", "è"], ["?", "?_2"], ["é", "è"]),
    "spaces": (["my score", "my_score"], ["my_score_2", "my_score"], None),
    "a number that is taken": (["a b", "a  b", "a_b_2"], ["a_b", "a_b_3", "a_b_2"], None),
    "one start": ([f"{LONG}b", f"{LONG}c", LONG], [f"{LONG}b", f"{LONG}c", LONG],
                  [f"{'a' * 30}_2", f"{'a' * 30}_3", LONG]),
    "letters of two bytes": (["ö" * 20, "ö" * 21], ["?" * 20, "?" * 21],
                             ["ö" * 16, "ö" * 15 + "_2"]),
    "the format's own": (["X", "scan angle", " x"], ["X", "scan_angle", "x_2"],
                         ["X_2", "scan_angle_2", "x_2"]),
    "no name": ([""], ["column"], None),
}  # fmt: skip


@pytest.mark.parametrize("name", ["a.ply", "a.las"])
@pytest.mark.parametrize("case", ALIKE)
def test_columns_whose_names_come_out_alike_stay_apart_in_a_scan(name, case, tmp_path):
    given, in_ply, in_las = ALIKE[case]
    expected = in_ply if name == "a.ply" or in_las is None else in_las
    added = {each: np.arange(100.0) + 1000 * k for k, each in enumerate(given)}
    write_table(tmp_path / name, Table({**dict(zip("xyz", XYZ.T)), **added}, "here"))
    back = read_table(tmp_path / name)
    assert back.names[-len(given) :] == expected
    assert np.array_equal(back.numbers(expected), np.column_stack(list(added.values())))
    assert np.allclose(back.numbers(["x", "y", "z"]), XYZ, atol=1e-6)


@pytest.mark.parametrize(("text", "order"), [(True, "<"), (False, "<"), (False, ">")])
def test_a_ply_scan_keeps_its_properties_faces_and_comments(text, order, tmp_path):
    put_ply(tmp_path / "a.ply", text, order)
    table = read_table(tmp_path / "a.ply")
    assert table.points == ("x", "y", "z")
    colours = {name: np.full(100, 7, np.uint8) for name in ("red", "green", "blue")}
    write_table(tmp_path / "b.ply", with_scores(table, SCORES, 0.5).with_columns(colours))
    back = plyfile.PlyData.read(tmp_path / "b.ply")
    kinds = {each.name: each.val_dtype for each in back["vertex"].properties}
    assert kinds == {"x": "f4", "y": "f4", "z": "f4", "red": "u1", "time": "f8", "score": "f8",
                     "anomaly": "u1", "green": "u1", "blue": "u1"}  # fmt: skip
    assert np.array_equal(back["vertex"]["score"], SCORES)
    assert np.array_equal(back["vertex"]["time"], SCORES)
    assert (back["vertex"]["red"] == 7).all()
    assert [list(each) for each in back["face"]["vertex_indices"]] == [[0, 1, 2], [3, 4, 5]]
    assert back.comments[0] == "by hand"
    assert back.text == text
    write_table(tmp_path / "c.ply", read_table(tmp_path / "b.ply"))
    assert (tmp_path / "c.ply").read_bytes() == (tmp_path / "b.ply").read_bytes()


def test_numbers_of_32_bits_are_written_as_short_as_they_stood(tmp_path):
    (tmp_path / "a.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
        "property uchar hohe\nend_header\n0.1 2.3 7\n-4.5 nan 8\n"
    )
    table = read_table(tmp_path / "a.ply")
    write_table(tmp_path / "b.ply", table)
    assert (tmp_path / "b.ply").read_text().endswith("end_header\n0.1 2.3 7\n-4.5 nan 8\n")
    write_table(
        tmp_path / "b.csv", with_scores(table, np.array([0.25]), 0, np.array([True, False]))
    )
    expected = "x,y,hohe,score,anomaly\n0.1,2.3,7,0.25,1\n-4.5,,8,,\n"
    assert (tmp_path / "b.csv").read_text() == expected
    write_table(tmp_path / "c.ply", Table({"höhe in m": np.ones(2)}, "here"))
    assert read_table(tmp_path / "c.ply").names == ["h?he_in_m"]


@pytest.mark.parametrize("name", ["a.las", "a.laz"])
@pytest.mark.parametrize("point_format", [1, 3])
def test_a_las_scan_keeps_its_dimensions_and_gets_colours(name, point_format, tmp_path):
    put_las(tmp_path / name, point_format)
    colours = {each: np.full(100, 255, np.uint8) for each in ("red", "green", "blue")}
    blocks = [with_scores(block, SCORES[block.rows - 1], 0.5) for block in
              read_blocks(tmp_path / name, 60)]  # fmt: skip
    blocks = [block.with_columns({each: colours[each][: len(block)] for each in colours})
              for block in blocks]  # fmt: skip
    with table_writer(tmp_path / f"out{name[1:]}", blocks[0]) as writer:
        for block in blocks:
            writer.write(block)
    before, after = (laspy.read(tmp_path / each) for each in (name, f"out{name[1:]}"))
    assert np.array_equal(after.X, before.X)
    assert np.array_equal(after.intensity, before.intensity)
    assert np.array_equal(after.gps_time, before.gps_time)
    assert np.array_equal(after["own"], before["own"])
    assert np.array_equal(after["score"], SCORES)
    assert (np.array(after.red) == 65535).all()
    assert after.header.are_points_compressed == (name == "a.laz")


@pytest.mark.parametrize(
    "name", ["a.npy", "a.npz", "a.mat", "a.ply", "a.las", "a.laz", "a.parquet"]
)
def test_files_that_are_damaged_or_cut_are_one_clear_line(name, tmp_path):
    whole = put(tmp_path / name).read_bytes()
    parts = [whole[: len(whole) // 2], whole[:-9], b"x" * 200, b"ply\nformat", whole[:20]]
    for content in parts:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.\w+ (cannot be read|is cut short)") as raised:
            list(read_blocks(tmp_path / name, 30))
        assert "\n" not in str(raised.value)


def test_files_with_more_or_less_than_one_array_say_what_they_hold(tmp_path):
    np.savez(tmp_path / "a.npz", one=XYZ, two=XYZ[:, :2])
    scipy.io.savemat(tmp_path / "a.mat", {"one": XYZ, "two": XYZ[:, :2], "three": "text"})
    for name, listed in (
        ("a.npz", "2 arrays, .*: one, two"),
        ("a.mat", "one 100 x 3, two 100 x 2"),
    ):
        with pytest.raises(ValueError, match=rf"say which \(--array\).*|{listed}"):
            read_table(tmp_path / name)
        assert len(read_table(tmp_path / name, array="two").names) == 2
        with pytest.raises(ValueError, match=r"holds no (array|matrix) 'four'; its .*two"):
            read_table(tmp_path / name, array="four")
    scipy.io.savemat(tmp_path / "a.mat", {"three": "text"})
    with pytest.raises(ValueError, match=r"holds 0 matrices of real numbers.*: none"):
        read_table(tmp_path / "a.mat")
    with pytest.raises(ValueError, match=r"\.npz files are only read; write one of \.arrow"):
        write_table(tmp_path / "out.npz", Table({"x": np.ones(2)}, "here"))


def test_arrays_that_are_no_points_are_named(tmp_path):
    cases = {
        "holds Python objects, which could run code": np.array([{}], object),
        "1 or 2 dimensions, got float64 with shape": np.ones((2, 2, 2)),
        "array of numbers with 1 or 2 dimensions, got <U1": np.array(["a"]),
        r"holds an empty array, of shape \(0, 2\)": np.empty((0, 2)),
    }
    for told, array in cases.items():
        np.save(tmp_path / "a.npy", array, allow_pickle=True)
        with pytest.raises(ValueError, match=told):
            read_table(tmp_path / "a.npy")
        np.savez(tmp_path / "a.npz", array)
        with pytest.raises(ValueError, match=told):
            read_table(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="one array without a name; leave array out"):
        read_table(tmp_path / "a.npy", array="x")


def test_records_keep_their_names(tmp_path):
    np.save(tmp_path / "a.npy", np.array([(1, 2.5)], [("east", "i4"), ("north", "f8")]))
    table = read_table(tmp_path / "a.npy")
    assert table.names == ["east", "north"]
    assert table.numbers().tolist() == [[1, 2.5]]


def test_a_matlab_7_3_file_says_how_to_save_it(tmp_path):
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    (tmp_path / "a.mat").write_bytes(head + b"\x89HDF\r\n\x1a\n".ljust(600))
    with pytest.raises(ValueError, match=r"is a MATLAB 7\.3 file, which is HDF5; save it with"):
        read_table(tmp_path / "a.mat")


def test_a_text_column_does_not_go_into_a_scan(tmp_path):
    table = Table({**dict(zip("xyz", XYZ.T)), "note": np.array(["a"] * 100, object)}, "here")
    for name, kind in (("a.ply", "PLY"), ("a.las", "LAS")):
        with pytest.raises(ValueError, match=rf"{kind} file holds numbers, .*'note' of here"):
            write_table(tmp_path / name, table)
    with pytest.raises(ValueError, match=r"LAS file needs columns x, y and z; here has no z"):
        write_table(tmp_path / "a.las", table.select(["x", "y"]))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("a.parquet", "pyarrow", "cli"), ("a.laz", "laspy", "cloud")],
)
def test_a_missing_package_is_named_with_the_extra(name, module, extra, tmp_path, monkeypatch):
    path = put(tmp_path / name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"need {module}: pip install 'piforest\[{extra}\]'"):
        read_table(path)
