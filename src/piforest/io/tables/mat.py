"""MATLAB's files, versions 4, 6 and 7; read only.

A small reader: tables need matrices of numbers, and SciPy's reader crashes on damaged files.
Every length is compared with the bytes that are left before anything is allocated.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .arrays import array_blocks
from .table import Table

# Types of stored numbers in version 5, by their code; in version 4 by their digit.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8",
           12: "i8", 13: "u8"}  # fmt: skip
_STORED_4 = ("f8", "f4", "i4", "i2", "u2", "u1")
_MATRIX, _COMPRESSED = 14, 15
# Classes of arrays in version 5 that hold numbers: double, single and the integers.
_NUMBERS = range(6, 16)
_COMPLEX = 0x800
_HEADER = 128
# The largest ratio that deflate reaches.
_RATIO = 1032
_MOST_DIMENSIONS, _LONGEST_NAME = 32, 4096


@dataclass(frozen=True)
class _Matrix:
    """A matrix of real numbers in a file, not yet read."""

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    """as stored, which may be smaller than what MATLAB shows"""
    values: _Bytes
    """at its first value"""


def read_blocks(path: Path, rows: int | None, array: str | None = None) -> Iterator[Table]:
    """The rows of the one matrix of numbers, or of the one named; it is read at once."""
    with open(path, "rb") as file:
        try:
            listed = {each.name: each for each in _matrices(file) if math.prod(each.shape) > 1}
            chosen = _chosen(path, listed, array)
            values = _values(listed[chosen])
        except _NoSuchMatrix:
            raise
        except _Hdf5 as error:
            raise ValueError(
                f"{path} is a MATLAB 7.3 file, which is HDF5; save it with save(..., '-v7')."
            ) from error
        except (ValueError, struct.error, zlib.error) as error:
            raise ValueError(
                f"{path} cannot be read: it is damaged or no MATLAB file ({error})."
            ) from error
    yield from array_blocks(values, rows, str(path))


class _Hdf5(ValueError):
    """A file of version 7.3."""


class _NoSuchMatrix(ValueError):
    """The file is valid, but does not contain the requested matrix."""


def _chosen(path: Path, listed: dict[str, _Matrix], array: str | None) -> str:
    words = ", ".join(f"{name} {' x '.join(map(str, each.shape))}" for name, each in listed.items())
    words = words or "none"
    if array is not None and array not in listed:
        raise _NoSuchMatrix(f"{path} holds no matrix {array!r}; its matrices: {words}.")
    if array is None and len(listed) != 1:
        raise _NoSuchMatrix(
            f"{path} holds {len(listed)} matrices of real numbers, say which (--array): {words}."
        )
    return array or next(iter(listed))


class _Bytes:
    """Bytes of a part of a file, compressed or not, read within its size."""

    def __init__(self, file: BinaryIO, start: int, size: int, compressed: bool = False) -> None:
        self.file, self.at, self.end = file, start, start + size
        self.inflate = zlib.decompressobj() if compressed else None
        self.left = size * _RATIO + _RATIO if compressed else size

    def read(self, n: int) -> bytearray:
        if not 0 <= n <= self.left:
            raise ValueError(f"{n} bytes are asked for where {self.left} can be left")
        content = bytearray()
        while len(content) < n:
            part = self._more(n - len(content))
            if not part:
                raise ValueError("it is cut short")
            content += part
        self.left -= n
        return content

    def _more(self, n: int) -> bytes:
        if self.inflate is None:
            return self._raw(n)
        packed = self.inflate.unconsumed_tail or self._raw(2**16)
        return self.inflate.decompress(packed, n)

    def _raw(self, n: int) -> bytes:
        self.file.seek(self.at)
        content = self.file.read(min(n, self.end - self.at))
        self.at += len(content)
        return content

    def check_end(self) -> None:
        """Read the rest of a compressed part, which ends with its checksum."""
        if self.inflate is not None:
            while not self.inflate.eof:
                if not self._more(2**16) and self.at == self.end and not self.inflate.eof:
                    raise ValueError("it is cut short")


def _values(matrix: _Matrix) -> NDArray[Any]:
    content = matrix.values.read(math.prod(matrix.shape) * matrix.dtype.itemsize)
    matrix.values.check_end()
    flat = np.frombuffer(content, matrix.dtype)
    native = flat.astype(matrix.dtype.newbyteorder("="), copy=False)
    return native.reshape(matrix.shape, order="F")


def _matrices(file: BinaryIO) -> Iterator[_Matrix]:
    head, size = file.read(_HEADER), file.seek(0, 2)
    if 0 in head[:4]:  # later versions begin with text
        return _matrices_4(file, head, size)
    if head[126:128] not in (b"IM", b"MI"):
        raise ValueError("it has no MATLAB header")
    order = "<" if head[126:128] == b"IM" else ">"
    (version,) = struct.unpack_from(f"{order}H", head, 124)
    if version == 0x200:
        raise _Hdf5
    return _matrices_5(file, size, order)


def _matrices_5(file: BinaryIO, size: int, order: str) -> Iterator[_Matrix]:
    at = _HEADER
    while at < size:
        kind, length = struct.unpack(f"{order}II", _Bytes(file, at, size - at).read(8))
        if length > size - at - 8:
            raise ValueError("it is cut short")
        part = _Bytes(file, at + 8, length, kind == _COMPRESSED)
        if kind == _COMPRESSED:
            kind, length = struct.unpack(f"{order}II", part.read(8))
        if kind == _MATRIX and length:
            matrix = _matrix_5(part, order)
            if matrix is not None:
                yield matrix
        at = part.end


def _matrix_5(part: _Bytes, order: str) -> _Matrix | None:
    """The matrix whose values follow; None for arrays of other kinds."""
    flags = _element(part, order, 8)[1]
    (bits,) = struct.unpack_from(f"{order}I", flags.ljust(8, b"\0"))
    sizes = _element(part, order, 4 * _MOST_DIMENSIONS)[1]
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes[: len(sizes) // 4 * 4])
    name = _element(part, order, _LONGEST_NAME)[1].decode("latin-1")
    real = bits & 0xFF in _NUMBERS and not bits & _COMPLEX
    if not (real and name and len(shape) == 2 and min(shape) >= 0):
        return None
    kind, length, small = _tag(part, order)
    if kind not in _STORED:
        raise ValueError(f"its matrix {name!r} holds no numbers")
    dtype = np.dtype(order + _STORED[kind])
    if length != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"its matrix {name!r} has not the size that it says")
    # Up to four bytes of values are stored in the tag itself.
    values = part if small is None else _Text(small)
    return _Matrix(name, (shape[0], shape[1]), dtype, values)


class _Text(_Bytes):
    """Bytes that were read with their tag."""

    def __init__(self, content: bytes) -> None:
        self.content, self.inflate = content, None

    def read(self, n: int) -> bytearray:
        return bytearray(self.content[:n])


def _tag(part: _Bytes, order: str) -> tuple[int, int, bytes | None]:
    """Type and length of an element, and its content if it is in the tag, at most 4 bytes."""
    head = bytes(part.read(8))
    kind, length = struct.unpack(f"{order}II", head)
    if kind >> 16:
        kind, length = kind & 0xFFFF, kind >> 16
        if length > 4:
            raise ValueError("an element of it has a bad length")
        return kind, length, head[4 : 4 + length]
    return kind, length, None


def _element(part: _Bytes, order: str, most: int) -> tuple[int, bytes]:
    """Type and content of an element of at most `most` bytes; its padding is skipped."""
    kind, length, small = _tag(part, order)
    if small is not None:
        return kind, small
    if length > most:
        raise ValueError("an element of it has a bad length")
    return kind, bytes(part.read(-(-length // 8) * 8)[:length])


def _matrices_4(file: BinaryIO, head: bytes, size: int) -> Iterator[_Matrix]:
    order = "<" if struct.unpack_from("<I", head.ljust(4, b"\0"))[0] < 5000 else ">"
    at = 0
    while at < size:
        fields = struct.unpack(f"{order}5i", _Bytes(file, at, size - at).read(20))
        kind, rows, columns, imaginary, length = fields
        stored, layout = kind // 10 % 10, kind % 10
        if kind // 1000 not in (0, 1) or stored >= len(_STORED_4) or min(fields) < 0:
            raise ValueError("it has no MATLAB header")
        dtype = np.dtype(order + _STORED_4[stored])
        nbytes = rows * columns * dtype.itemsize * (2 if imaginary else 1)
        at += 20
        if length > _LONGEST_NAME or length + nbytes > size - at:
            raise ValueError("it is cut short")
        name = bytes(_Bytes(file, at, length).read(length)).rstrip(b"\0").decode("latin-1")
        at += length
        if layout == 0 and not imaginary:
            yield _Matrix(name, (rows, columns), dtype, _Bytes(file, at, nbytes))
        at += nbytes
