"""What the commands that detect write: scores, a report, a picture, the model."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io.atomic import is_device
from ._options import file, page, picture
from ._output import Output

if TYPE_CHECKING:
    from ...io.tables import Table
    from ._detecting import Found
    from ._input import Points


def add_outputs(
    parser: argparse.ArgumentParser,
    out: str,
    plot: str = "a picture of the scores",
    flag: str = "--plot",
) -> None:
    """out, plot: what the help says; flag: what the picture's option is called."""
    group = parser.add_argument_group("output")
    group.add_argument("--out", type=file, metavar="FILE", help=out)
    group.add_argument(
        "--report", type=page, metavar="FILE", help="an interactive page, .html, in one file"
    )
    group.add_argument(
        flag, type=picture, metavar="FILE", dest="plot", help=f"{plot}, .png, .svg or .pdf"
    )
    group.add_argument(
        "--model", type=file, metavar="FILE", help="the fitted model, for `piforest score`"
    )


def check_outputs(args: argparse.Namespace, output: Output) -> None:
    """Say before the work what could not be written after it."""
    output.check_new(args.out, args.report, args.plot, args.model)
    if args.plot is not None:
        check_installed("matplotlib", "pictures need matplotlib: pip install 'piforest[plots]'")


def check_installed(module: str, message: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise ImportError(message)


def out_like(out: Path | None, source: str) -> Path | None:
    """The path to write to: with the ending of the file that was read where it has none."""
    if out is None or out.suffix or is_device(out):
        return out
    return out.with_suffix(Path(source).suffix or ".csv")


def rehearse(path: Path | None, table: Table, added: Callable[[Table], Table]) -> None:
    """Write one row elsewhere, so that what the format cannot hold is said before the work.

    added: what gives a table its new columns.
    """
    from tempfile import TemporaryDirectory

    from ...io.tables import check_columns, write_table, written_suffix

    if path is None:
        return
    check_columns(path, table)
    with TemporaryDirectory() as folder:
        place = Path(folder) / f"row{written_suffix(path, table)}"
        try:
            write_table(place, added(_first_row(table)))
        except ValueError as error:
            raise ValueError(str(error).replace(str(place), str(path))) from error


def _first_row(table: Table) -> Table:
    """One row, without the other parts of a scan."""
    form: Any = table.form
    for part, less in (("points", slice(1)), ("others", slice(0))):
        if hasattr(form, part):
            form = replace(form, **{part: getattr(form, part)[less]})
    columns = {name: each[:1] for name, each in table.columns.items()}
    return replace(table, columns=columns, form=form)


def conclude(
    args: argparse.Namespace,
    output: Output,
    points: Points,
    found: Found,
    *,
    about: dict[str, Any],
    table: Callable[[], Table],
    draw: Callable[[Path], None],
    images: Any = None,
) -> None:
    """Write all that was asked for, and say so. about: what JSON has beside the answer; table:
    what --out gets; draw: what --plot gets; images: those that the points are matches of."""
    from ...io.tables import score_names, write_table

    written = {
        name: str(getattr(args, name))
        for name in ("out", "plot", "report", "model")
        if getattr(args, name) is not None
    }
    if args.out is not None:
        write_table(args.out, table())
        about = {**about, "score_columns": list(score_names(points.table))}
    if args.plot is not None:
        draw(args.plot)
    if args.report is not None:
        _write_report(args, points, found, images)
    if args.model is not None:
        found.detector.save(args.model, feature_names=points.names)
    if written:
        output.say("\nwrote " + ", ".join(written.values()))
    top = [_with_numbers(row, points.table.decimal) for row in found.answer["most_anomalous"]]
    output.result({**about, **found.answer, "most_anomalous": top, "written": written})


def _with_numbers(row: dict[str, Any], decimal: str) -> dict[str, Any]:
    """One of the rows with numbers in place of text, where it is such a number."""
    values = {name: _value(value, decimal) for name, value in row["values"].items()}
    return {**row, "values": values}


def _value(value: Any, decimal: str) -> Any:
    text = value.strip().replace(decimal, ".") if isinstance(value, str) else ""
    # 007 is a name.
    if not re.fullmatch(r"[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d{1,3})?", text):
        return value
    number = float(text)
    return value if math.isinf(number) else int(text) if text.lstrip("+-").isdigit() else number


def _write_report(args: argparse.Namespace, points: Points, found: Found, images: Any) -> None:
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
        seconds=found.answer["seconds"],
    )
