"""NumPy's own files, without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from .table import Table


def read(path: Path) -> Table:
    array = np.load(path, allow_pickle=False)
    return Table({f"x{k}": column for k, column in enumerate(np.atleast_2d(array).T)}, str(path))


def write(file: BinaryIO, table: Table) -> None:
    np.save(file, table.numbers())
