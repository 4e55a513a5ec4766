"""`piforest series`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._progress import report_progress
from ._detecting import families_from
from ._input import add_table, numbers_of, read_options
from ._options import (
    UsageError,
    add_contamination,
    add_family_option,
    add_seed,
    add_sigma,
    count,
    file,
    names,
    names_given,
    picture,
    share,
)
from ._output import Output
from ._summary import diagnosis_of, say_diagnosis
from ._windows import (
    add_threads,
    add_threshold,
    add_window,
    check_outputs,
    window_summary,
    write_records,
)

if TYPE_CHECKING:
    from ...io.tables import Table
    from ...series.inspect import Run, SeriesResult

HELP = "find the anomalous stretches of a series of one or more channels"
DESCRIPTION = (
    "Find the rows of a series that are off what its channels do around them, by detectors in "
    "sliding windows, and write a picture and a table of the runs of such rows. Rows must be in "
    "the order of their times."
)
_SHOWN = 10
_RUN = ("start", "end", "rows", "peak", "score", "channel", "shift", "reason")


def add(parser: argparse.ArgumentParser) -> None:
    add_table(parser, "a table with a column of times and a column for each channel")
    parser.add_argument(
        "--time", required=True, metavar="NAME",
        help="the column of the times: numbers, or dates as in ISO 8601, taken in seconds",
    )  # fmt: skip
    group = parser.add_argument_group("detector")
    group.add_argument(
        "--family", type=names, metavar="NAME", default=["auto"],
        help="what the channels follow in a window: subspace, linear_regression, polynomial "
        "(default: subspace of dimension 1, or linear_regression on the time for one channel)",
    )  # fmt: skip
    add_family_option(group, "dimension=2")
    add_window(group, "the unit of the times")
    group.add_argument(
        "--reference", type=count, metavar="N",
        help="the first N rows are known to be normal: fit to them alone",
    )  # fmt: skip
    group.add_argument(
        "--smooth", type=count, metavar="N",
        help="rows of the running mean of depths (default: 1, with --reference 61)",
    )  # fmt: skip
    add_sigma(group, "noise in units of the spread of the channels")
    add_contamination(group, "anomalous rows")
    add_threshold(group)
    group.add_argument(
        "--reference-alarms", type=share, default=0.01, metavar="SHARE",
        help="share of the reference rows above the threshold (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--min-rows", type=count, default=1, metavar="N",
        help="runs with fewer rows are not listed (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", type=picture, metavar="FILE",
        help="the channels, the scores and the runs, .png, .jpg, .svg or .pdf",
    )  # fmt: skip
    group.add_argument(
        "--table", type=file, metavar="FILE",
        help="the runs, .csv or .json: start, end, peak, channel and reason",
    )  # fmt: skip
    group.add_argument(
        "--scores", type=file, metavar="FILE",
        help="the rows with score and anomaly, in any format of tables",
    )  # fmt: skip
    # `families_from` checks it.
    parser.set_defaults(false_alarm_rate=None)
    add_seed(parser)
    add_threads(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...io.tables import format_suffix
    from ...series.inspect import inspect_series

    check_outputs(args, output, {"table": (".csv", ".json")})
    if args.scores is not None:
        format_suffix(args.scores)
    if len(args.family) > 1:
        raise UsageError(f"--family: a series takes one family, got {', '.join(args.family)}.")
    if args.family == ["auto"] and args.option:
        raise UsageError("--option needs --family: which family is it an option of?")
    # The name alone has defaults that suit a series.
    family = families_from(args)[0] if args.option else args.family[0]
    start = time.perf_counter()
    whole, table, columns, used = read_channels(args)
    if getattr(args, "known_scores", None) is not None:
        found = _from_known_scores(
            args, table.numbers([args.time])[used, 0], columns, table.numbers(columns)[used]
        )
        output.keep(args=args, series=found, table=whole, used=used)
        write_found(args, found, whole, used)
        return
    found = inspect_series(
        table.numbers([args.time])[used, 0],
        table.numbers(columns)[used],
        names=columns,
        family=family,
        window=args.window,
        reference=args.reference,
        smooth=args.smooth or "auto",
        sigma=args.sigma,
        contamination=args.contamination,
        false_alarm_rate=args.reference_alarms,
        min_rows=args.min_rows,
        n_jobs=args.jobs,
        random_state=args.seed,
        verbose=output.verbose,
    )
    if args.threshold is not None:
        found = found.with_threshold(args.threshold)
    output.keep(args=args, series=found, table=whole, used=used)
    summary = _summary(args, found, whole, used, time.perf_counter() - start)
    _print(output, summary)
    written = write_found(args, found, whole, used)
    output.finish(summary, written)


def _from_known_scores(
    args: argparse.Namespace, times: Any, names: list[str], values: Any
) -> SeriesResult:
    """The result from the scores of an earlier run, which a program passes."""
    from ...series.inspect import SeriesResult, found_at
    from ...series.runs import gaps_of

    at = {"scores": args.known_scores, "threshold": args.threshold, "gaps": gaps_of(times),
          "reference": args.reference, "min_rows": args.min_rows}  # fmt: skip
    found = found_at(times, values, names, **at)
    # Plots and tables use neither the detector nor the smoothing.
    return SeriesResult(times, values, names, threshold_source="given", smooth=1, detector=None,  # type: ignore[arg-type]
                        **at, **found)  # fmt: skip


def read_channels(args: argparse.Namespace) -> tuple[Table, Table, list[str], Any]:
    """The table, the same with dates in seconds, the channels, and the rows that lack nothing."""
    from ...io.tables import read_table
    from ...io.tables.columns import of_earlier_run

    report_progress("reading")
    whole = read_table(args.file, **read_options(args))
    whole.check_names([args.time])
    args.dates = args.dates or "seconds"
    table = numbers_of(whole, args)
    if args.columns is None:
        unused = {args.time} | of_earlier_run(whole)
        columns = [name for name in whole.numeric() if name not in unused]
        if not columns:
            raise ValueError(f"{whole.source} has no numeric column beside {args.time!r}.")
    else:
        columns = args.columns
        table.check_names(columns)
        if args.time in columns:
            raise UsageError(f"--columns: {args.time!r} is the time, not a channel.")
    needed = [args.time, *columns]
    if args.missing == "error":
        table.check_complete(needed)
    return whole, table, columns, ~table.missing(needed)


def _summary(
    args: argparse.Namespace, found: SeriesResult, whole: Table, used: Any, seconds: float
) -> dict[str, Any]:
    """The result, as in JSON."""
    detector, times = found.detector, _times(args, whole, used)
    return {
        "source": Path(args.file).name,
        "time": args.time,
        "channels": [name for name in found.names if name not in found.constant],
        "constant": found.constant,
        "rows": len(found.times),
        "skipped_rows": len(used) - len(times),
        "gaps": [times[row] for row in found.gaps.tolist()],
        "family": detector.windows_[0].fitted.embedding.models[0].family.name,  # type: ignore[union-attr]
        "reference": args.reference,
        "smooth": found.smooth,
        **window_summary(detector),
        "threshold": float(found.threshold),
        "threshold_source": found.threshold_source,
        "anomalies": int(found.flagged.sum()),
        "runs": records_of(args, found, whole, used),
        "shorter_runs": found.n_shorter,
        "diagnosis": diagnosis_of(detector),
        "seconds": seconds,
    }


def _times(args: argparse.Namespace, whole: Table, used: Any) -> list[str]:
    return [str(cell) for cell in whole.columns[args.time][used].tolist()]


def records_of(
    args: argparse.Namespace, found: SeriesResult, whole: Table, used: Any
) -> list[dict[str, Any]]:
    """The runs, as in JSON."""
    times = _times(args, whole, used)
    return [_record(each, times, found) for each in found.runs]


def _record(run: Run, times: list[str], found: SeriesResult) -> dict[str, Any]:
    rows = slice(run.first, run.last + 1)
    peak = run.first + int(found.scores[rows].argmax())
    return {
        "start": times[run.first], "end": times[run.last], "rows": run.n_rows,
        "peak": times[peak], "score": run.score, "channel": run.channel, "shift": run.shift,
        "reason": run.reason,
    }  # fmt: skip


def _print(output: Output, summary: dict[str, Any]) -> None:
    skipped = summary["skipped_rows"]
    note = f"; {skipped:,} lack a number" if skipped else ""
    output.say(f"rows        {summary['rows']:,} of {summary['source']}{note}")
    output.say(f"channels    {', '.join(summary['channels'])}")
    if summary["constant"]:
        output.say(f"left out    {', '.join(summary['constant'])} (constant)")
    if summary["gaps"]:
        gaps = summary["gaps"]
        output.say(f"gaps        {len(gaps)}, the first before {gaps[0]}")
    sides = ", ".join(f"{side:.4g}" for side in summary["window_sides"])
    output.say(f"windows     {summary['windows']} of {sides}, {summary['family']}")
    output.say(f"sigma       {summary['sigma']:.4g} spreads, {summary['sigma_source']}")
    if summary["threshold_source"] == "no structure":
        output.say("runs        none: no window has a structure that stands out from chance")
    else:
        shorter = f"; {summary['shorter_runs']} shorter ones are not listed"
        output.say(
            f"runs        {len(summary['runs'])}, {summary['anomalies']:,} rows score above "
            f"{summary['threshold']:.3f} ({summary['threshold_source']})"
            + (shorter if summary["shorter_runs"] else "")
        )
    longest = sorted(summary["runs"], key=lambda each: -each["rows"])[:_SHOWN]
    for each in longest:
        output.say(f"  {each['start']} to {each['end']}, {each['rows']} rows: {each['reason']}")
    if len(summary["runs"]) > _SHOWN:
        output.say(f"  and {len(summary['runs']) - _SHOWN} shorter ones; see --table")
    output.say(f"time        {summary['seconds']:.2f} s")
    say_diagnosis(output, summary["diagnosis"])


def write_found(
    args: argparse.Namespace, found: SeriesResult, whole: Table, used: Any
) -> dict[str, str]:
    """Write the files of the options; return their names."""
    from ...io.tables import with_scores, write_table

    if args.out is not None:
        from ._series_picture import draw_series

        draw_series(args.out, found, args.time, args.reference)
    if args.table is not None:
        write_records(args.table, records_of(args, found, whole, used), _RUN)
    if args.scores is not None:
        write_table(args.scores, with_scores(whole, found.scores, found.threshold, used))
    return names_given(args, ("out", "table", "scores"))
