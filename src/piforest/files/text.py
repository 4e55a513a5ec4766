"""Tables as text: comma- or tab-separated values and their kin."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import sniff
from .table import Table, block_rows

# So many lines are looked at to find out how the file is written.
_LOOK = 1000
_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Form:
    """How a file was written."""

    suffix: str
    delimiter: str
    newline: str
    comments: tuple[str, ...]
    """lines above the table, as they stood"""
    mark: str
    """what stands before the names: nothing, or "# " """
    named: bool
    """does it name its columns?"""
    bom: bool
    """does it begin with the mark that some programs want to see before UTF-8?"""


def read_blocks(
    path: Path | None,
    rows: int | None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> Iterator[Table]:
    """Tables of text cells; path None is standard input."""
    source = "standard input" if path is None else str(path)
    with _clear_errors(source), _opened(path, source) as (lines, bom):
        head = list(islice(lines, _LOOK))
        start = _skip_comments(head)
        comments, head = head[:start], head[start:]
        if not head:
            raise ValueError(f"{source} is empty.")
        whole = len(head) < _LOOK - start  # else the last row may be cut
        seen = _without_cut(head, whole)
        suffix = "" if path is None else path.suffix.lower()
        delimiter = _named(delimiter) or sniff.find_delimiter(seen, suffix, source)
        first = sniff.sample(seen, delimiter)
        decimal = decimal or sniff.find_decimal(first, delimiter, source)
        mark, above = "", _names_above(comments, first, delimiter, decimal)
        if header is None:
            header = above is None and sniff.find_header(first, decimal, source)
        if above is not None and not header:
            mark, comments = above[0], comments[:-1]
        names, unnamed = _names(source, first, header, None if header else above)
        newline = "\r\n" if head[0].endswith("\r\n") else "\n"
        form = Form(suffix, delimiter, newline, tuple(comments), mark, header or bool(mark), bom)
        cells = sniff.split(chain(head, lines), delimiter)
        like = Table({}, source, form, unnamed=unnamed, decimal=decimal)
        yield from _tables(cells, rows, header, names, like)


@contextmanager
def _opened(path: Path | None, source: str) -> Iterator[tuple[Iterator[str], bool]]:
    """The lines, and whether a byte-order mark stood before them."""
    binary: Any = sys.stdin.buffer if path is None else open(path, "rb")  # noqa: SIM115
    try:
        start = bytes(binary.peek(4096)[:4096])
        if not start:
            raise ValueError(f"{source} is empty.")
        if start[:2] in _ENCODINGS or b"\0" in start:
            what = _ENCODINGS.get(start[:2], "binary data or UTF-16")
            raise ValueError(f"{source} is not UTF-8 text but {what}; save it as UTF-8.")
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
        try:
            yield iter(text), start.startswith(b"\xef\xbb\xbf")
        finally:
            text.detach()
    finally:
        if path is not None:
            binary.close()


@contextmanager
def _clear_errors(source: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(
            f"{source} is not UTF-8 text: it has a byte 0x{byte:02x}, as Latin-1 and Windows files "
            f"do. Save it as UTF-8, such as with: iconv -f WINDOWS-1252 -t UTF-8."
        ) from error


def _skip_comments(lines: list[str]) -> int:
    """How many lines at the start are blank or begin with #."""
    for k, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            return k
    return len(lines)


def _without_cut(lines: list[str], whole: bool) -> list[str]:
    """The lines to look at: a last line that may go on in a quoted cell is left out."""
    return lines if whole or len(lines) < 2 else lines[:-1]


def _named(delimiter: str | None) -> str | None:
    named = {"tab": "\t", "\\t": "\t", "space": sniff.SPACE}.get(delimiter or "", delimiter)
    if named is not None and (len(named) != 1 or named in '"\r\n'):
        raise ValueError(f"delimiter must be one character, 'tab' or 'space', got {delimiter!r}.")
    return named


def _names_above(
    comments: list[str], first: list[list[str]], delimiter: str, decimal: str
) -> tuple[str, list[str]] | None:
    """The mark and the names in the last comment, if it has as many as there are columns."""
    if not comments or not first or not comments[-1].lstrip().startswith("#"):
        return None
    if not all(sniff.is_number(cell, decimal) for cell in first[0]):
        return None
    text = comments[-1].lstrip().lstrip("#").strip()
    names = [name.strip() for row in sniff.split([text], delimiter) for name in row]
    if len(names) != len(first[0]) or any(sniff.is_number(name) for name in names):
        return None
    return "# ", names


