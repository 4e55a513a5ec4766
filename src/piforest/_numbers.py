"""Numbers as people read them."""

from __future__ import annotations

from decimal import Decimal

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
