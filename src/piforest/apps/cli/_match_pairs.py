"""`piforest matches` of many pairs: a COLMAP database, matches of hloc, a folder of images."""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._progress import report_progress
from ._cameras import CALIBRATED, given_cameras
from ._match_pair import RATIO
from ._options import UsageError
from ._output import Output, StatusLine
from ._writing import check_rows, with_default_suffix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...io.tables import Table
    from ...vision.journal import Journal
    from ...vision.pairs import PairOptions, PairResult

# The printed table shows this many pairs, those with the smallest share of kept matches.
_PRINTED = 10
_UNFINISHED = ".unfinished"


class _Run(NamedTuple):
    """The pairs to examine, and how."""

    file: Any
    pairs: list[tuple[str, str]]
    options: PairOptions
    journal: Journal | None


def run_many(args: argparse.Namespace, output: Output) -> None:
    check_rows(args)
    if args.out is not None:
        args.out = with_default_suffix(args.out, "matches.csv")
    output.check_new(args.out, args.table)
    start = time.perf_counter()
    with _prepared(args) as run:
        _check_written(args, run.file)
        output.say(f"pairs       {len(run.pairs):,} of {args.inputs[0]}")
        if args.inputs[0].is_dir():
            run.file.extract(args.jobs)
        results = _examined(args, output, run)
        written = _write(args, run, results)
        if run.journal is not None:
            run.journal.remove()
    output.keep(args=args, pairs=results)
    _print(output, results, time.perf_counter() - start)
    rows = [_plain(each.row()) for each in results]
    output.finish({"source": str(args.inputs[0]), "pairs": rows}, written)


@contextmanager
def _prepared(args: argparse.Namespace) -> Iterator[_Run]:
    """The run, with the folder of its finished pairs beside the first output."""
    from ...io.matches import open_matches
    from ...vision.folder import ImageFolder

    source = args.inputs[0]
    options = pair_options(args)
    target = args.inputs[0] if args.in_place else args.out or args.table
    journal = None
    if target is not None:
        journal = _journal(args, options, target)
    try:
        if not source.is_dir():
            file = open_matches(source, keypoints=args.keypoints)
            _check_cameras(args, options, file)
            yield _Run(file, file.pairs(), options, journal)
            return
        with tempfile.TemporaryDirectory() as scratch:
            images = ImageFolder(
                source, Path(scratch) if journal is None else journal.folder,
                features=args.features or "sift", ratio=args.ratio or RATIO,
                mutual=not args.no_mutual, masks=args.masks, focal=args.focal,
                max_size=args.max_size,
            )  # fmt: skip
            sequence = args.pairs == "sequence"
            pairs = images.sequence(args.overlap or 1) if sequence else images.pairs()
            yield _Run(images, pairs, options, journal)
    finally:
        if journal is not None:
            journal.remove_if_empty()


def pair_options(args: argparse.Namespace) -> PairOptions:
    """How to examine each pair."""
    from ...vision.pairs import PairOptions

    if len(args.family) > 1:
        raise UsageError("--family must be one for many pairs.")
    cameras = given_cameras(args)
    if len(cameras) > 1:
        raise UsageError("many pairs have one camera for all images: give one.")
    return PairOptions(
        args.family[0], tuple(args.option), args.sigma, args.contamination,
        args.false_alarm_rate,
        args.models or "auto", args.trees, bool(args.quality), args.keep, args.least, args.seed,
        cameras[0] if cameras else None,
    )  # fmt: skip


def _journal(args: argparse.Namespace, options: PairOptions, target: Path) -> Any:
    """The folder beside an output that the finished pairs are kept in."""
    from dataclasses import asdict

    from ... import __version__
    from ...io.atomic import is_device
    from ...vision.journal import Journal

    if is_device(target):
        return None
    inputs = [args.inputs[0], *([args.keypoints] if args.keypoints else [])]
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns)
              for path in inputs if path.exists()]  # fmt: skip
    how = {name: str(getattr(args, name)) for name in
           ("features", "ratio", "no_mutual", "masks", "focal", "max_size")}  # fmt: skip
    run = {"version": __version__, "inputs": states, "options": asdict(options), **how}
    return Journal(target.with_name(target.name + _UNFINISHED), run, args.force)


def _check_cameras(args: argparse.Namespace, options: PairOptions, file: Any) -> None:
    from ..._validation import warn_user

    if args.focal is not None:
        raise UsageError("--focal is for images; a file of matches takes --K or --calibration.")
    guessed = getattr(file, "focal_is_guessed", None)
    if options.family in CALIBRATED and options.camera is None and guessed is not None:
        names = sorted({name for pair in file.pairs() for name in pair})
        lost = [name for name in names if guessed(name)]
        if lost:
            warn_user(
                f"{file.path}: the focal length of {len(lost)} of {len(names)} images is a guess "
                f"of COLMAP, not known, the first of {lost[0]}; E, R and t depend on it."
            )


