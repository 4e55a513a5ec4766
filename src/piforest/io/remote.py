"""URLs and object stores, through fsspec: read by way of a local copy, written as whole files."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

# A path has one of the slashes only. One letter is a drive of Windows.
_URL = re.compile(r"([a-z][a-z0-9+.-]+):(//?)(?!/)", re.IGNORECASE)


def url_of(path: str | PathLike[str]) -> str | None:
    """The URL that a text, or a path made of it, stands for; None for local files."""
    text = os.fspath(path)
    found = _URL.match(text)
    if found is None or os.path.exists(text):
        return None
    return f"{found[1]}://{text[found.end() :]}"


def shown(path: str | PathLike[str]) -> str:
    """The name of a file for messages: a URL without its password."""
    url = url_of(path)
    if url is None:
        return os.fspath(path)
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:***@", url)


def _fsspec(url: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(
            f"{shown(url)}: URLs need fsspec: pip install 'piforest[remote]'"
        ) from error
    return fsspec


@contextmanager
def local_copy(url: str) -> Iterator[Path]:
    """A copy of what a URL names, under the same last name."""
    fsspec = _fsspec(url)
    name = PurePosixPath(urlsplit(url).path).name or PurePosixPath(url).name
    with tempfile.TemporaryDirectory(prefix="piforest-") as folder:
        path = Path(folder) / name
        with _clear_errors(url, "read"), fsspec.open(url, "rb") as there, open(path, "wb") as here:
            shutil.copyfileobj(there, here, 2**20)
        yield path


@contextmanager
def uploaded(url: str) -> Iterator[BinaryIO]:
    """A file whose content is sent to the URL when the block ends without an error."""
    fsspec = _fsspec(url)
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        with _clear_errors(url, "written"), fsspec.open(url, "wb") as there:
            shutil.copyfileobj(file, there, 2**20)


def exists(url: str) -> bool:
    fsspec = _fsspec(url)
    with _clear_errors(url, "written"):
        system, place = fsspec.core.url_to_fs(url)
        return bool(system.exists(place))


@contextmanager
def _clear_errors(url: str, done: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        if error.__cause__ is None or getattr(error.__cause__, "status", None) == 404:
            raise FileNotFoundError(f"{shown(url)}: there is no such file.") from None
        # A server that does not answer is reported as a missing file.
        said = " ".join(str(error.__cause__).split())[:300]
        raise OSError(f"{shown(url)} cannot be {done} ({said}).") from error
    except ImportError as error:  # of the package for this kind of store
        raise ImportError(f"{shown(url)}: {' '.join(str(error).split())}") from error
    except Exception as error:  # each store has errors of its own
        said = " ".join(str(error).split())[:300] or type(error).__name__
        raise OSError(f"{shown(url)} cannot be {done} ({said}).") from error
