"""The header of a PLY file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from .table import first_repeated

ASCII = "ascii"
# The formats of binary files, and the sign of their byte order.
ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}
_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
    "float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2",
    "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8",
}  # fmt: skip
_LONGEST = 2**20


@dataclass(frozen=True)
class Property:
    name: str
    kind: str
    """of a number, as NumPy names it: f4"""
    count: str | None = None
    """of the number of items, where the property is a list"""


@dataclass(frozen=True)
class Element:
    name: str
    rows: int
    properties: tuple[Property, ...]
    lines: tuple[str, ...]
    """of the header"""

    @property
    def scalars(self) -> list[Property]:
        """The properties that are no lists."""
        return [each for each in self.properties if each.count is None]


@dataclass(frozen=True)
class Header:
    format: str
    comments: tuple[str, ...]
    """lines that begin with comment or obj_info, unchanged"""
    elements: tuple[Element, ...]
    size: int
    """bytes until the first row"""
    newline: bytes


def read_header(file: BinaryIO) -> Header:
    """The header at the start of a file; ValueError for any other file."""
    start = file.read(_LONGEST)
    newline = next((end for end in (b"\r\n", b"\n", b"\r") if start[3:].startswith(end)), None)
    if not start.startswith(b"ply") or newline is None:
        raise ValueError("it does not begin with ply")
    end = start.find(newline + b"end_header" + newline)
    if end < 0:
        raise ValueError("its header has no end")
    # Comments may be in any encoding, and are written unchanged.
    lines = start[:end].decode("utf-8", "surrogateescape").split(newline.decode())[1:]
    format, comments, elements = _parsed(lines)
    return Header(format, comments, elements, end + 10 + 2 * len(newline), newline)


def _parsed(lines: list[str]) -> tuple[str, tuple[str, ...], tuple[Element, ...]]:
    format, comments = "", []
    elements: list[tuple[str, int, list[Property], list[str]]] = []
    for line in lines:
        words = line.split()
        match words:
            case [] | ["comment" | "obj_info", *_]:
                comments.extend([line] if words else [])
                continue
            case _ if any("\udc80" <= letter <= "\udcff" for letter in line):
                raise ValueError(f"its header has a line {line[:80]!r}")
            case ["format", kind, "1.0"] if kind in (ASCII, *ORDERS):
                format = kind
                continue
            case ["element", name, rows] if rows.isascii() and rows.isdecimal():
                elements.append((name, int(rows), [], []))
            case ["property", "list", count, kind, name] if elements:
                elements[-1][2].append(Property(name, _type(kind, line), _count(count, line)))
            case ["property", kind, name] if elements:
                elements[-1][2].append(Property(name, _type(kind, line)))
            case _:
                raise ValueError(f"its header has a line {line[:80]!r}")
        elements[-1][3].append(line)
    if not format:
        raise ValueError("its header names no format")
    found = tuple(Element(name, rows, tuple(of), tuple(said)) for name, rows, of, said in elements)
    for names in ([each.name for each in found], *([p.name for p in e.properties] for e in found)):
        again = first_repeated(names)
        if again is not None:
            raise ValueError(f"its header has two of the name {names[again]!r}")
    return format, tuple(comments), found


def _type(word: str, line: str) -> str:
    if word not in _TYPES:
        raise ValueError(f"its header has a line {line[:80]!r}")
    return _TYPES[word]


def _count(word: str, line: str) -> str:
    kind = _type(word, line)
    if kind[0] == "f":
        raise ValueError(f"its header has a line {line[:80]!r}")
    return kind
