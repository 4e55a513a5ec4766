"""Arrow's own files, .arrow and Feather, and its streams, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ._extras import needed
from .arrow import ToArrow, check_names, clear_errors, to_table
from .table import Table, block_rows, check_width

_MAGIC, _FEATHER_1 = b"ARROW1", b"FEA1"
# The largest number of rows for each byte of a file: 8 flags each, compressed.
_ROWS_A_BYTE = 2**18


def _packages() -> tuple[Any, Any]:
    what = "Arrow files"
    return needed("pyarrow", what, "cli"), needed("pyarrow.ipc", what, "cli")


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    pa, ipc = _packages()
    done = 0
    with clear_errors(path, "Arrow"), pa.memory_map(str(path)) as file:
        start = file.read(6)
        file.seek(0)
        if start.startswith(_FEATHER_1):
            raise ValueError(
                f"{path} is a Feather file of version 1, which is no longer read; write version 2 "
                "(pyarrow.feather.write_feather)."
            )
        reader = ipc.open_file(file) if start == _MAGIC else ipc.open_stream(file)
        check_names(str(path), reader.schema.names)
        check_width(str(path), len(reader.schema))
        for part in _parts(pa, path, reader, rows):
            yield to_table(str(path), part, done + 1)
            done += len(part)
    if not done:
        raise ValueError(f"{path} has no rows.")


def _parts(pa: Any, path: Path, reader: Any, rows: int | None) -> Iterator[Any]:
    """Arrow tables of at most `rows` rows, none of them empty; one table, if None."""
    if rows is None:
        batches = list(_batches(path, reader))
        if any(map(len, batches)):
            yield pa.Table.from_batches(batches)
        return
    step = block_rows(rows, len(reader.schema), 2**62)
    for batch in _batches(path, reader):
        for start in range(0, len(batch), step):
            yield pa.Table.from_batches([batch.slice(start, step)])


def _batches(path: Path, reader: Any) -> Iterator[Any]:
    """The parts of a file, each checked in full: Arrow trusts the offsets of text otherwise."""
    size, done = path.stat().st_size, 0
    numbered = hasattr(reader, "num_record_batches")
    parts = map(reader.get_batch, range(reader.num_record_batches)) if numbered else reader
    try:
        for batch in parts:
            done += len(batch)
            if done > _ROWS_A_BYTE * size:
                raise ValueError(
                    f"{path} cannot be read: it is damaged ({done} rows do not fit into {size} "
                    "bytes)."
                )
            batch.validate(full=True)
            yield batch
    except MemoryError as error:
        raise ValueError(
            f"{path} cannot be read: it is damaged, or needs more memory than there is."
        ) from error


class writer:
    """The types of the first table's columns are those of the file."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        _, ipc = _packages()
        self.to_arrow = ToArrow(like, "Arrow files")
        new = ipc.new_stream if suffix == ".arrows" else ipc.new_file
        self.out = new(file, self.to_arrow.schema)

    def write(self, table: Table) -> None:
        self.out.write_table(self.to_arrow(table))

    def close(self) -> None:
        self.out.close()
