"""NumPy's own files, without pickle: arrays of numbers, or of records with named fields."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .table import Table, block_rows


def read_blocks(path: Path, rows: int | None, array: str | None = None) -> Iterator[Table]:
    """A .npy file is mapped, and its blocks copied one by one; the array of a .npz file is read
    at once. array: which one of a .npz file, where it has several."""
    if path.suffix.lower() == ".npy":
        if array is not None:
            raise ValueError(f"{path} holds one array without a name; leave array out.")
        with _clear_errors(path):
            values = np.load(path, mmap_mode="r", allow_pickle=False)
    else:
        with _clear_errors(path):
            values = _member(path, array)
    yield from array_blocks(values, rows, str(path))


def array_blocks(values: NDArray[Any], rows: int | None, source: str) -> Iterator[Table]:
    """Tables of the rows of an array (n,), (n, d), or of records."""
    if values.dtype.names is None:
        if values.dtype.kind not in "iufb" or values.ndim not in (1, 2):
            raise ValueError(
                f"{source} must hold an array of numbers with 1 or 2 dimensions, got "
                f"{values.dtype} with shape {values.shape}."
            )
    elif values.ndim != 1:
        raise ValueError(f"{source}: records must be in one dimension, got shape {values.shape}.")
    if not values.size:
        raise ValueError(f"{source} holds an empty array, of shape {values.shape}.")
    step = block_rows(rows, values.size // len(values), len(values))
    for start in range(0, len(values), step):
        part = np.array(values[start : start + step])
        if part.dtype.names is not None:
            columns = {name: part[name] for name in part.dtype.names}
        else:
            part = part.reshape(len(part), -1)
            columns = {f"x{k}": part[:, k] for k in range(part.shape[1])}
        yield Table(columns, source, values.dtype, start + 1, len(values))


def _member(path: Path, array: str | None) -> NDArray[Any]:
    with np.load(path, allow_pickle=False) as archive:
        names = list(archive.files)
        if array is None and len(names) != 1:
            listed = ", ".join(names) or "none"
            raise ValueError(f"{path} holds {len(names)} arrays, say which (--array): {listed}.")
        if array is not None and array not in names:
            raise ValueError(f"{path} holds no array {array!r}; its arrays: {', '.join(names)}.")
        member: NDArray[Any] = archive[array or names[0]]
        return member


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zipfile.BadZipFile, OSError, KeyError) as error:
        raise ValueError(f"{path} cannot be read: it is damaged or no NumPy file.") from error
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        if "Object arrays" in str(error) or "Python objects" in str(error):
            raise ValueError(
                f"{path} holds Python objects, which could run code when read; save numbers."
            ) from error
        raise ValueError(f"{path} cannot be read: it is damaged or no NumPy file.") from error


class writer:
    """.npy: (n, d) float64, the columns in order, nan where nothing is."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.file, self.names, self.rows = file, like.names, 0
        self._header()

    def write(self, table: Table) -> None:
        self.file.write(table.numbers(self.names).astype("<f8").tobytes())
        self.rows += len(table)

    def close(self) -> None:
        self.file.seek(0)
        self._header()
        self.file.seek(0, 2)

    def _header(self) -> None:
        """As large whatever the number of rows, which is known at the end."""
        shape = f"({self.rows}, {len(self.names)})"
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        self.file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
