"""Excel workbooks (.xlsx): one sheet is the table, formulas are the values that were stored."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ._extras import needed
from .cells import TextKind, kind_of_cells, typed
from .dialect import column_names
from .objects import column_of
from .table import Marks, Table, block_rows, check_width

# Limits of Excel: rows of a sheet, characters of a cell, integers that a number holds.
_ROWS, _LETTERS, _INTEGER = 2**20, 32_767, 2**53
# Bytes of an unpacked workbook.
_LARGEST = 2**31
_WIDTH_FROM = 1000

Row = tuple[Any, ...]


def _package() -> Any:
    return needed("openpyxl", "Excel files", "cli")


def read_blocks(
    path: Path, rows: int | None, sheet: str | None = None, header: bool | None = None
) -> Iterator[Table]:
    """Blank rows are skipped. sheet: which one, where there are several."""
    openpyxl, source, done = _package(), str(path), 0
    with _clear_errors(path):
        _check_size(path)
        # Not by its name: the library refuses other endings than its own.
        with open(path, "rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            try:
                filled = _filled(path, _sheet(path, book, sheet))
                head = list(islice(filled, _WIDTH_FROM))
                names, unnamed, first_is_header = _names(source, head, header)
                below = chain(head[first_is_header:], filled)
                step = block_rows(rows, len(names), _ROWS)
                while block := list(islice(below, step)):
                    columns = _columns(source, block, names, done)
                    yield Table(columns, source, first_row=done + 1, unnamed=unnamed)
                    done += len(block)
            finally:
                book.close()
    if not done:
        raise ValueError(f"{source} has a header and no rows below it.")


def _check_size(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > _LARGEST:
        raise _Named(f"{path} has {size} bytes when it is unpacked, more than {_LARGEST}.")


def _sheet(path: Path, book: Any, sheet: str | None) -> Any:
    names = [each.title for each in book.worksheets]
    listed = ", ".join(names) or "none"
    if sheet is None and len(names) != 1:
        raise _Named(f"{path} holds {len(names)} sheets, say which (--sheet): {listed}.")
    if sheet is not None and sheet not in names:
        raise _Named(f"{path} holds no sheet {sheet!r}; its sheets: {listed}.")
    found = book.worksheets[0 if sheet is None else names.index(sheet)]
    found.reset_dimensions()  # what a file says of its size need not be true
    return found


def _filled(path: Path, sheet: Any) -> Iterator[Row]:
    """The rows that are not blank, without the blank cells at their ends."""
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > _ROWS:
            raise _Named(f"{path} cannot be read: it is damaged (more than {_ROWS} rows).")
        width = len(row)
        while width and row[width - 1] is None:
            width -= 1
        if width:
            yield row[:width]


def _names(
    source: str, head: list[Row], header: bool | None
) -> tuple[list[str], frozenset[str], bool]:
    """The names of the columns, those that have none in the file, and whether the first row has
    them."""
    if not head:
        raise _Named(f"{source}: the sheet is empty.")
    first = [cell for cell in head[0] if cell is not None]
    texts = [isinstance(cell, str) for cell in first]
    if header is None:
        header = all(texts)
        if any(texts) and not header:
            raise _Named(
                f"{source}: the first row, {', '.join(map(str, first))}, may be names or data; "
                "give header=True or header=False (--header, --no-header)."
            )
    width = max(map(len, head))
    check_width(source, width)
    header_cells = [*("" if cell is None else str(cell) for cell in head[0]), *[""] * width][:width]
    names, unnamed = column_names(source, header_cells if header else None, width)
    return names, unnamed, header


def _columns(
    source: str, block: Sequence[Row], names: list[str], done: int
) -> dict[str, NDArray[Any]]:
    for k, row in enumerate(block):
        if len(row) > len(names):
            raise _Named(
                f"{source}: row {done + k + 1} has {len(row)} cells, not {len(names)} as the rows "
                "before."
            )
    cells = [[row[at] if at < len(row) else None for row in block] for at in range(len(names))]
    return {name: column_of(column) for name, column in zip(names, cells)}


class _Named(ValueError):
    """An error that names the file already."""


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (_Named, ImportError):
        raise
    except Exception as error:  # what is no archive, no XML or no workbook fails in any way
        if str(error).startswith(str(path)):
            raise
        said = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{path} cannot be read: it is damaged or no Excel file .xlsx ({said})."
        ) from error


class writer:
    """A workbook with one sheet. Text stays text, also if it begins with =."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        openpyxl = _package()
        self.cell = openpyxl.cell.WriteOnlyCell
        self.file, self.names, self.rows, self.source = file, like.names, 0, like.source
        self._check_rows(like.total or len(like))
        self.book = openpyxl.Workbook(write_only=True)
        self.sheet = self.book.create_sheet("points")
        self.kinds: dict[str, TextKind] = {
            name: kind_of_cells(like, name)
            for name, column in like.columns.items()
            if column.dtype.kind in "OUS"
        }
        self.sheet.append([self._text(name, name) for name in like.names])

    def write(self, table: Table) -> None:
        self._check_rows(self.rows + len(table))
        columns = [self._values(table, name) for name in self.names]
        for row in zip(*columns):
            self.sheet.append(row)
        self.rows += len(table)

    def close(self) -> None:
        self.book.save(self.file)

    def _check_rows(self, rows: int) -> None:
        if rows >= _ROWS:
            raise ValueError(
                f"{self.source} has at least {rows} rows, and an Excel sheet holds {_ROWS - 1} "
                "below the names; write a .csv file."
            )

    def _values(self, table: Table, name: str) -> list[Any]:
        column = table.columns[name]
        if name in self.kinds:
            return [self._typed(cell, name, table.marks) for cell in column.tolist()]
        if column.dtype.kind == "M":
            return [self._date(cell, name) for cell in column.astype("M8[us]").tolist()]
        values = column.tolist() if column.dtype.itemsize == 8 else [
            None if value is np.ma.masked else value.item() if column.dtype.kind != "f"
            else float(str(value)) for value in column
        ]  # fmt: skip
        return [self._number(value, name) for value in values]

    def _typed(self, cell: Any, name: str, marks: Marks) -> Any:
        try:
            value = typed(cell, self.kinds[name], marks)
        except ValueError:  # text among the numbers of a later block
            value = cell
        return self._text(value, name) if isinstance(value, str) else self._number(value, name)

    def _number(self, value: Any, name: str) -> Any:
        """A number, or text where Excel has no such number."""
        if value is None or value != value:
            return None
        if isinstance(value, bool):
            return int(value)
        plain = isinstance(value, (int, float)) and abs(value) != float("inf")
        if not plain or (isinstance(value, int) and abs(value) > _INTEGER):
            return self._text(str(value), name)
        return value

    def _date(self, value: Any, name: str) -> Any:
        """A date, or text where it is before those of Excel."""
        if isinstance(value, datetime) and value.year >= 1900:
            return value
        return None if value is None else self._text(str(value), name)

    def _text(self, text: str, name: str) -> Any:
        if len(text) > _LETTERS:
            raise ValueError(
                f"{self.source}: column {name!r} has a text of {len(text)} characters, and a cell "
                f"of Excel holds {_LETTERS}; write a .csv file."
            )
        try:
            cell = self.cell(self.sheet, text)
        except Exception as error:  # a class of its own for control characters
            raise ValueError(
                f"{self.source}: column {name!r} has a text {text[:40]!r} with control characters, "
                "which Excel cannot hold; write a .csv file."
            ) from error
        cell.data_type = "s"
        return cell
