"""Columns of dates, and dates as numbers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any, Literal

import numpy as np

from ...protocols import Floats
from .table import MISSING, Table

DateUnit = Literal["seconds", "minutes", "hours", "days", "years"]
# Seconds of a unit; a year of the Gregorian calendar has 365.2425 days on average.
UNITS: dict[DateUnit, float] = {
    "seconds": 1.0,
    "minutes": 60.0,
    "hours": 3600.0,
    "days": 86_400.0,
    "years": 365.2425 * 86_400.0,
}
# Two numbers of day and month, a year of four digits, and a time, if there is one.
_NUMBERS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})((?:[ T]\d{2}:\d{2}(?::\d{2})?)?)")
# Cells that are examined to see whether a column of text has dates.
_EXAMINED = 1000


def is_date_column(table: Table, name: str) -> bool:
    """Whether a column holds dates, or text as in ISO 8601, 2024-01-31 or 2024-01-31T12:00, or as
    31.12.2024 or 12/31/2024 where it is clear which number is the month."""
    column = table.columns[name]
    if column.dtype.kind == "M":
        return True
    if column.dtype.kind not in "OU" or name in table.numeric():
        return False
    filled = [cell for cell in column[:_EXAMINED].tolist() if not _is_missing(cell)]
    return bool(filled) and (all(map(_is_date, filled)) or _order(filled) is not None)


def dates_as_numbers(table: Table, unit: DateUnit) -> Table:
    """The same with columns of dates as numbers: the time since the start of 1970 in this unit.
    Times without a zone are UTC."""
    names = [name for name in table.names if is_date_column(table, name)]
    return table.with_columns({name: _since_1970(table, name) / UNITS[unit] for name in names})


def _since_1970(table: Table, name: str) -> Floats:
    """(n,) seconds; nan where a date is missing."""
    column = table.columns[name]
    if column.dtype.kind == "M":
        seconds = column.astype("M8[us]").astype(np.int64) / 1e6
        return np.where(np.isnat(column), np.nan, seconds)
    values = np.full(len(column), np.nan)
    order = _order([cell for cell in column.tolist() if not _is_missing(cell)])
    for k, cell in enumerate(column.tolist()):
        if _is_missing(cell):
            continue
        try:
            values[k] = _seconds(cell if order is None else _as_iso(cell, order))
        except (ValueError, TypeError, OverflowError):
            raise ValueError(
                f"{table.source}: row {table.first_row + k} of column {name!r} is {cell!r}, not a "
                "date such as 2024-01-31."
            ) from None
    return values


def _order(cells: list[Any]) -> str | None:
    """The order of day, month and year of dates such as 31.12.2024 and 12/31/2024, as "dmy" or
    "mdy"; None if there are others, or if some could be either. Points mean the day first."""
    found = [_NUMBERS.fullmatch(str(cell).strip()) for cell in cells]
    if not found or not all(found):
        return None
    firsts, marks, seconds = (np.array([each[k] for each in found if each]) for k in (1, 2, 3))
    if (marks == ".").all():
        return "dmy"
    late = [bool((part.astype(int) > 12).any()) for part in (firsts, seconds)]
    return {(True, False): "dmy", (False, True): "mdy"}.get((late[0], late[1]))


def _as_iso(cell: Any, order: str) -> str:
    """A date such as 31.12.2024 as 2024-12-31, with its time."""
    found = _NUMBERS.fullmatch(str(cell).strip())
    if found is None:
        raise ValueError(f"{cell!r} is no date of the others' form")
    day, month = (found[1], found[3]) if order == "dmy" else (found[3], found[1])
    return f"{found[4]}-{int(month):02d}-{int(day):02d}{found[5]}"


def _seconds(cell: Any) -> float:
    when = cell if isinstance(cell, date) else datetime.fromisoformat(str(cell).strip())
    if not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


def _is_date(cell: Any) -> bool:
    try:
        _seconds(cell)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def _is_missing(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in MISSING | {"nat"}
