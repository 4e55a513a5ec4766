"""JSON: an array with an object for each row; such a file may also hold JSON lines."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from . import jsonl
from .lines import LONGEST_LINE, MARK, open_lines, source_name
from .table import Table

# Characters per read.
_CHUNK = 2**20
_BLANK = " \t\r\n"


def read_blocks(path: Path | None, rows: int | None) -> Iterator[Table]:
    """Tables of the objects of an array, or of lines; path None is standard input."""
    source = source_name(path)
    with open_lines(path, arrays=True) as (text, start):
        array = start.lstrip(MARK + b" \t\r\n").startswith(b"[")
        records = _elements(text, source) if array else jsonl.records_of(text, source)
        origin = jsonl.JsonOrigin(".json" if array else ".jsonl")
        yield from jsonl.blocks_of(records, source, rows, origin)


def _elements(text: Any, source: str) -> Iterator[jsonl.Record]:
    """The objects of the array, parsed one by one, so that the array need not fit in memory."""
    scan, rest, row = json.JSONDecoder(object_pairs_hook=jsonl.json_object), _Rest(text), 0
    rest.take("[")
    if rest.peek() == "]":
        return
    while True:
        row += 1
        rest.peek()
        place = f"{source}: object {row} of the array"
        value, used = _decoded(scan, rest, place)
        yield jsonl.checked(value, used, place)
        if rest.take(",]", f"{source}: a comma or ] is missing behind object {row}") == "]":
            break
    if rest.peek():
        raise ValueError(f"{source}: there is text behind the array; is it JSON lines?")


def _decoded(scan: json.JSONDecoder, rest: _Rest, place: str) -> tuple[Any, str]:
    """The next value, and its text."""
    while True:
        try:
            value, end = scan.raw_decode(rest.buffer, rest.at)
        except (ValueError, RecursionError) as error:
            # Invalid text may only be incomplete.
            if len(rest.buffer) - rest.at > LONGEST_LINE:
                raise ValueError(f"{place} is longer than {LONGEST_LINE} letters.") from error
            if isinstance(error, RecursionError) or not rest.more():
                raise jsonl.no_object(error, place) from error
            continue
        # A number at the end of the buffer may go on.
        if end < len(rest.buffer) or not rest.more():
            used, rest.at = rest.buffer[rest.at : end], end
            return value, used


class _Rest:
    """The text that is not parsed yet, read in chunks."""

    def __init__(self, text: Any) -> None:
        self.text, self.buffer, self.at = text, "", 0

    def more(self) -> bool:
        """Read a chunk; False at the end."""
        chunk = self.text.read(_CHUNK)
        self.buffer, self.at = self.buffer[self.at :] + chunk, 0
        return bool(chunk)

    def peek(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            while self.at < len(self.buffer):
                if self.buffer[self.at] not in _BLANK:
                    return self.buffer[self.at]
                self.at += 1
            if not self.more():
                return ""

    def take(self, letters: str, otherwise: str = "") -> str:
        found = self.peek()
        if not found or found not in letters:
            raise ValueError(f"{otherwise}.")
        self.at += 1
        return found


class writer:
    """An array of objects, one on each line."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.file, self.like, self.begun = file, like, False

    def write(self, table: Table) -> None:
        lines = io.BytesIO()
        inner = jsonl.writer(lines, self.like, ".jsonl")
        inner.write(table)
        inner.close()
        for line in lines.getvalue().splitlines():
            self.file.write((b",\n" if self.begun else b"[\n") + line)
            self.begun = True

    def close(self) -> None:
        self.file.write(b"\n]\n" if self.begun else b"[]\n")
