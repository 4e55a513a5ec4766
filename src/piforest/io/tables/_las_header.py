"""The header of a LAS or LAZ file, checked against the size of the file before any library
allocates what it asks for."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

_SIGNATURE = b"LASF"
_LEAST = 227
# The 1.4 header, which has a second count of points and extended records.
_LONG = 375
_MINOR_VERSIONS = range(6)
_RECORD, _EXTENDED_RECORD = 54, 60
# Identical points are compressed to about 1/130 of a byte each in chunks of 50,000; the model of
# the arithmetic coder cannot get below 1/1,000.
_POINTS_A_BYTE = 4096


@dataclass(frozen=True)
class Sizes:
    """What a header says of the points."""

    compressed: bool
    count: int
    record: int
    """bytes of an uncompressed point"""


def check_sizes(path: Path) -> Sizes:
    """Compare every count of the header with the size of the file; ValueError says what is wrong.

    A file that passes can still be damaged, but no loop and no buffer is longer than its size
    allows.
    """
    with open(path, "rb") as file:
        head = file.read(_LONG)
        size = file.seek(0, 2)
        if head[:4] != _SIGNATURE or len(head) < _LEAST:
            raise ValueError("it does not begin with a LAS header")
        if head[24] != 1 or head[25] not in _MINOR_VERSIONS:
            raise ValueError(f"it has version {head[24]}.{head[25]}")
        header_size, start, records, kind, record, count = struct.unpack_from("<HIIBHI", head, 94)
        if not _LEAST <= header_size <= start <= size:
            raise ValueError("its points begin outside of the file")
        if records > (start - header_size) // _RECORD:
            raise ValueError(f"its header says {records} records, more than there is space for")
        if not all(map(isfinite, struct.unpack_from("<6d", head, 131))):
            raise ValueError("its scales and offsets are no numbers")
        if head[25] >= 4:
            if len(head) < _LONG:
                raise ValueError("its header is cut short")
            first, extended, count = struct.unpack_from("<QIQ", head, 235)
            _check_extended(file, size, first, extended)
        compressed = kind & 0xC0 == 0x80
        _check_points(file, size - start, start, Sizes(compressed, count, record))
    return Sizes(compressed, count, record)


def _check_extended(file: BinaryIO, size: int, first: int, records: int) -> None:
    if records > size // _EXTENDED_RECORD:
        raise ValueError(f"its header says {records} extended records, more than fit into it")
    for _ in range(records):
        if first + _EXTENDED_RECORD > size:
            break
        file.seek(first + 20)
        (length,) = struct.unpack("<Q", file.read(8))
        first += _EXTENDED_RECORD + length
    else:
        if not records or first <= size:
            return
    raise ValueError("its extended records are cut short")


def _check_points(file: Any, available: int, start: int, sizes: Sizes) -> None:
    """available: bytes of the file from `start`, where the points begin, to its end."""
    if not sizes.compressed:
        if sizes.count * sizes.record > available:
            raise ValueError(
                f"it is cut short: {sizes.count} points take {sizes.count * sizes.record} bytes, "
                f"and it has {available}"
            )
        return
    if sizes.count > _POINTS_A_BYTE * available:
        raise ValueError(f"it cannot hold {sizes.count} points in {available} bytes")
    file.seek(start)
    place = file.read(8)
    if len(place) < 8:
        raise ValueError("it is cut short before its points")
    (table,) = struct.unpack("<q", place)
    if table == -1:  # written as a stream: the last 8 bytes say where the table is
        file.seek(start + available - 8)
        (table,) = struct.unpack("<q", file.read(8))
    if not start + 8 <= table <= start + available - 8:
        raise ValueError("its table of chunks lies outside of it")
    file.seek(table)
    _, chunks = struct.unpack("<II", file.read(8))
    if chunks > available:
        raise ValueError(f"it cannot hold {chunks} chunks in {available} bytes")
