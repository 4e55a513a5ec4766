"""Point clouds as plain text: lines of x, y, z and more, usually without a header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from . import text
from .dialect import Dialect
from .table import Table

_NAMES = {"x0": "x", "x1": "y", "x2": "z"}


def read_blocks(
    path: Path, rows: int | None, delimiter: str | None = None, header: bool | None = None
) -> Iterator[Table]:
    for block in text.read_blocks(path, rows, delimiter, header):
        if block.origin.header is None:
            columns = {_NAMES.get(name, name): cells for name, cells in block.columns.items()}
            block = replace(block, columns=columns)
        points = tuple(_NAMES.values())
        yield replace(block, points=points if set(points) <= set(block.names) else ())


class writer(text.writer):
    """As text, with names only if the file that was read has them."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        origin = like.origin
        named = (
            isinstance(origin, Dialect) and origin.suffix == suffix and origin.header is not None
        )
        super().__init__(file, like, suffix, named)
