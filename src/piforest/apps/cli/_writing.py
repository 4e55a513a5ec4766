"""The outputs of the commands that detect: scores, a report, a plot, the model."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._progress import report_progress
from ...io.atomic import is_device, is_standard_output
from ...io.remote import shown
from ._options import UsageError, file, file_or_stream, page, picture
from ._output import Output

if TYPE_CHECKING:
    from ...io.tables import Table
    from ...io.tables.table import Marks
    from ._detecting import Detection, DetectionTask
    from ._input import Points


# Options that name files to write, in the order of writing.
_OUTPUTS = ("out", "plot", "report", "model", "surfaces")


def add_outputs(
    parser: argparse.ArgumentParser,
    out: str,
    plot: str = "a plot of the scores",
    *old_flags: str,
) -> None:
    """Add the options of outputs. out, plot: their help; old_flags: other names of --plot."""
    group = parser.add_argument_group("output")
    group.add_argument("--out", type=file_or_stream, metavar="FILE", help=out)
    add_rows(group)
    group.add_argument(
        "--connected", action="store_true",
        help="split structures where there is a gap that their density does not explain, and write "
        "the number of the piece of each row in a column",
    )  # fmt: skip
    group.add_argument(
        "--report", type=page, metavar="FILE", help="an interactive report in one file, .html"
    )
    group.add_argument(
        "--plot", *old_flags, type=picture, metavar="FILE",
        help=f"{plot}, .png, .jpg, .svg or .pdf",
    )  # fmt: skip
    group.add_argument(
        "--model", type=file, metavar="FILE", help="the fitted model, for `piforest score`"
    )


def add_rows(group: Any) -> None:
    group.add_argument(
        "--rows", action="store_true", help="with --json: all rows too, each with its score"
    )


def check_rows(args: argparse.Namespace) -> None:
    if args.rows and not args.json:
        raise UsageError("--rows adds the rows to the JSON object: use it with --json.")


def check_outputs(args: argparse.Namespace, output: Output) -> None:
    """Raise an error before the work if an output cannot be written."""
    check_rows(args)
    output.check_new(*(getattr(args, name, None) for name in _OUTPUTS))
    if args.plot is not None:
        check_installed("matplotlib", "plots need matplotlib: pip install 'piforest[plots]'")


def check_installed(module: str, message: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise ImportError(message)


def with_default_suffix(out: Path | None, source: str) -> Path | None:
    """The path to write to; without a suffix it gets that of `source`."""
    if out is None or out.suffix or is_device(out):
        return out
    from ...io.tables import format_suffix

    return out.with_suffix(format_suffix(source))


def dry_run_write(path: Path | None, table: Table, added: Callable[[Table], Table]) -> None:
    """Write one row to a temporary file: raises before the work if the format cannot hold it.

    added: adds the new columns to a table.
    """
    from tempfile import TemporaryDirectory

    from ...io.tables import check_columns, write_table, written_suffix

    if path is None:
        return
    check_columns(path, table)
    if is_standard_output(path) and sys.stdout.isatty():
        _check_printable(written_suffix(path, table))
    with TemporaryDirectory() as folder:
        place = Path(folder) / f"row{written_suffix(path, table)}"
        try:
            write_table(place, added(_first_row(table)))
        except ValueError as error:
            raise ValueError(str(error).replace(str(place), str(path))) from error


def _check_printable(suffix: str) -> None:
    from ...io.tables import is_text

    if not is_text(suffix):
        raise ValueError(
            f"--out - would print a {suffix} file, which is no text, on the terminal: pipe it to a "
            "program or a file, or give --out a name."
        )


def _first_row(table: Table) -> Table:
    """The first row, without the other parts of a scan."""
    origin: Any = table.origin
    for part, less in (("points", slice(1)), ("others", slice(0))):
        if hasattr(origin, part):
            origin = replace(origin, **{part: getattr(origin, part)[less]})
    columns = {name: each[:1] for name, each in table.columns.items()}
    return replace(table, columns=columns, origin=origin)


def write_outputs(
    args: argparse.Namespace, output: Output, points: Points, found: Detection, task: DetectionTask
) -> None:
    """Write the output files of the options, and print their names."""
    from ...io.tables import score_names, write_table

    report_progress("writing")
    output.keep(args=args, points=points, found=found, images=task.images)
    written = {
        name: shown(getattr(args, name))
        for name in _OUTPUTS
        if getattr(args, name, None) is not None
    }
    about, threshold, assigned = task.about, found.summary["threshold"], found.assigned
    if args.out is not None and task.write is not None:
        task.write(args.out, found)
    elif args.out is not None:
        table = points.table
        scored = task.add_scores(table, found.scores, threshold, points.scored, assigned)
        write_table(args.out, scored)
        names = score_names(table, 4 if assigned.pieces is None else 5)
        about = {**about, "score_columns": list(names)}
    if args.plot is not None:
        task.draw(args.plot, found)
    if args.report is not None:
        _write_report(args, points, found, task.images)
    if args.model is not None:
        found.detector.save(args.model, feature_names=points.names)
    if written and not output.rows_on_stdout:
        output.say("\nwrote " + ", ".join(written.values()))
    marks = points.table.marks
    top = [_with_numbers(row, marks) for row in found.summary["most_anomalous"]]
    summary = {**about, **found.summary, "most_anomalous": top, "written": written}
    if args.rows:
        summary["scored_rows"] = [_with_numbers(row, marks) for row in found.rows()]
    output.result(summary)


def _with_numbers(row: dict[str, Any], marks: Marks) -> dict[str, Any]:
    """A row with numbers in place of texts of numbers."""
    values = {name: _value(value, marks) for name, value in row["values"].items()}
    return {**row, "values": values}


def _value(value: Any, marks: Marks) -> Any:
    from ...io.tables.table import number

    text = value.strip() if isinstance(value, str) else ""
    text = text.replace(marks.thousands, "").replace(marks.decimal, ".")
    # 007 is a name, not a number.
    if not re.fullmatch(r"[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d{1,3})?", text):
        return value
    try:
        found = number(value, marks)
    except ValueError:  # groups that are no groups of three digits
        return value
    return value if math.isinf(found) else int(text) if text.lstrip("+-").isdigit() else found


def _write_report(args: argparse.Namespace, points: Points, found: Detection, images: Any) -> None:
    from ...report import write_report

    write_report(
        args.report,
        found.detector,
        points.X,
        scores=found.scores,
        table=points.complete(),
        names=points.names,
        rows=points.rows,
        images=images,
        title=f"Anomalies of {points.table.source}",
        source=points.table.source,
        command=args.command_line,
        seconds=found.summary["seconds"],
    )
