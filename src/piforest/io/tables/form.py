"""How a text table is written: found out when it is read, followed when it is written again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from . import sniff
from .table import first_repeated

# Excel is told the delimiter so.
_SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """How a file was written."""

    suffix: str
    """how its name ended; empty for standard input"""
    delimiter: str
    newline: str = "\n"
    above: tuple[str, ...] = ()
    """lines above the table, as they stood"""
    mark: str = ""
    """what stands before the names: nothing, or "# " """
    header: Mapping[str, str] | None = None
    """names to what stood for them, spaces and all; None where columns had no names"""
    bom: bool = False
    """does it begin with the mark that some programs want to see before UTF-8?"""


@dataclass(frozen=True)
class Look:
    """What the first lines of a file tell."""

    form: Form
    names: list[str]
    unnamed: frozenset[str]
    first_is_header: bool
    decimal: str
    n_above: int
    """lines before the table"""


def usual_form(suffix: str) -> Form:
    """How files of this kind are written if nothing else is known."""
    return Form(suffix, {".csv": ",", ".tsv": "\t"}.get(suffix, sniff.SPACE))


def look(
    lines: list[str],
    source: str,
    suffix: str,
    bom: bool,
    delimiter: str | None,
    header: bool | None,
    decimal: str | None,
) -> Look:
    """lines: the first of the file. What is given of the last three is not looked for."""
    start = _count_above(lines)
    above, body = lines[:start], lines[start:]
    if not body:
        raise ValueError(f"{source} is empty.")
    told = _SEPARATOR.fullmatch(above[0]) if above else None
    delimiter = _character(delimiter) or (told and told[1])
    delimiter = delimiter or sniff.find_delimiter(body, suffix, source)
    first = sniff.sample(body, delimiter)
    if not first:
        raise ValueError(f"{source}: its first row cannot be read; is a closing quote missing?")
    decimal = decimal or sniff.find_decimal(first, delimiter, source)
    marked = None if header else _marked_names(above, first[0], delimiter, decimal)
    if header is None:
        header = marked is None and sniff.find_header(first, decimal, source)
    stood = first[0] if header else marked
    if marked is not None:
        above = above[:-1]
    names, unnamed = _names(source, stood, len(first[0]))
    form = Form(
        suffix,
        delimiter,
        "\r\n" if body[0].endswith("\r\n") else "\n",
        tuple(above),
        "" if marked is None else "# ",
        None if stood is None else dict(zip(names, stood)),
        bom,
    )
    return Look(form, names, unnamed, header, decimal, start)


def _count_above(lines: list[str]) -> int:
    """How many lines at the start are blank, begin with # or tell Excel the delimiter."""
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
    above: list[str], first: list[str], delimiter: str, decimal: str
) -> list[str] | None:
    """The names in a comment right above rows of numbers, if they are as many as the columns."""
    if not above or not above[-1].lstrip().startswith("#"):
        return None
    if not all(sniff.is_number(cell, decimal) for cell in first):
        return None
    text = above[-1].strip().lstrip("#").strip()
    names = [name for row in sniff.sample([text], delimiter) for name in row]
    if len(names) != len(first) or any(sniff.is_number(name) for name in names):
        return None
    return names


def _names(source: str, stood: list[str] | None, columns: int) -> tuple[list[str], frozenset[str]]:
    """A name for each column, and which of them have none in the file."""
    if stood is None:
        return [f"x{k}" for k in range(columns)], frozenset()
    names = [text.strip() or f"column {k}" for k, text in enumerate(stood, 1)]
    again = first_repeated(names)
    if again is not None:
        raise ValueError(
            f"{source}: columns {names.index(names[again]) + 1} and {again + 1} are both named "
            f"{names[again]!r}; rename one."
        )
    return names, frozenset(name for name, text in zip(names, stood) if not text.strip())
