"""Tables as text, and what is common to all files."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys

import numpy as np
import pytest

from piforest.families import get_family
from piforest.io.tables import (
    Table,
    format_of,
    pick_columns,
    read_blocks,
    read_table,
    table_writer,
    with_scores,
    write_table,
)
from piforest.io.tables.columns import pair_of_points
from piforest.io.tables.table import number


def put(folder, content, name="points.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rewritten(path):
    """The file's text after a round trip."""
    write_table(path.with_name(f"again{path.suffix}"), read_table(path))
    return path.with_name(f"again{path.suffix}").read_bytes().decode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "x,y\n1,2\n3,4\n"),
        ("a.csv", "x;y\n1;2\n3;4\n"),
        ("a.csv", "x;y\r\n1,0;2,0\r\n3;4\r\n"),
        ("a.csv", "x|y\n1|2\n3|4\n"),
        ("a.tsv", "x\ty\n1\t2\n3\t4\n"),
        ("a.txt", "x y\n1 2\n3 4\n"),
        ("a.txt", "# x y\n1 2\n3 4\n"),
        ("a.csv", "# from the scanner\n# on Monday\nx,y\n1,2\n3,4\n"),
        ("a.csv", "\ufeffx,y\n1,2\n3,4\n"),
        ("a.csv", "x,y\n01,2.00\n+3,4e0\n"),
        ("a.csv", "x , y\n1, 2\n3 ,4\n"),
        ("a.csv", "sep=;\nx;y\n1;2\n3;4\n"),
    ],
    ids=range(12),
)
def test_a_text_table_is_read_and_comes_out_as_it_stood(name, content, tmp_path):
    path = put(tmp_path, content, name)
    table = read_table(path)
    assert table.names == ["x", "y"]
    assert table.numbers().tolist() == [[1, 2], [3, 4]]
    assert rewritten(path) == content


