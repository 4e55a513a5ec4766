"""`piforest cloud --local`: a detector in each of many windows over the scan."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from ._colours import colours_by_score
from ._input import Points
from ._options import UsageError, names_given
from ._output import Output
from ._plots import draw_cloud
from ._summary import anomalies_line, diagnosis_of, say_diagnosis
from ._windows import sides, window_summary

if TYPE_CHECKING:
    from ...estimators import LocalPreferenceIsolationForest
    from ...protocols import Floats

# Options that speak of the structures of one global detector, and their values if not given.
_GLOBAL: dict[str, Any] = {
    "surfaces": None, "report": None, "model": None, "false_alarm_rate": None, "groups": None,
    "models": None, "connected": False, "classify": False, "rows": False, "colours": "score",
    "scale_columns": "auto", "device": "cpu",
}  # fmt: skip


def add_local(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("windows")
    group.add_argument(
        "--local", action="store_true",
        help="for smooth surfaces of any form: a detector in each of many overlapping cubes",
    )  # fmt: skip
    group.add_argument(
        "--window", type=sides, metavar="SIDE",
        help="with --local: side of the cubes in the unit of the scan, or several separated by "
        "commas (default: the whole range, a half, a quarter and an eighth, as long as cubes have "
        "enough points)",
    )  # fmt: skip


def check_local(args: argparse.Namespace) -> None:
    if not args.local:
        if args.window is not None:
            raise UsageError("--window is the side of the cubes of --local: use them together.")
        return
    check_not_given(args, _GLOBAL, "is of the whole scan, not of windows", "--local")


def check_not_given(
    args: argparse.Namespace, options: dict[str, Any], reason: str, other: str
) -> None:
    """Refuse options with other values than these, which do not go with the option `other`."""
    for name, default in options.items():
        if getattr(args, name) != default:
            raise UsageError(
                f"--{name.replace('_', '-')} {reason}: leave it out, or leave out {other}."
            )


def run_local(args: argparse.Namespace, output: Output, points: Points) -> None:
    from ...estimators import LocalPreferenceIsolationForest

    if getattr(args, "known_scores", None) is not None:
        # A program passes the scores of an earlier run.
        write_found(args, points, args.known_scores, args.threshold)
        return
    start, families = time.perf_counter(), list(points.families)
    detector = LocalPreferenceIsolationForest(
        families[0] if len(families) == 1 else families,
        window="auto" if args.window is None else args.window,
        coordinates=[0, 1, 2],
        sigma=args.sigma,
        contamination=args.contamination,
        n_jobs=args.jobs,
        random_state=args.seed,
        verbose=output.verbose,
    )
    detector.fit(points.X if points.fitted is None else points.X[points.fitted])
    if args.threshold is not None:
        detector.set_threshold(args.threshold)
    scores = detector.anomaly_score(points.X)
    summary = _summary(points, detector, scores, time.perf_counter() - start)
    output.keep(args=args, points=points, local=detector, scores=scores)
    _print(output, summary)
    written = write_found(args, points, scores, float(detector.threshold_))
    output.finish(summary, written)


def _summary(
    points: Points, detector: LocalPreferenceIsolationForest, scores: Floats, seconds: float
) -> dict[str, Any]:
    return {
        **points.about(),
        "points": len(points.X),
        **window_summary(detector),
        "threshold": float(detector.threshold_),
        "threshold_source": detector.threshold_source_,
        "anomalies": int((scores > detector.threshold_).sum()),
        "diagnosis": diagnosis_of(detector),
        "seconds": seconds,
    }


def _print(output: Output, summary: dict[str, Any]) -> None:
    n = summary["points"]
    output.say(f"points      {n:,} of {summary['source']}")
    lengths = ", ".join(f"{side:.4g}" for side in summary["window_sides"])
    output.say(f"windows     {summary['windows']} with sides of {lengths}")
    output.say(f"sigma       {summary['sigma']:.4g}, {summary['sigma_source']}")
    output.say(
        anomalies_line(summary["anomalies"], n, summary["threshold"], summary["threshold_source"])
    )
    output.say(f"time        {summary['seconds']:.2f} s")
    say_diagnosis(output, summary["diagnosis"])


def write_found(
    args: argparse.Namespace, points: Points, scores: Floats, threshold: float
) -> dict[str, str]:
    from ...io.tables import with_scores, write_table

    if args.out is not None:
        table = with_scores(points.table, scores, threshold, points.scored)
        table = table.with_columns(colours_by_score(scores, threshold, points.scored))
        write_table(args.out, table)
    if args.plot is not None:
        draw_cloud(args.plot, points.X[:, :3], scores, threshold)
    return names_given(args, ("out", "plot"))
