"""Reading a table: the options, and its points."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._progress import report_progress
from ._options import names
from ._output import Output

if TYPE_CHECKING:
    from ...io.tables import Table
    from ...protocols import Bools, Floats, Ints, ModelFamily


# Options of formats.
_READING = ("delimiter", "header", "decimal", "thousands", "na_values", "array", "sheet", "sql")
# Columns that are named at most.
_NAMED = 10
# An amount of money or a percentage; codes of letters and digits, such as A12, are none.
_SIGN = r"(?:[^\w\s.,+\-/:;()]|\b[A-Z]{3}\b)"
_AMOUNT = re.compile(rf"[+-]?(?:{_SIGN}\s*[+-]?\d[\d.,' ]*|\d[\d.,' ]*{_SIGN})")
_NEARLY_ALL = 0.9
# Cells that are examined to see whether a column of text was meant to hold numbers.
_EXAMINED = 1000


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
    families: Sequence[ModelFamily] = ()
    """the families, with the number of the column that is their target"""
    left_out: dict[str, str] | None = None
    """the other columns with the reason, unless the columns were given"""
    groups: Ints | None = None
    """(n,) the group of each point, for samples within a group"""
    quality: Floats | None = None
    """(n,) how much to trust each point, for samples in proportion to it"""
    fitted: Ints | None = None
    """the points that the detector is fitted to; None for all"""

    def complete(self) -> Table:
        """The table without the rows that lack a number."""
        columns = {name: each[self.scored] for name, each in self.table.columns.items()}
        return replace(self.table, columns=columns)

    def about(self) -> dict[str, Any]:
        """Where the points come from, for JSON."""
        return {
            "source": self.table.source,
            "columns": self.names,
            "target": self.target,
            "left_out": self.left_out or {},
            "skipped_rows": len(self.table) - len(self.X),
        }

    @property
    def target(self) -> str | None:
        """The column that the others explain, for families of such laws."""
        found = {each.target for each in self.families if hasattr(each, "target")}
        return self.names[found.pop()] if len(found) == 1 else None

    def print_columns(self, output: Output) -> None:
        """Name the target, and the columns that are not used with the reason."""
        if self.target is not None:
            output.say(f"target      {self.target}")
        each = [f"{name} ({reason})" for name, reason in (self.left_out or {}).items()]
        if each:
            more = f", and {len(each) - _NAMED} more" if len(each) > _NAMED else ""
            output.say("left out    " + ", ".join(each[:_NAMED]) + more)


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
    group.add_argument(
        "--thousands", metavar="MARK",
        help="mark between groups of three digits in a text file, 'space' for a space (default: "
        "detected where a number has this and a decimal mark)",
    )  # fmt: skip
    group.add_argument(
        "--na-values", metavar="TEXTS",
        help="cells of a text file that lack a number, separated by commas, such as "
        "--na-values=-,? (default: empty cells, NA, nan, null and the like)",
    )  # fmt: skip
    group.add_argument("--array", metavar="NAME", help="name of the array in a .npz or .mat file")
    group.add_argument("--sheet", metavar="NAME", help="name of the sheet in an Excel file")
    group.add_argument(
        "--sql", metavar="QUERY",
        help="the rows of a query; FILE is the URL of a database, or an SQLite file",
    )  # fmt: skip
    group.add_argument(
        "--dates", choices=("seconds", "minutes", "hours", "days", "years"),
        help="take dates as numbers: the time since 1970 in this unit (default: leave them out)",
    )  # fmt: skip
    group.add_argument(
        "--missing", choices=("error", "skip"), default="error",
        help="rows that lack a number are an error, or are skipped: they stay in the output "
        "without a score (default: %(default)s)",
    )  # fmt: skip


def add_groups(parser: argparse.ArgumentParser, what: str = "") -> None:
    """what: the help, where models are not drawn within groups."""
    parser.add_argument(
        "--groups", metavar="COLUMN",
        help=what
        or "draw the samples that models are fitted to within groups of rows, those with the same "
        "value in this column; the column itself is left out",
    )  # fmt: skip


def read_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `read_table`."""
    return {name: getattr(args, name) for name in _READING}


