"""Rows of a file: its columns by name, unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocols import Bools, Floats

# How text says yes and no, in lower case.
_TRUTH = {"true": 1.0, "false": 0.0}
# Missing cells of a text file in lower case, as in pandas.
MISSING = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none"))
# Decimal marks with the marks between groups of digits that go along with them.
_BOTH_MARKS = ((".", ","), (",", "."))
# Blocks of wide tables have fewer rows than requested: at most this many cells.
_MOST_CELLS = 100_000
# Points of at most so many coordinates lie in the columns of a table with as many rows.
_FEW_ROWS, _MANY_COLUMNS = 8, 100
# Each column is an array; reading more of them would take minutes.
_MOST_COLUMNS = 100_000


class Marks(NamedTuple):
    """How numbers are written in text."""

    decimal: str = "."
    thousands: str = ""
    missing: frozenset[str] = MISSING
    """cells without a number, in lower case"""


_POINT = Marks()


def check_width(source: str, columns: int) -> None:
    if columns > _MOST_COLUMNS:
        raise ValueError(
            f"{source} has {columns} columns, and a table at most {_MOST_COLUMNS}; is it cut at "
            "the right places (--delimiter), or is each point a row?"
        )


def check_orientation(table: Table) -> None:
    """Raise if a table has few long rows, as one whose columns are the points."""
    n, d = len(table), len(table.names)
    if n <= _FEW_ROWS and d >= _MANY_COLUMNS:
        raise ValueError(
            f"{table.source} has {n} rows and {d:,} columns: this looks transposed, since each "
            "point is a row. Save the transposed array: A.T in NumPy, A.' in MATLAB."
        )


def block_rows(rows: int | None, columns: int, total: int) -> int:
    """How many of the `total` rows of a table with this many columns to read at once; all, if rows
    is None."""
    if rows is None:
        return max(1, total)
    return max(1, min(rows, total, _MOST_CELLS // max(1, columns)))


def first_repeated(names: Sequence[str]) -> int | None:
    """The index of the first repeated name; None if all differ."""
    seen: set[str] = set()
    for k, name in enumerate(names):
        if name in seen:
            return k
        seen.add(name)
    return None


class TextColumns(Mapping[str, NDArray[Any]]):
    """Columns of text that are converted on first use: numbers need no text."""

    def __init__(self, cells: Mapping[str, Any], n_rows: int) -> None:
        """cells: Arrow's text, or arrays."""
        self._cells, self.n_rows = dict(cells), n_rows
        self._texts: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._texts:
            column = self._cells[name]
            lazy = not isinstance(column, np.ndarray)
            self._texts[name] = column.to_numpy(zero_copy_only=False) if lazy else column
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, name: object) -> bool:
        return name in self._cells

    def kind(self, name: str) -> str:
        """The kind of the column's dtype."""
        column = self._cells[name]
        return column.dtype.kind if isinstance(column, np.ndarray) else "O"

    def numbers(self, name: str) -> Floats | None:
        """(n,) the numbers of a column, if Arrow reads all cells as `float` does; else None."""
        import pyarrow as pa

        column = self._cells[name]
        if isinstance(column, np.ndarray):
            return None
        try:
            values = column.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            return None
        # "nan(1)" is a number for Arrow alone; missing values are read as text.
        return None if np.isnan(values).any() else values

    def changed(self, names: list[str], added: Mapping[str, NDArray[Any]]) -> TextColumns:
        """These columns, some of them new or replaced."""
        cells = {**self._cells, **added}
        return TextColumns({name: cells[name] for name in names}, self.n_rows)


