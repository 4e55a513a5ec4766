"""Writing files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO


def check_writable(path: Path) -> None:
    """Say now what would go wrong later."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}.")
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"cannot write {path}: the folder {path.parent} is read-only.")
    # What a folder says of itself is not always true: of a system's own, or one on a network.
    handle, temporary = _new_beside(path)
    os.close(handle)
    os.unlink(temporary)


def _new_beside(path: Path) -> tuple[int, str]:
    """An open file under a temporary name in the folder of `path`."""
    try:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        why = error.strerror or str(error)
        raise type(error)(
            f"cannot write {path}: no file can be made in its folder ({why})."
        ) from error


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to under a temporary name, moved into place if nothing went wrong."""
    path = Path(path)
    check_writable(path)
    handle, temporary = _new_beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        # mkstemp makes a private file; this one gets the rights of any new file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        # Where it is gone already, the error is what counts.
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
