"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TypeVar

T = TypeVar("T")

# Sizes that are written without an exponent.
_SMALLEST, _LARGEST = 1e-4, 1e9


def readable(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, without an exponent where people would use none.

    >>> readable(451268.3, 4), readable(5705.2), readable(0.00012345), readable(2.5e-7)
    ('451300', '5710', '0.000123', '2.5e-07')
    """
    text = f"{value:.{digits}g}"
    if "e" in text and _SMALLEST <= abs(value) < _LARGEST:
        return f"{Decimal(text):f}"
    return text


def first_with(items: Sequence[T], count: int, wanted: T | None) -> list[T]:
    """The first items, the last of them replaced by the wanted one if that comes later.

    >>> first_with([1, 2, 3, 4], 3, 4), first_with([1, 2, 3, 4], 3, 2), first_with([1, 2], 3, None)
    ([1, 2, 4], [1, 2, 3], [1, 2])
    """
    first = list(items[:count])
    return [*first[:-1], wanted] if wanted in items[count:] else first  # type: ignore[list-item]
