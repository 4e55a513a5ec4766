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


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to under a temporary name, moved into place if nothing went wrong."""
    path = Path(path)
    check_writable(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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