@pytest.mark.parametrize("content", ["1,2\n3,4\n", "1 2\n3  4\n", "1\t2\n3\t4\n", "1;2\n3;4"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.tsv"])
def test_columns_without_names_are_numbered(name, content, tmp_path):
    table = read_table(put(tmp_path, content, name))
    assert table.names == ["x0", "x1"]
    assert table.numbers().tolist() == [[1, 2], [3, 4]]


def test_text_with_quotes_commas_and_line_breaks_comes_out_as_it_stood(tmp_path):
    content = 'id,"name, first",x,y\n007,"a ""b"" c",1,2\n008,"two\nlines",,4\n009,ü; ok,5,6\n'
    table = read_table(put(tmp_path, content))
    assert table.columns["name, first"].tolist() == ['a "b" c', "two\nlines", "ü; ok"]
    assert table.columns["id"].tolist() == ["007", "008", "009"]
    assert rewritten(tmp_path / "points.csv") == content


def test_what_stands_for_nothing_is_missing_and_stays(tmp_path):
    content = "x,y\n1,NA\n,2\nnan,3\n4,n/a\n5,6\n"
    table = read_table(put(tmp_path, content))
    assert table.numeric() == ["x", "y"]
    assert table.missing(["x", "y"]).tolist() == [True, True, True, True, False]
    assert table.missing(["x"]).tolist() == [False, True, True, False, False]
    assert rewritten(tmp_path / "points.csv") == content
    with pytest.raises(ValueError, match=r"row 2 of column 'x' has no number, and 3 more"):
        table.check_complete(["x", "y"])
    table.check_complete([])


def test_an_index_that_pandas_wrote_is_no_point(tmp_path):
    for names in (",x,y", ",0,1"):
        table = read_table(put(tmp_path, f"{names}\n0,.5,.6\n1,.7,.8\n"))
        assert pick_columns(table, None, get_family("circle")) == names.split(",")[1:]
        assert rewritten(tmp_path / "points.csv").startswith(names + "\n")


def test_numbers_with_a_comma_are_read_where_the_delimiter_is_another(tmp_path):
    table = read_table(put(tmp_path, "1,5;2,25\n3;-4,0e1\n"))
    assert table.numbers().tolist() == [[1.5, 2.25], [3, -40]]
    write_table(tmp_path / "out.csv", with_scores(table, np.array([0.5, 0.25]), 0.3))
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "1,5;2,25;0,5;1"
    told = read_table(put(tmp_path, "1,234;2,345\n"), decimal=",")
    assert told.numbers().tolist() == [[1.234, 2.345]]


def test_a_delimiter_and_a_header_can_be_said(tmp_path):
    path = put(tmp_path, "a;b,c;d\ne;f,g;h\n")
    assert read_table(path, delimiter=",").names == ["a;b", "c;d"]
    assert read_table(path, delimiter=";", header=False).names == ["x0", "x1", "x2"]
    path = put(tmp_path, "A,1.5\nB,2.5\n")
    assert len(read_table(path, header=False)) == 2
    assert read_table(path, header=True).names == ["A", "1.5"]
    assert read_table(put(tmp_path, "x\ty\n1\t2\n"), delimiter="tab").names == ["x", "y"]


def test_empty_cells_past_the_last_column_and_blank_lines_are_no_rows(tmp_path):
    table = read_table(put(tmp_path, "\n\nx,y\n1,2,\n\n3,4,\n\n"), delimiter=",")
    assert table.numbers().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", r"is empty\."),
        ("\n \n", r"is empty\."),
        ("x,y\n", r"has a header and no rows below it\."),
        (
            "a;b,c;d\ne;f,g;h\n",
            r"may be a comma or a semicolon; give it, .*delimiter=','",
        ),
        ("x,y\n1,2\n3,4,5\n", r"row 2 has 3 cells, not 2 \(cut at ','\)\."),
        ("x,y\n1,2\n3,4\n5\n", r"row 3 has 1 cell, not 2 \(cut at ','\)\."),
        ("1 2\n3 4 5\n6 7\n", r"row 2 has 3 cells, not 2 \(cut at spaces\)\."),
        ("A,1.5\nB,2.5\n", r"the first row, A, 1.5, may be names or data; give header=True or"),
        ("x,y,x\n1,2,3\n", r"columns 1 and 3 are both named 'x'; rename one\."),
        ("1,234;2,345\n", r"'1,234' may have decimals or a thousands separator. Give dec"),
        ("x,ü\n1,2\n".encode("latin-1"), r"not UTF-8 text: it has a byte 0xfc, .*iconv"),
        ("x,y\n1,2\n".encode("utf-16"), r"is not UTF-8 text but UTF-16; save it as UTF-8\."),
        (b"x,y\n\0\0\1", r"is not UTF-8 text but binary data or UTF-16"),
        (
            'x,y\n1,"2\n3,4\n',
            r"row 1 cannot be read \(unexpected end of data\); is a quote",
        ),
    ],
    ids=range(14),
)
def test_a_bad_text_file_is_one_clear_line(content, told, tmp_path):
    path = put(tmp_path, content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}.*{told}") as raised:
        read_table(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("x,y\n1,2\n3,abc\n", r"points\.csv: row 2 of column 'y' is 'abc', not a number\."),
        ("x,y\n1,2\n3,1_000\n", r"row 2 of column 'y' is '1_000', not a number\."),
        ('x,y\n1,2\n3,"4,5"\n', r"row 2 of column 'y' is '4,5', not a number; .*decimal=','"),
        ("x,y\n1,2\n3,-inf\n", r"row 2 of column 'y' is infinite\."),
    ],
    ids=range(4),
)
def test_what_is_no_number_is_named_by_row_and_column(content, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        read_table(put(tmp_path, content)).numbers()
    with pytest.raises(ValueError, match=told):
        [block.numbers() for block in read_blocks(tmp_path / "points.csv", 1)]


def test_files_that_cannot_be_opened_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv: there is no such file\."):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder\.csv is a folder, not a file\."):
        read_table(tmp_path / "folder.csv")
    with pytest.raises(ValueError, match=r"must end in one of \.arrow, .*; got '\.doc'"):
        format_of("points.doc")
    with pytest.raises(ValueError, match=r"array is no option of its format; options: delimiter"):
        read_table(put(tmp_path, "1,2\n"), array="x")
    with pytest.raises(ValueError, match=r"delimiter must be one character, .* got 'ab'"):
        read_table(put(tmp_path, "1,2\n"), delimiter="ab")
    with pytest.raises(ValueError, match=r"\.mat files are only read; write one of \.arrow"):
        write_table(tmp_path / "out.mat", Table({"x": np.ones(2)}, "here"))
    assert not (tmp_path / "out.mat").exists()