@dataclass(frozen=True)
class Table:
    """The content of a file, which can be written again unchanged, with columns added."""

    columns: Mapping[str, NDArray[Any]]
    """name to (n,) values in the order of the file: numbers, or unchanged text"""
    source: str
    """the file's name, for messages"""
    origin: Any = None
    """what else a writer of the same format needs: the delimiter, other parts of a scan"""
    first_row: int = 1
    """the number of the first row, as the user counts the rows of the file"""
    total: int | None = None
    """the number of rows of the whole file, if its header has it"""
    points: tuple[str, ...] = ()
    """the columns of the points, if the format defines them: x, y, z of a scan"""
    unnamed: frozenset[str] = frozenset()
    """columns without a name in the file, usually an index; never chosen automatically"""
    decimal: str = "."
    """the decimal mark of numbers in text"""
    thousands: str = ""
    """the mark between groups of three digits in text; none if empty"""
    no_value: frozenset[str] = frozenset()
    """cells of text in lower case that are missing, beside the usual ones"""
    _parsed: dict[str, Floats] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        if isinstance(self.columns, TextColumns):
            return self.columns.n_rows
        return len(next(iter(self.columns.values()), ()))

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def rows(self) -> NDArray[np.int64]:
        """(n,) the numbers of the rows, as the user counts them: from 1, without the header."""
        return np.arange(self.first_row, self.first_row + len(self))

    @property
    def marks(self) -> Marks:
        """How numbers are written in text."""
        return Marks(self.decimal, self.thousands, MISSING | self.no_value)

    def numeric(self) -> list[str]:
        """The names of the columns that hold only numbers, at least one of them."""
        return [name for name in self.names if self._is_numeric(name)]

    def is_flag(self, name: str) -> bool:
        """Whether a column holds True and False, whose numbers are 1 and 0."""
        column = self.columns[name]
        if column.dtype.kind not in "OUS":
            return column.dtype.kind == "b"
        missing = self.marks.missing
        texts = ("" if cell is None else str(cell).strip().lower() for cell in column)
        first = next((text for text in texts if text not in missing), None)
        return first in _TRUTH and truth_values(column.tolist(), missing) is not None

    def numbers(self, names: Sequence[str] | None = None) -> Floats:
        """(n, d) the named columns (all, if None) as float64; nan where missing."""
        wanted = self.names if names is None else list(names)
        self.check_names(wanted)
        X = np.empty((len(self), len(wanted)))
        for k, name in enumerate(wanted):
            X[:, k] = self._numbers(name)
            infinite = np.isinf(X[:, k])
            if infinite.any():
                raise ValueError(f"{self._place(infinite, name)} is infinite.")
        return X

    def filled(self, name: str) -> NDArray[Any]:
        """(n,) one column as numbers, text too, for files that have no word for nothing: nan,
        or 0 where the numbers are whole."""
        column = self.columns[name]
        if column.dtype.kind in "OUS":
            return self._numbers(name)
        return np.asarray(np.ma.filled(column, np.nan if column.dtype.kind == "f" else 0))

    def missing(self, names: Sequence[str] | None = None) -> Bools:
        """(n,) True for rows without a number in any of the named columns (all, if None)."""
        return np.asarray(np.isnan(self.numbers(names)).any(axis=1))

    def check_complete(
        self,
        names: Sequence[str],
        way_out: str = "--missing skip keeps such rows in the output, unscored",
    ) -> None:
        """Raise an error that names the first missing number in these columns."""
        for name in names:
            lost = np.isnan(self._numbers(name))
            if lost.any():
                others = self.missing(names).sum() - 1
                lack = "row lacks" if others == 1 else "rows lack"
                more = f", and {others} more {lack} one" if others else ""
                raise ValueError(f"{self._place(lost, name)} has no number{more}; {way_out}.")

    def check_numbers(self, name: str) -> None:
        """Raise an error that names the first cell of a column that is not a number."""
        self._numbers(name)

    def check_names(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.columns:
                listed = ", ".join(self.names)
                raise ValueError(f"{self.source} has no column {name!r}; its columns: {listed}.")
        again = first_repeated(names)
        if again is not None:
            raise ValueError(f"column {names[again]!r} is named twice; name it once.")

    def with_columns(self, added: Mapping[str, NDArray[Any]]) -> Table:
        """The same with more columns; a column of the same name is replaced in its place."""
        if isinstance(self.columns, TextColumns):
            names = list(dict.fromkeys([*self.names, *added]))
            return replace(self, columns=self.columns.changed(names, added))
        return replace(self, columns={**self.columns, **added})

    def select(self, names: Sequence[str]) -> Table:
        """The named columns alone, in this order."""
        self.check_names(names)
        if isinstance(self.columns, TextColumns):
            return replace(self, columns=self.columns.changed(list(names), {}))
        return replace(self, columns={name: self.columns[name] for name in names})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's C interface: pyarrow, polars, pandas and DuckDB take a table as it is."""
        from .arrow import ToArrow

        return ToArrow(self)(self).__arrow_c_stream__(requested_schema)

    def _is_numeric(self, name: str) -> bool:
        lazy = isinstance(self.columns, TextColumns)
        kind = self.columns.kind(name) if lazy else self.columns[name].dtype.kind  # type: ignore[attr-defined]
        if kind in "iuf":
            return True
        if kind not in "OUS":
            return False
        try:
            values = self._numbers(name)
        except ValueError:
            return False
        filled = values[~np.isnan(values)]
        may_be_flag = len(filled) > 0 and bool(np.isin(filled, (0, 1)).all())
        return len(filled) > 0 and not (may_be_flag and self.is_flag(name))

    def _numbers(self, name: str) -> Floats:
        """(n,) one column as float64."""
        if name not in self._parsed and isinstance(self.columns, TextColumns):
            fast = self.columns.numbers(name)
            if fast is not None:
                self._parsed[name] = fast
        if name not in self._parsed:
            column = self.columns[name]
            if column.dtype.kind in "OUS":
                self._parsed[name] = self._parse(name, column)
            elif column.dtype.kind in "iufb":
                with np.errstate(invalid="ignore"):  # a signalling NaN would warn
                    values = np.ma.asarray(column, dtype=np.float64)
                self._parsed[name] = np.asarray(np.ma.filled(values, np.nan))
            else:
                raise ValueError(
                    f"{self.source}: column {name!r} holds {column.dtype}, not numbers."
                )
        return self._parsed[name]

    def _parse(self, name: str, column: NDArray[Any]) -> Floats:
        cells, marks = column.tolist(), self.marks
        fast = _plain_numbers(cells) if self.decimal == "." else None
        if fast is not None:
            return fast
        values = np.empty(len(column))
        for k, cell in enumerate(cells):
            try:
                values[k] = number(cell, marks)
            except (ValueError, TypeError):
                truth = truth_values(cells, marks.missing)
                if truth is not None:
                    return truth
                at = np.arange(len(column)) == k
                hint = _hint(cell, marks)
                raise ValueError(
                    f"{self._place(at, name)} is {cell!r}, not a number{hint}."
                ) from None
        return values

    def _place(self, which: Bools, name: str) -> str:
        """The first of these rows, for a message."""
        return f"{self.source}: row {self.first_row + int(np.argmax(which))} of column {name!r}"


def _plain_numbers(cells: list[Any]) -> Floats | None:
    """The numbers of cells of text, all of which `float` reads, in a twentieth of the time that
    `number` takes for each; else None."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
        return None if "_" in "".join(cells) else values
    except (TypeError, ValueError, OverflowError):
        return None


def truth_values(cells: Sequence[Any], missing: frozenset[str] = MISSING) -> Floats | None:
    """(n,) 1 for True, 0 for False and nan for missing cells; None if there is any other, or
    neither of them."""
    texts = ["" if cell is None else str(cell).strip().lower() for cell in cells]
    if not all(text in _TRUTH or text in missing for text in texts):
        return None
    values = np.array([_TRUTH.get(text, np.nan) for text in texts])
    return None if np.isnan(values).all() else values


def number(cell: Any, marks: Marks = _POINT) -> float:
    """The number of a cell, nan if it is missing; ValueError for any other text."""
    if cell is None:
        return float("nan")
    if not isinstance(cell, str):
        if not isinstance(cell, Real) or isinstance(cell, bool):  # float would take bytes too
            raise ValueError(f"{cell!r} is not a number")
        return float(cell)
    try:
        # float reads 1_000, which other programs do not.
        if "_" not in cell:
            text = cell
            if marks.thousands and marks.thousands in text:
                text = _without_groups(text, marks)
            return float(text if marks.decimal == "." else text.replace(marks.decimal, "."))
    except ValueError:
        pass
    if cell.strip().lower() in marks.missing:
        return float("nan")
    raise ValueError(f"{cell!r} is not a number")


def _without_groups(text: str, marks: Marks) -> str:
    """A number without the marks between its groups of three digits; ValueError if these are no
    such groups."""
    whole, _, decimals = text.strip().lstrip("+-").partition(marks.decimal)
    first, *groups = whole.split(marks.thousands)
    three = len(first) <= 3 and all(len(group) == 3 for group in groups)
    digits = all(map(str.isdecimal, [first, *groups]))
    if not (three and digits) or marks.thousands in decimals:
        raise ValueError(f"{text!r} has no groups of three digits")
    return text.replace(marks.thousands, "")


def _hint(cell: Any, marks: Marks) -> str:
    """A hint for a number with a comma, or with groups of digits, or for a mark of nothing."""
    text = str(cell).strip()
    if text in ("-", "?", ".", "*", "--", "x"):
        return f"; if it means that there is none, say na_values={text!r} (--na-values={text})"
    if marks.decimal == "." and re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", text):
        grouped = re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text)
        other = ", or for groups of digits thousands=',' (--thousands)" if grouped else ""
        return f"; for a decimal comma, say decimal=',' (--decimal){other}"
    for decimal, thousands in (*_BOTH_MARKS, (".", " "), (",", " ")):
        with suppress(ValueError):
            number(text, Marks(decimal, thousands))
            name = "space" if thousands == " " else thousands
            return f"; for groups of digits, say thousands={name!r} (--thousands)"
    return ""
