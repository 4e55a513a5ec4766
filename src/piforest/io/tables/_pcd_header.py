"""The header of a PCD file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

from .table import first_repeated

DATA = ("ascii", "binary", "binary_compressed")
_SIZES = {"F": (4, 8), "I": (1, 2, 4, 8), "U": (1, 2, 4, 8)}
_KEYS = ("VERSION", "FIELDS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS")
_LONGEST = 2**20
_PADDING = "_"
# Values of a field: of a histogram of features, some hundreds.
_MOST_VALUES = 10_000


@dataclass(frozen=True)
class Field:
    name: str
    kind: str
    """of a number, as NumPy names it: f4"""
    count: int = 1

    @property
    def columns(self) -> list[str]:
        """The names of its columns: its own, or one for each value."""
        return [self.name] if self.count == 1 else [f"{self.name}_{k}" for k in range(self.count)]

    @property
    def is_padding(self) -> bool:
        return self.name == _PADDING


@dataclass(frozen=True)
class Header:
    data: str
    fields: tuple[Field, ...]
    points: int
    width: int
    height: int
    viewpoint: str = "0 0 0 1 0 0 0"
    comments: tuple[str, ...] = field(default=(), repr=False)
    size: int = 0
    """bytes until the first point"""


def read_header(file: BinaryIO) -> Header:
    """The header at the start of a file; ValueError for any other file."""
    start, at = file.read(_LONGEST), 0
    values: dict[str, list[str]] = {}
    comments = []
    while (end := start.find(b"\n", at)) >= 0:
        line = start[at:end].decode("utf-8", "replace").strip()
        at = end + 1
        key, *words = line.split() or [""]
        if line.startswith("#"):
            comments.append(line)
        elif key == "DATA":
            if words[:1] not in ([each] for each in DATA):
                raise ValueError(f"its points are {' '.join(words)[:40]!r}, not {', '.join(DATA)}")
            return _header(values, words[0], tuple(comments), at)
        elif key in (*_KEYS, "COLUMNS"):
            values["FIELDS" if key == "COLUMNS" else key] = words
        elif key:
            raise ValueError(f"its header has a line {line[:80]!r}")
    raise ValueError("its header has no line DATA")


def _header(
    values: dict[str, list[str]], data: str, comments: tuple[str, ...], size: int
) -> Header:
    fields = _fields(values)
    width, height = _number(values, "WIDTH"), _number(values, "HEIGHT", 1)
    points = _number(values, "POINTS", width * height)
    if points != width * height:
        raise ValueError(f"its header says {points} points in {height} rows of {width}")
    view = " ".join(values.get("VIEWPOINT", [])) or Header.viewpoint
    return Header(data, fields, points, width, height, view, comments, size)


def _fields(values: dict[str, list[str]]) -> tuple[Field, ...]:
    names, sizes, types = (values.get(key, []) for key in ("FIELDS", "SIZE", "TYPE"))
    counts = values.get("COUNT", ["1"] * len(names))
    if not names or {len(names)} != {len(sizes), len(types), len(counts)}:
        raise ValueError("its header has not one SIZE, TYPE and COUNT for each of its FIELDS")
    fields = []
    for name, size, kind, count in zip(names, sizes, types, counts):
        if kind not in _SIZES or not size.isdecimal() or int(size) not in _SIZES[kind]:
            raise ValueError(f"its field {name[:40]!r} has type {kind[:9]} of size {size[:9]}")
        if not (count.isascii() and count.isdecimal() and 1 <= int(count[:9]) <= _MOST_VALUES):
            raise ValueError(f"its field {name[:40]!r} has COUNT {count[:20]}")
        fields.append(Field(name, kind.lower() + size, int(count)))
    columns = [column for each in fields if not each.is_padding for column in each.columns]
    again = first_repeated(columns)
    if again is not None:
        raise ValueError(f"two of its columns are named {columns[again]!r}")
    if not columns:
        raise ValueError("it has no fields")
    return tuple(fields)


def _number(values: dict[str, list[str]], key: str, default: int | None = None) -> int:
    words = values.get(key, [] if default is None else [str(default)])
    if len(words) != 1 or not (words[0].isascii() and words[0].isdecimal()) or len(words[0]) > 18:
        raise ValueError(f"its header says {key} {' '.join(words)[:40]!r}, not a number")
    return int(words[0])
