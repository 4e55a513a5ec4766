"""Parquet, read by batches; columns that nobody touched keep their types, nulls and all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ._extras import needed
from .table import Table, block_rows, first_repeated, number

_WHOLE = re.compile(r"\s*[+-]?(0|[1-9]\d{0,17})\s*")
_LEADING_ZERO = re.compile(r"\s*[+-]?0\d")
# Bytes of a column read ahead; without, all of a row group are.
_BUFFER = 2**16
# A page holds so many values at most, however often one is repeated, and takes so many bytes.
_ROWS_A_PAGE, _PAGE = 2**31, 16


@dataclass(frozen=True)
class Form:
    """The rows as Arrow has them, and the columns that were made of them."""

    arrow: Any
    columns: Mapping[str, NDArray[Any]]


def _packages() -> tuple[Any, Any]:
    what = "Parquet files"
    return needed("pyarrow", what, "cli"), needed("pyarrow.parquet", what, "cli")


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    pa, pq = _packages()
    with _clear_errors(path), pq.ParquetFile(path, buffer_size=_BUFFER) as file:
        _check_names(path, file.schema_arrow.names)
        total, done = sum(_group_sizes(path, file)), 0
        if not total:
            raise ValueError(f"{path} has no rows.")
        for arrow in _parts(pa, file, rows):
            yield _table(pa, path, arrow, done + 1, total)
            done += len(arrow)
        if done != total:
            raise ValueError(
                f"{path} cannot be read: it is damaged (it says {total} rows and has {done})."
            )


def _parts(pa: Any, file: Any, rows: int | None) -> Iterator[Any]:
    """Arrow tables of at most so many rows, none of them empty; all rows in one, if None."""
    if rows is None:
        parts = iter([file.read()])
    else:
        step = block_rows(rows, len(file.schema_arrow.names), max(1, file.metadata.num_rows))
        batches = file.iter_batches(batch_size=step)
        parts = (pa.Table.from_batches([batch]) for batch in batches)
    return (part for part in parts if len(part))


def row_groups(path: Path) -> list[int]:
    """How many rows each of the parts has that can be read alone."""
    _, pq = _packages()
    with _clear_errors(path), pq.ParquetFile(path) as file:
        _check_names(path, file.schema_arrow.names)
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
    pa, pq = _packages()
    with _clear_errors(path), pq.ParquetFile(path) as file:
        parts = _group_sizes(path, file)
        known = [name for name in columns or file.schema_arrow.names
                 if name in file.schema_arrow.names]  # fmt: skip
        if parts:
            arrow = file.read_row_group(group, columns=known).slice(start, rows)
        else:
            arrow = file.schema_arrow.empty_table().select(known)
        return _table(pa, path, arrow, sum(parts[:group]) + start + 1)


def _table(pa: Any, path: Path, arrow: Any, first_row: int, total: int | None = None) -> Table:
    columns = {name: _numpy(pa, arrow.column(name)) for name in arrow.column_names}
    return Table(columns, str(path), Form(arrow, columns), first_row, total)


def _check_names(path: Path, names: list[str]) -> None:
    again = first_repeated(names)
    if again is not None:
        raise ValueError(f"{path} has two columns named {names[again]!r}; rename one.")


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    pa, _ = _packages()
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, OverflowError, UnicodeError, KeyError) as error:
        said = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read: it is damaged or no Parquet file ({said})."
        ) from error


def _numpy(pa: Any, column: Any) -> NDArray[Any]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks])
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    if pa.types.is_nested(kind):
        values = np.empty(len(column), object)
        values[:] = column.to_pylist()
        return values
    if pa.types.is_boolean(kind) and column.null_count:
        lost = column.is_null().to_numpy()
        return np.ma.masked_array(column.fill_null(False).to_numpy(), lost)  # type: ignore[no-untyped-call]
    array: NDArray[Any] = column.to_numpy()
    return array


class writer:
    """The types of the first table's columns are those of the file."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        self.pa, pq = _packages()
        fields = [self._field(like, name) for name in like.names]
        old = like.form.arrow.schema.metadata if isinstance(like.form, Form) else None
        self.schema = self.pa.schema(fields, old)
        self.out = pq.ParquetWriter(file, self.schema)

    def write(self, table: Table) -> None:
        columns = [self._column(table, field) for field in self.schema]
        self.out.write_table(self.pa.Table.from_arrays(columns, schema=self.schema))

    def close(self) -> None:
        self.out.close()

    def _field(self, table: Table, name: str) -> Any:
        column = table.columns[name]
        if _is_untouched(table, name):
            return table.form.arrow.schema.field(name)
        if column.dtype.kind in "OUS":
            return self.pa.field(name, self._type_of_text(table, name))
        return self.pa.field(name, self.pa.from_numpy_dtype(column.dtype))

    def _type_of_text(self, table: Table, name: str) -> Any:
        cells = [cell for cell in table.columns[name].tolist() if isinstance(cell, str)]
        if name not in table.numeric() or any(_LEADING_ZERO.match(cell) for cell in cells):
            return self.pa.string()
        whole = all(
            _WHOLE.fullmatch(cell)
            for cell in cells
            if number_or_none(cell, table.decimal) is not None
        )
        return self.pa.int64() if whole else self.pa.float64()

    def _column(self, table: Table, field: Any) -> Any:
        column = table.columns[field.name]
        if _is_untouched(table, field.name):
            arrow = table.form.arrow.column(field.name)
            return arrow if arrow.type == field.type else arrow.cast(field.type)
        if column.dtype.kind in "OUS":
            return self.pa.array(self._cells(table, field), field.type)
        return self.pa.array(
            np.ma.getdata(column), field.type, mask=np.ma.getmaskarray(column)
        )  # fmt: skip

    def _cells(self, table: Table, field: Any) -> list[Any]:
        """Text of a column as what its first rows were; anything else names its row."""
        cells = table.columns[field.name].tolist()
        if self.pa.types.is_string(field.type):
            return [None if cell is None else str(cell) for cell in cells]
        whole = self.pa.types.is_integer(field.type)
        values: list[Any] = []
        for k, cell in enumerate(cells):
            try:
                value = number_or_none(cell, table.decimal)
                values.append(int(cell) if whole and value is not None else value)
            except ValueError:
                raise ValueError(
                    f"{table.source}: row {table.first_row + k} of column {field.name!r} is "
                    f"{cell!r}, while the rows before hold {field.type}; write a .csv file."
                ) from None
        return values


def number_or_none(cell: Any, decimal: str) -> float | None:
    value = number(cell, decimal)
    return None if np.isnan(value) else value


def _is_untouched(table: Table, name: str) -> bool:
    form = table.form
    return isinstance(form, Form) and form.columns.get(name) is table.columns[name]
