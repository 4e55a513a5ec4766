"""Writing files atomically: under a temporary name beside the target, which is then replaced."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from .remote import uploaded, url_of

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed
    fcntl = None

# What `tempfile.mkstemp` puts behind a prefix.
_RANDOM = 8 * "[a-z0-9_]"
# Characters of the target's name in the temporary one, which must not become too long.
_KEPT = 50
# Errors that only occur while writing.
_STANDARD_OUTPUT = ("-", "/dev/stdout")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_standard_output(path: str | PathLike[str]) -> bool:
    """Whether a path is "-" or /dev/stdout."""
    return str(path) in _STANDARD_OUTPUT


def is_device(path: str | PathLike[str]) -> bool:
    """Is it something that is there to be written to and cannot be replaced: /dev/null, a pipe,
    standard output?"""
    path = Path(path)
    return is_standard_output(path) or (path.exists() and not path.is_file() and not path.is_dir())


def check_writable(path: Path) -> None:
    """Raise an error if the file cannot be written, before the work."""
    if is_standard_output(path) or url_of(path) is not None:
        return
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder.")
    if is_device(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"cannot write {path}: permission denied.")
        return
    folder = _target(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {path}: the folder {folder} is read-only.")
    # What a folder says of itself is not always true: of a system's own, or one on a network.
    handle, temporary = _new_beside(path)
    if fcntl is None:  # Windows removes only what is closed
        os.close(handle)
        os.unlink(temporary)
        return
    # While it is locked: another writer would take it for a leftover.
    try:
        os.unlink(temporary)
    finally:
        os.close(handle)


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written atomically.

    It has a temporary name until the block ends, and replaces the target then; a block that
    raises leaves the target as it was. A symbolic link is followed and stays. To a device, such
    as /dev/null, and to a URL, the content is copied when the block ends.
    """
    url = url_of(path)
    if url is not None:
        with uploaded(url) as file:
            yield file
        return
    path = Path(path)
    check_writable(path)
    with _naming(path):
        if is_device(path):
            with tempfile.TemporaryFile() as file:
                yield file
                file.seek(0)
                with _open_device(path) as device:
                    shutil.copyfileobj(file, device)
                    device.flush()
        else:
            with _replacing(path) as (file, _):
                yield file


@contextmanager
def whole_path(path: str | PathLike[str]) -> Iterator[Path]:
    """As `atomic_write`, for libraries that open files by name: a temporary name beside the target,
    of an empty file."""
    path = Path(path)
    check_writable(path)
    if is_device(path):
        raise ValueError(f"cannot write {path}: this format needs a regular file.")
    with _naming(path), _replacing(path) as (_, temporary):
        yield temporary


@contextmanager
def _open_device(path: Path) -> Iterator[BinaryIO]:
    if is_standard_output(path):
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    with open(path, "wb") as device:
        yield device


def remove_leftovers(path: str | PathLike[str]) -> None:
    """Remove the temporary files of processes that ended while they wrote this file.

    A running process locks its temporary file (on Windows, keeps it open), which therefore stays.
    """
    target = _target(Path(path))
    for left in target.parent.glob(f"{escape(_prefix(target))}{_RANDOM}"):
        with suppress(OSError):
            handle = os.open(left, os.O_RDWR)
            try:
                _lock(handle)
                if fcntl is not None:
                    left.unlink()
            finally:
                os.close(handle)
            if fcntl is None:
                left.unlink()


def _target(path: Path) -> Path:
    """Where a symbolic link leads to, whether it is there or not."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _prefix(target: Path) -> str:
    return f".{target.name[:_KEPT]}."


def _new_beside(path: Path) -> tuple[int, str]:
    """An open file under a temporary name in the folder of the target, locked where possible."""
    target = _target(path)
    try:
        while True:
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target))
            if _locked(handle) and os.path.exists(temporary):
                return handle, temporary
            os.close(handle)  # taken for a leftover before it was locked
    except OSError as error:
        why = error.strerror or str(error)
        raise type(error)(
            f"cannot write {path}: no file can be made in its folder ({why})."
        ) from error


def _locked(handle: int) -> bool:
    """Lock a file; False if another writer has locked it, to remove it as a leftover."""
    try:
        _lock(handle)
    except BlockingIOError:
        return False
    except OSError:  # some file systems have no locks
        return True
    return True


def _lock(handle: int) -> None:
    """Until all copies of the handle are closed, or the process ends; OSError if another has it."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _replacing(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    remove_leftovers(path)
    handle, temporary = _new_beside(path)
    # Holds the lock until the file has its name. Windows renames only what is closed.
    lock = os.dup(handle) if fcntl is not None else None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(temporary)
        # mkstemp makes a private file; this one gets the rights of any new file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, _target(path))
    except BaseException:
        # The file may be gone already; the error matters.
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    finally:
        if lock is not None:
            os.close(lock)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in the error of a full disk, which libraries may replace by their own."""
    try:
        yield
    except OSError as error:
        for code in _FULL:
            if error.errno == code or os.strerror(code) in str(error):
                raise OSError(f"cannot write {path}: {os.strerror(code)}.") from error
        raise
