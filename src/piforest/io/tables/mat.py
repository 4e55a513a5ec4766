"""MATLAB's files, up to version 7; read only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .arrays import array_blocks
from .table import Table

_NUMBERS = ("double", "single", "logical")


def read_blocks(path: Path, rows: int | None, array: str | None = None) -> Iterator[Table]:
    """The rows of the one matrix of numbers, or of the one named; it is read at once."""
    import scipy.io

    listed = {
        name: shape
        for name, shape, kind in _read(scipy.io.whosmat, path)
        if _is_matrix(shape, kind)
    }
    words = ", ".join(f"{name} {' x '.join(map(str, shape))}" for name, shape in listed.items())
    words = words or "none"
    if array is not None and array not in listed:
        raise ValueError(f"{path} holds no matrix {array!r}; its matrices: {words}.")
    if array is None and len(listed) != 1:
        raise ValueError(
            f"{path} holds {len(listed)} matrices of numbers, say which (--array): {words}."
        )
    name = array or next(iter(listed))
    values = _read(scipy.io.loadmat, path, variable_names=[name])[name]
    yield from array_blocks(values, rows, str(path))


def _is_matrix(shape: tuple[int, ...], kind: str) -> bool:
    """Two dimensions of numbers, more than one of them."""
    numbers = kind in _NUMBERS or kind.lstrip("u").startswith("int")
    return numbers and len(shape) == 2 and shape[0] * shape[1] > 1


def _read(reader: Any, path: Path, **options: Any) -> Any:
    try:
        return reader(path, **options)
    except NotImplementedError as error:
        raise ValueError(
            f"{path} is a MATLAB 7.3 file, which is HDF5; save it with save(..., '-v7')."
        ) from error
    except Exception as error:  # the reader meets damage with errors of any kind
        raise ValueError(f"{path} cannot be read: it is damaged or no MATLAB file.") from error
