"""What the commands that read a table share: its options, and the points in it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ._options import names

if TYPE_CHECKING:
    from ..files import Table
    from ..protocols import Bools, Floats, Ints


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
        "--decimal", choices=(".", ","), help="the decimal mark of a text file (default: found out)"
    )
    group.add_argument("--array", metavar="NAME", help="which array of a .npz or .mat file")
    group.add_argument(
        "--drop-missing", action="store_true",
        help="leave rows without a number unscored in the output (default: they are an error)",
    )  # fmt: skip


def read_points(args: argparse.Namespace, family: Any, columns: list[str] | None) -> Points:
    """The points that a family (or several) can take. columns: their names, None to find out."""
    from ..files import pick_columns, read_table

    table = read_table(
        args.file,
        delimiter=args.delimiter,
        header=args.header,
        decimal=args.decimal,
        array=args.array,
    )
    picked = pick_columns(table, columns, family)
    scored = ~table.missing(picked)
    if not args.drop_missing:
        table.check_complete(picked)
    if not scored.any():
        raise ValueError(f"{table.source}: no row has all of {', '.join(picked)}.")
    return Points(table, picked, table.numbers(picked)[scored], table.rows[scored], scored)
