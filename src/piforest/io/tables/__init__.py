"""Files of points: tables, arrays and scans; the suffix of the name gives the format.

A format is one module and one line in FORMATS. The module has `read_blocks(path, rows, **options)`,
an iterator of tables of at most `rows` rows (one table, if None), and `writer(file, like, suffix)`,
an object with `write(table)` and `close()` for tables with the columns of `like`.

>>> import tempfile
>>> from pathlib import Path
>>> from piforest.io.tables import read_table, write_table
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "points.csv"
>>> _ = path.write_text("name;x;y\\na;1,5;2\\nb;;4\\n")
>>> table = read_table(path)
>>> table.names, table.numeric()
(['name', 'x', 'y'], ['x', 'y'])
>>> table.numbers(["x", "y"]).tolist()
[[1.5, 2.0], [nan, 4.0]]
>>> write_table(path.with_suffix(".parquet"), table)
>>> folder.cleanup()
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Protocol, TypedDict, Unpack

from ..atomic import atomic_write, is_device
from ..remote import local_copy, shown, url_of
from .arrow import from_arrow
from .columns import left_out, pick_columns, score_names, with_scores
from .compression import CODECS, member_suffix, packed, split_name
from .table import Table

__all__ = [
    "FORMATS",
    "ReadOptions",
    "Table",
    "TableWriter",
    "check_columns",
    "check_readable",
    "format_suffix",
    "from_arrow",
    "is_text",
    "left_out",
    "pick_columns",
    "read_ahead",
    "read_blocks",
    "read_table",
    "score_names",
    "table_writer",
    "with_scores",
    "write_table",
    "written_suffix",
]

# Suffixes and the modules of the formats.
FORMATS = {
    ".arrow": "ipc",
    ".arrows": "ipc",
    ".csv": "text",
    ".dat": "text",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".json": "records",
    ".jsonl": "jsonl",
    ".las": "las",
    ".laz": "las",
    ".mat": "mat",
    ".ndjson": "jsonl",
    ".npy": "arrays",
    ".npz": "arrays",
    ".parquet": "parquet",
    ".pcd": "pcd",
    ".ply": "ply",
    ".pq": "parquet",
    ".tsv": "text",
    ".txt": "text",
    ".xlsm": "excel",
    ".xlsx": "excel",
    ".xyz": "xyz",
}


class ReadOptions(TypedDict, total=False):
    """Options of formats; None detects a value."""

    delimiter: str | None
    header: bool | None
    decimal: str | None
    thousands: str | None
    na_values: str | None
    array: str | None
    sheet: str | None
    sql: str | None


class TableWriter(Protocol):
    """Writes tables with the same columns to one file."""

    def write(self, table: Table) -> None:
        """Append the rows of a table."""
        ...


_NUMBERS_ONLY = {".npy", ".xyz"}
_ONLY_READ = frozenset({".mat", ".npz", ".xlsm"})
# Formats that are read from front to back, and so from a pipe, or compressed.
_STREAMS = {"text", "xyz", "jsonl", "records"}
# Formats whose packages read without the interpreter lock, which the threads of a fit need.
_UNLOCKED = {"arrays", "ipc", "parquet"}
_STANDARD_INPUT = ("-", "/dev/stdin")


def format_of(path: str | PathLike[str]) -> Any:
    """The module of the format, by the suffix of the name."""
    return _module(_known_suffix(path))


def _known_suffix(path: str | PathLike[str], only_read: Set[str] = frozenset()) -> str:
    """The suffix of a table in lower case, without that of the compression.

    only_read: suffixes of formats that cannot be written.
    """
    suffix, packing = split_name(Path(path))
    if packing == ".zip" and not suffix and not only_read:
        suffix = member_suffix(Path(path))
    known = set(FORMATS) - only_read
    if suffix in known and not (packing and FORMATS[suffix] not in _STREAMS):
        return suffix
    if suffix in known:
        raise ValueError(f"{path}: only text can be compressed, and {suffix} files are no text.")
    if suffix in FORMATS:
        raise ValueError(
            f"{path}: {suffix} files are only read; write one of {', '.join(sorted(known))}."
        )
    raise ValueError(
        f"{path}: a name must end in one of {', '.join(sorted(known))}, so that the format is "
        f"known; text may be compressed, as .csv.gz ({', '.join(CODECS)}); got "
        f"{suffix + packing!r}."
    )


def is_text(suffix: str) -> bool:
    """Whether the format with this suffix is text that can be printed."""
    return FORMATS.get(suffix) in _STREAMS


def format_suffix(path: str | PathLike[str]) -> str:
    """The suffix for a file written in the format of this name; .csv if that is unknown."""
    suffix, packing = split_name(Path(path))
    return suffix + packing if suffix in set(FORMATS) - _ONLY_READ else ".csv"


def _module(suffix: str) -> Any:
    return importlib.import_module(f".{FORMATS[suffix]}", __name__)


def read_table(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    **options: Unpack[ReadOptions],
) -> Table:
    """The table of a file, or of standard input ("-": text).

    columns: the columns to read; None reads all. options: delimiter, header, decimal and thousands
    of text files, each detected if None; na_values, further cells that are missing, separated by
    commas; array, the name of the one to read from .npz and .mat files; sheet, that of an Excel
    file; sql, a query, where path is the URL of a database.
    """
    [table] = _blocks(path, None, columns, options)
    return table


def read_blocks(
    path: str | PathLike[str],
    rows: int,
    *,
    columns: Sequence[str] | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[Table]:
    """The table of a file in blocks of at most `rows` rows, in constant memory; as `read_table`."""
    return _blocks(path, rows, columns, options)


def read_ahead(
    path: str | PathLike[str], rows: int, **options: Unpack[ReadOptions]
) -> Iterator[Table]:
    """`read_blocks`, the next block in a thread while the caller uses the last one, if it is a file
    of numbers: a thread that takes text apart would hold up those that compute."""
    from ..._threads import one_ahead

    blocks = read_blocks(path, rows, **options)
    suffix = split_name(Path(path))[0]
    beside = FORMATS.get(suffix) in _UNLOCKED and options.get("sql") is None
    return one_ahead(blocks) if beside else blocks


def _blocks(path: Any, rows: int | None, columns: Any, options: ReadOptions) -> Iterator[Table]:
    url = url_of(path)
    if url is not None and options.get("sql") is None:
        return _remote_blocks(url, rows, columns, options)
    place: Any
    if options.get("sql") is not None:
        place, kind = str(path), importlib.import_module(".sql", __name__)
    else:
        place, kind = _place_and_module(path)
    given = {name: value for name, value in options.items() if value is not None}
    known = list(inspect.signature(kind.read_blocks).parameters)[2:]
    for name in given:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(f"{path}: {name} is no option of its format; options: {listed}.")
    blocks: Iterator[Table] = kind.read_blocks(place, rows, **given)
    return blocks if columns is None else (block.select(columns) for block in blocks)


def _remote_blocks(
    url: str, rows: int | None, columns: Any, options: ReadOptions
) -> Iterator[Table]:
    """The blocks of a file that is copied here, under the name of its URL."""
    source = shown(url)
    with local_copy(url) as place:
        try:
            for block in _blocks(place, rows, columns, options):
                yield replace(block, source=source)
        except (ValueError, OSError) as error:
            raise type(error)(str(error).replace(str(place), source)) from error


def _place_and_module(path: Any) -> tuple[Path | None, Any]:
    """The path of a table, None for standard input, and the module of its format."""
    if str(path) in _STANDARD_INPUT:
        # Only JSON begins with an object or an array.
        content: Any = sys.stdin.buffer
        start = content.peek(1).lstrip(b"\xef\xbb\xbf \t\r\n")
        return None, _module(".json" if start[:1] in (b"{", b"[") else ".csv")
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if is_device(place) and not place.suffix:  # a pipe, such as /dev/fd/63, has no suffix
        return place, _module(".csv")
    if place.suffix.lower() == ".zip":  # the member may give the format
        check_readable(place)
    suffix = _known_suffix(path)
    check_readable(place, FORMATS[suffix] in _STREAMS)
    return place, _module(suffix)


def check_readable(path: Path, stream: bool = False) -> None:
    """Raise an error if there is no file, or an empty one. stream: whether a pipe is allowed."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file.") from None
    if S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if not S_ISREG(status.st_mode):
        if stream:
            return
        raise ValueError(f"{path} is no regular file, and only text can be read from a pipe.")
    if status.st_size == 0:
        raise ValueError(f"{path} is empty.")


