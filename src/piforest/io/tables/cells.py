"""Cells of text as the values that they stand for, for formats with types."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any, Literal

import numpy as np

from .table import Marks, Table, number

_WHOLE = re.compile(r"\s*[+-]?(0|[1-9]\d{0,17})\s*")
_LEADING_ZERO = re.compile(r"\s*[+-]?0\d")

TextKind = Literal["text", "integer", "number"]


def kind_of_cells(table: Table, name: str) -> TextKind:
    """What the cells of a column of text, or of objects, stand for. 007 is a name, no number."""
    cells = table.columns[name].tolist()
    texts = [cell for cell in cells if isinstance(cell, str)]
    if name not in table.numeric() or any(_LEADING_ZERO.match(cell) for cell in texts):
        return "text"
    filled = (cell for cell in cells if number_or_none(cell, table.marks) is not None)
    return "integer" if all(map(_is_whole, filled)) else "number"


def _is_whole(cell: Any) -> bool:
    if isinstance(cell, str):
        return _WHOLE.fullmatch(cell) is not None
    return isinstance(cell, int) and abs(cell) < 10**18


def typed(cell: Any, kind: TextKind, marks: Marks) -> Any:
    """The value of a cell; ValueError where a number, or an integer, belongs."""
    if kind == "text":
        return None if cell is None else str(cell)
    value = number_or_none(cell, marks)
    if kind == "number" or value is None:
        return value
    if not _is_whole(cell):
        raise ValueError(f"{cell!r} is no integer")
    return int(cell)


def number_or_none(cell: Any, marks: Marks) -> float | None:
    value = number(cell, marks)
    return None if np.isnan(value) else value


def stored_kind(table: Table, name: str, kinds: Container[str], file: str) -> str:
    """The type, such as "f8", of a column in a file that holds numbers only.

    kinds: the types that it knows; file: its name, such as "PLY".
    """
    column = table.columns[name]
    kind = column.dtype.str[1:]
    if column.dtype.kind == "b":
        return "u1"
    if kind in kinds:
        return str(kind)
    if column.dtype.kind not in "iuf" and name not in table.numeric():
        raise ValueError(
            f"a {file} file holds numbers, and column {name!r} of {table.source} has others; write "
            "a .csv file."
        )
    return "f8"
