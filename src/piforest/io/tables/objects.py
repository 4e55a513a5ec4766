"""Columns of Python objects, as databases and spreadsheets give them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray


def column_of(cells: Sequence[Any]) -> NDArray[Any]:
    """(n,) dates if all cells are, else the objects; None where nothing is."""
    filled = [cell for cell in cells if cell is not None]
    if filled and all(isinstance(cell, date) for cell in filled):
        return np.array(
            ["NaT" if cell is None else _without_zone(cell) for cell in cells], "M8[us]"
        )
    column = np.empty(len(cells), object)
    column[:] = [_plain(cell) for cell in cells]
    return column


def _without_zone(when: date) -> date:
    if isinstance(when, datetime) and when.tzinfo is not None:
        return when.astimezone(UTC).replace(tzinfo=None)
    return when


def _plain(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return float(cell)
    return bytes(cell).hex() if isinstance(cell, (bytes, bytearray, memoryview)) else cell
