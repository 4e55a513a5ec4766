"""NumPy's .npy format, read without trust: what a header asks for must fit the bytes behind it."""

from __future__ import annotations

import math
import warnings
import zipfile
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray


class Header(NamedTuple):
    """What stands before the numbers of an array."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: Any) -> Header:
    """The header at the start of a file, which is then at the numbers; ValueError for any other."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("it has another format")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        with warnings.catch_warnings():  # of types that NumPy gave up, in headers that were cut
            warnings.simplefilter("ignore")
            header = Header(*read(file))
    except Exception as error:  # text that is no Python fails in any way
        raise ValueError("its header cannot be read") from error
    if any(isinstance(length, bool) or length < 0 for length in header.shape):
        raise ValueError(f"it has shape {header.shape}")
    return header


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, check: Any) -> NDArray[Any]:
    """An array of a .npz archive. check: called with its type before its numbers are read; it
    raises what is wrong with it."""
    with archive.open(member) as file:
        header = read_header(file)
        check(header.dtype)
        if header.nbytes != member.file_size - file.tell():
            raise ValueError("it has not the size that it says")
        content = _read(file, header.nbytes)
    order: Any = "F" if header.fortran_order else "C"
    array: NDArray[Any] = np.ndarray(header.shape, header.dtype, content, order=order)
    return array.astype(header.dtype.newbyteorder("="), copy=False)


def _read(file: Any, nbytes: int) -> bytearray:
    """All of an array. It grows as it is read, since the archive may promise what it lacks."""
    content = bytearray()
    while part := file.read(min(2**24, nbytes + 1 - len(content))):
        content += part
    if len(content) != nbytes:
        raise ValueError("it is cut short")
    return content


class StoredRows:
    """The rows of an array in an open .npy file, read when they are asked for."""

    def __init__(self, file: BinaryIO) -> None:
        header, self.start = read_header(file), file.tell()
        if header.dtype.hasobject:
            raise ValueError("Python objects")
        if header.nbytes > file.seek(0, 2) - self.start:
            raise ValueError("it is cut short")
        self.file, self.shape, self.dtype = file, header.shape, header.dtype
        self.ndim, self.size = len(header.shape), math.prod(header.shape)
        # By columns, the rows are not together: they are mapped, and the pages that were read
        # count as memory of this process until the system takes them back.
        self.mapped: NDArray[Any] | None = None
        if header.fortran_order and self.ndim > 1 and self.size:
            self.mapped = np.memmap(file, self.dtype, "r", self.start, self.shape, "F")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        if self.mapped is not None:
            return np.array(self.mapped[rows])
        first, last, _ = rows.indices(len(self))
        width = math.prod(self.shape[1:])
        self.file.seek(self.start + first * width * self.dtype.itemsize)
        values = np.fromfile(self.file, self.dtype, (last - first) * width)
        return values.reshape(last - first, *self.shape[1:])
