"""PLY scans, text and binary: all numbers of the vertices; other elements as they are."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ._ply_binary import Rows
from ._ply_header import ASCII, ORDERS, Element, Header, read_header
from ._safe_names import safe_names
from .cells import stored_kind
from .table import Table, block_rows

_KINDS = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float", "f8": "double",
}  # fmt: skip
_POINTS = ("x", "y", "z")
_DIGITS = 20
_OURS = "comment piforest "


@dataclass(frozen=True)
class PlyOrigin:
    """The rest of the file."""

    format: str
    comments: tuple[str, ...]
    """lines of the header"""
    others: tuple[Other, ...]
    """other elements than vertices, usually faces"""


@dataclass(frozen=True)
class Other:
    """An element, unchanged."""

    lines: tuple[str, ...]
    """of the header"""
    body: bytes


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    """Vertices of a binary file are mapped, those of a text file are read at once. Lists of
    vertices are left out."""
    with open(path, "rb") as file:
        try:
            header = read_header(file)
            vertices, origin = (
                _text(file, header) if header.format == ASCII else _mapped(file, header)
            )
        except (ValueError, OverflowError) as error:
            said = " ".join(str(error).split())
            raise ValueError(
                f"{path} cannot be read: it is damaged or no PLY file ({said})."
            ) from error
    if vertices is None or not len(vertices):
        raise ValueError(f"{path} has no vertices.")
    names = vertices.dtype.names or ()
    points = _POINTS if set(_POINTS) <= set(names) else ()
    step = block_rows(rows, len(names), len(vertices))
    for start in range(0, len(vertices), step):
        part = vertices[start : start + step]
        columns = {name: np.array(part[name], part.dtype[name].newbyteorder("=")) for name in names}
        yield Table(columns, str(path), origin, start + 1, len(vertices), points)


def _mapped(file: BinaryIO, header: Header) -> tuple[NDArray[Any] | None, PlyOrigin]:
    """The vertices of a binary file, which is mapped and not read."""
    vertices, others, start = None, [], header.size
    # The array keeps the mapping.
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for element in header.elements:
        rows = Rows(data, start, element, ORDERS[header.format])
        if element.name == "vertex":
            vertices = rows.numbers() if element.rows and element.scalars else None
        else:
            others.append(Other(element.lines, data[start : rows.end]))
        start = rows.end
    return vertices, PlyOrigin(header.format, header.comments, tuple(others))


def _text(file: BinaryIO, header: Header) -> tuple[NDArray[Any] | None, PlyOrigin]:
    file.seek(header.size)
    lines: Any = file if header.newline != b"\r" else iter(file.read().splitlines(keepends=True))
    vertices, others = None, []
    for element in header.elements:
        rows = islice(lines, element.rows)
        if element.name == "vertex":
            vertices = _parsed(rows, element)
        else:
            body = list(rows)
            if len(body) < element.rows:
                raise ValueError("it is cut short")
            others.append(Other(element.lines, b"".join(body)))
    return vertices, PlyOrigin(header.format, header.comments, tuple(others))


def _parsed(lines: Iterator[bytes], element: Element) -> NDArray[Any] | None:
    """(rows,) records of the numbers of each line, without its lists."""
    if not (element.rows and element.scalars):
        return None
    if len(element.scalars) < len(element.properties):
        lines = (_without_lists(line.split(), element) for line in lines)
    first = next(lines, None)  # NumPy warns where there is none
    if first is None:
        raise ValueError("it is cut short")
    dtype = np.dtype([(each.name, each.kind) for each in element.scalars])
    # Latin-1 has a letter for every byte, and none that is a digit but those of ASCII.
    vertices = _narrowed(
        np.loadtxt(chain([first], lines), _wide(dtype), None, encoding="latin-1", ndmin=1), dtype
    )
    if len(vertices) < element.rows:
        raise ValueError("it is cut short")
    return vertices


def _without_lists(cells: list[bytes], element: Element) -> bytes:
    kept, at = [], 0
    for each in element.properties:
        if each.count is None:
            kept.append(cells[at] if at < len(cells) else b"")
            at += 1
        else:
            count = cells[at] if at < len(cells) else b""
            if not count.isdigit():
                raise ValueError("a list of its vertices has no length")
            at += 1 + int(count)
    if at != len(cells):
        raise ValueError("a row of its vertices has another number of cells")
    return b" ".join(kept)


class writer:
    """Vertices in the format of the scan that was read, then the other elements."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.file, self.rows = file, 0
        new = PlyOrigin("binary_little_endian", (), ())
        self.origin = like.origin if isinstance(like.origin, PlyOrigin) else new
        self.kinds = {name: stored_kind(like, name, _KINDS, "PLY") for name in like.names}
        self.words = safe_names(like.names, "ascii")
        self._header()

    def write(self, table: Table) -> None:
        order = ORDERS.get(self.origin.format, "=")
        dtype = [(self.words[name], order + kind) for name, kind in self.kinds.items()]
        vertices = np.empty(len(table), dtype)
        for name in self.kinds:
            vertices[self.words[name]] = table.filled(name)
        if self.origin.format == ASCII:
            # As NumPy scalars, since floats of 32 bits have fewer digits.
            cells = zip(*(map(str, vertices[word]) for word, _ in dtype))
            self.file.writelines(f"{' '.join(row)}\n".encode() for row in cells)
        else:
            self.file.write(vertices.tobytes())
        self.rows += len(table)

    def close(self) -> None:
        for other in self.origin.others:
            self.file.write(other.body)
        self.file.seek(0)
        self._header()
        self.file.seek(0, 2)

    def _header(self) -> None:
        """The header, with a comment that keeps its length: the number of vertices comes last."""
        count = str(self.rows)
        lines = [
            "ply",
            f"format {self.origin.format} 1.0",
            *(line for line in self.origin.comments if line.rstrip(".") != _OURS),
            _OURS + "." * (_DIGITS - len(count)),
            f"element vertex {count}",
            *(f"property {_KINDS[kind]} {self.words[name]}" for name, kind in self.kinds.items()),
            *(line for other in self.origin.others for line in other.lines),
            "end_header",
        ]
        self.file.write(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same fields with integers of 64 bits, which hold every number of a file."""
    names = dtype.names or ()
    return np.dtype([(n, np.int64 if dtype[n].kind in "iu" else dtype[n]) for n in names])


def _narrowed(vertices: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The vertices in the types of the header; old versions of NumPy would wrap large integers."""
    for name in dtype.names or ():
        if dtype[name].kind in "iu" and len(vertices):
            limits, values = np.iinfo(dtype[name]), vertices[name]
            for value in (values.min(), values.max()):
                if not limits.min <= value <= limits.max:
                    raise OverflowError(f"{value} is no {dtype[name]}, as {name!r} should be")
    return vertices.astype(dtype)
