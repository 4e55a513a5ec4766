"""Excel workbooks: written and read by other libraries too."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from python_calamine import CalamineWorkbook

from piforest.io.tables import Table, excel, read_blocks, read_table, with_scores, write_table

WHEN = [datetime(2024, 1, 31, 12), datetime(2024, 2, 1), None]
ROWS = [["a", 1.5, 7, WHEN[0], "=1+1"], ["ü", None, 8, WHEN[1], ""], ["c", -2e-3, 9, None, "x"]]


def put(path, rows=ROWS, names=("id", "x", "n", "when", "note"), sheets=("Sheet1",), top=0):
    """By a library that only writes."""
    with xlsxwriter.Workbook(path, {"strings_to_formulas": False}) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        for title in sheets:
            sheet = book.add_worksheet(title)
            for at, row in enumerate([*([list(names)] if names else []), *rows], top):
                for k, cell in enumerate(row):
                    if isinstance(cell, datetime):
                        sheet.write_datetime(at, k, cell, day)
                    elif cell is not None:
                        sheet.write(at, k, cell)
    return path


def changed(path, member, before, after):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert before in parts[member]
    parts[member] = parts[member].replace(before, after)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_workbook_of_libreoffice_is_read():
    table = read_table(Path(__file__).parent / "files" / "libreoffice.xlsx")
    assert table.names == ["id", "x", "when", "n", "note"]
    assert table.columns["id"].tolist() == ["a", "ü", "c"]
    assert np.array_equal(table.numbers(["x"])[:, 0], [1.5, -0.25, np.nan], equal_nan=True)
    assert table.columns["when"][0] == np.datetime64("2024-01-31")
    assert table.numbers(["n"])[:, 0].tolist() == [7, 8, 9]
    assert table.columns["note"].tolist() == ["plain", 2, None]  # the value of a formula


def test_a_workbook_of_another_library_is_read(tmp_path):
    table = read_table(put(tmp_path / "a.xlsx", top=2))  # blank rows stand above
    assert table.names == ["id", "x", "n", "when", "note"]
    assert table.numeric() == ["x", "n"]
    assert np.array_equal(table.numbers(["x"])[:, 0], [1.5, np.nan, -0.002], equal_nan=True)
    assert table.columns["when"].dtype == "M8[us]"
    assert table.columns["when"][0] == np.datetime64("2024-01-31T12:00")
    assert [len(block) for block in read_blocks(tmp_path / "a.xlsx", 2)] == [2, 1]


def test_another_library_reads_what_is_written(tmp_path):
    table = read_table(put(tmp_path / "a.xlsx"))
    scored = np.array([True, False, True])
    write_table(tmp_path / "b.xlsx", with_scores(table, np.array([0.25, 0.75]), 0.5, scored))
    rows = CalamineWorkbook.from_path(str(tmp_path / "b.xlsx")).get_sheet_by_index(0).to_python()
    assert rows[0] == ["id", "x", "n", "when", "note", "score", "anomaly"]
    assert rows[1] == ["a", 1.5, 7, WHEN[0], "=1+1", 0.25, 0]  # text stays text
    assert rows[2] == ["ü", "", 8, WHEN[1].date(), "", "", ""]
    assert rows[3] == ["c", -0.002, 9, "", "x", 0.75, 1]


def test_cells_of_other_formats_get_their_types(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,zip\n1,1.50,007\n2,,=A1\n")
    write_table(tmp_path / "a.xlsx", read_table(tmp_path / "a.csv"))
    rows = list(openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0].values)
    assert rows == [("id", "x", "zip"), (1, 1.5, "007"), (2, None, "=A1")]
    columns = {
        "f": np.array([0.1, np.inf], np.float32),
        "i": np.array([2**60, 1]),
        "t": np.array(["1850-01-02", "NaT"], "M8[D]"),
        "b": np.ma.masked_array([True, False], [False, True]),
    }
    write_table(tmp_path / "b.xlsx", Table(columns, "here"))
    rows = list(openpyxl.load_workbook(tmp_path / "b.xlsx").worksheets[0].values)
    assert rows[1:] == [(0.1, str(2**60), "1850-01-02 00:00:00", 1), ("inf", 1, None, None)]


def test_of_several_sheets_one_is_named(tmp_path):
    path = put(tmp_path / "a.xlsx", sheets=("one", "two"))
    with pytest.raises(ValueError, match=r"a\.xlsx holds 2 sheets, .* \(--sheet\): one, two"):
        read_table(path)
    assert len(read_table(path, sheet="two")) == 3
    with pytest.raises(ValueError, match=r"a\.xlsx holds no sheet 'three'; its sheets: one, two"):
        read_table(path, sheet="three")


def test_names_are_detected_or_given(tmp_path):
    path = put(tmp_path / "a.xlsx", [[1, 2], [3, 4]], names=None)
    assert read_table(path).names == ["x0", "x1"]
    assert read_table(path, header=True).names == ["1", "2"]
    put(path, [[1, 2], [3, 4, 5]], names=["x"])
    assert read_table(path).unnamed == {"column 2", "column 3"}
    put(path, [["a", 2], [3, 4]], names=None)
    with pytest.raises(ValueError, match=r"the first row, a, 2, may be names or data"):
        read_table(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:3000]), "is damaged or no Excel file"),
        (lambda path: path.write_text("x,y\n1,2\n"), "is damaged or no Excel file"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: put(path, []), "has a header and no rows below it"),
        (lambda path: put(path, [], names=None), "the sheet is empty"),
        (lambda path: changed(path, "xl/worksheets/sheet1.xml", b"</row>", b"<row>"), "damaged"),
        (lambda path: changed(path, "xl/worksheets/sheet1.xml", b'r="3"', b'r="99999999999"'),
         r"is damaged \(more than 1048576 rows\)"),
        (lambda path: changed(path, "xl/worksheets/sheet1.xml", b'r="A3"', b'r="ZZZZZZ3"'),
         "is damaged or no Excel file"),
        (lambda path: changed(path, "xl/worksheets/sheet1.xml", b"<v>7</v>", b"<v>seven</v>"),
         "is damaged or no Excel file"),
        (lambda path: put(path, [[1]] * 1000 + [[1, 2]], names=["x"]),
         "row 1001 has 2 cells, not 1"),
    ],
)  # fmt: skip
def test_damaged_workbooks_are_named(change, said, tmp_path):
    path = put(tmp_path / "a.xlsx")
    change(path)
    with pytest.raises(ValueError, match=said) as raised:
        list(read_blocks(path, 10))
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "_LARGEST", 1000)
    with pytest.raises(ValueError, match=r"a\.xlsx has \d+ bytes when it is unpacked, more than"):
        read_table(put(tmp_path / "a.xlsx"))


def test_what_excel_cannot_hold_is_refused(tmp_path, monkeypatch):
    for text, said in (("a" * 40_000, "40000 characters"), ("a\x01", "control characters")):
        table = Table({"t": np.array([text], object)}, "here")
        with pytest.raises(ValueError, match=rf"here: column 't' has a text .*{said}"):
            write_table(tmp_path / "a.xlsx", table)
    monkeypatch.setattr(excel, "_ROWS", 4)
    table = Table({"x": np.arange(4.0)}, "here")
    with pytest.raises(ValueError, match=r"here has at least 4 rows, and an Excel sheet holds 3"):
        write_table(tmp_path / "a.xlsx", table)
    assert list(tmp_path.iterdir()) == []


def test_a_workbook_is_no_zipped_text(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("table.csv", "x,y\n1,2\n")
    (tmp_path / "a.xlsx").write_bytes(content.getvalue())
    with pytest.raises(ValueError, match=r"a\.xlsx cannot be read: it is damaged or no Excel"):
        read_table(tmp_path / "a.xlsx")