def _check_written(args: argparse.Namespace, file: Any) -> None:
    """Raise an error before the work if an output cannot be written."""
    from ...io.matches import LAYOUTS
    from ._writing import dry_run_write

    if args.out is not None:
        if args.out.suffix.lower() in LAYOUTS:
            file.check_writable(args.out)
        else:
            dry_run_write(args.out, _all_matches([_example()]), lambda row: row)
    if args.table is not None:
        dry_run_write(args.table, _table_of([_example()]), lambda row: row)


def _example() -> PairResult:
    import numpy as np

    from ...vision.pairs import PairResult

    return PairResult("a", "b", np.zeros((1, 4)), np.ones(1, bool), np.ones(1), np.zeros(1, int), 1)


def _examined(args: argparse.Namespace, output: Output, run: _Run) -> list[PairResult]:
    from ...vision.pairs import run_pairs

    status, results = StatusLine(output), []
    for k, each in enumerate(run_pairs(run.file, run.pairs, run.options, args.jobs, run.journal)):
        status.show(f"{k + 1:,} of {len(run.pairs):,} pairs")
        report_progress("pairs", (k + 1) / len(run.pairs))
        results.append(each)
    status.clear()
    if not results:
        raise ValueError(f"{args.inputs[0]} holds no pairs of images with matches.")
    return results


def _write(args: argparse.Namespace, run: _Run, results: list[PairResult]) -> dict[str, str]:
    from ...io.matches import LAYOUTS
    from ...io.tables import write_table

    written: dict[str, str] = {}
    verdicts = {each.pair: each.verdict() for each in results}
    if args.in_place:
        run.file.write_in_place(verdicts)
        written["in_place"] = str(args.inputs[0])
    if args.out is not None:
        if args.out.suffix.lower() in LAYOUTS:
            run.file.write(args.out, verdicts)
        else:
            write_table(args.out, _all_matches(results))
        written["out"] = str(args.out)
    if args.table is not None:
        write_table(args.table, _table_of(results))
        written["table"] = str(args.table)
    return written


def _table_of(results: Sequence[PairResult]) -> Table:
    """One row for each pair."""
    import numpy as np

    from ...io.tables import Table

    rows = [each.row() for each in results]
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        text = isinstance(values[0], str)
        column = np.array(values, object) if text else np.array(values)
        columns[name] = np.ma.masked_invalid(column) if column.dtype.kind == "f" else column
    return Table(columns, "pairs")


def _all_matches(results: Sequence[PairResult]) -> Table:
    """One row for each match of all pairs."""
    import numpy as np

    from ...io.matches import MATCH
    from ...io.tables import Table

    columns: dict[str, Any] = {
        name: np.array([getattr(each, name) for each in results for _ in each.kept], object)
        for name in ("image1", "image2")
    }
    X = np.concatenate([each.X for each in results])
    columns |= dict(zip(MATCH, X.T))
    scores = np.concatenate([each.scores for each in results])
    columns["score"] = np.ma.masked_invalid(scores)
    columns["anomaly"] = ~np.concatenate([each.kept for each in results])
    columns["structure"] = np.concatenate([each.labels for each in results])
    distances = [np.full(len(each.X), np.nan) if each.distances is None else each.distances
                 for each in results]  # fmt: skip
    columns["distance"] = np.ma.masked_invalid(np.concatenate(distances))
    return Table(columns, "matches", points=MATCH)


def _print(output: Output, results: list[PairResult], seconds: float) -> None:
    matches = sum(len(each.kept) for each in results)
    kept = sum(int(each.kept.sum()) for each in results)
    none = [each for each in results if each.geometry == "none"]
    share = 100 * kept / max(1, matches)
    output.say(f"kept        {kept:,} of {matches:,} matches ({share:.3g} %)")
    output.say(f"geometry    {_counted([each.geometry for each in results])}")
    if none:
        output.say(f"            none: {_counted([each.note for each in none])}")
    output.say(f"time        {seconds:.2f} s")
    output.say("\npairs with the smallest share of kept matches")
    order = sorted(range(len(results)), key=lambda k: _share(results[k]))[:_PRINTED]
    rows = [_plain(results[k].row()) for k in order]
    shown = ("image1", "image2", "matches", "kept", "motions", "geometry", "note")
    for line in _aligned([{name: row[name] for name in shown} for row in rows]):
        output.say(line)


def _share(result: PairResult) -> float:
    return float(result.kept.mean()) if len(result.kept) else 0.0


def _counted(values: list[str]) -> str:
    """How often each value occurs."""
    plain = [value.partition(":")[0] for value in values]
    kinds = sorted(set(plain), key=lambda kind: -plain.count(kind))
    return ", ".join(f"{plain.count(kind):,} {kind}" for kind in kinds)


def _aligned(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as an aligned table, text to the left."""
    lines = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    numeric = [not isinstance(value, str) for value in rows[0].values()]
    return [
        ("  " + "  ".join(
            cell.rjust(w) if right else cell.ljust(w)
            for cell, w, right in zip(line, widths, numeric)
        )).rstrip()
        for line in lines
    ]  # fmt: skip


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """None for what is not a number, as JSON has it."""
    return {name: None if value != value else value for name, value in row.items()}
