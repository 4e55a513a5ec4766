"""PCD scans of the Point Cloud Library: text, binary and compressed; every field is a column."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..._kernels import lzf
from ._pcd_colours import (
    ALPHA,
    COLOURS,
    Packed,
    as_packed_float,
    is_packed_float,
    pack,
    packed_field,
    unpack,
)
from ._pcd_header import DATA, Field, Header, read_header
from ._safe_names import safe_names
from .cells import stored_kind
from .table import Table, block_rows, check_width

_ASCII, _BINARY, _COMPRESSED = DATA
_POINTS = ("x", "y", "z")
_KINDS = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"}
# The largest number of bytes that one compressed byte expands to.
_BYTES_A_BYTE = 132
_DIGITS = 20
_OURS = "# piforest "
_FIRST = "# .PCD v0.7 - Point Cloud Data file format"


@dataclass(frozen=True)
class PcdOrigin:
    """The rest of the file."""

    header: Header
    packed: Packed | None
    """the field that holds the colours, in one number"""


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    """Points of a binary file are mapped, others are read at once. Padding is left out."""
    with open(path, "rb") as file:
        try:
            header = read_header(file)
            read = {_ASCII: _text, _BINARY: _mapped, _COMPRESSED: _decompressed}[header.data]
            if not header.points:
                raise ValueError("it has no points")
            points = read(file, header)
        except (ValueError, OverflowError) as error:
            said = " ".join(str(error).split())
            raise ValueError(
                f"{path} cannot be read: it is damaged or no PCD file ({said})."
            ) from error
    packed = packed_field(header.fields, points)
    origin = PcdOrigin(header, packed)
    check_width(str(path), len(points))
    names = set(points) if packed is None else {*points, *packed.columns}
    found = _POINTS if set(_POINTS) <= names else ()
    step = block_rows(rows, len(points), header.points)
    for start in range(0, header.points, step):
        part = {name: np.array(column[start : start + step]) for name, column in points.items()}
        columns = part if packed is None else unpack(part, packed)
        yield Table(columns, str(path), origin, start + 1, header.points, found)


def _dtype(header: Header) -> np.dtype[Any]:
    """The type of a point in a binary file, with padding between its columns."""
    names, formats, offsets, at = [], [], [], 0
    for each in header.fields:
        kind = np.dtype("<" + each.kind)
        if not each.is_padding:
            names += each.columns
            formats += [kind] * each.count
            offsets += [at + kind.itemsize * k for k in range(each.count)]
        at += kind.itemsize * each.count
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})


def _mapped(file: BinaryIO, header: Header) -> dict[str, NDArray[Any]]:
    """The columns of a binary file, which is mapped and not read."""
    dtype = _dtype(header)
    # The arrays keep the mapping.
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if header.points * dtype.itemsize > len(data) - header.size:
        raise ValueError("it is cut short")
    points = np.frombuffer(data, dtype, header.points, header.size)
    return {name: points[name] for name in dtype.names or ()}


def _decompressed(file: BinaryIO, header: Header) -> dict[str, NDArray[Any]]:
    """The columns one after another, in one compressed block."""
    file.seek(header.size)
    sizes = file.read(8)
    if len(sizes) < 8:
        raise ValueError("it is cut short")
    n_packed, n_plain = np.frombuffer(sizes, "<u4").tolist()
    available = file.seek(0, 2) - header.size - 8
    if n_packed > available:
        raise ValueError("it is cut short")
    expected = header.points * _dtype(header).itemsize
    if n_plain != expected or n_plain > _BYTES_A_BYTE * n_packed:
        raise ValueError(f"{header.points} points take {expected} bytes, it says {n_plain}")
    file.seek(header.size + 8)
    plain = np.empty(n_plain, np.uint8)
    if lzf.decompress(np.frombuffer(file.read(n_packed), np.uint8), plain) != n_plain:
        raise ValueError("its points cannot be decompressed")
    columns: dict[str, NDArray[Any]] = {}
    at = 0
    for each in header.fields:
        kind = np.dtype("<" + each.kind)
        size = kind.itemsize * each.count * header.points
        values = plain[at : at + size].view(kind).reshape(header.points, each.count)
        at += size
        if not each.is_padding:
            columns.update(zip(each.columns, values.T))
    return columns


def _text(file: BinaryIO, header: Header) -> dict[str, NDArray[Any]]:
    file.seek(header.size)
    lines = islice((line for line in file if line.strip()), header.points)
    first = next(lines, None)  # NumPy warns where there is none
    if first is None:
        raise ValueError("it is cut short")
    # Text has no padding, or a value for each of its bytes.
    width = sum(each.count for each in header.fields if not each.is_padding)
    padded = len(first.split()) != width
    dtype = []
    for k, each in enumerate(header.fields):
        if not each.is_padding:
            kind = "f8" if is_packed_float(each) else each.kind
            dtype += [(name, kind) for name in each.columns]
        elif padded:
            dtype += [(f"padding {k} {i}", "f8") for i in range(each.count)]
    # Latin-1 has a letter for every byte, and none that is a digit but those of ASCII.
    points = np.loadtxt(chain([first], lines), dtype, None, encoding="latin-1", ndmin=1)
    if len(points) < header.points:
        raise ValueError("it is cut short")
    packed = [each.name for each in header.fields if is_packed_float(each)]
    return {
        name: as_packed_float(points[name]) if name in packed else points[name]
        for name, _ in dtype
        if not name.startswith("padding ")
    }


class writer:
    """Points in the format of the scan that was read; compressed points are written at the end."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.file, self.source, self.rows = file, like.source, 0
        self.origin = like.origin if isinstance(like.origin, PcdOrigin) else None
        self.data = self.origin.header.data if self.origin else _BINARY
        self.packed = self._packed(like)
        self.parts: list[NDArray[Any]] = []
        kinds = {
            name: stored_kind(like, name, _KINDS, "PCD")
            for name in like.names
            if not self._is_packed(name)
        }
        self.fields = self._fields(like.names, kinds)
        words = safe_names([each.name for each in self.fields], "ascii")
        self.words = [words[each.name] for each in self.fields]
        self._header()

    def write(self, table: Table) -> None:
        part = {name: table.filled(name) for name in table.names if not self._is_packed(name)}
        if self.packed is not None:
            colours = {name: table.filled(name) for name in self.packed.columns}
            part[self.packed.name] = pack(colours, self.packed, self.data == _ASCII)
        points = np.empty(len(table), [(str(k), "<" + each.kind, (each.count,))
                                       for k, each in enumerate(self.fields)])  # fmt: skip
        for k, each in enumerate(self.fields):
            for i, name in enumerate(each.columns):
                points[str(k)][:, i] = part[name]
        if self.data == _ASCII:
            self._write_text(points)
        elif self.data == _BINARY:
            self.file.write(points.tobytes())
        else:
            self.parts.append(points)
        self.rows += len(table)

    def close(self) -> None:
        if self.data == _COMPRESSED:
            self._write_compressed()
        self.file.seek(0)
        self._header()
        self.file.seek(0, 2)

    def _packed(self, like: Table) -> Packed | None:
        """The field of the colours: that of the scan, or a new one if all are bytes."""
        original = self.origin.packed if self.origin else None
        names = (*COLOURS, ALPHA) if original and ALPHA in original.columns else COLOURS
        for name in names:
            if name not in like.names or like.columns[name].dtype != np.uint8:
                return None
        return original or Packed("rgb", "f4", COLOURS)

    def _is_packed(self, name: str) -> bool:
        return self.packed is not None and name in self.packed.columns

    def _fields(self, names: list[str], kinds: dict[str, str]) -> list[Field]:
        """The fields in the order of the columns; columns of one field are joined again."""
        whole = {}
        for each in self.origin.header.fields if self.origin else ():
            if each.count > 1 and all(kinds.get(name) == each.kind for name in each.columns):
                whole.update(dict.fromkeys(each.columns, each))
        found: list[Field] = []
        for name in names:
            if self.packed is not None and self._is_packed(name):
                kind = "u4" if self.data == _ASCII else self.packed.kind
                new = Field(self.packed.name, kind)
            else:
                new = whole.get(name) or Field(name, kinds[name])
            if new not in found:
                found.append(new)
        return found

    def _write_text(self, points: NDArray[Any]) -> None:
        # As NumPy scalars, since floats of 32 bits have fewer digits.
        columns = [points[name][:, i] for name in points.dtype.names or ()
                   for i in range(points.dtype[name].shape[0])]  # fmt: skip
        cells = zip(*(map(str, column) for column in columns))
        self.file.writelines(f"{' '.join(row)}\n".encode() for row in cells)

    def _write_compressed(self) -> None:
        points = np.concatenate(self.parts)
        names = points.dtype.names or ()
        plain = np.concatenate(
            [np.ascontiguousarray(points[name]).view(np.uint8).reshape(-1) for name in names]
        )
        out = np.empty(len(plain) + len(plain) // 32 + 1, np.uint8)
        size = lzf.compress(plain, np.full(lzf.HASHES, -1), out)
        if max(size, len(plain)) >= 2**32:
            raise ValueError(
                f"{self.source} has {self.rows} points, more than a compressed PCD file holds; "
                "write a .ply file."
            )
        self.file.write(np.array([size, len(plain)], "<u4").tobytes())
        self.file.write(out[:size].tobytes())

    def _header(self) -> None:
        """The header, with a comment that keeps its length: the number of points comes last."""
        original = self.origin.header if self.origin else None
        same = original is not None and original.points == self.rows
        shape = (original.width, original.height) if original and same else (self.rows, 1)
        numbers = [str(shape[0]), str(shape[1]), str(self.rows)]
        kinds = [each.kind for each in self.fields]
        comments = original.comments if original else ()
        lines = [
            *(comments if comments else (_FIRST,)),
            _OURS + "." * (3 * _DIGITS - len("".join(numbers))),
            "VERSION 0.7",
            "FIELDS " + " ".join(self.words),
            "SIZE " + " ".join(kind[1:] for kind in kinds),
            "TYPE " + " ".join(kind[0].upper() for kind in kinds),
            "COUNT " + " ".join(str(each.count) for each in self.fields),
            f"WIDTH {numbers[0]}",
            f"HEIGHT {numbers[1]}",
            f"VIEWPOINT {original.viewpoint if original else Header.viewpoint}",
            f"POINTS {numbers[2]}",
            f"DATA {self.data}",
        ]
        kept = [line for line in lines[:-11] if line.rstrip(".") != _OURS] + lines[-11:]
        self.file.write(("\n".join(kept) + "\n").encode("utf-8", "replace"))
