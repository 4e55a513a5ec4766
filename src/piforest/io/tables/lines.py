"""Lines of text files, compressed or not, and of standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .compression import check_plain, open_bytes

# Bytes of a line; as many columns as a table may have fit.
LONGEST_LINE = 2**22
# The byte-order mark.
MARK = b"\xef\xbb\xbf"
_SEEN = 4096
_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def source_name(path: Path | None) -> str:
    """The name of a file for messages; None is standard input."""
    return "standard input" if path is None else str(path)


@contextmanager
def open_lines(path: Path | None, arrays: bool = False) -> Iterator[tuple[Any, bytes]]:
    """A file, or standard input (None), open as text whose lines are of bounded length, and how it
    starts. arrays: a text that starts with [ is JSON, which need not have lines."""
    source = source_name(path)
    binary: Any = sys.stdin.buffer if path is None else open_bytes(path, source)
    try:
        start = bytes(binary.peek(_SEEN)[:_SEEN])
        _check_start(start, source)
        endless = arrays and start.lstrip(MARK + b" \t\r\n").startswith(b"[")
        lines: Any = _Lines(binary, source, None if endless else LONGEST_LINE)
        text = io.TextIOWrapper(lines, encoding="utf-8-sig", newline="")
        try:
            with _clear_errors(source):
                yield text, start
        finally:
            text.detach()
    finally:
        if path is not None:
            binary.close()


def _check_start(start: bytes, source: str) -> None:
    if not start:
        raise ValueError(f"{source} is empty.")
    check_plain(start, source)
    if start[:2] in _ENCODINGS or b"\0" in start:
        what = _ENCODINGS.get(start[:2], "binary data or UTF-16")
        raise ValueError(f"{source} is not UTF-8 text but {what}; save it as UTF-8.")


class _Lines:
    """A binary file for `TextIOWrapper` that gives up where a line does not end."""

    closed = False

    def __init__(self, file: Any, source: str, longest: int | None) -> None:
        self.file, self.source, self.longest = file, source, longest
        self.length = self.lines = 0

    def read1(self, n: int = -1, /) -> bytes:
        content: bytes = self.file.read1(n)
        end = max(content.rfind(b"\n"), content.rfind(b"\r"))
        self.lines += content.count(b"\n")
        self.length = self.length + len(content) if end < 0 else len(content) - end - 1
        if self.longest is not None and self.length > self.longest:
            raise ValueError(
                f"{self.source}: line {self.lines + 1} is longer than {self.longest} bytes; is it "
                "a table?"
            )
        return content

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """`TextIOWrapper` calls it when it is detached."""


@contextmanager
def _clear_errors(source: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(
            f"{source} is not UTF-8 text: it has a byte 0x{byte:02x}, as Latin-1 and Windows files "
            f"do. Save it as UTF-8, such as with: iconv -f WINDOWS-1252 -t UTF-8."
        ) from error
