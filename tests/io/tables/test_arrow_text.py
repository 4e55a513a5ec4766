"""Text through Arrow gives what the plain reader gives: cells, numbers to the last bit, errors."""

from __future__ import annotations

import numpy as np
import pytest

from piforest.io.tables import read_blocks, read_table, write_table
from piforest.io.tables.table import TextColumns

pytest.importorskip("pyarrow")

ROWS = "".join(f"{k / 7},{k},{-k}e-3\n" for k in range(60))
FILES = {
    "ordinary": "x,y,z\n" + ROWS,
    "no names": ROWS,
    "names in a comment": "# made today\n# x,y,z\n" + ROWS,
    "line ends of Windows": ("x,y,z\n" + ROWS).replace("\n", "\r\n"),
    "line ends of old Macs": ("x,y,z\n" + ROWS).replace("\n", "\r"),
    "one return within": "x,y,z\n" + ROWS + "1,2\r,3\n",
    "a mark at the start": "\ufeffx,y,z\n" + ROWS,
    "blank lines": "\n\nx,y,z\n" + ROWS.replace("\n", "\n\n"),
    "a blank line at the end": "x,y,z\n" + ROWS + "\n",
    "no last line end": "x,y,z\n" + ROWS.rstrip(),
    "tabs": ("x,y,z\n" + ROWS).replace(",", "\t"),
    "semicolons": ("x,y,z\n" + ROWS).replace(",", ";"),
    "decimal commas": ("x,y,z\n" + ROWS).replace(",", ";").replace(".", ","),
    "text beside numbers": "x,y,name\n" + "".join(f"{k}.5,{k}, Äpfel {k} \n" for k in range(50)),
    "nothing in some cells": "x,y\n" + "".join(f"{k},{'' if k % 3 else k}\n" for k in range(50)),
    "empty cells at the end": "x,y\n" + "1,2\n" * 50 + "3,4,,\n",
    "words for nothing": "x,y\n" + "1,2\n" * 50 + "NA,n/a\nnan,-nan\n",
    "other numbers": "x,y\n" + "1,2\n" * 50 + "+1, 2.5\n.5,1.\n1e400,1e-400\ninf,-Infinity\n٣,3\n",
    "a long number": "x,y\n" + f"{'1' * 400}.{'3' * 400},0.10000000000000000555111512\n" * 9,
    "no numbers for Python": "x,y\n" + "1,2\n" * 50 + "1_000,nan(1)\n",
    "hexadecimal": "x,y\n" + "1,2\n" * 50 + "0x10,1\n",
    "quotes later": "x,name\n" + "1,a\n" * 1200 + '2,"b, c"\n3,"d\ne"\n',
    "quotes first": 'x,"a, name"\n' + "1,a\n" * 50,
    "a quote that does not end": "x,name\n" + "1,a\n" * 1200 + '2,"b\n',
    "a short row": "x,y,z\n" + ROWS * 30 + "1,2\n" + ROWS,
    "a long row": "x,y,z\n" + ROWS * 30 + "1,2,3,4\n",
    "a blank row": "x,y,z\n" + ROWS * 30 + "  \n",
    "a long cell": "x,name\n" + "1,a\n" * 50 + "2," + "b" * 200_000 + "\n",
    "a zero byte": "x,name\n" + "1,a\n" * 1500 + "2,b\0\n",
    "one column": "x\n" + "1\n\n2\n" * 30,
    "no rows": "x,y,z\n",
    "other delimiter": ("x,y\n" + "1,2\n" * 50).replace(",", "|"),
}


def outcome(path, rows, monkeypatch, least):
    """Blocks as lists, or the error."""
    monkeypatch.setattr("piforest.io.tables.arrow_text._LARGE", least)
    try:
        blocks = [read_table(path)] if rows is None else list(read_blocks(path, rows))
    except ValueError as error:
        return str(error)
    found = []
    for block in blocks:
        texts = {name: block.columns[name].tolist() for name in block.names}
        found.append(
            (block.first_row, len(block), block.numeric(), texts, block.origin, block.unnamed)
        )
    return found


def numbers(path, monkeypatch, least):
    monkeypatch.setattr("piforest.io.tables.arrow_text._LARGE", least)
    found = {}
    for table in read_blocks(path, 10**9):
        for name in table.names:
            try:
                found.setdefault(name, []).append(table.numbers([name]).tobytes())
            except ValueError as error:
                found.setdefault(name, []).append(str(error))
    return found


@pytest.mark.parametrize("name", FILES)
def test_cells_and_errors_are_those_of_the_plain_reader(tmp_path, monkeypatch, name):
    path = tmp_path / "table.csv"
    path.write_bytes(FILES[name].encode())
    for rows in (None, 7, 500):
        plain = outcome(path, rows, monkeypatch, 2**60)
        assert outcome(path, rows, monkeypatch, 0) == plain
    if not isinstance(plain, str):
        assert numbers(path, monkeypatch, 0) == numbers(path, monkeypatch, 2**60)


@pytest.mark.parametrize("content", [b"x,y\n" + b"1,2\n" * 2000 + b"1,\xff\n", b"x,y\n\xff,2\n"])
def test_text_that_is_not_utf8_is_the_same_error(tmp_path, monkeypatch, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    plain = outcome(path, None, monkeypatch, 2**60)
    assert "is not UTF-8 text" in plain
    assert outcome(path, None, monkeypatch, 0) == plain


def test_numbers_have_the_bits_of_python(tmp_path, monkeypatch):
    monkeypatch.setattr("piforest.io.tables.arrow_text._LARGE", 0)
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**63, (4000, 2), np.int64).view(np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    texts = [[repr(a), f"{b:.17e}"] for a, b in values.tolist()]
    texts += [["0.1", "123456789012345678901234567890"], ["5e-324", "1.7976931348623157e308"]]
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in texts))
    table = read_table(path)
    assert isinstance(table.columns, TextColumns)
    expected = np.array([[float(a), float(b)] for a, b in texts])
    assert table.numbers().tobytes() == expected.tobytes()


def test_columns_are_added_selected_and_written_as_they_stood(tmp_path, monkeypatch):
    monkeypatch.setattr("piforest.io.tables.arrow_text._LARGE", 0)
    path, out = tmp_path / "table.csv", tmp_path / "out.csv"
    path.write_text("x,name,y\n" + "".join(f"{k}.50,n{k},{k}\n" for k in range(40)))
    table = read_table(path)
    more = table.with_columns({"score": np.arange(40) / 8, "name": np.array(["a"] * 40, object)})
    assert more.names == ["x", "name", "y", "score"]
    assert len(more) == len(table.select(["y"])) == 40
    assert more.numeric() == ["x", "y", "score"]
    write_table(out, more.select(["y", "x", "score"]))
    assert out.read_text().splitlines()[:3] == ["y,x,score", "0,0.50,0.0", "1,1.50,0.125"]
    with pytest.raises(ValueError, match="row 1 of column 'name' is 'n0', not a number"):
        table.numbers()


def test_without_arrow_large_files_are_read_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("piforest.io.tables.arrow_text._LARGE", 0)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "1,2\n" * 50)
    table = read_table(path)
    assert not isinstance(table.columns, TextColumns)
    assert table.numbers().shape == (50, 2)
