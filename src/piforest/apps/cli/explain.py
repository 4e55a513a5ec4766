"""`piforest explain`."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ..._numbers import readable
from ._detecting import add_detector, families_from, fit_points
from ._input import Points, add_groups, add_table, read_points
from ._options import UsageError, add_common, add_seed, count, file, picture
from ._output import Output
from ._plots import draw_explanation
from ._summary import diagnosis_of, digits, say_diagnosis
from ._writing import check_installed

HELP = "explain why a row is anomalous, or not"
DESCRIPTION = (
    "Explain why a row of a file is anomalous or not: the nearest structures, the distance in "
    "their sigmas, the number of their points, and which column would have to change. p is the "
    "probability that a normal row scores as high: small for anomalies."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_table(parser, "points, one per row; formats as in `piforest detect`")
    parser.add_argument(
        "--row", type=count, metavar="N",
        help="number of the row, from 1, without the header (default: the most anomalous one)",
    )  # fmt: skip
    chosen = parser.add_mutually_exclusive_group(required=True)
    add_detector(parser, instead=chosen)
    chosen.add_argument(
        "--model", type=file, metavar="FILE",
        help="a model of `piforest detect --model`, in place of --family",
    )  # fmt: skip
    group = parser.add_argument_group("output")
    group.add_argument(
        "--plot", type=picture, metavar="FILE",
        help="a plot of the row and its nearest structures, .png, .svg or .pdf",
    )  # fmt: skip
    add_groups(parser)
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    if args.model is not None and args.groups is not None:
        raise UsageError("--groups applies to fitting, and the model is fitted already: omit it.")
    output.check_new(args.plot)
    if args.plot is not None:
        check_installed("matplotlib", "plots need matplotlib: pip install 'piforest[plots]'")
    loaded = None if args.model is None else _loaded(args)
    points = _points(args, loaded)
    at = None if args.row is None else _index(points, args.row)
    if loaded is None:
        detector = fit_points(args, points.families, output, points)
    else:
        detector = loaded.detector
    detector.findings_.name_columns(points.names)
    if at is None:
        known = loaded is None and detector.findings_.has_scores
        scores = detector.scores_ if known else detector.anomaly_score(points.X)
        at = int(scores.argmax())
    row = int(points.rows[at])
    reason = detector.explain(points.X[at : at + 1])[0]
    values = {name: float(value) for name, value in zip(points.names, points.X[at])}
    output.say(f"row {row} of {points.table.source}: " + _format_values(values, points.X))
    output.say(str(reason))
    found = detector.structures_
    nearest = [{**found[each.structure].as_dict(), **asdict(each)} for each in reason.nearest]
    _print_certainty(output, reason)
    _print_nearest(output, nearest)
    _print_changes(output, reason.changes, points.X[at], points.names)
    diagnosis = diagnosis_of(detector)
    say_diagnosis(output, diagnosis)
    if args.plot is not None:
        draw_explanation(args.plot, detector, points.X, at, row, points.names)
        output.say(f"\nwrote {args.plot}")
    output.result(
        {
            "source": points.table.source,
            "row": row,
            "values": values,
            "anomaly": bool(reason.anomalous),
            "score": reason.score,
            "threshold": reason.threshold,
            "p_value": reason.p_value,
            "anomaly_probability": reason.probability,
            "chance_p_value": reason.chance_p_value,
            "stability": reason.stability,
            "extrapolated": reason.extrapolated,
            "outside": reason.outside,
            "changes": [asdict(each) for each in reason.changes],
            "text": reason.text,
            "nearest": [_finite(each) for each in nearest],
            "found_structure": bool(detector.found_structure_),
            "diagnosis": diagnosis,
            "written": {} if args.plot is None else {"plot": str(args.plot)},
        }
    )


class _Loaded(NamedTuple):
    detector: Any
    columns: list[str] | None
    """the columns that it was fitted to, if the file has their names"""


def _loaded(args: argparse.Namespace) -> _Loaded:
    from ...estimators import PreferenceIsolationForest

    detector = PreferenceIsolationForest.load(args.model)
    detector.set_params(device=args.device, n_jobs=args.jobs)
    # The detector gets plain arrays; columns are selected by name here.
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    return _Loaded(detector, list(getattr(detector, "feature_names_in_", ())) or None)


def _points(args: argparse.Namespace, loaded: _Loaded | None) -> Points:
    """The points of the file, in the columns of the model if there is one."""
    if loaded is None:
        return read_points(args, families_from(args), args.columns)
    families = [models.family for models in loaded.detector.models_]
    points = read_points(args, families, args.columns or loaded.columns, to_fit=False)
    needed = loaded.detector.n_features_in_
    if points.X.shape[1] != needed:
        raise ValueError(
            f"{args.model} was fitted to {needed} columns, got {', '.join(points.names)}. Select "
            "them with --columns."
        )
    return points


def _index(points: Points, row: int) -> int:
    """The index among the points of a row of the file."""
    import numpy as np

    first, last = int(points.table.rows[0]), int(points.table.rows[-1])
    if not first <= row <= last:
        raise ValueError(f"{points.table.source} has rows {first} to {last}, got --row {row}.")
    at = np.flatnonzero(points.rows == row)
    if not len(at):
        raise ValueError(f"row {row} of {points.table.source} lacks a number, so it has no score.")
    return int(at[0])


def _format_values(values: dict[str, float], X: Any) -> str:
    """Names and values, with the digits that distinguish them from others in X (n, d)."""
    shown = zip(values.items(), X.T)
    return ", ".join(f"{name} = {value:.{digits(column)}g}" for (name, value), column in shown)


def _print_certainty(output: Output, reason: Any) -> None:
    output.say()
    if reason.probability is not None:
        output.say(f"probability {reason.probability:.3g} that it is an anomaly")
    output.say(f"stability   {100 * reason.stability:.3g} % of forests drawn again would flag it")


def _print_changes(output: Output, changes: Any, row: Any, names: Sequence[str]) -> None:
    if not changes:
        return
    output.say("\nto lie on the nearest structure, one of these alone would have to change")
    values = dict(zip(names, row))
    for each in changes:
        now, to = (readable(float(value), 6) for value in (values[each.column], each.value))
        change = ("+" if each.change > 0 else "") + readable(each.change, 4)
        output.say(
            f"  {each.column:<18} from {now} to {to} ({change}, {100 * each.relative:.3g} % of its "
            "range)"
        )


def _print_nearest(output: Output, nearest: list[dict[str, Any]]) -> None:
    if not nearest:
        return
    output.say("\nnearest structures")
    output.say("  structure          sigmas away    distance      points")
    for each in nearest:
        name = f"{each['structure']} ({each['family']})"
        output.say(
            f"  {name:<18} {readable(each['sigmas'], 4):>11} {readable(each['distance'], 4):>11} "
            f"{each['support']:>11,}"
        )
        output.say(f"    {each['equation']}")


def _finite(each: dict[str, Any]) -> dict[str, Any]:
    """None for infinite values, which JSON cannot hold."""
    return {
        key: None if isinstance(value, float) and abs(value) == float("inf") else value
        for key, value in each.items()
    }
