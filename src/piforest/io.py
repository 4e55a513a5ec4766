"""Archives: a zip of arrays and one JSON header, no pickle.

A file appears whole or not at all. The header carries the format's version; a
file of another version is refused by name.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._files import whole_file

FORMAT = "piforest-model"
VERSION = 1

Arrays = dict[str, NDArray[Any]]


def write_archive(path: str | PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """The arrays, and the header as JSON text beside them."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    with whole_file(path) as file:
        np.savez_compressed(file, header=np.array(text), **arrays)  # type: ignore[arg-type]


def damaged(path: Any, why: Any) -> ValueError:
    return ValueError(f"{path} is not a piforest model, or it is damaged: {why}.")


def read_archive(path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file that `write_archive` made; a clear error for any other."""
    if not zipfile.is_zipfile(path):
        # Opening it says what is wrong with a path that cannot be read at all.
        with open(path, "rb"):
            raise damaged(path, "it is not a zip file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop("header")))
    except (ValueError, KeyError, EOFError, TypeError, zlib.error, zipfile.BadZipFile) as error:
        raise damaged(path, error) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is not a piforest model: its header names no such format.")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {header.get('version')} of the model format; this piforest "
            f"reads version {VERSION}. Update piforest, or save the model again."
        )
    return header, arrays
