"""PCD scans: those of the Point Cloud Library, and what is written."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import naive
from piforest._kernels import lzf
from piforest.io.tables import Table, read_blocks, read_table, with_scores, write_table

FILES = Path(__file__).parent / "files"
NAMES = ["x", "y", "z", "red", "green", "blue", "label", "feature_0", "feature_1", "feature_2"]
FORMS = ["ascii", "binary", "compressed"]


def packed(plain):
    out = np.empty(len(plain) + len(plain) // 32 + 1, np.uint8)
    size = lzf.compress(np.frombuffer(plain, np.uint8), np.full(lzf.HASHES, -1), out)
    return out[:size].tobytes()


def unpacked(content, size):
    out = np.empty(size, np.uint8)
    assert lzf.decompress(np.frombuffer(content, np.uint8), out) == size
    return out.tobytes()


def put(path, fields, body, points=2, **changes):
    """A binary file of fields (name, type, size, count)."""
    names, types, sizes, counts = zip(*fields)
    lines = {
        "VERSION": "0.7",
        "FIELDS": " ".join(names),
        "SIZE": " ".join(map(str, sizes)),
        "TYPE": " ".join(types),
        "COUNT": " ".join(map(str, counts)),
        "WIDTH": points,
        "HEIGHT": 1,
        "VIEWPOINT": "0 0 0 1 0 0 0",
        "POINTS": points,
        "DATA": "binary",
        **changes,
    }
    head = "".join(f"{key} {value}\n" for key, value in lines.items() if value is not None)
    path.write_bytes(b"# .PCD v0.7\n" + head.encode() + body)
    return path


XYZ = [("x", "F", 4, 1), ("y", "F", 4, 1), ("z", "F", 4, 1)]
BODY = np.arange(6, dtype="<f4").tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_files_of_the_point_cloud_library_are_read(form):
    """The cloud was made of these formulas."""
    table = read_table(FILES / f"pcl_{form}.pcd")
    k = np.arange(40)
    assert table.names == NAMES
    assert table.points == ("x", "y", "z")
    assert table.columns["x"][:3].tolist() == np.array([3.444, 2.838, -2.182], "f4").tolist()
    assert table.columns["red"].tolist() == (k * 5 % 256).tolist()
    assert table.columns["green"].tolist() == (255 - k).tolist()
    assert table.columns["blue"].tolist() == (k * 7 % 256).tolist()
    assert table.columns["label"].tolist() == (3 * k).tolist()
    assert table.columns["feature_1"][:2].tolist() == np.array([0.5113, 0.9081], "f4").tolist()
    blocks = list(read_blocks(FILES / f"pcl_{form}.pcd", 15))
    assert [(len(block), block.first_row, block.total) for block in blocks] == [
        (15, 1, 40), (15, 16, 40), (10, 31, 40),
    ]  # fmt: skip
    for name in NAMES:
        parts = np.concatenate([block.columns[name] for block in blocks])
        assert np.array_equal(parts, table.columns[name])


def content(path):
    """The header without comments, and the points."""
    head, mark, body = path.read_bytes().partition(b"\nDATA ")
    return [line for line in head.split(b"\n") if not line.startswith(b"#")], mark + body


def points_of(body):
    """Of a compressed body: the points, unpacked."""
    start = body.index(b"compressed\n") + 11
    n_packed, n_plain = struct.unpack_from("<II", body, start)
    return unpacked(body[start + 8 : start + 8 + n_packed], n_plain)


@pytest.mark.parametrize("form", FORMS)
def test_a_scan_is_written_as_it_was_read(form, tmp_path):
    path = FILES / f"pcl_{form}.pcd"
    write_table(tmp_path / "a.pcd", read_table(path))
    (head, body), (old_head, old_body) = content(tmp_path / "a.pcd"), content(path)
    assert head == old_head
    if form == "compressed":
        assert points_of(body) == points_of(old_body)
    else:
        assert old_body.startswith(body)  # the library pads a binary file to whole pages


@pytest.mark.parametrize("form", FORMS)
def test_scores_and_colours_come_beside_every_field(form, tmp_path):
    table = read_table(FILES / f"pcl_{form}.pcd")
    scores = np.linspace(0, 1, 40)
    new = with_scores(table, scores, 0.5).with_columns({"red": np.full(40, 200, np.uint8)})
    write_table(tmp_path / "a.pcd", new)
    found = read_table(tmp_path / "a.pcd")
    assert found.names == [*NAMES, "score", "anomaly"]
    for name in NAMES:
        assert np.array_equal(found.columns[name], new.columns[name])
    assert found.columns["score"].tolist() == scores.tolist()
    head = content(tmp_path / "a.pcd")[0]
    assert b"FIELDS x y z rgb label feature score anomaly" in head
    assert b"WIDTH 8" in head  # a scan in rows stays one
    assert b"VIEWPOINT 1 2 3 1 0 0 0" in head


def test_a_new_file_is_binary_with_colours_as_one_float(tmp_path):
    columns = {
        "x": np.arange(3.0),
        "y": np.arange(3, dtype="f4"),
        "z": np.arange(3, dtype="i8"),
        "red": np.array([1, 2, 255], np.uint8),
        "green": np.array([3, 4, 0], np.uint8),
        "blue": np.array([5, 6, 7], np.uint8),
        "a b": np.array([True, False, True]),
    }
    write_table(tmp_path / "a.pcd", Table(columns, "here"))
    head, body = content(tmp_path / "a.pcd")
    assert head[1:5] == [
        b"FIELDS x y z rgb a_b", b"SIZE 8 4 8 4 1", b"TYPE F F I F U", b"COUNT 1 1 1 1 1",
    ]  # fmt: skip
    assert body.startswith(b"\nDATA binary\n")
    found = read_table(tmp_path / "a.pcd")
    assert found.columns["red"].tolist() == [1, 2, 255]
    assert found.columns["z"].dtype == np.int64
    with pytest.raises(ValueError, match=r"a PCD file holds numbers, and column 't' of here has"):
        write_table(tmp_path / "b.pcd", Table({"t": np.array(["a"], object)}, "here"))


def test_a_fourth_byte_of_the_colours_is_kept(tmp_path):
    bits = np.array([0xFF010203, 0x7F040506], "<u4")
    for kind in "FU":
        path = put(tmp_path / "a.pcd", [("rgb", kind, 4, 1)], bits.tobytes())
        table = read_table(path)
        assert table.columns["alpha"].tolist() == [255, 127]
        assert table.columns["blue"].tolist() == [3, 6]
        write_table(tmp_path / "b.pcd", table)
        assert content(tmp_path / "b.pcd")[1].endswith(bits.tobytes())


def test_colours_in_text_are_floats_or_integers(tmp_path):
    bits = np.array([0x010203, 0x040506], "<u4")
    for cells in (map(str, bits.view("f4")), map(str, bits)):
        body = "\n".join(cells).encode() + b"\n"
        put(tmp_path / "a.pcd", [("rgb", "F", 4, 1)], body, DATA="ascii")
        table = read_table(tmp_path / "a.pcd")
        assert table.columns["green"].tolist() == [2, 5]


def test_padding_is_skipped(tmp_path):
    fields = [("x", "F", 4, 1), ("_", "U", 1, 4), ("y", "F", 4, 1), ("_", "F", 4, 2)]
    body = b"".join(struct.pack("<fIfff", k, 7, -k, 8, 9) for k in range(2))
    assert read_table(put(tmp_path / "a.pcd", fields, body)).columns["y"].tolist() == [0, -1]
    for text in ("1 2\n3 4\n", "1 0 0 0 0 2 0 0\n3 0 0 0 0 4 0 0\n"):
        put(tmp_path / "a.pcd", fields, text.encode(), DATA="ascii")
        table = read_table(tmp_path / "a.pcd")
        assert table.names == ["x", "y"]
        assert table.columns["y"].tolist() == [2, 4]


def test_old_headers_are_read(tmp_path):
    old = {"COUNT": None, "POINTS": None, "VIEWPOINT": None, "HEIGHT": None}
    assert len(read_table(put(tmp_path / "a.pcd", XYZ, BODY, **old))) == 2


@pytest.mark.parametrize(
    ("changes", "body", "said"),
    [
        ({}, BODY[:-1], "it is cut short"),
        ({"WIDTH": 10**12, "POINTS": 10**12}, BODY, "it is cut short"),
        ({"WIDTH": 10**12, "POINTS": 10**12, "DATA": "ascii"}, b"1 2 3\n", "it is cut short"),
        ({"DATA": "ascii"}, b"1 2 3\n", "it is cut short"),
        ({"DATA": "ascii"}, b"", "it is cut short"),
        ({"DATA": "ascii"}, b"1 2 3\n1 2\n", "requires 3 columns but 2 were found at row 2"),
        ({"DATA": "ascii"}, b"1 2 3\n1 2 x\n", "could not convert"),
        ({"WIDTH": 0, "POINTS": 0}, b"", "it has no points"),
        ({"POINTS": 3}, BODY, "its header says 3 points in 1 rows of 2"),
        ({"WIDTH": "two"}, BODY, "its header says WIDTH 'two', not a number"),
        ({"WIDTH": "-2"}, BODY, "its header says WIDTH '-2', not a number"),
        ({"WIDTH": "9" * 30}, BODY, "not a number"),
        ({"SIZE": "4 4"}, BODY, "not one SIZE, TYPE and COUNT for each"),
        ({"SIZE": "4 4 3"}, BODY, "its field 'z' has type F of size 3"),
        ({"TYPE": "F F X"}, BODY, "its field 'z' has type X"),
        ({"COUNT": "1 1 0"}, BODY, "its field 'z' has COUNT 0"),
        ({"COUNT": "1 1 99999999999"}, BODY, "its field 'z' has COUNT 99999999999"),
        ({"FIELDS": "x y x"}, BODY, "two of its columns are named 'x'"),
        ({"FIELDS": "_ _ _"}, BODY, "it has no fields"),
        ({"MORE": "1"}, BODY, "its header has a line"),
        ({"DATA": "zipped"}, BODY, "its points are 'zipped', not ascii"),
        ({"DATA": None}, b"", "its header has no line DATA"),
        ({"DATA": "binary_compressed"}, b"\1", "it is cut short"),
        ({"DATA": "binary_compressed"}, struct.pack("<II", 50, 24) + BODY, "it is cut short"),
        ({"DATA": "binary_compressed"}, struct.pack("<II", 24, 25) + BODY, "24 bytes, it says"),
        ({"DATA": "binary_compressed"}, struct.pack("<II", 24, 24) + BODY, "be decompressed"),
        ({"DATA": "binary_compressed", "WIDTH": 10**9, "POINTS": 10**9},
         struct.pack("<II", 24, 24) + BODY, "1000000000 points take 12000000000 bytes"),
    ],
)  # fmt: skip
def test_damaged_files_are_named(changes, body, said, tmp_path):
    order = {"MORE": 1, **changes} if "MORE" in changes else changes
    path = put(tmp_path / "a.pcd", XYZ, body, **{"DATA": "binary", **order})
    if "MORE" in changes:
        path.write_bytes(path.read_bytes().replace(b"VERSION", b"MORE 1\nVERSION"))
    with pytest.raises(ValueError, match=said) as raised:
        read_table(path)
    assert str(raised.value).startswith(f"{path} cannot be read: it is damaged or no PCD file")
    assert "\n" not in str(raised.value)


def test_other_files_are_no_pcd(tmp_path):
    for content in (b"x,y\n1,2\n", b"ply\n", b"\0" * 100):
        (tmp_path / "a.pcd").write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.pcd cannot be read: it is damaged or no PCD"):
            read_table(tmp_path / "a.pcd")


PLAIN = {
    "empty": b"",
    "one": b"a",
    "text": b"abcabcabcabcabcabcabcabcxabc" * 9,
    "zeros": b"\0" * 100_000,
    "noise": np.random.default_rng(0).bytes(20_000),
    "floats": np.linspace(0, 1, 5000).astype("f4").tobytes(),
    "far": np.random.default_rng(1).bytes(9000) * 3,
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_compressed_comes_back_also_by_the_naive_twin(name):
    plain = PLAIN[name]
    content = packed(plain)
    assert unpacked(content, len(plain)) == plain
    assert naive.lzf_decompress(content) == plain
    assert len(content) <= len(plain) + len(plain) // 32 + 1
    if name in ("text", "zeros"):
        assert len(content) < len(plain) / 5


def test_damaged_compression_is_refused_and_nothing_outside_is_read():
    rng = np.random.default_rng(0)
    content = np.frombuffer(packed(PLAIN["floats"]), np.uint8)
    for _ in range(300):
        changed = content.copy()
        changed[rng.integers(len(changed), size=3)] = rng.integers(256, size=3)
        changed = changed[: rng.integers(1, len(changed) + 1)]
        out = np.empty(len(PLAIN["floats"]) + 8, np.uint8)
        out[-8:] = 77
        done = lzf.decompress(changed, out[:-8])
        assert -1 <= done <= len(PLAIN["floats"])
        assert (out[-8:] == 77).all()
