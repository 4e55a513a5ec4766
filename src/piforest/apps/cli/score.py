"""`piforest score`."""

from __future__ import annotations

import argparse
import heapq
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._progress import report_progress
from ...io.remote import shown
from ._clusters import add_cluster, score_on_cluster
from ._input import add_table, check_text_columns, missing_note, numbers_of, read_options
from ._options import add_common, auto_or_share, file, file_or_stream
from ._output import Output, StatusLine
from ._writing import add_rows, check_rows, dry_run_write, with_default_suffix

if TYPE_CHECKING:
    from ...io.tables import Table

HELP = "score new rows with a saved model"
DESCRIPTION = (
    "Score the rows of a file with a model of `piforest detect --model` or `detector.save`, and "
    "write the scores beside the columns of the file. The file is processed in blocks, so it may "
    "be larger than memory."
)
# Rows that are read, scored and written at once.
_ROWS = 16_384
_TOP, _BAR = 10, 30


def add(parser: argparse.ArgumentParser) -> None:
    add_table(
        parser,
        "rows like the training rows of the model; formats as in `piforest detect`; - reads text "
        "from standard input",
    )
    parser.add_argument(
        "--model", type=file, required=True, metavar="MODEL", help="the model, a .pif file"
    )
    parser.add_argument(
        "--threshold", type=auto_or_share, default="auto", metavar="SCORE",
        help="flag rows that score above this, between 0 and 1 (default: that of the model)",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=file_or_stream, metavar="FILE",
        help="the rows of FILE with the columns score, anomaly (1 or 0), structure (its number, "
        "-1 for none) and distance to it in its sigmas; the suffix gives the format (default: that "
        "of FILE)",
    )  # fmt: skip
    add_rows(parser)
    add_cluster(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    from ...estimators import load
    from ...structures.assignment import structures_to_assign

    check_rows(args)
    if args.dask is None:
        if Path(args.file).is_dir():
            raise IsADirectoryError(
                f"{args.file} is a folder, not a file; score a folder of Parquet files with "
                "--dask local --out FOLDER."
            )
        args.out = with_default_suffix(args.out, args.file)
        output.check_new(args.out)
    detector = load(args.model).set_params(device=args.device, n_jobs=args.jobs, verbose=0)
    if args.threshold != "auto":
        detector.set_threshold(args.threshold)
    # The detector gets plain arrays; columns are selected by name here.
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    # The summary counts them in all blocks.
    warnings.filterwarnings("ignore", ".* outside the ranges in which the model was fitted")
    fitted = [str(name) for name in getattr(detector, "feature_names_in_", [])] or None
    if args.dask is not None:
        pick = partial(_columns, args, detector=detector, fitted=fitted)
        return score_on_cluster(args, output, detector, pick)
    report_progress("scoring")
    start, structures = time.perf_counter(), structures_to_assign(detector)
    with ExitStack() as stack:
        tally = _Tally(float(detector.threshold_), output, args.rows)
        writer = None
        for block, names in _blocks(args, detector, fitted):
            if tally.rows == 0 and args.out is not None:
                writer = _open(stack, args.out, block, tally.threshold, structures is not None)
            _score(args, output, detector, structures, block, names, tally, writer)
        tally.line.clear()
        if tally.rows == tally.skipped:
            raise ValueError(f"{args.file}: every row lacks one of {', '.join(tally.names)}.")
    _print_summary(args, output, detector, tally, time.perf_counter() - start)
    return 0


def _blocks(
    args: argparse.Namespace, detector: Any, fitted: list[str] | None
) -> Iterator[tuple[Table, list[str]]]:
    """The blocks of the file, and the columns of the points."""
    from ...io.tables import read_ahead

    names = None
    for block in read_ahead(args.file, _ROWS, **read_options(args)):
        if names is None:
            names = _columns(args, numbers_of(block, args), detector, fitted)
        yield block, names


def _columns(
    args: argparse.Namespace, table: Table, detector: Any, fitted: list[str] | None
) -> list[str]:
    """The columns of --columns; else those of the model; else the numeric ones."""
    from ...io.tables import pick_columns

    wanted = args.columns
    if wanted is None and fitted is not None:
        missing = [name for name in fitted if name not in table.names]
        if missing:
            raise ValueError(
                f"{args.model} was fitted to the columns {', '.join(fitted)}, and {table.source} "
                f"has no {', '.join(missing)}; its columns: {', '.join(table.names)}. Select "
                "others with --columns."
            )
        wanted = fitted
    if wanted is None:
        check_text_columns(table)
    return pick_columns(table, wanted, detector.n_features_in_)


def _open(stack: ExitStack, out: Any, block: Table, threshold: float, assigned: bool) -> Any:
    import numpy as np

    from ...io.tables import table_writer, with_scores

    def filled(table: Table) -> Table:
        one = np.ones(len(table))
        return with_scores(
            table, one, threshold, None, (one.astype(int), one, None) if assigned else None
        )

    dry_run_write(out, block, filled)
    return stack.enter_context(table_writer(out, filled(block)))


def _score(
    args: argparse.Namespace,
    output: Output,
    detector: Any,
    structures: Any,
    block: Table,
    names: list[str],
    tally: _Tally,
    writer: Any,
) -> None:
    from ...io.tables import score_names, with_scores
    from ...structures.assignment import assign_rows

    numbers = numbers_of(block, args)
    scored = ~numbers.missing(names)
    if args.missing == "error":
        numbers.check_complete(names)
    X = numbers.numbers(names)[scored]
    scores = detector.anomaly_score(X) if len(X) else X[:, 0]
    assigned = None
    if structures is not None:
        assigned = assign_rows(X, scores <= tally.threshold, structures)
    tally.source = block.source
    tally.add(names, X, scores, assigned, block.rows[scored], len(block))
    ranges = getattr(detector.fitted_, "ranges", None)  # windows have none
    tally.outside += 0 if ranges is None else ranges.count(X)
    tally.show(block.total)
    if block.total:
        report_progress("scoring", tally.rows / block.total)
    output.keep(
        args=args,
        detector=detector,
        block=block,
        scored=scored,
        X=X,
        scores=scores,
        assigned=assigned,
    )
    if writer is not None:
        tally.score_names = list(score_names(block, 2 if assigned is None else 4))
        writer.write(with_scores(block, scores, tally.threshold, scored, assigned))


class _Tally:
    """The summary of all blocks, and the progress on a terminal."""

    def __init__(self, threshold: float, output: Output, keep_rows: bool) -> None:
        self.threshold, self.line = threshold, StatusLine(output)
        self.all: list[dict[str, Any]] | None = [] if keep_rows else None
        self.rows = self.skipped = self.anomalies = self.outside = 0
        self.names: list[str] = []
        self.score_names: list[str] = []
        self.source = ""
        self.top: list[dict[str, Any]] = []

    def add(
        self, names: list[str], X: Any, scores: Any, assigned: Any, rows: Any, total: int
    ) -> None:
        """Add the n scored rows of a block of `total` rows."""
        import numpy as np

        self.names = names
        self.rows += total
        self.skipped += total - len(X)
        self.anomalies += int((scores > self.threshold).sum())
        order = np.argsort(-scores, kind="stable")[:_TOP]
        best = [self._row(at, names, X, scores, assigned, rows) for at in order]
        self.top = heapq.nsmallest(
            _TOP, [*self.top, *best], key=lambda each: (-each["score"], each["row"])
        )
        if self.all is not None:
            each = range(len(X))
            self.all += [self._row(at, names, X, scores, assigned, rows) for at in each]

    def _row(
        self, at: int, names: list[str], X: Any, scores: Any, assigned: Any, rows: Any
    ) -> dict[str, Any]:
        """One row, as in JSON."""
        from ._summary import to_json

        score, values = float(scores[at]), dict(zip(names, X[at].tolist()))
        row = {"row": int(rows[at]), "score": score, "anomaly": score > self.threshold}
        if assigned is not None:
            row["structure"] = int(assigned.labels[at])
            row["distance"] = to_json(assigned.distances[at])
        return {**row, "values": values}

    def show(self, total: int | None) -> None:
        """Show the progress, with a bar if the total number of rows is known."""
        text = f"{self.rows:,} rows"
        if total is not None:
            text += f" of {total:,} [{'=' * (_BAR * self.rows // total):<{_BAR}}]"
        self.line.show(text)


def _print_summary(
    args: argparse.Namespace, output: Output, detector: Any, tally: _Tally, seconds: float
) -> None:
    from ..._ranges import outside_sentence
    from ._summary import anomalies_line, format_rows

    n = tally.rows - tally.skipped
    summary = {
        "source": tally.source,
        "model": str(args.model),
        "class": type(detector).__name__,
        "columns": tally.names,
        "rows": tally.rows,
        "skipped_rows": tally.skipped,
        "threshold": tally.threshold,
        "threshold_source": detector.threshold_source_,
        "anomalies": tally.anomalies,
        "outside_ranges": tally.outside,
        "seconds": seconds,
        "most_anomalous": tally.top,
        "score_columns": tally.score_names,
        "written": {} if args.out is None else {"out": shown(args.out)},
    }
    note = missing_note(tally.skipped, "more lacks a number", "more lack a number")
    columns = ", ".join(tally.names)
    output.say(f"rows        {n:,} in columns {columns} of {summary['source']}{note}")
    output.say(f"model       {args.model}, a {summary['class']}")
    source = detector.threshold_source_
    output.say(anomalies_line(tally.anomalies, n, tally.threshold, source))
    if tally.outside and detector.fitted_.ranges.matters(tally.outside, n):
        output.say(f"outside     {outside_sentence(tally.outside, n)}")
    output.say(f"time        {seconds:.2f} s, {n / seconds:,.0f} rows a second")
    output.say("\nmost anomalous rows")
    for line in format_rows(tally.top):
        output.say(line)
    if args.out is not None and not output.rows_on_stdout:
        output.say(f"\nwrote {shown(args.out)}")
    if tally.all is not None:
        summary["scored_rows"] = tally.all
    output.result(summary)