def read_points(
    args: argparse.Namespace,
    families: Sequence[ModelFamily],
    columns: list[str] | None,
    to_fit: bool = True,
    prepare: Callable[[Table], tuple[Table, list[str] | None]] | None = None,
) -> Points:
    """The points of the file, in the columns of that name or in those that the families take.

    to_fit: check that there are enough points to fit the families; prepare: adds columns to the
    table, and names those of the points.
    """
    from ..._columns import naming_columns
    from ..._validation import check_family_fits
    from ...families.scaled import without_constants
    from ...io.tables import left_out, pick_columns, read_table
    from ...io.tables.table import check_orientation

    report_progress("reading")
    whole = read_table(args.file, **read_options(args))
    if columns is None:
        check_orientation(whole)
    told = columns is not None
    if prepare is not None:
        whole, columns = prepare(whole)
    groups = _groups(whole, getattr(args, "groups", None))
    table = numbers_of(whole, args)
    target = _target_name(args, families)
    if columns is None:
        picked = _pick(table, families, args, target)
    else:
        picked = pick_columns(table, columns, families, target)
    families = _with_target(families, picked, target)
    scored = ~table.missing(picked)
    if args.missing == "error":
        table.check_complete(picked)
    least = 2 if to_fit else 1
    if scored.sum() < least:
        rows = f"{int(scored.sum())} row{'' if scored.sum() == 1 else 's'}"
        complete = " in which no number is missing" if len(scored) > scored.sum() else ""
        raise ValueError(f"{table.source} has {rows}{complete}, at least {least} are needed.")
    X = table.numbers(picked)[scored]
    with naming_columns(picked):
        for each in families if to_fit else ():
            check_family_fits(without_constants(each, X), X)
    # The format of a scan defines which columns are its points.
    reasons = None if told or picked == list(table.points) else left_out(table, picked)
    if reasons and groups is not None:
        reasons[args.groups] = "groups"
    groups = None if groups is None else groups[scored]
    return Points(whole, picked, X, table.rows[scored], scored, families, reasons, groups)


def numbers_of(table: Table, args: argparse.Namespace) -> Table:
    """The table with dates as numbers, if asked."""
    from ...io.tables.dates import dates_as_numbers

    return table if args.dates is None else dates_as_numbers(table, args.dates)


def _target_name(args: argparse.Namespace, families: Sequence[ModelFamily]) -> str | None:
    """The name of --option target=NAME; None if there is none, or it is a number."""
    name = dict(getattr(args, "option", ())).get("target")
    has_target = any(hasattr(each, "target") for each in families)
    return name if isinstance(name, str) and has_target else None


def _with_target(
    families: Sequence[ModelFamily], picked: list[str], target: str | None
) -> list[ModelFamily]:
    """The families with the number of the target's column."""
    if target is None:
        return list(families)
    at = picked.index(target)
    found: list[Any] = list(families)
    return [replace(each, target=at) if hasattr(each, "target") else each for each in found]


def _pick(
    table: Table, families: Sequence[ModelFamily], args: argparse.Namespace, target: str | None
) -> list[str]:
    """The columns that suit the families."""
    from ...io.tables import pick_columns
    from ...io.tables.columns import of_earlier_run

    check_text_columns(table)
    # The file may be the output of an earlier run: scores are not coordinates.
    unused: set[Any] = {getattr(args, "groups", None)}
    unused |= of_earlier_run(table)
    used = table.select([name for name in table.names if name not in unused])
    return pick_columns(used, None, families, target)


def _groups(table: Table, name: str | None) -> Ints | None:
    """(n,) numbers of the groups of a column; a missing value is a group too."""
    import numpy as np

    if name is None:
        return None
    table.check_names([name])
    cells = ["" if cell is None else str(cell) for cell in table.columns[name].tolist()]
    return np.unique(cells, return_inverse=True)[1]


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
        _warn_of_units(table, name, cells)
        if 2 * sum(_is_number(cell, table.marks) for cell in cells) >= len(cells):
            way_out = "Correct it"
        elif 2 * sum(map(_are_numbers, cells)) >= len(cells):
            way_out = "Give the format of the file (--delimiter, --decimal)"
        else:
            continue
        try:
            table.numbers([name])
        except ValueError as error:
            raise ValueError(f"{error} {way_out}, or select the columns with --columns.") from None


def _warn_of_units(table: Table, name: str, cells: list[Any]) -> None:
    """Warn that a column is left out that holds amounts of money or percentages."""
    from ..._validation import warn_user

    share = sum(_AMOUNT.fullmatch(str(cell).strip()) is not None for cell in cells) / len(cells)
    if share >= _NEARLY_ALL:
        warn_user(
            f"{table.source}: column {name!r} is left out as text: its cells, such as "
            f"{str(cells[0]).strip()!r}, are numbers with a sign. Remove it to use the column."
        )


def _is_number(cell: Any, marks: Any = None) -> bool:
    from ...io.tables.table import number

    try:
        number(cell, *([] if marks is None else [marks]))
    except (ValueError, TypeError):
        return False
    return True


def _are_numbers(cell: Any) -> bool:
    """Whether a cell holds several numbers, which a wrong delimiter causes."""
    parts = [part for part in re.split(r"[\s,;|]", str(cell)) if part]
    return len(parts) > 1 and all(map(_is_number, parts))
