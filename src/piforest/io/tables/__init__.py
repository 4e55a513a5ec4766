"""Files of points: tables, arrays and scans, told apart by how their names end.

A format is one module with `read_blocks(path, rows, **options)`, an iterator of tables of at
most so many rows (all in one, if None), and `writer(file, like, suffix)`, something with
`write(table)` and `close()`, for tables with the columns of `like`; and one line in FORMATS.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Protocol, TypedDict, Unpack

from ..atomic import is_device, whole_file
from .columns import pick_columns, score_names, with_scores
from .matches import named_matches, read_colmap
from .table import Table

__all__ = [
    "FORMATS",
    "ReadOptions",
    "Table",
    "TableWriter",
    "check_columns",
    "pick_columns",
    "read_blocks",
    "read_matches",
    "read_table",
    "score_names",
    "table_writer",
    "with_scores",
    "write_table",
    "written_suffix",
]

# How a name ends, and the module that knows the format.
FORMATS = {
    ".csv": "text",
    ".csv.gz": "text",
    ".dat": "text",
    ".las": "las",
    ".laz": "las",
    ".mat": "mat",
    ".npy": "arrays",
    ".npz": "arrays",
    ".parquet": "parquet",
    ".ply": "ply",
    ".pq": "parquet",
    ".tsv": "text",
    ".tsv.gz": "text",
    ".txt": "text",
    ".txt.gz": "text",
    ".xyz": "xyz",
}


class ReadOptions(TypedDict, total=False):
    """Options of formats; None detects a value."""

    delimiter: str | None
    header: bool | None
    decimal: str | None
    array: str | None


class TableWriter(Protocol):
    """Writes tables with the same columns to one file."""

    def write(self, table: Table) -> None:
        """Append the rows of a table."""
        ...


_NUMBERS_ONLY = {".npy", ".xyz"}
_ONLY_READ = {".mat", ".npz"}
# Formats that are read from front to back, and so from a pipe.
_STREAMS = {"text", "xyz"}
STANDARD_INPUT = "-"


def format_of(path: str | PathLike[str]) -> Any:
    """The module of the format that a name tells."""
    suffix = _suffix(path)
    if suffix not in FORMATS:
        raise ValueError(
            f"{path}: a name must end in one of {', '.join(sorted(FORMATS))}, so that the format "
            f"is known; got {suffix!r}."
        )
    return _module(suffix)


def _suffix(path: str | PathLike[str]) -> str:
    """How a name ends, in small letters: .csv, and .csv.gz of what is compressed."""
    suffix = Path(path).suffix.lower()
    return Path(Path(path).stem).suffix.lower() + suffix if suffix == ".gz" else suffix


def _module(suffix: str) -> Any:
    return importlib.import_module(f".{FORMATS[suffix]}", __name__)


def read_table(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    **options: Unpack[ReadOptions],
) -> Table:
    """The table of a file, or of standard input ("-": text).

    columns: the columns to read; None reads all. options: delimiter, header and decimal of text
    files, each detected if None; array, the name of the one to read from .npz and .mat files.
    """
    [table] = _blocks(path, None, columns, options)
    return table


def read_matches(
    path: str | PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    **options: Unpack[ReadOptions],
) -> Table:
    """Matches between two images: a table with x1, y1, x2, y2 and what else the file has.

    Files as for `read_table`, with these names, or without names and with x1, y1, x2, y2 first;
    or a COLMAP database (.db), of which `pair` names the two images where it has more.
    """
    if Path(path).suffix.lower() in (".db", ".sqlite"):
        _check_readable(Path(path), stream=False)
        return read_colmap(path, pair)
    if pair is not None:
        raise ValueError(f"{path}: a pair is chosen from COLMAP databases (.db) only.")
    return named_matches(read_table(path, **options))


def read_blocks(
    path: str | PathLike[str],
    rows: int,
    *,
    columns: Sequence[str] | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[Table]:
    """The table of a file in blocks of at most `rows` rows, in constant memory; as `read_table`."""
    return _blocks(path, rows, columns, options)


def _blocks(path: Any, rows: int | None, columns: Any, options: ReadOptions) -> Iterator[Table]:
    place: Path | None = None
    if str(path) == STANDARD_INPUT:
        kind = _module(".csv")
    else:
        place = Path(path)
        if place.is_dir():
            raise IsADirectoryError(f"{path} is a folder, not a file.")
        kind = format_of(path)
        _check_readable(place, FORMATS[_suffix(path)] in _STREAMS)
    given = {name: value for name, value in options.items() if value is not None}
    known = list(inspect.signature(kind.read_blocks).parameters)[2:]
    for name in given:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(f"{path}: {name} is no option of its format; options: {listed}.")
    blocks: Iterator[Table] = kind.read_blocks(place, rows, **given)
    return blocks if columns is None else (block.select(columns) for block in blocks)


def _check_readable(path: Path, stream: bool) -> None:
    """stream: may it be a pipe?"""
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
    """An error where the format that the name tells cannot be written, or holds no such table."""
    suffix = written_suffix(path, table)
    if suffix not in FORMATS or suffix in _ONLY_READ:
        listed = ", ".join(sorted(set(FORMATS) - _ONLY_READ))
        if suffix in FORMATS:
            raise ValueError(f"{path}: {suffix} files are only read; write one of {listed}.")
        raise ValueError(
            f"{path}: a name must end in one of {listed}, so that the format is known; got "
            f"{suffix!r}."
        )
    if suffix not in _NUMBERS_ONLY or getattr(table.form, "suffix", None) == suffix:
        return  # a file of the same kind held it
    for name in table.names:
        try:
            table.check_numbers(name)
        except ValueError as error:
            raise ValueError(
                f"{path}: {suffix} files hold numbers only, and {error} Write another format, "
                "such as .csv."
            ) from None


def written_suffix(path: str | PathLike[str], table: Table) -> str:
    """The ending of the format to write: that of the name; to a device, such as /dev/null, that of
    the file which the table came from."""
    if not is_device(path):
        return _suffix(path)
    known = _suffix(table.source)
    return known if known in set(FORMATS) - _ONLY_READ else ".csv"


def write_table(path: str | PathLike[str], table: Table) -> None:
    """Write a table in the format that the name tells, atomically."""
    with table_writer(path, table) as writer:
        writer.write(table)


@contextmanager
def table_writer(path: str | PathLike[str], like: Table) -> Iterator[TableWriter]:
    """Something with `write(block)` for tables with the columns of `like`, one after another;
    the file is written atomically."""
    check_columns(path, like)
    suffix = written_suffix(path, like)
    with whole_file(path) as file:
        writer = _module(suffix).writer(file, like, suffix)
        try:
            yield writer
        except BaseException:
            with suppress(Exception):  # lets go of the file, which will not stay
                writer.close()
            raise
        writer.close()
