"""PLY scans, text and binary: all properties of the vertices; other elements as they are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ._extras import needed
from ._safe_names import safe_names
from .table import Table, block_rows

_KINDS = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float", "f8": "double",
}  # fmt: skip
_POINTS = ("x", "y", "z")
_DIGITS = 20


@dataclass(frozen=True)
class Form:
    """The rest of the file."""

    text: bool
    comments: tuple[str, ...]
    others: tuple[Any, ...]
    """elements that are no vertices: faces, most often"""


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    """Vertices of a binary file are mapped, those of a text file are read at once."""
    plyfile = needed("plyfile", "PLY files", "cloud")
    try:
        data = plyfile.PlyData.read(str(path), mmap="r")
        vertices = data["vertex"].data
    except KeyError as error:
        raise ValueError(f"{path} has no vertices.") from error
    except (plyfile.PlyParseError, ValueError, OSError, UnicodeDecodeError, OverflowError) as error:
        said = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read: it is damaged or no PLY file ({said})."
        ) from error
    if not len(vertices):
        raise ValueError(f"{path} has no vertices.")
    others = tuple(element for element in data.elements if element.name != "vertex")
    form = Form(data.text, tuple(data.comments), others)
    names = vertices.dtype.names
    points = _POINTS if set(_POINTS) <= set(names) else ()
    step = block_rows(rows, len(names), len(vertices))
    for start in range(0, len(vertices), step):
        part = vertices[start : start + step]
        columns = {name: _native(part[name]) for name in names}
        yield Table(columns, str(path), form, start + 1, len(vertices), points)


def _native(column: NDArray[Any]) -> NDArray[Any]:
    return np.array(column, column.dtype.newbyteorder("="))


class writer:
    """Vertices as they come, in text where the scan that was read was text; then the rest."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.file, self.rows = file, 0
        self.form = like.form if isinstance(like.form, Form) else Form(False, (), ())
        self.kinds = {name: _kind(like, name) for name in like.names}
        self.words = safe_names(like.names, "ascii")
        self._header()

    def write(self, table: Table) -> None:
        dtype = [(self.words[name], f"<{kind}") for name, kind in self.kinds.items()]
        vertices = np.empty(len(table), dtype)
        for name in self.kinds:
            vertices[self.words[name]] = table.filled(name)
        if self.form.text:
            # As NumPy's own numbers, since floats of 32 bits have fewer digits.
            cells = zip(*(map(str, vertices[word]) for word, _ in dtype))
            self.file.writelines(f"{' '.join(row)}\n".encode() for row in cells)
        else:
            self.file.write(vertices.tobytes())
        self.rows += len(table)

    def close(self) -> None:
        for element in self.form.others:
            self.file.write(self._body(element))
        self.file.seek(0)
        self._header()
        self.file.seek(0, 2)

    def _header(self) -> None:
        """As long whatever the number of vertices, which is known at the end: a comment fills."""
        kind = "ascii" if self.form.text else "binary_little_endian"
        kept = [each for each in self.form.comments if each.strip(".") != "piforest "]
        count = str(self.rows)
        lines = [
            "ply",
            f"format {kind} 1.0",
            *(f"comment {each}" for each in kept),
            "comment piforest " + "." * (_DIGITS - len(count)),
            f"element vertex {count}",
            *(f"property {_KINDS[kind]} {self.words[name]}" for name, kind in self.kinds.items()),
            *(element.header for element in self.form.others),
            "end_header",
        ]
        self.file.write(("\n".join(lines) + "\n").encode())

    def _body(self, element: Any) -> bytes:
        """An element as plyfile writes it, without the header."""
        plyfile = needed("plyfile", "PLY files", "cloud")
        whole = io.BytesIO()
        plyfile.PlyData([element], text=self.form.text, byte_order="<").write(whole)
        return whole.getvalue().split(b"end_header\n", 1)[1]


def _kind(table: Table, name: str) -> str:
    """The PLY type of a column."""
    column = table.columns[name]
    kind = column.dtype.str[1:]
    if column.dtype.kind == "b":
        return "u1"
    if kind in _KINDS:
        return kind
    if column.dtype.kind not in "iuf" and name not in table.numeric():
        raise ValueError(
            f"a PLY file holds numbers, and column {name!r} of {table.source} has others; write a "
            ".csv file."
        )
    return "f8"
