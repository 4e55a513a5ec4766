"""Compressed files of text: read as a stream, written by the same program's format."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

from ._extras import needed

# What a Mac adds to archives.
_HIDDEN = ("__MACOSX/", ".")
# The earliest date of an archive: the same table gives the same file.
_DATE = (1980, 1, 1, 0, 0, 0)


class _Codec(NamedTuple):
    program: str
    magic: bytes
    open: Callable[[Path], Any]
    """the content of a file, as bytes"""
    pack: Callable[[BinaryIO, str], Any]
    """a file to write to, from the file and the name of the content"""


def _open_zip(path: Path) -> Any:
    archive = zipfile.ZipFile(path)
    try:
        return archive.open(_member(path, archive))
    except BaseException:
        archive.close()
        raise


def _pack_zip(file: BinaryIO, name: str) -> Any:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16  # a plain file for `unzip`
    return _Both(archive.open(member, "w", force_zip64=True), archive)


class _Both(io.BufferedIOBase):
    """A member of an archive; closes both."""

    def __init__(self, member: Any, archive: zipfile.ZipFile) -> None:
        self._member, self._archive = member, archive

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        return int(self._member.write(content))

    def close(self) -> None:
        self._member.close()
        self._archive.close()
        super().close()


def _arrow() -> Any:
    return needed("pyarrow", "files compressed by zstd", "cli")


CODECS = {
    ".bz2": _Codec("bzip2", b"BZh", bz2.open, lambda file, _: bz2.BZ2File(file, "wb")),
    # Without name and time, so that the same table gives the same file.
    ".gz": _Codec(
        "gzip", b"\x1f\x8b", gzip.open,
        lambda file, _: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ),
    ".xz": _Codec("xz", b"\xfd7zXZ\0", lzma.open, lambda file, _: lzma.LZMAFile(file, "wb")),  # noqa: SIM115
    ".zip": _Codec("zip", b"PK\3\4", _open_zip, _pack_zip),
    ".zst": _Codec(
        "zstd", b"\x28\xb5\x2f\xfd",
        lambda path: _arrow().input_stream(str(path), compression="zstd"),
        lambda file, _: _arrow().CompressedOutputStream(file, "zstd"),
    ),
}  # fmt: skip


def split_name(path: str | PurePath) -> tuple[str, str]:
    """The endings of a name in small letters: of the table, and of the compression or nothing."""
    last = PurePath(path).suffix.lower()
    if last not in CODECS:
        return last, ""
    return PurePath(PurePath(path).stem).suffix.lower(), last


def member_suffix(path: Path) -> str:
    """How the name of the one file in a .zip archive ends."""
    with _clear_errors(str(path), ".zip"), zipfile.ZipFile(path) as archive:
        return PurePath(_member(path, archive)).suffix.lower()


def _member(path: Path, archive: zipfile.ZipFile) -> str:
    names = [each.filename for each in archive.infolist() if not each.is_dir()]
    shown = [name for name in names if not name.startswith(_HIDDEN)]
    if len(shown) != 1:
        some = ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")
        listed = f": {some}" if shown else ""
        raise _Named(
            f"{path} holds {len(shown)} files and must hold one table{listed}; extract the table."
        )
    return shown[0]


def open_bytes(path: Path, source: str) -> BinaryIO:
    """The bytes of a file, of its content if the name tells a compression."""
    codec = CODECS.get(path.suffix.lower())
    if codec is None:
        return open(path, "rb")
    suffix = path.suffix.lower()
    with _clear_errors(source, suffix):
        content = codec.open(path)
    return io.BufferedReader(_Content(content, source, suffix), 2**16)


def check_plain(start: bytes, source: str) -> None:
    """An error if the first bytes are those of a compressed file without its name."""
    for suffix, codec in CODECS.items():
        if start.startswith(codec.magic):
            raise ValueError(
                f"{source} is compressed by {codec.program}; decompress it first, or give a file "
                f"whose name ends in {suffix}."
            )


class _Content(io.RawIOBase):
    """What is read from a compressed file, with errors that name it."""

    def __init__(self, content: Any, source: str, suffix: str) -> None:
        self.content, self.source, self.suffix = content, source, suffix

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        with _clear_errors(self.source, self.suffix):
            part = self.content.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self.content.close()
        super().close()


class _Named(ValueError):
    """An error that names the file already."""


@contextmanager
def _clear_errors(source: str, suffix: str) -> Iterator[None]:
    try:
        yield
    except (_Named, ImportError, FileNotFoundError, PermissionError):
        raise
    except MemoryError as error:
        raise ValueError(
            f"{source} cannot be read: its compression needs more memory than there is."
        ) from error
    except Exception as error:  # each library has errors of its own
        said = " ".join(str(error).split())
        why = f" ({said})" if isinstance(error, (RuntimeError, NotImplementedError)) else ""
        raise ValueError(
            f"{source} cannot be read: it is damaged or not compressed by "
            f"{CODECS[suffix].program}{why}."
        ) from error


@contextmanager
def packed(file: BinaryIO, suffix: str, name: str) -> Iterator[BinaryIO]:
    """A file whose content is compressed as the ending of its name tells; name: of the content."""
    codec = CODECS.get(suffix)
    if codec is None:
        yield file
        return
    content = codec.pack(file, name)
    try:
        yield content
    finally:
        content.close()
