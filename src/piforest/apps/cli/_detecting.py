"""Shared by `detect`, `matches`, `cloud` and `explain`: a detector from options, and its result."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._progress import report_progress
from ._input import Points
from ._options import (
    UsageError,
    add_contamination,
    add_family_option,
    add_sigma,
    count,
    file,
    names,
    score,
    share,
)
from ._output import Output
from ._summary import print_summary, rows_as_json, summarize, with_pieces
from ._writing import dry_run_write, write_outputs

if TYPE_CHECKING:
    from ...estimators import PreferenceIsolationForest
    from ...io.tables import Table
    from ...proposals import Proposals
    from ...protocols import Floats, Ints, ModelFamily
    from ...structures.assignment import Assignment
    from ...typing import SamplerLike

_DEFAULTS = {"auto": "the one that the rows suggest, see `piforest suggest`"}


def add_detector(
    parser: argparse.ArgumentParser,
    family: str | None = None,
    instead: Any = None,
    scalable: bool = True,
) -> None:
    """Add the options of a detector. family: the default; "auto" if the rows suggest it. Without
    it, the option is required, or another one of the group `instead`. scalable: whether columns may
    have different units."""
    group = parser.add_argument_group("detector")
    instead = instead or group.add_mutually_exclusive_group(required=family is None)
    instead.add_argument(
        "--family", type=names, metavar="NAME", default=None if family is None else [family],
        help="the family of structures, or several separated by commas; see `piforest families`"
        + ("" if family is None else f" (default: {_DEFAULTS.get(family, family)})"),
    )  # fmt: skip
    instead.add_argument(
        "--functions", type=file, metavar="FILE",
        help="in place of --family: a Python file, which is run, with fit(points), "
        "residuals(X, params) and sample_size, see `piforest.families.from_functions`",
    )  # fmt: skip
    add_family_option(group)
    add_sigma(group, "noise of the structures in the units of the data")
    if scalable:
        group.add_argument(
            "--scale-columns", action=argparse.BooleanOptionalAction, default="auto",
            help="measure distances column by column, for columns in different units (default: "
            "only if these hide all structures)",
        )  # fmt: skip
    add_contamination(group, "anomalies")
    group.add_argument(
        "--false-alarm-rate", type=share, metavar="SHARE",
        help="in place of --contamination: the expected share of normal rows among the flagged "
        "ones, at most",
    )  # fmt: skip
    group.add_argument(
        "--threshold", type=score, metavar="SCORE",
        help="flag the rows that score above this, in place of a share",
    )  # fmt: skip
    group.add_argument(
        "--models", type=count, metavar="N",
        help="number of random models (default: 5,000 to 10,000)",
    )  # fmt: skip
    group.add_argument(
        "--trees", type=count, default=100, metavar="N",
        help="number of trees (default: %(default)s)",
    )  # fmt: skip


def _check_thresholds(args: argparse.Namespace) -> None:
    share = None if args.contamination == "auto" else args.contamination
    values = {"contamination": share, "false-alarm-rate": args.false_alarm_rate,
              "threshold": args.threshold}  # fmt: skip
    given = [f"--{name}" for name, value in values.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} both choose the threshold: give one.")


def families_from(args: argparse.Namespace) -> list[ModelFamily]:
    """The families of --family, each with the --option values that it has; none for auto."""
    _check_thresholds(args)
    from dataclasses import fields

    from ..._validation import unknown_name
    from ...families import get_family, list_families

    if getattr(args, "functions", None) is not None:
        from ._functions import family_of_file

        if args.option:
            raise UsageError("--option is of a named family; --functions has none.")
        return [family_of_file(args.functions)]
    if args.family == ["auto"]:
        if args.option:
            raise UsageError(
                "--option needs --family: the options of which family? A table has a target with "
                "--family linear_regression; without a family it is the last column."
            )
        return []
    for name in args.family:
        if name not in list_families():
            raise UsageError(str(unknown_name("--family", name, list_families())))
    given = dict(args.option)
    if isinstance(given.get("target"), str):
        given["target"] = -1  # `read_points` replaces it by the number of the named column
    if len(args.family) == 1:
        return [get_family(args.family[0], **given)]
    plain: dict[str, Any] = {name: get_family(name) for name in args.family}
    known = {name: {each.name for each in fields(family)} for name, family in plain.items()}
    for each in given:
        if not any(each in options for options in known.values()):
            raise ValueError(f"none of the families {', '.join(known)} has an option {each!r}.")
    return [
        get_family(name, **{each: value for each, value in given.items() if each in known[name]})
        for name in args.family
    ]


def detector_from(
    args: argparse.Namespace,
    families: Sequence[ModelFamily],
    output: Output,
    sampler: SamplerLike = "mixed",
) -> PreferenceIsolationForest:
    """A detector with the given options, not fitted."""
    from ...estimators import PreferenceIsolationForest

    return PreferenceIsolationForest(
        families[0] if len(families) == 1 else list(families),
        sigma=args.sigma,
        scale_columns=getattr(args, "scale_columns", "auto"),
        contamination=args.contamination,
        false_alarm_rate=args.false_alarm_rate,
        n_models=args.models or "auto",
        n_estimators=args.trees,
        sampler=sampler,
        device=args.device,
        n_jobs=args.jobs,
        random_state=args.seed,
        verbose=output.verbose,
    )


def fit_points(
    args: argparse.Namespace,
    families: Sequence[ModelFamily],
    output: Output,
    points: Points,
    proposals: Proposals | None = None,
) -> PreferenceIsolationForest:
    """A detector with the given options, fitted to the points; proposals: the comparison that chose
    the families, if none were given.

    A program that runs the command again, for further outputs, puts the detector into args.fitted,
    the scores into args.known_scores and the time that they took into args.known_seconds.
    """
    if getattr(args, "fitted", None) is not None:
        fitted: PreferenceIsolationForest = args.fitted
        return fitted if args.threshold is None else fitted.set_threshold(args.threshold)
    rows = slice(None) if points.fitted is None else points.fitted
    sampler: SamplerLike = "mixed"
    columns: dict[str, Any] = {}
    if points.quality is not None:
        sampler, columns = "weighted", {"quality": points.quality[rows]}
    elif points.groups is not None:
        sampler, columns = "grouped", {"groups": points.groups[rows]}
    detector = detector_from(args, families, output, sampler)
    detector.describe_input(points.names, proposals)
    detector.fit(points.X[rows], **columns)
    return detector if args.threshold is None else detector.set_threshold(args.threshold)


class Detection(NamedTuple):
    """A fitted detector, its scores and its summary."""

    detector: PreferenceIsolationForest
    scores: Floats
    """(n,) of the training points"""
    summary: dict[str, Any]
    """as in JSON"""
    numbers: Ints
    """(n,) row numbers in the file"""
    shown: Mapping[str, Any]
    """columns (n,) to show of a row"""
    assigned: Assignment
    """the structure of each point and the distance to it"""

    def rows(self) -> list[dict[str, Any]]:
        """All rows, as in JSON."""
        flagged = self.scores > self.summary["threshold"]
        order = range(len(self.scores))
        return rows_as_json(order, self.numbers, self.scores, flagged, self.shown, self.assigned)


@dataclass(frozen=True)
class DetectionTask:
    """What differs between `detect`, `cloud` and `matches`."""

    heading: str
    """the first line of the summary"""
    shown: Mapping[str, Any]
    """columns (n,) to show of a row"""
    about: dict[str, Any]
    """what JSON has beside the summary"""
    add_scores: Callable[..., Table]
    """(table, scores, threshold, scored, assigned) -> the table for --out"""
    draw: Callable[[Path, Detection], None]
    """writes the figure for --plot"""
    images: Any = None
    """those that the points are matches of"""
    proposals: Proposals | None = None
    """the comparison that chose the families"""
    describe: Callable[[Detection], Detection] = lambda found: found
    """adds to the summary"""
    write: Callable[[Path, Detection], None] | None = None
    """writes --out in place of the table"""
    after: Callable[[Detection], None] = lambda found: None
    """called when the points are scored, before anything is written"""


def detect_and_write(
    args: argparse.Namespace,
    output: Output,
    families: Sequence[ModelFamily],
    points: Points,
    task: DetectionTask,
) -> None:
    """Fit the points, print the summary and write the outputs."""
    import numpy as np

    one = np.ones(1)
    whole = one.astype(int)
    example = (whole, one, whole if args.connected else None)
    if task.write is None:
        dry_run_write(
            args.out,
            points.table,
            lambda row: task.add_scores(row, one, 0.5, one.astype(bool), example),
        )
    output.say(task.heading)
    points.print_columns(output)
    found = task.describe(_detect(args, output, families, points, task))
    print_summary(output, found.summary)
    task.after(found)
    write_outputs(args, output, points, found, task)


def _detect(
    args: argparse.Namespace,
    output: Output,
    families: Sequence[ModelFamily],
    points: Points,
    task: DetectionTask,
) -> Detection:
    from ...structures.assignment import assign_rows

    start = time.perf_counter()
    detector = fit_points(args, families, output, points, task.proposals)
    known = points.fitted is None and detector.findings_.has_scores
    scores = getattr(args, "known_scores", None)
    if scores is None:
        scores = detector.scores_ if known else detector.anomaly_score(points.X)
    detector.findings_.name_columns(points.names)
    report_progress("structures")
    # The structures are part of the result, and of its time.
    assigned = assign_rows(points.X, scores <= detector.threshold_, detector.structures_)
    pieces = None
    if args.connected:
        pieces = detector.findings_.pieces(detector.backend_)
        assigned = assigned._replace(pieces=pieces.of(points.X, assigned))
    seconds = getattr(args, "known_seconds", time.perf_counter() - start)
    n_fitted = len(points.X if points.fitted is None else points.fitted)
    summary = summarize(detector, scores, points.rows, seconds, task.shown, n_fitted, assigned)
    if pieces is not None:
        parts = zip(pieces.parents, detector.connected_structures())
        summary["structures"] = with_pieces(summary["structures"], parts)
    return Detection(detector, scores, summary, points.rows, task.shown, assigned)