def _names(
    source: str, first: list[list[str]], header: bool, above: tuple[str, list[str]] | None
) -> tuple[list[str], frozenset[str]]:
    """A name for each column, and which of them the file does not have."""
    if not first:
        raise ValueError(f"{source}: its first row cannot be read; is a closing quote missing?")
    if not header and above is None:
        return [f"x{k}" for k in range(len(first[0]))], frozenset()
    stood = [name.strip() for name in (first[0] if header or above is None else above[1])]
    names = [name or f"column {k}" for k, name in enumerate(stood, 1)]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(
                f"{source}: columns {names.index(name) + 1} and {k + 1} are both named {name!r}; "
                "rename one."
            )
    return names, frozenset(name for name, text in zip(names, stood) if not text)


def _tables(
    cells: Iterator[list[str]],
    rows: int | None,
    header: bool,
    names: list[str],
    like: Table,
) -> Iterator[Table]:
    filled = (row for row in cells if row)
    if header:
        next(filled)
    done, step = 0, block_rows(rows, len(names), sys.maxsize)
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
    try:
        for row in cells:
            if len(row) != len(names):
                row = _mended(row, names, done + len(block) + 1, like)
            block.append(row)
    except csv.Error as error:
        raise ValueError(
            f"{like.source}: row {done + len(block) + 1} cannot be read ({error}); is a quote "
            "missing?"
        ) from error
    return block


def _mended(row: list[str], names: list[str], number: int, like: Table) -> list[str]:
    """Without the empty cells past the last column; any other length is an error."""
    if len(row) > len(names) and not any(cell.strip() for cell in row[len(names) :]):
        return row[: len(names)]
    delimiter = like.form.delimiter
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
    """Text, written row by row as the table's own file was, if it was one of the same kind."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str, header: bool = True) -> None:
        usual = Form(suffix, "\t" if suffix == ".tsv" else ",", "\n", (), "", True, False)
        if suffix not in (".csv", ".tsv"):
            usual = Form(suffix, sniff.SPACE, "\n", (), "", True, False)
        known = isinstance(like.form, Form) and like.form.suffix in (suffix, "")
        self.form = form = like.form if known else usual
        if not form.suffix:
            self.form = form = replace(form, suffix=suffix, delimiter=usual.delimiter)
        self.file = io.TextIOWrapper(
            file, encoding="utf-8-sig" if form.bom else "utf-8", newline=""
        )
        self.names = like.names
        self.file.writelines(form.comments)
        if header:
            self.file.write(form.mark)
            self._rows([["" if name in like.unnamed else name for name in like.names]])

    def write(self, table: Table) -> None:
        cells = [_text(table.columns[name], table.decimal) for name in self.names]
        self._rows(zip(*cells))

    def close(self) -> None:
        self.file.flush()
        self.file.detach()

    def _rows(self, rows: Any) -> None:
        if self.form.delimiter == sniff.SPACE:
            end = self.form.newline
            self.file.writelines(" ".join(_one_word(cell) for cell in row) + end for row in rows)
            return
        plain = csv.writer(
            self.file, delimiter=self.form.delimiter, lineterminator=self.form.newline
        )
        plain.writerows(rows)


def _text(column: NDArray[Any], decimal: str) -> list[str]:
    """Cells as text: numbers as short as they can be read back, nothing for what is missing."""
    if column.dtype.kind in "OUS":
        return ["" if cell is None else str(cell) for cell in column.tolist()]
    if column.dtype.kind in "Mm":
        return ["" if np.isnat(cell) else str(cell) for cell in column]
    if column.dtype.kind == "b":
        column = column.astype(np.int8)
    cells = ["" if cell is None or cell != cell else str(cell) for cell in column.tolist()]
    if decimal != "." and column.dtype.kind == "f":
        return [cell.replace(".", decimal) for cell in cells]
    return cells


def _one_word(cell: str) -> str:
    """A cell for a file that is cut at spaces."""
    return "_".join(cell.split()) or "nan"
