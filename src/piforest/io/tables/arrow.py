"""Arrow's tables: unchanged columns keep their types and nulls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._extras import needed
from .cells import TextKind, kind_of_cells, typed
from .table import Table, first_repeated


@dataclass(frozen=True)
class ArrowOrigin:
    """The rows as Arrow has them, and the columns that were made of them."""

    arrow: Any
    columns: Mapping[str, NDArray[Any]]


def to_table(source: str, arrow: Any, first_row: int = 1, total: int | None = None) -> Table:
    """A table of the rows of an Arrow table."""
    columns = {name: _numpy(arrow.column(name)) for name in arrow.column_names}
    return Table(columns, source, ArrowOrigin(arrow, columns), first_row, total)


def from_arrow(data: Any, source: str = "the table") -> Table:
    """A table of anything with Arrow's C interface: pyarrow, polars, pandas, a relation of DuckDB.

    source: its name in messages.
    """
    if not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(
            f"data must have Arrow's C interface (__arrow_c_stream__), got {type(data).__name__}."
        )
    arrow = needed("pyarrow", "Arrow tables", "cli").table(data)
    check_names(source, arrow.column_names)
    if not len(arrow):
        raise ValueError(f"{source} has no rows.")
    return to_table(source, arrow)


def check_names(source: str, names: list[str]) -> None:
    again = first_repeated(names)
    if again is not None:
        raise ValueError(f"{source} has two columns named {names[again]!r}; rename one.")


@contextmanager
def clear_errors(path: Path, format: str) -> Iterator[None]:
    """Errors of Arrow as one line that names the file."""
    pa = needed("pyarrow", f"{format} files", "cli")
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, OverflowError, UnicodeError, KeyError) as error:
        said = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read: it is damaged or no {format} file ({said})."
        ) from error


def _numpy(column: Any) -> NDArray[Any]:
    pa = needed("pyarrow", "Arrow tables", "cli")
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = pa.chunked_array(
            [chunk.dictionary_decode() for chunk in column.chunks], kind.value_type
        )
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


class ToArrow:
    """Tables as Arrow's; the types of the first table's columns are those of all."""

    def __init__(self, like: Table, what: str = "Arrow tables") -> None:
        self.pa = needed("pyarrow", what, "cli")
        fields = [self._field(like, name) for name in like.names]
        old = like.origin.arrow.schema.metadata if isinstance(like.origin, ArrowOrigin) else None
        self.schema = self.pa.schema(fields, old)

    def __call__(self, table: Table) -> Any:
        columns = [self._column(table, field) for field in self.schema]
        return self.pa.Table.from_arrays(columns, schema=self.schema)

    def _field(self, table: Table, name: str) -> Any:
        column = table.columns[name]
        if _is_untouched(table, name):
            return table.origin.arrow.schema.field(name)
        if column.dtype.kind in "OUS":
            kinds = {"text": "string", "integer": "int64", "number": "float64"}
            return self.pa.field(name, getattr(self.pa, kinds[kind_of_cells(table, name)])())
        return self.pa.field(name, self.pa.from_numpy_dtype(column.dtype))

    def _column(self, table: Table, field: Any) -> Any:
        column = table.columns[field.name]
        if _is_untouched(table, field.name):
            arrow = table.origin.arrow.column(field.name)
            return arrow if arrow.type == field.type else arrow.cast(field.type)
        if column.dtype.kind in "OUS":
            return self.pa.array(self._cells(table, field), field.type)
        return self.pa.array(
            np.ma.getdata(column), field.type, mask=np.ma.getmaskarray(column)
        )  # fmt: skip

    def _cells(self, table: Table, field: Any) -> list[Any]:
        """Text of a column as what its first rows were; anything else names its row."""
        kind: TextKind = "integer" if self.pa.types.is_integer(field.type) else "number"
        if self.pa.types.is_string(field.type):
            kind = "text"
        values: list[Any] = []
        for k, cell in enumerate(table.columns[field.name].tolist()):
            try:
                values.append(typed(cell, kind, table.marks))
            except ValueError:
                raise ValueError(
                    f"{table.source}: row {table.first_row + k} of column {field.name!r} is "
                    f"{cell!r}, while the rows before hold {field.type}; write a .csv file."
                ) from None
        return values


def _is_untouched(table: Table, name: str) -> bool:
    origin = table.origin
    return isinstance(origin, ArrowOrigin) and origin.columns.get(name) is table.columns[name]
