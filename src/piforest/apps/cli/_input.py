"""What the commands that read a table share: its options, and the points in it."""

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


# So many cells are looked at to see whether a column was meant to hold numbers.
_LOOK = 1000
_ANSWER = {"score", "anomaly"}


class Points(NamedTuple):
    """Points of a file, n of them with all their numbers."""

    table: Table
    names: list[str]
    """the columns that are the points"""
    X: Floats
    """(n, d)"""
    rows: Ints
    """(n,) as the user counts the rows of the file, from 1"""
    scored: Bools
    """(rows of the table,) those with all their numbers"""

    def complete(self) -> Table:
        """The n rows of the table."""
        columns = {name: each[self.scored] for name, each in self.table.columns.items()}
        return replace(self.table, columns=columns)


def add_table(parser: argparse.ArgumentParser, what: str) -> None:
    """The file and how to read it."""
    parser.add_argument("file", metavar="FILE", help=what)
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--columns", type=names, metavar="NAMES",
        help="the columns that are the points, separated by commas (default: the numeric ones)",
    )  # fmt: skip
    group.add_argument(
        "--delimiter", metavar="CHARACTER",
        help="what separates the cells of a text file, 'tab' for a tab (default: found out)",
    )  # fmt: skip
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", action="store_true", default=None, dest="header",
        help="the first row of a text file has the names (default: found out)",
    )  # fmt: skip
    header.add_argument(
        "--no-header", action="store_false", default=None, dest="header",
        help="the first row is a point; columns are called x0, x1, ...",
    )  # fmt: skip
    group.add_argument(
        "--decimal", choices=(".", ","), metavar="MARK",
        help="the decimal mark of a text file (default: found out)",
    )  # fmt: skip
    group.add_argument("--array", metavar="NAME", help="which array of a .npz or .mat file")
    group.add_argument(
        "--drop-missing", action="store_true",
        help="leave rows without a number unscored in the output (default: they are an error)",
    )  # fmt: skip


def read_points(
    args: argparse.Namespace,
    families: Sequence[Any],
    columns: list[str] | None,
    to_fit: bool = True,
) -> Points:
    """The points of the file that families can take, enough to fit one to them or not.

    columns: their names, None to find out.
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
        check_spoilt(table)
        # What this command wrote may come back to it; its answer is no coordinate.
        answered = _ANSWER if set(table.names) >= _ANSWER else set()
        others = table.select([name for name in table.names if name not in answered])
        picked = pick_columns(others, None, families)
    else:
        picked = pick_columns(table, columns, families)
    scored = ~table.missing(picked)
    if not args.drop_missing:
        table.check_complete(picked)
    least = 2 if to_fit else 1
    if scored.sum() < least:
        has = f"{int(scored.sum())} row{'' if scored.sum() == 1 else 's'} with all of its numbers"
        raise ValueError(f"{table.source} has {has}, at least {least} are needed.")
    X = table.numbers(picked)[scored]
    for each in families if to_fit else ():
        check_family_fits(each, X)
    return Points(table, picked, X, table.rows[scored], scored)


def lacking(skipped: int, one: str, many: str) -> str:
    """What is said of rows that were not scored, if there are any, of one or of many."""
    return f"; {skipped:,} {one if skipped == 1 else many}" if skipped else ""


def check_spoilt(table: Table) -> None:
    """A column of numbers with a few words in it, or of numbers that were cut at the wrong
    place, would be passed over in silence."""
    numeric = set(table.numeric())
    for name in table.names:
        column = table.columns[name]
        if name in numeric or column.dtype.kind not in "OUS":
            continue
        cells = [cell for cell in column[:_LOOK].tolist() if str(cell).strip()]
        if not cells:
            continue
        if 2 * sum(_is_number(cell, table.decimal) for cell in cells) >= len(cells):
            way_out = "Mend it"
        elif 2 * sum(map(_are_numbers, cells)) >= len(cells):
            way_out = "Say how the file is written (--delimiter, --decimal)"
        else:
            continue
        try:
            table.numbers([name])
        except ValueError as error:
            raise ValueError(
                f"{error} {way_out}, or name the columns to use with --columns."
            ) from None


def _is_number(cell: Any, decimal: str = ".") -> bool:
    from ...io.tables.table import number

    try:
        number(cell, decimal)
    except (ValueError, TypeError):
        return False
    return True


def _are_numbers(cell: Any) -> bool:
    """Several numbers in one cell, which looks cut at the wrong place."""
    parts = [part for part in re.split(r"[\s,;|]", str(cell)) if part]
    return len(parts) > 1 and all(map(_is_number, parts))
