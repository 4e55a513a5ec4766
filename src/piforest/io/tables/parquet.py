"""Parquet, read by batches; unchanged columns keep their types and nulls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ._extras import needed
from .arrow import ToArrow, check_names, clear_errors, to_table
from .table import Table, block_rows

# Bytes of a column read ahead; without, all of a row group are.
_BUFFER = 2**16
# The largest number of values in a page, however often one is repeated, and its largest size.
_ROWS_A_PAGE, _PAGE = 2**31, 16


def _packages() -> tuple[Any, Any]:
    what = "Parquet files"
    return needed("pyarrow", what, "cli"), needed("pyarrow.parquet", what, "cli")


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    pa, pq = _packages()
    with clear_errors(path, "Parquet"), pq.ParquetFile(path, buffer_size=_BUFFER) as file:
        check_names(str(path), file.schema_arrow.names)
        total, done = sum(_group_sizes(path, file)), 0
        if not total:
            raise ValueError(f"{path} has no rows.")
        for arrow in _parts(pa, file, rows):
            yield to_table(str(path), arrow, done + 1, total)
            done += len(arrow)
        if done != total:
            raise ValueError(
                f"{path} cannot be read: it is damaged (it says {total} rows and has {done})."
            )


def _parts(pa: Any, file: Any, rows: int | None) -> Iterator[Any]:
    """Arrow tables of at most `rows` rows, none of them empty; one table, if None."""
    if rows is None:
        parts = iter([file.read()])
    else:
        step = block_rows(rows, len(file.schema_arrow.names), max(1, file.metadata.num_rows))
        batches = file.iter_batches(batch_size=step)
        parts = (pa.Table.from_batches([batch]) for batch in batches)
    return (part for part in parts if len(part))


def row_groups(path: Path) -> list[int]:
    """The number of rows of each row group."""
    _, pq = _packages()
    with clear_errors(path, "Parquet"), pq.ParquetFile(path) as file:
        check_names(str(path), file.schema_arrow.names)
        return _group_sizes(path, file)


def _group_sizes(path: Path, file: Any) -> list[int]:
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    says, has = file.metadata.num_rows, sum(sizes)
    if says != has or min(sizes, default=0) < 0:
        raise ValueError(
            f"{path} cannot be read: it is damaged (it says {says} rows, its row groups {has})."
        )
    size = path.stat().st_size
    if has > _ROWS_A_PAGE * (1 + size // _PAGE):
        raise ValueError(
            f"{path} cannot be read: it is damaged ({has} rows do not fit into {size} bytes)."
        )
    return sizes


def read_group(
    path: Path,
    group: int,
    start: int = 0,
    rows: int | None = None,
    columns: Sequence[str] | None = None,
) -> Table:
    """Rows of one part from `start` on, at most so many; of a file without parts, no rows."""
    _, pq = _packages()
    with clear_errors(path, "Parquet"), pq.ParquetFile(path) as file:
        parts = _group_sizes(path, file)
        known = [name for name in columns or file.schema_arrow.names
                 if name in file.schema_arrow.names]  # fmt: skip
        if parts:
            arrow = file.read_row_group(group, columns=known).slice(start, rows)
        else:
            arrow = file.schema_arrow.empty_table().select(known)
        return to_table(str(path), arrow, sum(parts[:group]) + start + 1)


class writer:
    """The types of the first table's columns are those of the file."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        _, pq = _packages()
        self.to_arrow = ToArrow(like, "Parquet files")
        self.out = pq.ParquetWriter(file, self.to_arrow.schema)

    def write(self, table: Table) -> None:
        self.out.write_table(self.to_arrow(table))

    def close(self) -> None:
        self.out.close()
