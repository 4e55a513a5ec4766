"""Tables as text: comma- or tab-separated values and their kin."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import sniff
from .dialect import Dialect, Sniffed, default_dialect, sniff_dialect
from .table import Table, block_rows, check_width

# Lines that are read to detect the dialect: fewer once they have this many characters, but never
# fewer than the last number.
_SNIFFED_LINES, _SNIFFED_LENGTH, _SNIFFED_LEAST = 1000, 2**20, 3
# Bytes of a line; as many columns as a table may have fit.
_LONGEST_LINE = 2**22
_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


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
        head = _head(lines)
        seen = sniff_dialect(head, source, _suffix(path), bom, delimiter, header, decimal)
        check_width(source, len(seen.names))
        cells = sniff.split(chain(head[seen.n_above :], lines), seen.dialect.delimiter)
        like = Table({}, source, seen.dialect, unnamed=seen.unnamed, decimal=seen.decimal)
        yield from _tables(cells, rows, seen, like)


def _head(lines: Iterator[str]) -> list[str]:
    """The lines that are looked at, fewer where they are long."""
    head: list[str] = []
    length = 0
    for line in islice(lines, _SNIFFED_LINES):
        head.append(line)
        length += len(line)
        if length > _SNIFFED_LENGTH and len(head) >= _SNIFFED_LEAST:
            break
    return head


def _suffix(path: Path | None) -> str:
    """How the name ends, apart from .gz; nothing for standard input."""
    if path is None:
        return ""
    return Path(path.name.lower().removesuffix(".gz")).suffix


@contextmanager
def _opened(path: Path | None, source: str) -> Iterator[tuple[Iterator[str], bool]]:
    """The lines, and whether a byte-order mark stood before them."""
    binary: Any
    if path is None:
        binary = sys.stdin.buffer
    elif path.suffix.lower() == ".gz":
        binary = gzip.open(path)  # noqa: SIM115
    else:
        binary = open(path, "rb")  # noqa: SIM115
    try:
        start = bytes(binary.peek(4096)[:4096])
        if not start:
            raise ValueError(f"{source} is empty.")
        if start[:2] in _ENCODINGS or b"\0" in start:
            what = _ENCODINGS.get(start[:2], "binary data or UTF-16")
            raise ValueError(f"{source} is not UTF-8 text but {what}; save it as UTF-8.")
        lines: Any = _Lines(binary, source)
        text = io.TextIOWrapper(lines, encoding="utf-8-sig", newline="")
        try:
            yield iter(text), start.startswith(b"\xef\xbb\xbf")
        finally:
            text.detach()
    finally:
        if path is not None:
            binary.close()


class _Lines:
    """A binary file for `TextIOWrapper` that gives up where a line does not end."""

    closed = False

    def __init__(self, file: Any, source: str) -> None:
        self.file, self.source = file, source
        self.length = self.lines = 0

    def read1(self, n: int = -1, /) -> bytes:
        content: bytes = self.file.read1(n)
        end = max(content.rfind(b"\n"), content.rfind(b"\r"))
        self.lines += content.count(b"\n")
        self.length = self.length + len(content) if end < 0 else len(content) - end - 1
        if self.length > _LONGEST_LINE:
            raise ValueError(
                f"{self.source}: line {self.lines + 1} is longer than {_LONGEST_LINE} bytes; is it "
                "a table?"
            )
        return content

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """`TextIOWrapper` asks for it when it lets go."""


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
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{source} cannot be read: it is damaged or not compressed by gzip."
        ) from error


def _tables(
    cells: Iterator[list[str]], rows: int | None, seen: Sniffed, like: Table
) -> Iterator[Table]:
    filled = (row for row in cells if row)
    if seen.first_is_header:
        next(filled)
    names = seen.names
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
        self.packed = None
        if suffix.endswith(".gz"):
            suffix = suffix.removesuffix(".gz")
            # Without name and time, so that the same table gives the same file.
            self.packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            file = self.packed  # type: ignore[assignment]
        usual, own = default_dialect(suffix), like.form
        known = isinstance(own, Dialect) and (
            own.suffix == suffix or (not own.suffix and own.delimiter == usual.delimiter)
        )
        self.form = form = own if known else usual
        self.file = io.TextIOWrapper(
            file, encoding="utf-8-sig" if form.bom else "utf-8", newline=""
        )
        self.names = like.names
        self.file.writelines(form.above)
        if header:
            stood = own.header or {} if isinstance(own, Dialect) else {}
            self.file.write(form.mark)
            self._rows([[stood.get(name, name) for name in like.names]])

    def write(self, table: Table) -> None:
        cells = [_text(table.columns[name], table.decimal) for name in self.names]
        self._rows(zip(*cells))

    def close(self) -> None:
        self.file.flush()
        self.file.detach()
        if self.packed is not None:
            self.packed.close()

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
    # Floats of 32 bits are short as NumPy's own; the others are faster as Python's.
    values = column.tolist() if column.dtype.itemsize == 8 else column
    cells = ["" if _is_nothing(cell) else str(cell) for cell in values]
    if decimal != "." and column.dtype.kind == "f":
        return [cell.replace(".", decimal) for cell in cells]
    return cells


def _is_nothing(cell: Any) -> bool:
    return cell is None or cell is np.ma.masked or bool(cell != cell)


def _one_word(cell: str) -> str:
    """A cell for a file that is cut at spaces."""
    return "_".join(cell.split()) or "nan"
