"""JSON lines: one object a line, its keys the names of the columns."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .cells import kind_of_cells, typed
from .lines import open_lines, source_name
from .table import Marks, Table, block_rows, check_width

# Rows whose keys are the columns.
_KEYS_FROM = 1000

Record = dict[str, Any]


@dataclass(frozen=True)
class JsonOrigin:
    """That it was JSON lines, also where no name tells."""

    suffix: str = ".jsonl"


def read_blocks(path: Path | None, rows: int | None) -> Iterator[Table]:
    """Tables of objects; path None is standard input."""
    source = source_name(path)
    with open_lines(path) as (lines, _):
        yield from blocks_of(records_of(lines, source), source, rows, JsonOrigin())


def blocks_of(
    records: Iterator[Record], source: str, rows: int | None, origin: JsonOrigin
) -> Iterator[Table]:
    """Tables of at most so many records. The columns are the keys of the first 1,000 records; one
    without a key lacks the value."""
    done = 0
    head = list(islice(records, _KEYS_FROM))
    if not head:
        raise ValueError(f"{source} is empty.")
    names = list(dict.fromkeys(chain.from_iterable(head)))
    if not names:
        raise ValueError(f"{source}: its first rows are empty objects.")
    check_width(source, len(names))
    all_records, step = chain(head, records), block_rows(rows, len(names), sys.maxsize)
    while block := list(islice(all_records, step)):
        _check_keys(block, names, done, source)
        columns = {name: _column(block, name) for name in names}
        yield Table(columns, source, origin, done + 1)
        done += len(block)


def records_of(lines: Iterator[str], source: str) -> Iterator[Record]:
    row = 0
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row += 1
        try:
            record = json.loads(line, object_pairs_hook=json_object)
        except (ValueError, RecursionError) as error:
            raise no_object(error, f"{source}: line {at}") from error
        yield checked(record, line, f"{source}: line {at}")


def no_object(error: Exception, place: str) -> ValueError:
    """The error of text that cannot be parsed; place: the file and where in it."""
    said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return ValueError(f"{place} is no JSON object ({' '.join(said.split())[:200]}).")


def checked(record: Any, text: str, place: str) -> Record:
    """The record, if it is an object whose letters other files can hold."""
    if not isinstance(record, dict):
        raise ValueError(f"{place} is {_shown(record)}, not an object {{...}} of names and values.")
    if "\\ud" in text or "\\uD" in text:
        _check_letters(record, place)
    return record


def json_object(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        again = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"the name {again!r} stands twice")
    return found


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _check_letters(record: Record, place: str) -> None:
    """An escape may be half of a letter, which no other file can hold."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{place} has half of a surrogate pair.") from error


def _check_keys(block: list[Record], names: list[str], done: int, source: str) -> None:
    known = set(names)
    for k, record in enumerate(block):
        if not record.keys() <= known:
            new = next(name for name in record if name not in known)
            raise ValueError(
                f"{source}: row {done + k + 1} has a name {new!r} that the first {_KEYS_FROM} rows "
                "lack; give it to the first row, as null."
            )


def _column(block: list[Record], name: str) -> NDArray[Any]:
    column = np.empty(len(block), object)
    for k, record in enumerate(block):
        column[k] = record.get(name)
    return column


class writer:
    """Numbers as numbers, nothing as null."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.file = io.TextIOWrapper(file, encoding="utf-8", newline="")
        self.kinds = {
            name: kind_of_cells(like, name)
            for name, column in like.columns.items()
            if column.dtype.kind in "OUS"
        }

    def write(self, table: Table) -> None:
        columns = [self._values(table, name) for name in table.names]
        self.file.writelines(_line(dict(zip(table.names, row))) for row in zip(*columns))

    def close(self) -> None:
        self.file.flush()
        self.file.detach()

    def _values(self, table: Table, name: str) -> list[Any]:
        column = table.columns[name]
        if name in self.kinds:
            return [self._value(cell, name, table.marks) for cell in column.tolist()]
        if column.dtype.kind in "Mm":
            return [None if np.isnat(cell) else str(cell) for cell in column]
        # A float of 32 bits has fewer digits than the same number in 64.
        if column.dtype.kind == "f" and column.dtype.itemsize < 8:
            values = [float(str(value)) for value in np.ma.filled(column, np.nan)]
        else:
            values = column.tolist()
        return [None if value != value else value for value in values]

    def _value(self, cell: Any, name: str, marks: Marks) -> Any:
        if not isinstance(cell, str):
            return None if isinstance(cell, float) and cell != cell else cell
        try:
            return typed(cell, self.kinds[name], marks)
        except ValueError:  # text among the numbers of a later block
            return cell


def _line(record: Record) -> str:
    try:
        return _text(record) + "\n"
    except ValueError:  # JSON has no word for infinity, but a number that is read as such
        cells = (f"{_text(name)}: {_number_or_text(value)}" for name, value in record.items())
        return "{" + ", ".join(cells) + "}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)


def _number_or_text(value: Any) -> str:
    try:
        return _text(value)
    except ValueError:
        if isinstance(value, float):
            return "1e999" if value > 0 else "-1e999"
        return _text(str(value))
