"""Reading a table: the options, and its points."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ._options import names

if TYPE_CHECKING:
    from ...io.tables import Table
    from ...protocols import Bools, Floats, Ints


# Cells that are examined to see whether a column of text was meant to hold numbers.
_EXAMINED = 1000
_SCORE_NAMES = {"score", "anomaly"}


class Points(NamedTuple):
    """The n points of a file that lack no number."""

    table: Table
    names: list[str]
    """the columns of the points"""
    X: Floats
    """(n, d)"""
    rows: Ints
    """(n,) their row numbers in the file, from 1"""
    scored: Bools
    """(rows of the table,) whether a row lacks no number"""

    def complete(self) -> Table:
        """The table without the rows that lack a number."""
        columns = {name: each[self.scored] for name, each in self.table.columns.items()}
        return replace(self.table, columns=columns)

    def about(self) -> dict[str, Any]:
        """Where the points come from, for JSON."""
        skipped = len(self.table) - len(self.X)
        return {"source": self.table.source, "columns": self.names, "skipped_rows": skipped}


def add_table(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the file and how to read it; `what`: the help of the file."""
    parser.add_argument("file", metavar="FILE", help=what)
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--columns", type=names, metavar="NAMES",
        help="columns of the points, separated by commas (default: the numeric ones)",
    )  # fmt: skip
    group.add_argument(
        "--delimiter", metavar="CHARACTER",
        help="delimiter of a text file, 'tab' for a tab (default: detected)",
    )  # fmt: skip
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", action="store_true", default=None, dest="header",
        help="the first row of a text file has the column names (default: detected)",
    )  # fmt: skip
    header.add_argument(
        "--no-header", action="store_false", default=None, dest="header",
        help="the first row is a point; columns are named x0, x1, ...",
    )  # fmt: skip
    group.add_argument(
        "--decimal", choices=(".", ","), metavar="MARK",
        help="decimal mark of a text file (default: detected)",
    )  # fmt: skip
    group.add_argument("--array", metavar="NAME", help="name of the array in a .npz or .mat file")
    group.add_argument(
        "--drop-missing", action="store_true",
        help="do not score rows that lack a number (default: raise an error)",
    )  # fmt: skip


def read_points(
    args: argparse.Namespace,
    families: Sequence[Any],
    columns: list[str] | None,
    to_fit: bool = True,
) -> Points:
    """The points of the file, in the columns of that name or in those that the families take.

    to_fit: check that there are enough points to fit the families.
    """
    from ..._validation import check_family_fits
    from ...io.tables import pick_columns, read_table

    table = read_table(
        args.file,
        delimiter=args.delimiter,
        header=args.header,
        decimal=args.decimal,
        array=args.array,
    )
    if columns is None:
        check_text_columns(table)
        # The file may be the output of an earlier run: scores are not coordinates.
        added = _SCORE_NAMES if set(table.names) >= _SCORE_NAMES else set()
        others = table.select([name for name in table.names if name not in added])
        picked = pick_columns(others, None, families)
    else:
        picked = pick_columns(table, columns, families)
    scored = ~table.missing(picked)
    if not args.drop_missing:
        table.check_complete(picked)
    least = 2 if to_fit else 1
    if scored.sum() < least:
        has = f"{int(scored.sum())} row{'' if scored.sum() == 1 else 's'} without missing numbers"
        raise ValueError(f"{table.source} has {has}, at least {least} are needed.")
    X = table.numbers(picked)[scored]
    for each in families if to_fit else ():
        check_family_fits(each, X)
    return Points(table, picked, X, table.rows[scored], scored)


def missing_note(skipped: int, one: str, many: str) -> str:
    """A note on skipped rows, in singular or plural; empty if there are none."""
    return f"; {skipped:,} {one if skipped == 1 else many}" if skipped else ""


def check_text_columns(table: Table) -> None:
    """Raise if a column of text was meant to hold numbers, and would be ignored silently: it
    holds a few other cells, or cells with several numbers because of a wrong delimiter."""
    numeric = set(table.numeric())
    for name in table.names:
        column = table.columns[name]
        if name in numeric or column.dtype.kind not in "OUS":
            continue
        cells = [cell for cell in column[:_EXAMINED].tolist() if str(cell).strip()]
        if not cells:
            continue
        if 2 * sum(_is_number(cell, table.decimal) for cell in cells) >= len(cells):
            way_out = "Correct it"
        elif 2 * sum(map(_are_numbers, cells)) >= len(cells):
            way_out = "Give the format of the file (--delimiter, --decimal)"
        else:
            continue
        try:
            table.numbers([name])
        except ValueError as error:
            raise ValueError(f"{error} {way_out}, or select the columns with --columns.") from None


def _is_number(cell: Any, decimal: str = ".") -> bool:
    from ...io.tables.table import number

    try:
        number(cell, decimal)
    except (ValueError, TypeError):
        return False
    return True


def _are_numbers(cell: Any) -> bool:
    """Whether a cell holds several numbers, which a wrong delimiter causes."""
    parts = [part for part in re.split(r"[\s,;|]", str(cell)) if part]
    return len(parts) > 1 and all(map(_is_number, parts))
