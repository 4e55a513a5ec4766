"""Columns of dates, and dates as numbers."""

from __future__ import annotations

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
# Cells that are examined to see whether a column of text has dates.
_EXAMINED = 1000


def is_date_column(table: Table, name: str) -> bool:
    """Whether a column holds dates, or text as in ISO 8601: 2024-01-31, 2024-01-31T12:00."""
    column = table.columns[name]
    if column.dtype.kind == "M":
        return True
    if column.dtype.kind not in "OU" or name in table.numeric():
        return False
    filled = [cell for cell in column[:_EXAMINED].tolist() if not _is_missing(cell)]
    return bool(filled) and all(_is_date(cell) for cell in filled)


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
    for k, cell in enumerate(column.tolist()):
        if _is_missing(cell):
            continue
        try:
            values[k] = _seconds(cell)
        except (ValueError, TypeError, OverflowError):
            raise ValueError(
                f"{table.source}: row {table.first_row + k} of column {name!r} is {cell!r}, not a "
                "date such as 2024-01-31."
            ) from None
    return values


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