def test_text_may_be_compressed(tmp_path):
    path = tmp_path / "a.csv.gz"
    table = read_table(put(tmp_path, "x;y\n1;2\n3;4\n"))
    write_table(path, table)
    assert gzip.decompress(path.read_bytes()) == b"x;y\n1;2\n3;4\n"
    assert [block.numbers().tolist() for block in read_blocks(path, 1)] == [[[1, 2]], [[3, 4]]]
    whole = path.read_bytes()
    for content in (whole[:-12], b"x,y\n1,2\n"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"csv\.gz cannot be read: it is damaged or not comp"):
            read_table(path)


def test_a_wrong_delimiter_shows_the_columns_that_it_leaves(tmp_path):
    table = read_table(put(tmp_path, "x,y\n1,2\n"), delimiter=";")
    with pytest.raises(ValueError, match=r"has no numeric column; its columns: x,y\."):
        pick_columns(table, None, get_family("line"))


def test_standard_input_is_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"1;2\n3;4"))))
    table = read_table("-")
    assert table.numbers().tolist() == [[1, 2], [3, 4]]
    assert table.source == "standard input"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))
    with pytest.raises(ValueError, match=r"standard input is empty\."):
        read_table("-")


def test_blocks_are_the_table_in_parts(tmp_path):
    lines = [f'{k},"text\n{k}",{k / 7}' for k in range(5000)]
    path = put(tmp_path, "id,note,x\n" + "\n".join(lines))
    whole, blocks = read_table(path), list(read_blocks(path, 999))
    assert [len(block) for block in blocks] == [999] * 5 + [5]
    assert [block.first_row for block in blocks] == [1, 1000, 1999, 2998, 3997, 4996]
    assert np.concatenate([block.rows for block in blocks]).tolist() == list(range(1, 5001))
    for name in whole.names:
        joined = np.concatenate([block.columns[name] for block in blocks])
        assert joined.tolist() == whole.columns[name].tolist()
    with table_writer(tmp_path / "out.csv", blocks[0]) as writer:
        for block in blocks:
            writer.write(block)
    assert read_table(tmp_path / "out.csv").columns["note"].tolist()[-1] == "text\n4999"
    some = next(read_blocks(path, 2, columns=["x", "id"]))
    assert some.names == ["x", "id"]


def test_a_file_that_is_not_finished_does_not_appear(tmp_path):
    table = Table({"x": np.ones(3)}, "here")

    def interrupted():
        with table_writer(tmp_path / "out.csv", table) as writer:
            writer.write(table)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == []


def test_scores_stand_beside_the_columns_and_never_replace_them(tmp_path):
    table = read_table(put(tmp_path, "x,score\n1,good\n,bad\n"))
    scored = with_scores(table, np.array([0.75]), 0.5, ~table.missing(["x"]))
    write_table(tmp_path / "out.csv", scored)
    expected = "x,score,piforest_score,piforest_anomaly\n1,good,0.75,1\n,bad,,\n"
    assert (tmp_path / "out.csv").read_text() == expected


