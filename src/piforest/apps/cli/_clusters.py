"""`piforest score --dask`: a folder of Parquet files on a cluster."""

from __future__ import annotations

import argparse
import hashlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._input import missing_note
from ._output import NOTHING_FLAGGED, Output, StatusLine

if TYPE_CHECKING:
    from ...io.tables import Table
    from ..folder import Report

_WIDE = 30
_LOGGING_OF_WORKERS = "distributed.nanny.pre-spawn-environ.DASK_DISTRIBUTED__LOGGING__DISTRIBUTED"
_TEXT_OPTIONS = (
    "delimiter",
    "header",
    "decimal",
    "thousands",
    "na_values",
    "array",
    "sheet",
    "sql",
    "dates",
)


def add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dask", metavar="ADDRESS",
        help="score a folder of Parquet files on a Dask cluster: FILE and --out are folders that "
        "all workers can access, ADDRESS is that of the scheduler, such as tcp://host:8786, or "
        "'local' for --jobs processes on this machine. A second run skips finished files",
    )  # fmt: skip


def score_on_cluster(
    args: argparse.Namespace,
    output: Output,
    detector: Any,
    pick: Callable[[Table], list[str]],
) -> int:
    """Score a folder; returns the exit code, 1 if a file failed.

    pick: selects the columns of the points in a table.
    """
    source, out = Path(args.file), args.out
    _check(args)
    from ...engines.dask import connect
    from ..folder import score_folder

    names = _columns(source, pick)
    start = time.perf_counter()
    with _quiet_dask(), ExitStack() as stack:

        def client() -> Any:
            workers = None if args.jobs == -1 else args.jobs
            found = stack.enter_context(connect(args.dask, workers))
            line.clear()
            _print_cluster(output, found)
            return found

        line = StatusLine(output)
        report = score_folder(
            detector, source, out, client, names, model=_fingerprint(args.model),
            skip_missing=args.missing == "skip", force=output.force,
            watch=lambda report: line.show(_progress(report)),
        )  # fmt: skip
        line.clear()
    _print_summary(args, output, detector, names, report, time.perf_counter() - start)
    return 1 if report.failed else 0


def _check(args: argparse.Namespace) -> None:
    if args.out is None:
        raise ValueError("--dask needs --out, the folder for the scored files.")
    for name in _TEXT_OPTIONS:
        if getattr(args, name) is not None:
            raise ValueError(
                f"--dask takes Parquet files, which have no --{name.replace('_', '-')}; omit it."
            )


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Silence the log of Dask, also in processes that it starts: failed files are reported here."""
    import dask.config
    import distributed  # sets the levels of its loggers

    loggers = [logging.getLogger(name) for name in (distributed.__name__, "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with dask.config.set({_LOGGING_OF_WORKERS: "critical"}):
            yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)


def _columns(folder: Path, pick: Callable[[Table], list[str]]) -> list[str]:
    """The columns of the first file that has them; the other files must have the same."""
    from ...io.tables import parquet
    from ..folder import parquet_files

    failures = []
    for name in parquet_files(folder):
        try:
            return pick(parquet.read_group(folder / name, 0, 0, 1))
        except ValueError as error:
            failures.append(error)
    raise ValueError(f"none of {len(failures)} files can be scored; the first: {failures[0]}")


def _fingerprint(model: Path) -> str:
    return hashlib.blake2b(model.read_bytes(), digest_size=16).hexdigest()


def _print_cluster(output: Output, client: Any) -> None:
    threads = client.nthreads().values()
    numbers = {"worker": len(threads), "thread": sum(threads)}
    parts = (f"{count} {name}{'' if count == 1 else 's'}" for name, count in numbers.items())
    output.say(f"cluster     {', '.join(parts)}")
    output.say(f"dashboard   {client.dashboard_link}")


def _progress(report: Report) -> str:
    """The number of finished files, with a bar."""
    filled = _WIDE * report.seen // report.files
    bar = "#" * filled + "." * (_WIDE - filled)
    return f"[{bar}] {report.seen:,} of {report.files:,} files, {report.counts.rows:,} rows"


def _print_summary(
    args: argparse.Namespace,
    output: Output,
    detector: Any,
    names: list[str],
    report: Report,
    seconds: float,
) -> None:
    rows, skipped, anomalies = report.counts
    n, threshold = rows - skipped, float(detector.threshold_)
    before = f"; {len(report.skipped):,} were finished before" if report.skipped else ""
    note = missing_note(skipped, "more lacks a number", "more lack a number")
    output.say(f"files       {len(report.done):,} of {report.files:,} scored{before}")
    output.say(f"rows        {n:,} in columns {', '.join(names)}{note}")
    output.say(f"model       {args.model}, a {type(detector).__name__}")
    if detector.threshold_source_ in NOTHING_FLAGGED:
        output.say(NOTHING_FLAGGED[detector.threshold_source_].format(n=n))
    else:
        output.say(f"anomalies   {anomalies:,} of {n:,} score above {threshold:.3f}")
    output.say(f"time        {seconds:.2f} s, {n / seconds:,.0f} rows a second")
    if report.done:
        output.say(f"\nwrote {args.out}")
    output.result(
        {
            "source": args.file,
            "model": str(args.model),
            "class": type(detector).__name__,
            "columns": names,
            "files": report.files,
            "done": sorted(report.done),
            "skipped": sorted(report.skipped),
            "failed": dict(sorted(report.failed.items())),
            "rows": rows,
            "skipped_rows": skipped,
            "threshold": threshold,
            "threshold_source": detector.threshold_source_,
            "anomalies": anomalies,
            "seconds": seconds,
            "written": {"out": str(args.out)},
        }
    )
    for name, reason in sorted(report.failed.items()):
        print(f"piforest: {name} failed: {reason}", file=sys.stderr)
