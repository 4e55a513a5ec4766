"""The dialect of a text table: detected when it is read, used when it is written again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from . import sniff
from .table import MISSING, Marks, first_repeated

# A first line that gives Excel the delimiter.
_SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How a file is written."""

    suffix: str
    """of its name; empty for standard input"""
    delimiter: str
    newline: str = "\n"
    above: tuple[str, ...] = ()
    """lines above the table, unchanged"""
    mark: str = ""
    """before the names: empty, or "# " """
    header: Mapping[str, str] | None = None
    """names to their text in the file, with spaces; None if columns have no names"""
    bom: bool = False
    """whether it begins with a byte-order mark"""


@dataclass(frozen=True)
class Sniffed:
    """The result of `sniff_dialect`."""

    dialect: Dialect
    names: list[str]
    unnamed: frozenset[str]
    first_is_header: bool
    decimal: str
    n_above: int
    """lines before the table"""
    thousands: str = ""


def default_dialect(suffix: str) -> Dialect:
    """The dialect of new files."""
    return Dialect(suffix, {".csv": ",", ".tsv": "\t"}.get(suffix, sniff.SPACE))


def sniff_dialect(
    lines: list[str],
    source: str,
    suffix: str,
    bom: bool,
    delimiter: str | None,
    header: bool | None,
    decimal: str | None,
    thousands: str | None = None,
    no_value: frozenset[str] = frozenset(),
) -> Sniffed:
    """Detect the dialect from the first lines; given values are not detected.

    no_value: cells that are missing, beside the usual ones.
    """
    start = _count_above(lines)
    above, body = lines[:start], lines[start:]
    if not body:
        raise ValueError(f"{source} is empty.")
    given = _SEPARATOR.fullmatch(above[0]) if above else None
    delimiter = _character(delimiter) or (given and given[1])
    delimiter = delimiter or sniff.find_delimiter(body, suffix, source)
    first = sniff.sample(body, delimiter)
    if not first:
        raise ValueError(f"{source}: its first row cannot be read; is a closing quote missing?")
    if decimal is None and thousands in (".", ","):
        decimal = "," if thousands == "." else "."
    decimal = decimal or sniff.find_decimal(first, delimiter, source)
    thousands = sniff.find_thousands(first, decimal) if thousands is None else thousands
    marks = Marks(decimal, thousands, MISSING | no_value)
    marked = None if header else _marked_names(above, first[0], delimiter, marks)
    if header is None:
        header = marked is None and sniff.find_header(first, marks, source)
    header_cells = first[0] if header else marked
    if marked is not None:
        above = above[:-1]
    names, unnamed = column_names(source, header_cells, len(first[0]))
    dialect = Dialect(
        suffix,
        delimiter,
        "\r\n" if body[0].endswith("\r\n") else "\n",
        tuple(above),
        "" if marked is None else "# ",
        None if header_cells is None else dict(zip(names, header_cells)),
        bom,
    )
    return Sniffed(dialect, names, unnamed, header, decimal, start, thousands)


def _count_above(lines: list[str]) -> int:
    """The number of first lines that are blank, begin with # or give Excel the delimiter."""
    for k, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            if k == 0 and _SEPARATOR.fullmatch(line):
                continue
            return k
    return len(lines)


def _character(delimiter: str | None) -> str | None:
    named = {"tab": "\t", "\\t": "\t", "space": sniff.SPACE}.get(delimiter or "", delimiter)
    if named is not None and (len(named) != 1 or named in '"\r\n'):
        raise ValueError(f"delimiter must be one character, 'tab' or 'space', got {delimiter!r}.")
    return named


def _marked_names(
    above: list[str], first: list[str], delimiter: str, marks: Marks
) -> list[str] | None:
    """Names in a comment directly above rows of numbers, if there is one for each column."""
    if not above or not above[-1].lstrip().startswith("#"):
        return None
    if not all(sniff.is_number(cell, marks) for cell in first):
        return None
    text = above[-1].strip().lstrip("#").strip()
    names = [name for row in sniff.sample([text], delimiter) for name in row]
    if len(names) != len(first) or any(sniff.is_number(name) for name in names):
        return None
    return names


def column_names(
    source: str, header_cells: list[str] | None, columns: int
) -> tuple[list[str], frozenset[str]]:
    """A name for each column, and those that have none in the file."""
    if header_cells is None:
        return [f"x{k}" for k in range(columns)], frozenset()
    names = [text.strip() or f"column {k}" for k, text in enumerate(header_cells, 1)]
    again = first_repeated(names)
    if again is not None:
        raise ValueError(
            f"{source}: columns {names.index(names[again]) + 1} and {again + 1} are both named "
            f"{names[again]!r}; rename one."
        )
    return names, frozenset(name for name, text in zip(names, header_cells) if not text.strip())