def check_columns(path: str | PathLike[str], table: Table) -> None:
    """Raise an error if the format of the name cannot be written, or cannot hold the table."""
    suffix = written_suffix(path, table)
    if not is_device(path):
        suffix = _known_suffix(path, _ONLY_READ)
    if suffix not in _NUMBERS_ONLY or getattr(table.origin, "suffix", None) == suffix:
        return  # it was read from a file of the same format
    for name in table.names:
        try:
            table.check_numbers(name)
        except ValueError as error:
            raise ValueError(
                f"{path}: {suffix} files hold numbers only, and {error} Write another format, "
                "such as .csv."
            ) from None


def written_suffix(path: str | PathLike[str], table: Table) -> str:
    """The suffix of the format to write: that of the name; for a device, such as /dev/null, that of
    the file that the table was read from, without compression."""
    if not is_device(path):
        return "".join(split_name(Path(path)))
    known = getattr(table.origin, "suffix", "") or split_name(table.source)[0]
    return known if known in set(FORMATS) - _ONLY_READ else ".csv"


def write_table(path: str | PathLike[str], table: Table) -> None:
    """Write a table atomically, in the format that the suffix gives."""
    with table_writer(path, table) as writer:
        writer.write(table)


@contextmanager
def table_writer(path: str | PathLike[str], like: Table) -> Iterator[TableWriter]:
    """A writer of tables with the columns of `like`, one after another; the file is written
    atomically."""
    check_columns(path, like)
    suffix, packing = split_name(f"table{written_suffix(path, like)}")
    with atomic_write(path) as whole, packed(whole, packing, Path(path).stem) as file:
        writer = _module(suffix).writer(file, like, suffix)
        try:
            yield writer
        except BaseException:
            with suppress(Exception):  # releases the file, which is removed
                writer.close()
            raise
        writer.close()
