"""Files of points: tables, arrays and scans, told apart by how their names end.

A format is one module with `read(path, **options) -> Table`, `write(file, table)` where it can
be written, and `read_blocks(path, rows, **options)` where it can be read part by part; and one
line in FORMATS.
"""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Any

from .._files import whole_file
from .table import Table

__all__ = ["FORMATS", "Table", "read_table", "write_table"]

# How a name ends, and the module that knows the format.
FORMATS = {
    ".npy": "arrays",
    ".npz": "arrays",
}


def format_of(path: str | PathLike[str]) -> Any:
    """The module of the format that a name tells."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{path}: a name must end in one of {', '.join(sorted(FORMATS))}, so that the format "
            f"is known; got {suffix!r}."
        )
    return importlib.import_module(f".{FORMATS[suffix]}", __name__)


def read_table(path: str | PathLike[str], **options: Any) -> Table:
    """The table of a file."""
    table: Table = format_of(path).read(Path(path), **options)
    return table


def write_table(path: str | PathLike[str], table: Table) -> None:
    """Write a table in the format that the name tells; it appears whole or not at all."""
    kind = format_of(path)
    with whole_file(path) as file:
        kind.write(file, table)
