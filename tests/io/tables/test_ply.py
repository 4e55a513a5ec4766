"""PLY files, compared with those that plyfile writes and reads."""

from __future__ import annotations

import itertools

import numpy as np
import plyfile
import pytest

from piforest.io.tables import Table, read_blocks, read_table, with_scores, write_table

RNG = np.random.default_rng(0)
N = 50
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"]
FORMATS = [(True, "<"), (False, "<"), (False, ">")]


def numbers(n=N):
    """Vertices with every type of number."""
    kinds = [*zip("xyz", ("f4", "f4", "f8")), *((f"p_{kind}", kind) for kind in TYPES)]
    vertices = np.empty(n, kinds)
    for name, kind in kinds:
        values = RNG.normal(scale=40, size=n)
        vertices[name] = np.abs(values).clip(0, 127) if "u" in kind else values.clip(-127, 127)
    return vertices


def lists(n, lengths, kind="i4"):
    rows = np.empty(n, [("before", "u2"), ("indices", "O"), ("after", "f4")])
    rows["before"], rows["after"] = np.arange(n), np.arange(n) / 4
    rows["indices"] = [np.arange(length, dtype=kind) for length in itertools.islice(
        itertools.cycle(lengths), n)]  # fmt: skip
    return rows


def described(name, rows, order, count):
    if "indices" not in rows.dtype.names:
        return plyfile.PlyElement.describe(rows, name)
    if order == ">":
        # plyfile forgets the byte order of numbers that stand beside lists when it writes.
        rows = rows.copy()
        for field in set(rows.dtype.names) - {"indices"}:
            rows[field] = rows[field].byteswap()
    kinds = {"len_types": {"indices": count}, "val_types": {"indices": "i4"}}
    return plyfile.PlyElement.describe(rows, name, **kinds)


def put(path, elements, text, order, count="u1"):
    parts = [described(name, rows, order, count) for name, rows in elements]
    plyfile.PlyData(parts, text=text, byte_order=order).write(str(path))
    return path


def check_vertices(table, vertices):
    kept = [name for name in vertices.dtype.names if vertices.dtype[name].kind != "O"]
    assert table.names == kept
    for name in kept:
        assert np.array_equal(table.columns[name], vertices[name])
        assert table.columns[name].dtype == vertices.dtype[name]


@pytest.mark.parametrize(("text", "order"), FORMATS)
@pytest.mark.parametrize("lengths", [(3,), (3, 4), (0,), (0, 5, 1)], ids=str)
@pytest.mark.parametrize("place", ["after", "before"])
def test_vertices_and_other_elements_are_those_that_plyfile_wrote(
    text, order, lengths, place, tmp_path
):
    vertices, faces = numbers(), lists(30, lengths)
    elements = [("vertex", vertices), ("face", faces), ("edge", numbers(7)), ("none", numbers(0))]
    if place == "before":
        elements = [*elements[1:], elements[0]]
    path = put(tmp_path / "a.ply", elements, text, order)
    table = read_table(path)
    check_vertices(table, vertices)
    blocks = list(read_blocks(path, 20))
    assert [len(block) for block in blocks] == [20, 20, 10]
    write_table(tmp_path / "b.ply", with_scores(table, np.arange(N) / N, 0.5))
    back = plyfile.PlyData.read(str(tmp_path / "b.ply"))
    assert back.text == text
    assert back.byte_order == ("=" if text else order)
    assert np.array_equal(back["vertex"]["score"], np.arange(N) / N)
    for name in vertices.dtype.names:
        assert np.array_equal(back["vertex"][name], vertices[name])
    for name, rows in elements:
        if name != "vertex":
            for field in rows.dtype.names:
                assert list(map(str, back[name][field])) == list(map(str, rows[field]))


@pytest.mark.parametrize(("text", "order"), FORMATS)
@pytest.mark.parametrize("count", ["u1", "i2", "u4"])
@pytest.mark.parametrize("lengths", [(2,), (3, 0, 4)], ids=str)
def test_lists_of_vertices_are_left_out(text, order, count, lengths, tmp_path):
    vertices = lists(N, lengths)
    path = put(tmp_path / "a.ply", [("vertex", vertices)], text, order, count=count)
    check_vertices(read_table(path), vertices)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("text", [True, False])
def test_any_newline_ends_the_lines_of_the_header(newline, text, tmp_path):
    vertices = numbers()
    path = put(tmp_path / "a.ply", [("vertex", vertices), ("face", lists(9, (3,)))], text, "<")
    head, body = path.read_bytes().split(b"end_header\n")
    body = body.replace(b"\n", newline) if text else body
    path.write_bytes(head.replace(b"\n", newline) + b"end_header" + newline + body)
    check_vertices(read_table(path), vertices)


def test_comments_and_other_lines_stay_in_any_encoding(tmp_path):
    path = tmp_path / "a.ply"
    path.write_bytes(
        b"ply\nformat ascii 1.0\ncomment made by J\xfcrgen\nobj_info num_cols 2\n"
        b"element vertex 2\ncomment of the vertices\nproperty float x\nproperty uchar red\n"
        b"end_header\n1 2\n3 4\n"
    )
    write_table(tmp_path / "b.ply", read_table(path))
    write_table(tmp_path / "c.ply", read_table(tmp_path / "b.ply"))
    written = (tmp_path / "b.ply").read_bytes()
    for line in (b"comment made by J\xfcrgen", b"obj_info num_cols 2", b"comment of the vertices"):
        assert line in written.splitlines()
    assert (tmp_path / "c.ply").read_bytes() == written
    assert read_table(tmp_path / "c.ply").numbers().tolist() == [[1, 2], [3, 4]]