def test_columns_are_picked_where_there_is_no_doubt():
    ones = np.ones(3)
    table = Table(dict.fromkeys(("id", "x", "y"), ones), "here")
    circle, line, homography = (get_family(each) for each in ("circle", "line", "homography"))
    assert pick_columns(table, ["y", "x"], circle) == ["y", "x"]
    assert pick_columns(table, None, circle) == ["x", "y"]
    assert pick_columns(table, None, [get_family("hyperplane"), circle]) == ["x", "y"]
    assert pick_columns(table, None, get_family("linear_regression")) == ["x", "y"]
    assert pick_columns(table.select(["id", "x"]), None, circle) == ["id", "x"]
    with pytest.raises(ValueError, match=r"'homography' needs 4 .* has 3 numeric ones: id, x, y"):
        pick_columns(table, None, homography)
    with pytest.raises(ValueError, match=r"family 'circle' needs 2 columns, got 1: x\."):
        pick_columns(table, ["x"], circle)
    with pytest.raises(ValueError, match=r"here has no column 'z'; its columns: id, x, y\."):
        pick_columns(table, ["z"], line)
    with pytest.raises(ValueError, match=r"column 'x' is named twice"):
        pick_columns(table, ["x", "x"], circle)
    with pytest.raises(ValueError, match=r"here has no numeric column; its columns: t\."):
        pick_columns(Table({"t": np.array(["a"], object)}, "here"), None, line)


def test_numbers_that_are_read_at_once_have_the_bits_of_those_read_one_by_one():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 500, np.uint64).view(np.float64)
    cells = [repr(float(x)) for x in bits if np.isfinite(x)]
    cells += [" 1.5 ", "+2", ".5", "1e-400", "-0", "3." + "1" * 40, "0x", "1_000", "nan", "", "NA"]
    for some in (cells[:-5], cells[:-3], cells[-3:], [*cells[:3], "", "2"], [*cells[:3], "1_0"]):
        column = np.array(some, object)
        slow = []
        for cell in some:
            try:
                slow.append(number(cell))
            except ValueError:
                slow.append(None)
        table = Table({"a": column}, "it")
        if None in slow:
            with pytest.raises(ValueError, match=f"row {slow.index(None) + 1} of column 'a'"):
                table.numbers(["a"])
        else:
            values = table.numbers(["a"])[:, 0]
            assert values.tobytes() == np.array(slow).tobytes()


@pytest.mark.parametrize(
    ("names", "axes", "expected"),
    [
        ("x1 y1 x2 y2 ratio", "xy", "x1 y1 x2 y2"),
        ("point1_x point1_y point2_x point2_y centroid_x centroid_y", "xy",
         "point1_x point1_y point2_x point2_y"),
        ("id x_start y_start x_end y_end", "xy", "x_start y_start x_end y_end"),
        ("Left.X Left.Y Right.X Right.Y", "xy", "Left.X Left.Y Right.X Right.Y"),
        ("x1 y1 z1 x2 y2 z2", "xyz", "x1 y1 z1 x2 y2 z2"),
        ("x0 y0 x1 y1 x2 y2", "xy", ""),  # which two of three?
        ("x0 x1 x2 x3", "xy", ""),
        ("max may x y", "xy", ""),
        ("x1 y1 z1 x2 y2", "xyz", ""),
    ],
)  # fmt: skip
def test_two_points_are_recognised_by_their_names(names, axes, expected):
    assert pair_of_points(names.split(), axes) == expected.split()


def test_segments_among_other_columns_are_picked(tmp_path):
    path = tmp_path / "segments.csv"
    path.write_text("length,point1_x,point1_y,point2_x,point2_y\n1,2,3,4,5\n2,3,4,5,7\n")
    expected = ["point1_x", "point1_y", "point2_x", "point2_y"]
    assert pick_columns(read_table(path), None, get_family("vanishing_point")) == expected
