"""Detects delimiter, header and decimal mark of a text file from its first rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from .table import Marks, number

# A space means any white space, without quotes.
SPACE = " "
_DELIMITERS = (",", ";", "\t", "|")
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", SPACE: "a space"}
_POINT = Marks()
_GROUPS_AND_COMMA = re.compile(r"\s*[+-]?\d{1,3}(\.\d{3})+,\d+\s*")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")


def split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of each row; a quoted cell may span several lines."""
    if delimiter == SPACE:
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def sample(lines: list[str], delimiter: str) -> list[list[str]]:
    """The rows of the first lines without blank ones, up to an invalid quote."""
    rows = []
    try:
        for row in split(lines, delimiter):
            if row:
                rows.append(row)
    except csv.Error:
        pass
    return rows


def find_delimiter(lines: list[str], suffix: str, source: str) -> str:
    """The delimiter with which all rows have the same length and most columns hold numbers."""
    rows = {each: sample(lines, each) for each in (*_DELIMITERS, SPACE)}
    even = [each for each in _DELIMITERS if _is_even(rows[each])]
    if suffix == ".tsv" and "\t" in even:
        return "\t"
    even = even or [each for each in (SPACE,) if _is_even(rows[each])]
    if not even:
        return _most_even(rows)
    shares = {each: _share_of_numbers(rows[each]) for each in even}
    if max(shares.values()) < 1 and _is_even(rows[SPACE]) and _share_of_numbers(rows[SPACE]) == 1:
        return SPACE  # the other candidates are decimal commas
    best = [each for each in even if shares[each] == max(shares.values())]
    if len(best) > 1:
        listed = " or ".join(_NAMES[each] for each in best)
        raise ValueError(
            f"{source}: the delimiter may be {listed}; give it, such as delimiter={best[0]!r} "
            "(--delimiter)."
        )
    return best[0]


def _is_even(rows: list[list[str]]) -> bool:
    return bool(rows) and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1


def _most_even(samples: dict[str, list[list[str]]]) -> str:
    """The delimiter that gives most rows the same length, if rows differ or have one column."""
    agreed: dict[str, int] = {}
    for delimiter, rows in samples.items():
        counts = Counter(len(row) for row in rows if len(row) > 1)
        agreed[delimiter] = max(counts.values(), default=0)
    return max(agreed, key=lambda each: agreed[each]) if any(agreed.values()) else ","


def _share_of_numbers(rows: list[list[str]]) -> float:
    """The share of columns that are all numbers below the first row, which may be a header."""
    columns = list(zip(*(rows[1:] or rows)))
    numeric = sum(
        all(
            is_number(cell) or _DECIMAL_COMMA.fullmatch(cell) or _GROUPS_AND_COMMA.fullmatch(cell)
            for cell in column
        )
        for column in columns
    )
    return numeric / len(columns)


def find_thousands(rows: list[list[str]], decimal: str) -> str:
    """The mark between groups of digits, if a number has both this and the decimal mark."""
    mark = "," if decimal == "." else "."
    both = re.compile(rf"\s*[+-]?\d{{1,3}}([{mark}]\d{{3}})+[{decimal}]\d+\s*")
    return mark if any(both.fullmatch(cell) for row in rows for cell in row) else ""


def find_decimal(rows: list[list[str]], delimiter: str, source: str) -> str:
    """A comma, if it is not the delimiter and all numbers with decimals have one. In a table of
    one column it is more likely the delimiter."""
    cells = [cell for row in rows for cell in row]
    if any(_GROUPS_AND_COMMA.fullmatch(cell) for cell in cells):
        return ","
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    points = any("." in cell and is_number(cell) for cell in cells)
    if delimiter == "," or points or not commas or len(rows[0]) == 1:
        return "."
    if all(re.fullmatch(r"[1-9]\d{0,2},\d{3}", cell.strip().lstrip("+-")) for cell in commas):
        raise ValueError(
            f"{source}: {commas[0]!r} may have decimals or a thousands separator. Give decimal=',' "
            "(--decimal) for decimals, or thousands=',' (--thousands)."
        )
    return ","


def find_header(rows: list[list[str]], marks: Marks, source: str) -> bool:
    """Whether the first row has the names."""
    first, below = rows[0], rows[1:]
    if len(first) > 1 and first == ["", *(str(k) for k in range(len(first) - 1))]:
        return True  # an index and numbered columns, as pandas writes them
    text = [not is_number(cell, marks) for cell in first]
    if not any(text):
        return False
    filled = [cell.strip().lower() not in marks.missing for cell in first]
    if all(text[k] or not filled[k] for k in range(len(first))):
        return True
    if any(text[k] and k < len(row) and is_number(row[k], marks) and row[k].strip()
           for row in below for k in range(len(first))):  # fmt: skip
        return True
    raise ValueError(
        f"{source}: the first row, {', '.join(first)}, may be names or data; give header=True or "
        "header=False (--header, --no-header)."
    )


def is_number(cell: str, marks: Marks = _POINT) -> bool:
    """Whether a cell is a number or a missing value."""
    try:
        number(cell, marks)
    except ValueError:
        return False
    return True
