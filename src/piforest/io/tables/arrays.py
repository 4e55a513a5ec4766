"""NumPy's own files, without pickle: arrays of numbers, or of records with named fields."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..npy import StoredRows, read_member
from .table import Table, block_rows, check_width

_MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK"}


def read_blocks(path: Path, rows: int | None, array: str | None = None) -> Iterator[Table]:
    """The rows of a .npy file are read block by block; the array of a .npz file is read at once.
    array: which one of a .npz file, where it has several."""
    if path.suffix.lower() == ".npy" and array is not None:
        raise ValueError(f"{path} holds one array without a name; leave array out.")
    with _clear_errors(path), open(path, "rb") as file:
        _check_name(path, file)
        alone = path.suffix.lower() == ".npy"
        values = StoredRows(file) if alone else _member(path, file, array)
        yield from array_blocks(values, rows, str(path))


def _check_name(path: Path, file: BinaryIO) -> None:
    start = file.read(6)
    file.seek(0)
    for suffix, magic in _MAGIC.items():
        if start.startswith(magic) and path.suffix.lower() != suffix:
            raise ValueError(f"{path} is a {suffix} file under another name; rename it.")


def array_blocks(
    values: NDArray[Any] | StoredRows, rows: int | None, source: str
) -> Iterator[Table]:
    """Tables of the rows of an array (n,), (n, d), or of records."""
    if values.dtype.names is None:
        if values.dtype.kind not in "iufb" or values.ndim not in (1, 2):
            raise ValueError(
                f"{source} must hold an array of numbers with 1 or 2 dimensions, got "
                f"{values.dtype} with shape {values.shape}."
            )
    elif values.ndim != 1:
        raise ValueError(f"{source}: records must be in one dimension, got shape {values.shape}.")
    else:
        for name in values.dtype.names:
            kind = values.dtype[name]
            if kind.kind not in "iufbUSMm" or not kind.itemsize:
                raise ValueError(f"{source}: field {name!r} of its records holds {kind}, no value.")
    if not values.size:
        raise ValueError(f"{source} holds an empty array, of shape {values.shape}.")
    width = values.size // len(values)
    check_width(source, width)
    step = block_rows(rows, width, len(values))
    for start in range(0, len(values), step):
        part = np.array(values[start : start + step])
        if part.dtype.names is not None:
            columns = {name: _plain(part[name]) for name in part.dtype.names}
        else:
            part = _plain(part.reshape(len(part), -1))
            columns = {f"x{k}": part[:, k] for k in range(part.shape[1])}
        yield Table(columns, source, values.dtype, start + 1, len(values))


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """In this machine's byte order, in no more than 64 bits, and text as such: what every format
    can hold."""
    if column.dtype.kind == "S":
        return np.char.decode(column, "utf-8", "replace")
    wide = column.dtype.kind == "f" and column.dtype.itemsize > 8
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinite then is refused later
        return column.astype(np.float64 if wide else column.dtype.newbyteorder("="), copy=False)


def _member(path: Path, file: BinaryIO, array: str | None) -> NDArray[Any]:
    with zipfile.ZipFile(file) as archive:
        members = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
        names = list(members)
        if array is None and len(names) != 1:
            listed = ", ".join(names) or "none"
            raise ValueError(f"{path} holds {len(names)} arrays, say which (--array): {listed}.")
        if array is not None and array not in names:
            raise ValueError(f"{path} holds no array {array!r}; its arrays: {', '.join(names)}.")
        return read_member(archive, members[array or names[0]], _check_type)


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise ValueError("Python objects")


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # bytes that are no zip and no array fail in any way
        if str(error).startswith(str(path)):
            raise
        if str(error) == "Python objects":
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
