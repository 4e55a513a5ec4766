"""Tables as text: comma- or tab-separated values and similar formats."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import arrow_text, sniff
from .compression import split_name
from .dialect import Dialect, Sniffed, default_dialect, sniff_dialect
from .lines import MARK, open_lines, source_name
from .table import Table, block_rows, check_width

# Lines that are read to detect the dialect: fewer once they have this many characters, but never
# fewer than the last number.
_SNIFFED_LINES, _SNIFFED_LENGTH, _SNIFFED_LEAST = 1000, 2**20, 3


def read_blocks(
    path: Path | None,
    rows: int | None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na_values: str | None = None,
) -> Iterator[Table]:
    """Tables of text cells; path None is standard input."""
    thousands = _mark(thousands, decimal)
    no_value = frozenset(each.strip().lower() for each in (na_values or "").split(","))
    source = source_name(path)
    suffix = "" if path is None else split_name(path)[0]
    with open_lines(path) as (lines, start):
        head, bom = _head(lines), start.startswith(MARK)
        seen = sniff_dialect(
            head, source, suffix, bom, delimiter, header, decimal, thousands, no_value
        )
        check_width(source, len(seen.names))
        cells = sniff.split(chain(head[seen.n_above :], lines), seen.dialect.delimiter)
        like = Table(
            {}, source, seen.dialect, unnamed=seen.unnamed, decimal=seen.decimal,
            thousands=seen.thousands, no_value=no_value,
        )  # fmt: skip
        done, complete = yield from arrow_text.read(path, rows, seen, head, like)
        if not complete:
            yield from _tables(cells, rows, seen, like, done)


def _mark(thousands: str | None, decimal: str | None) -> str | None:
    """The character between groups of digits; 'space' stands for a space."""
    mark = " " if thousands == "space" else thousands
    if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-_" or mark == decimal):
        raise ValueError(
            "thousands must be one character, no digit and not the decimal mark, got "
            f"{thousands!r}."
        )
    return mark


def _head(lines: Iterator[str]) -> list[str]:
    """The lines that are examined, fewer if they are long."""
    head: list[str] = []
    length = 0
    for line in islice(lines, _SNIFFED_LINES):
        head.append(line)
        length += len(line)
        if length > _SNIFFED_LENGTH and len(head) >= _SNIFFED_LEAST:
            break
    return head


def _tables(
    cells: Iterator[list[str]], rows: int | None, seen: Sniffed, like: Table, done: int = 0
) -> Iterator[Table]:
    """Tables of the rows after the first `done`."""
    filled = filter(None, cells)
    for _ in islice(filled, done + seen.first_is_header):
        pass
    names = seen.names
    step = block_rows(rows, len(names), sys.maxsize)
    while block := _checked(islice(filled, step), names, done, like):
        columns = {name: _column(column) for name, column in zip(names, zip(*block))}
        yield replace(like, columns=columns, first_row=done + 1)
        done += len(block)
    if not done:
        raise ValueError(f"{like.source} has a header and no rows below it.")


def _checked(
    cells: Iterator[list[str]], names: list[str], done: int, like: Table
) -> list[list[str]]:
    """The rows of one block, all of one length."""
    block: list[list[str]] = []
    broken: csv.Error | None = None
    try:
        block.extend(cells)
    except csv.Error as error:
        broken = error
    if set(map(len, block)) - {len(names)}:
        block = [
            row if len(row) == len(names) else _mended(row, names, done + k, like)
            for k, row in enumerate(block, 1)
        ]
    if broken is not None:
        raise ValueError(
            f"{like.source}: row {done + len(block) + 1} cannot be read ({broken}); is a quote "
            "missing?"
        ) from broken
    return block


def _mended(row: list[str], names: list[str], number: int, like: Table) -> list[str]:
    """The row without empty cells after the last column; any other length is an error."""
    if len(row) > len(names) and not any(cell.strip() for cell in row[len(names) :]):
        return row[: len(names)]
    delimiter = like.origin.delimiter
    cut = "spaces" if delimiter == sniff.SPACE else repr(delimiter)
    raise ValueError(
        f"{like.source}: row {number} has {len(row)} cell{'s' * (len(row) > 1)}, not {len(names)} "
        f"(cut at {cut})."
    )


def _column(cells: Any) -> NDArray[Any]:
    column = np.empty(len(cells), object)
    column[:] = cells
    return column


class writer:
    """Text, written row by row in the dialect of the file that was read, if it was text."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str, header: bool = True) -> None:
        usual, own = default_dialect(suffix), like.origin
        known = isinstance(own, Dialect) and (
            own.suffix == suffix or (not own.suffix and own.delimiter == usual.delimiter)
        )
        self.dialect = own if known else usual
        self.file = io.TextIOWrapper(
            file, encoding="utf-8-sig" if self.dialect.bom else "utf-8", newline=""
        )
        self.names = like.names
        self.file.writelines(self.dialect.above)
        if header:
            known_names = own.header or {} if isinstance(own, Dialect) else {}
            self.file.write(self.dialect.mark)
            self._rows([[known_names.get(name, name) for name in like.names]])

    def write(self, table: Table) -> None:
        cells = [_text(table.columns[name], table.decimal) for name in self.names]
        self._rows(zip(*cells))

    def close(self) -> None:
        self.file.flush()
        self.file.detach()

    def _rows(self, rows: Any) -> None:
        if self.dialect.delimiter == sniff.SPACE:
            end = self.dialect.newline
            self.file.writelines(" ".join(_one_word(cell) for cell in row) + end for row in rows)
            return
        plain = csv.writer(
            self.file, delimiter=self.dialect.delimiter, lineterminator=self.dialect.newline
        )
        plain.writerows(rows)


def _text(column: NDArray[Any], decimal: str) -> list[str]:
    """Cells as text: the shortest text that reads back as the same number, empty if missing."""
    if column.dtype.kind in "OUS":
        return ["" if cell is None else str(cell) for cell in column.tolist()]
    if column.dtype.kind in "Mm":
        return ["" if np.isnat(cell) else str(cell) for cell in column]
    values = np.ma.getdata(column)
    if column.dtype.kind == "b":
        values = values.astype(np.int8)
    # Floats of 32 bits are short as NumPy's own; the others are faster as Python's.
    own = column.dtype.kind == "f" and column.dtype.itemsize != 8
    cells = list(map(str, values if own else values.tolist()))
    for k in np.flatnonzero(np.ma.getmaskarray(column) | (values != values)).tolist():
        cells[k] = ""
    if decimal != "." and column.dtype.kind == "f":
        return [cell.replace(".", decimal) for cell in cells]
    return cells


def _one_word(cell: str) -> str:
    """A cell for a file whose delimiter is a space."""
    return "_".join(cell.split()) or "nan"
