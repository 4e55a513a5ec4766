"""Colours of PCD files: one number of 32 bits, blue in its lowest byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._pcd_header import Field

COLOURS, ALPHA = ("red", "green", "blue"), "alpha"
# Bits by which each is shifted.
_SHIFTS = {"red": 16, "green": 8, "blue": 0, ALPHA: 24}


@dataclass(frozen=True)
class Packed:
    name: str
    """rgb or rgba"""
    kind: str
    """of the number; a float of 32 bits, most often, whose bits are meant"""
    columns: tuple[str, ...]


def packed_field(fields: Sequence[Field], points: Mapping[str, NDArray[Any]]) -> Packed | None:
    """The field of the colours, unless other columns have their names."""
    for each in fields:
        if each.name in ("rgb", "rgba") and each.kind[1:] == "4" and each.count == 1:
            fourth = each.name == "rgba" or bool((_bits(points[each.name]) >> 24).any())
            columns = (*COLOURS, ALPHA) if fourth else COLOURS
            return None if set(columns) & set(points) else Packed(each.name, each.kind, columns)
    return None


def is_packed_float(field: Field) -> bool:
    return field.name in ("rgb", "rgba") and field.kind == "f4" and field.count == 1


def as_packed_float(values: NDArray[Any]) -> NDArray[np.float32]:
    """Colours of a text file: floats whose bits are meant, or integers although the header says
    float, as some programs write them."""
    whole = np.isfinite(values) & (values >= 0) & (values < 2**32) & (values == np.rint(values))
    if whole.all() and (values >= 1).any():
        return values.astype(np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def unpack(columns: Mapping[str, NDArray[Any]], packed: Packed) -> dict[str, NDArray[Any]]:
    """The columns with the colours as bytes, in place of the packed ones."""
    found: dict[str, NDArray[Any]] = {}
    for name, column in columns.items():
        if name == packed.name:
            bits = _bits(column)
            found.update(
                {each: (bits >> _SHIFTS[each]).astype(np.uint8) for each in packed.columns}
            )
        else:
            found[name] = column
    return found


def pack(
    colours: Mapping[str, NDArray[np.uint8]], packed: Packed, as_integers: bool
) -> NDArray[Any]:
    """(n,) the packed colours; as integers, or of the type of the field."""
    bits = np.zeros(len(colours["red"]), np.uint32)
    for name in packed.columns:
        bits |= colours[name].astype(np.uint32) << np.uint32(_SHIFTS[name])
    return bits if as_integers else bits.view("<" + packed.kind)


def _bits(column: NDArray[Any]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(column).view(np.uint32)