HEAD = ["ply", "format ascii 1.0", "element vertex 2", "property float x", "property uchar k"]
BAD = {
    "no ply": (0, "plx", "it does not begin with ply"),
    "another version": (1, "format ascii 2.0", "has a line 'format ascii 2.0'"),
    "no format": (1, "comment", "its header names no format"),
    "a negative count": (2, "element vertex -1", "has a line 'element vertex -1'"),
    "a count in words": (2, "element vertex two", "has a line 'element vertex two'"),
    "a count of other digits": (2, "element vertex ²", "has a line 'element vertex ²'"),
    "one vertex too many": (2, "element vertex 3", "it is cut short"),
    "very many": (2, f"element vertex {10**18}", "it is cut short"),
    "no such type": (3, "property long x", "has a line 'property long x'"),
    "a list of a fraction": (3, "property list float int x", "has a line 'property list float"),
    "the same name": (4, "property float x", "two of the name 'x'"),
    "a property of nothing": (2, "comment", "has a line 'property float x'"),
    "another line": (2, "elements", "has a line 'elements'"),
    "a name in another encoding": (3, "property float \udcfc", r"has a line 'property float "),
    "too large a number": (4, "property char k", "200"),
    "no vertices": (2, "element corner 2", "has no vertices"),
    "none of them": (2, "element vertex 0", "has no vertices"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_header_is_one_clear_line(case, tmp_path):
    at, line, what = BAD[case]
    path = tmp_path / "a.ply"
    lines = [*HEAD, "end_header", "1.5 200", "2.5 7", ""]
    lines[at] = line
    path.write_text("\n".join(lines), errors="surrogateescape")
    with pytest.raises(ValueError, match=what) as raised:
        read_table(path)
    assert str(raised.value).startswith(str(path))
    lines[at] = HEAD[at]
    path.write_text("\n".join(lines))
    assert read_table(path).numbers().tolist() == [[1.5, 200], [2.5, 7]]


@pytest.mark.parametrize("rows", ["1 2 3\n4", "1\n2 3", "1 2\n\n3 4", "1 x\n2 3", "1 2\n3 é", ""])
def test_bad_rows_of_text_are_one_clear_line(rows, tmp_path):
    path = tmp_path / "a.ply"
    path.write_text("\n".join([*HEAD, "end_header", rows]))
    with pytest.raises(ValueError, match=r"a\.ply cannot be read: it is damaged or no PLY file"):
        read_table(path)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "order"), FORMATS)
@pytest.mark.parametrize("lengths", [(3,), (3, 4)], ids=str)
def test_a_file_that_is_cut_anywhere_is_refused(text, order, lengths, tmp_path):
    elements = [("vertex", numbers(3)), ("face", lists(3, lengths))]
    path = put(tmp_path / "a.ply", elements, text, order)
    whole = path.read_bytes()
    # One of the two stands for the header, which both have.
    start = 1 if lengths == (3,) else whole.index(b"end_header")
    for length in range(start, len(whole) - (2 if text else 0)):  # but a last digit may be cut off
        path.write_bytes(whole[:length])
        if text and whole[:length].count(b"\n") >= whole.count(b"\n") - 1:
            continue
        with pytest.raises(ValueError, match=r"cannot be read|has no vertices"):
            read_table(path)


def test_a_list_of_negative_length_is_refused(tmp_path):
    rows = lists(3, (3, 4))
    path = put(tmp_path / "a.ply", [("vertex", numbers(3)), ("face", rows)], False, "<", count="i2")
    whole = path.read_bytes()
    body = whole.index(b"end_header\n") + 11 + 3 * numbers(1).itemsize
    for at, what in ((body + 2, "negative length"), (body + 2 + 2 + 12 + 4 + 2, "negative length")):
        path.write_bytes(whole[:at] + b"\xff\xff" + whole[at + 2 :])
        with pytest.raises(ValueError, match=what):
            read_table(path)


def test_a_list_in_text_needs_a_length_that_its_line_has(tmp_path):
    path = tmp_path / "a.ply"
    head = ["ply", "format ascii 1.0", "element vertex 1", "property list uchar int k",
            "property float x", "end_header"]  # fmt: skip
    path.write_text("\n".join([*head, "2 7 7 1.5"]))
    assert read_table(path).numbers().tolist() == [[1.5]]
    for row in ("3 7 7 1.5", "1 7 7 1.5", "-1 1.5", "x 1.5", ""):
        path.write_text("\n".join([*head, row]))
        with pytest.raises(ValueError, match=r"a\.ply cannot be read"):
            read_table(path)


def test_vertices_without_numbers_are_no_points(tmp_path):
    rows = np.empty(3, [("indices", "O")])
    rows["indices"] = lists(3, (3, 4))["indices"]
    for text in (True, False):
        put(tmp_path / "a.ply", [("vertex", rows)], text, "<")
        with pytest.raises(ValueError, match=r"a\.ply has no vertices"):
            read_table(tmp_path / "a.ply")


def test_a_table_that_was_no_scan_becomes_a_binary_file(tmp_path):
    columns = {"x": np.arange(3.0), "on": np.array([True, False, True]), "n": np.arange(3)}
    write_table(tmp_path / "a.ply", Table(columns, "here"))
    back = plyfile.PlyData.read(str(tmp_path / "a.ply"))
    assert (back.text, back.byte_order) == (False, "<")
    kinds = {each.name: each.val_dtype for each in back["vertex"].properties}
    assert kinds == {"x": "f8", "on": "u1", "n": "f8"}
