"""Archives: a zip of arrays and one JSON header, no pickle.

A file is written atomically. The header carries the format and its version. Nothing in a file is
trusted: names, types, shapes and sizes are checked before anything is unpacked, so that a damaged
or hostile file is one clear error that names it.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zipfile
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atomic import atomic_write
from .npy import read_member

FORMAT = "piforest-model"

Arrays = dict[str, NDArray[Any]]

_HEADER = "header"
_NAME = re.compile(r"[a-z][a-z0-9_.]{0,63}\.npy")
# The memory that arrays may take: this much, and this many times the size of the file. A file of
# constant arrays, which shrink a thousandfold, is written without compression.
_FREE_BYTES, _RATIO = 64 * 2**20, 64
# A header of this length, in four bytes a character, names 50,000 columns. The 128 bytes before it
# describe the array.
_MAX_MEMBERS, _MAX_HEADER, _NPY_HEADER = 2000, 8 * 2**20, 128


class ArchiveError(ValueError):
    """A file that cannot be read; the message names it."""


def write_archive(
    path: str | PathLike[str], header: dict[str, Any], arrays: Arrays, version: int
) -> None:
    """Write the arrays, and the header as JSON text beside them."""
    text = np.array(json.dumps({"format": FORMAT, "version": version, **header}))
    if text.nbytes > _MAX_HEADER:
        raise ValueError(
            f"the names of the columns and the parameters take {text.nbytes} bytes; a model file "
            f"holds {_MAX_HEADER}. Use shorter names, or pickle."
        )
    with atomic_write(path) as file:
        np.savez_compressed(file, header=text, **arrays)  # type: ignore[arg-type]
        if text.nbytes + sum(array.nbytes for array in arrays.values()) > _limit(file.tell()):
            file.seek(0)
            file.truncate()
            np.savez(file, header=text, **arrays)  # type: ignore[arg-type]


def damaged(path: Any, why: Any) -> ArchiveError:
    """The error for a file with invalid content."""
    reason = " ".join(str(why).split())[:300] or type(why).__name__
    return ArchiveError(f"{path} is not a piforest model, or it is damaged: {reason}.")


def read_archive(
    path: str | PathLike[str], only_header: bool = False
) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file that `write_archive` made; no arrays with `only_header`.

    Raises
    ------
    ArchiveError
        If it is no such file.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: there is no such file.")
    if not stat.S_ISREG(os.stat(path).st_mode):
        # A pipe or a device may never end.
        raise ArchiveError(f"{path} is not a regular file, so that it cannot be a model.")
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        try:
            with zipfile.ZipFile(file) as archive:
                members = _members(archive, size)
                header = json.loads(str(_array(archive, members.pop(_HEADER))))
                if not isinstance(header, dict) or header.get("format") != FORMAT:
                    raise ArchiveError(
                        f"{path} is not a piforest model: its header names no such format."
                    )
                read = {} if only_header else members
                arrays = {name: _array(archive, member) for name, member in read.items()}
        except ArchiveError:
            raise
        except zipfile.BadZipFile as error:
            raise damaged(path, "it is not a zip file, or not a whole one") from error
        except KeyError as error:
            raise damaged(path, f"it has no {error}") from error
        except Exception as error:  # invalid zip, array or JSON content may raise any error
            raise damaged(path, error) from error
    return header, arrays


def _limit(size: int) -> int:
    return _FREE_BYTES + _RATIO * size


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The arrays by name; their total size is limited by the size of the file."""
    listed = archive.infolist()
    if len(listed) > _MAX_MEMBERS:
        raise ValueError(f"it has {len(listed)} parts")
    members: dict[str, zipfile.ZipInfo] = {}
    for member in listed:
        if not _NAME.fullmatch(member.filename):
            raise ValueError(f"it has a part {member.filename[:80]!r}")
        name = member.filename.removesuffix(".npy")
        if name in members:
            raise ValueError(f"it has two parts {name!r}")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its part {name!r} is packed in another way")
        members[name] = member
    total = sum(member.file_size for member in listed)
    if total > _limit(size):
        raise ValueError(f"{size} bytes that unpack to {total} are no model")
    if _HEADER in members and members[_HEADER].file_size > _MAX_HEADER + _NPY_HEADER:
        raise ValueError("its header is too long")
    return members


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """One array, whose shape and type are read, and must fit its size, before its numbers are."""
    try:
        return read_member(archive, member, _check_type)
    except ValueError as error:
        name = member.filename.removesuffix(".npy")
        raise ValueError(f"its array {name!r}: {error}") from error


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.hasobject or dtype.names or dtype.kind not in "biufU" or dtype.subdtype:
        raise ValueError(f"it holds {dtype}")
