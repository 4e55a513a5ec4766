"""Arrays as JSON: bytes in base64, of the smallest type that keeps every value."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..protocols import Floats

_KINDS = {"u8": "<u1", "u16": "<u2", "i16": "<i2", "i32": "<i4", "f32": "<f4", "f64": "<f8"}
_DIGITS = 6
# Characters of base64 for a byte.
_GROWTH = 4 / 3


def encode(values: NDArray[Any], kind: str) -> dict[str, Any]:
    """An array of the given type."""
    packed = np.ascontiguousarray(values, dtype=_KINDS[kind])
    return {"kind": kind, "data": base64.b64encode(packed.tobytes()).decode()}


def decode(packed: dict[str, Any]) -> NDArray[Any]:
    """The array that `encode` was given, of its type in the file."""
    return np.frombuffer(base64.b64decode(packed["data"]), _KINDS[packed["kind"]])


def column(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """A column of a table: numbers, bit for bit, or text."""
    if not is_number(values):
        texts = as_text(values)
        return {"name": name, "text": texts, "drawn": floats_or_none(values) is not None}
    return {"name": name, **numbers(np.asarray(values, np.float64))}


def numbers(values: Floats) -> dict[str, Any]:
    """Integers, or integers over a power of ten, if that is exact; else floats."""
    if np.isfinite(values).all() and len(values) and np.abs(values).max() < 2**31:
        for digits in range(_DIGITS + 1):
            whole = np.rint(values * 10.0**digits)
            if np.abs(whole).max() >= 2**31:
                break
            if _same(whole, digits, values):
                return {**encode(whole, _integer_kind(whole)), "divide": 10**digits}
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return encode(values, "f32" if np.array_equal(short, values, equal_nan=True) else "f64")


def _same(whole: Floats, digits: int, values: Floats) -> bool:
    """Whether integers represent these values; not -0.0, which would lose its sign."""
    signed = np.signbit(values[values == 0]).any()
    return np.array_equal(whole / 10.0**digits, values) and not signed


def counts(values: NDArray[Any]) -> dict[str, Any]:
    """Integers from 0 to 2^31."""
    return encode(values, _integer_kind(values))


def _integer_kind(whole: NDArray[Any]) -> str:
    low, high = whole.min(), whole.max()
    if low >= 0:
        return "u8" if high < 2**8 else "u16" if high < 2**16 else "i32"
    return "i16" if low >= -(2**15) and high < 2**15 else "i32"


def is_number(values: NDArray[Any]) -> bool:
    """Whether a float64 holds these values."""
    if values.dtype.kind in "iu":
        return not len(values) or int(np.abs(values.astype(np.float64)).max()) < 2**53
    return values.dtype.kind == "f"


def unmasked(values: Any) -> NDArray[Any]:
    """A column with masked values filled: nan in numbers, NaT in times, else None."""
    plain = np.ma.getdata(values)  # type: ignore[no-untyped-call]
    missing = np.ma.getmaskarray(values)  # type: ignore[no-untyped-call]
    if not missing.any():
        return np.asarray(plain)
    fill: Any = None
    kind: Any = object
    if is_number(plain[~missing]):
        kind, fill = np.float64, np.nan
    elif plain.dtype.kind in "Mm":
        kind, fill = plain.dtype, "NaT"
    filled = plain.astype(kind)
    filled[missing] = fill
    return np.asarray(filled)


def as_text(values: NDArray[Any]) -> list[str]:
    """Values as in a CSV file: times are readable, missing values empty."""
    if values.dtype.kind in "Mm":
        return ["" if np.isnat(value) else str(value) for value in values]
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        return [str(value) for value in values]  # with the digits of its own precision
    return ["" if value is None else str(value) for value in values.tolist()]


def floats_or_none(values: NDArray[Any]) -> Floats | None:
    """The values as float64, if all of them are numbers or texts of numbers."""
    if values.dtype.kind in "Mm":
        return None
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        return None


def bytes_per_row(values: NDArray[Any]) -> float:
    """Approximate size of a value in the file."""
    some = values[:: max(1, len(values) // 2000)]
    if not is_number(values):
        # Quotes, a comma and escapes.
        return float(np.mean([len(text.encode()) + 4 for text in as_text(some)]))
    kind = numbers(np.asarray(some, np.float64))["kind"]
    return np.dtype(_KINDS[kind]).itemsize * _GROWTH
