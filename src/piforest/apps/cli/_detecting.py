"""Shared by `detect`, `matches`, `cloud` and `explain`: a detector from options, its summary."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._numbers import readable
from ..._progress import tell
from ._input import Points
from ._options import (
    UsageError,
    auto_or_positive,
    auto_or_share,
    count,
    file,
    names,
    option,
    positive,
    share,
)
from ._output import NOTHING_FLAGGED, Output
from ._writing import dry_run_write, write_outputs

if TYPE_CHECKING:
    from ...io.tables import Table
    from ...proposals import Proposals

_TOP = 10
_DEFAULTS = {"auto": "the one that the rows suggest, see `piforest suggest`"}
_NAMED = 10
_DIGITS, _MAX_DIGITS = 6, 12
# Characters of a cell.
_LONGEST = 20
_SOURCES = {
    "given": "as given",
    "estimated": "estimated from the data",
    "guessed": "guessed, since no structure stands out",
}


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
    group.add_argument(
        "--option", type=option, action="append", default=[], metavar="NAME=VALUE",
        help="an option of the family, such as degree=2; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--sigma", type=auto_or_positive, default="auto", metavar="NUMBER",
        help="noise of the structures in the units of the data (default: estimated)",
    )  # fmt: skip
    if scalable:
        group.add_argument(
            "--scale-columns", action=argparse.BooleanOptionalAction, default="auto",
            help="measure distances column by column, for columns in different units (default: "
            "only if these hide all structures)",
        )  # fmt: skip
    group.add_argument(
        "--contamination", type=auto_or_share, default="auto", metavar="SHARE",
        help="share of anomalies (default: the threshold is chosen automatically)",
    )  # fmt: skip
    group.add_argument(
        "--false-alarm-rate", type=share, metavar="SHARE",
        help="in place of --contamination: the expected share of normal rows among the flagged "
        "ones, at most",
    )  # fmt: skip
    group.add_argument(
        "--threshold", type=positive, metavar="SCORE",
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


def families_from(args: argparse.Namespace) -> list[Any]:
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
            raise UsageError("--option needs --family: the options of which family?")
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
    args: argparse.Namespace, families: Sequence[Any], output: Output, sampler: Any = "mixed"
) -> Any:
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
    families: Sequence[Any],
    output: Output,
    points: Points,
    proposals: Proposals | None = None,
) -> Any:
    """A detector with the given options, fitted to the points; proposals: the comparison that chose
    the families, if none were given.

    A program that runs the command again, for further outputs, puts the detector into args.fitted
    and the scores into args.known_scores.
    """
    if getattr(args, "fitted", None) is not None:
        return args.fitted if args.threshold is None else args.fitted.set_threshold(args.threshold)
    rows = slice(None) if points.fitted is None else points.fitted
    sampler, columns = "mixed", {}
    if points.quality is not None:
        sampler, columns = "weighted", {"quality": points.quality[rows]}
    elif points.groups is not None:
        sampler, columns = "grouped", {"groups": points.groups[rows]}
    detector = detector_from(args, families, output, sampler)
    detector._known_names, detector._known_proposals = points.names, proposals
    detector.fit(points.X[rows], **columns)
    return detector if args.threshold is None else detector.set_threshold(args.threshold)


class Detection(NamedTuple):
    """A fitted detector, its scores and its summary."""

    detector: Any
    scores: Any
    """(n,) of the training points"""
    summary: dict[str, Any]
    """as in JSON"""
    numbers: Any
    """(n,) row numbers in the file"""
    shown: Mapping[str, Any]
    """columns (n,) to show of a row"""
    assigned: Any
    """the structure of each point and the distance to it, an `Assignment`"""

    def rows(self) -> list[dict[str, Any]]:
        """All rows, as in JSON."""
        flagged = self.scores > self.summary["threshold"]
        order = range(len(self.scores))
        return _rows(order, self.numbers, self.scores, flagged, self.shown, self.assigned)


def detect_and_write(
    args: argparse.Namespace,
    output: Output,
    families: Sequence[Any],
    points: Points,
    *,
    heading: str,
    shown: Mapping[str, Any],
    about: dict[str, Any],
    add_scores: Callable[..., Table],
    draw: Callable[[Path, Detection], None],
    images: Any = None,
    proposals: Proposals | None = None,
    describe: Callable[[Detection], Detection] | None = None,
    write: Callable[[Path, Detection], None] | None = None,
    after: Callable[[Detection], None] = lambda found: None,
) -> None:
    """Fit the points, print the summary and write the outputs.

    heading: the first line of the summary; shown: columns (n,) to show of a row; about: what
    JSON has beside the summary; add_scores(table, scores, threshold, scored, assigned): the table
    for --out; draw: writes the figure for --plot; images: those that the points are matches of;
    proposals: the comparison that chose the families;
    describe: adds to the summary; write: writes --out in place of the table; after:
    called when the points are scored, before anything is written.
    """
    import numpy as np

    one = np.ones(1)
    whole = one.astype(int)
    example = (whole, one, whole if args.connected else None)
    if write is None:
        dry_run_write(
            args.out,
            points.table,
            lambda row: add_scores(row, one, 0.5, one.astype(bool), example),
        )
    output.say(heading)
    points.print_columns(output)
    found = _detect(args, output, families, points, shown, proposals)
    found = found if describe is None else describe(found)
    print_summary(output, found.summary)
    after(found)

    def scored_table() -> Table:
        threshold, assigned = found.summary["threshold"], found.assigned
        return add_scores(points.table, found.scores, threshold, points.scored, assigned)

    write_outputs(args, output, points, found, about, scored_table, draw, images, write)


def _detect(
    args: argparse.Namespace,
    output: Output,
    families: Sequence[Any],
    points: Points,
    shown: Mapping[str, Any],
    proposals: Proposals | None,
) -> Detection:
    from ...structures.assignment import assign_rows

    start = time.perf_counter()
    detector = fit_points(args, families, output, points, proposals)
    known = points.fitted is None and detector.findings_.has_scores
    scores = getattr(args, "known_scores", None)
    if scores is None:
        scores = detector.scores_ if known else detector.anomaly_score(points.X)
    detector.findings_.name_columns(points.names)
    tell("structures")
    # The structures are part of the result, and of its time.
    assigned = assign_rows(points.X, scores <= detector.threshold_, detector.structures_)
    pieces = None
    if args.connected:
        pieces = detector.findings_.pieces(detector._engine().backend)
        assigned = assigned._replace(pieces=pieces.of(points.X, assigned))
    seconds = time.perf_counter() - start
    n_fitted = len(points.X if points.fitted is None else points.fitted)
    summary = summarize(detector, scores, points.rows, seconds, shown, n_fitted, assigned)
    if pieces is not None:
        summary["structures"] = _with_pieces(summary["structures"], pieces)
    return Detection(detector, scores, summary, points.rows, shown, assigned)


def _with_pieces(structures: list[dict[str, Any]], pieces: Any) -> list[dict[str, Any]]:
    """The structures, each with its pieces."""
    parts: list[list[dict[str, Any]]] = [[] for _ in structures]
    for number, (piece, parent) in enumerate(zip(pieces.structures, pieces.parents)):
        parts[parent].append({"piece": number, "members": piece.support, "extent": piece.extent})
    return [{**each, "pieces": own} for each, own in zip(structures, parts)]


def summarize(
    detector: Any,
    scores: Any,
    rows: Any,
    seconds: float,
    values: Mapping[str, Any],
    n_fitted: int,
    assigned: Any,
) -> dict[str, Any]:
    """The result, as in JSON. rows (n,): row numbers in the file; values: columns (n,) to show of
    the most anomalous rows; n_fitted: the number of points that the detector is fitted to;
    assigned: the structures of the rows."""
    import numpy as np

    from ..._random import SUBSET

    threshold = float(detector.threshold_)
    flagged = scores > threshold
    order = np.argsort(-scores, kind="stable")[:_TOP]
    return {
        "points": len(scores),
        "family": [models.family.name for models in detector.models_],
        "proposals": None if detector.proposals_ is None else detector.proposals_.to_dict(),
        "models": int(detector.n_models_),
        "drawn": int(detector.n_drawn_),
        "degenerate_samples": int(detector.n_degenerate_),
        "sigma": float(detector.sigma_),
        "sigma_source": detector.sigma_source_,
        "units": detector.units_.tolist(),
        "threshold": threshold,
        "threshold_source": detector.threshold_source_,
        "anomalies": int(flagged.sum()),
        "found_structure": bool(detector.found_structure_),
        "fitted_points": n_fitted,
        "members_counted_in": min(n_fitted, SUBSET),
        "structures": [each.as_dict() for each in detector.structures_],
        "diagnosis": diagnosis_of(detector),
        "seconds": seconds,
        "most_anomalous": _rows(order, rows, scores, flagged, values, assigned),
    }


def diagnosis_of(detector: Any) -> list[dict[str, str]]:
    """The diagnosis, as in JSON."""
    from dataclasses import asdict

    return [asdict(each) for each in detector.diagnosis_]


def say_diagnosis(output: Output, found: Sequence[Mapping[str, str]]) -> None:
    """Print the diagnosis, a sentence and the advice for each finding."""
    if found:
        output.say("\nto know")
    for each in found:
        output.say(f"  {each['code']}: {each['text']} {each['advice']}")


def anomalies_line(flagged: int, n: int, threshold: float, source: str) -> str:
    """The line of the summary with the number of anomalies."""
    if source in NOTHING_FLAGGED:
        return NOTHING_FLAGGED[source].format(n=n)
    return (
        f"anomalies   {flagged:,} of {n:,} ({100 * flagged / n:.3g} %) score above {threshold:.3f}"
    )


def _rows(
    order: Iterable[int],
    rows: Any,
    scores: Any,
    flagged: Any,
    values: Mapping[str, Any],
    assigned: Any,
) -> list[dict[str, Any]]:
    return [
        {
            "row": int(rows[at]),
            "score": float(scores[at]),
            "anomaly": bool(flagged[at]),
            "structure": int(assigned.labels[at]),
            "distance": to_json(assigned.distances[at]),
            **({} if assigned.pieces is None else {"piece": int(assigned.pieces[at])}),
            "values": {name: to_json(column[at]) for name, column in values.items()},
        }
        for at in order
    ]


def print_summary(output: Output, summary: Mapping[str, Any]) -> None:
    """Print the result of `summarize` as text."""
    n, flagged, degenerate = summary["points"], summary["anomalies"], summary["degenerate_samples"]
    were = "sample was" if degenerate == 1 else "samples were"
    dropped = f"; {degenerate:,} {were} degenerate" if degenerate else ""
    names = ", ".join(summary["family"])
    kept = f"{summary['models']:,} of {summary['drawn']:,} drawn"
    output.say(f"models      {kept}, family {names}{dropped}")
    source = summary["sigma_source"]
    output.say(f"sigma       {readable(summary['sigma'], 4)}, {_SOURCES.get(source, source)}")
    output.say(anomalies_line(flagged, n, summary["threshold"], summary["threshold_source"]))
    found, counted_in = summary["structures"], summary["members_counted_in"]
    of = ""
    if counted_in < n:
        thinned = counted_in == summary["fitted_points"]
        of = f", their points counted in {'the' if thinned else 'a random'} {counted_in:,}"
        of += " fitted ones" if thinned else ""
    output.say(f"structures  {len(found)}" + (of if found else " that stand out from chance"))
    for k, each in enumerate(found[:_NAMED]):
        counted = f"{each['members']:,} points"
        note = f"; {each['note']}" if each.get("note") else ""
        width = f"half-width {readable(each['half_width'])}"
        output.say(f"  {k:>2}  {each['family']}, {counted}, {width}{note}")
        output.say(f"      {each['equation']}")
        if len(each.get("pieces", ())) > 1:
            sizes = ", ".join(f"{part['piece']} ({part['members']:,})" for part in each["pieces"])
            output.say(f"      pieces {sizes}")
    if len(found) > _NAMED:
        output.say(f"  and {len(found) - _NAMED} more")
    output.say(f"time        {summary['seconds']:.2f} s")
    say_diagnosis(output, summary["diagnosis"])
    output.say("\nmost anomalous rows")
    for line in format_rows(summary["most_anomalous"]):
        output.say(line)


def format_rows(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows as an aligned table."""
    head = ["row", "score", *rows[0]["values"]]
    columns = zip(*(row["values"].values() for row in rows))
    cells = zip(*(_shortened(column) for column in columns))
    lines = [head] + [
        [str(row["row"]), f"{row['score']:.3f}", *values] for row, values in zip(rows, cells)
    ]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return ["  " + "  ".join(cell.rjust(w) for cell, w in zip(line, widths)) for line in lines]


def _shortened(column: Sequence[Any]) -> list[str]:
    column = [_rounded(value) for value in column]
    places = digits([value for value in column if isinstance(value, float)])
    return [_short(value, places) for value in column]


def _rounded(value: Any) -> Any:
    """A long text of a number as a number: truncated, it would lose its exponent."""
    if isinstance(value, str) and len(value) > _LONGEST:
        with suppress(ValueError):
            return float(value)
    return value


def digits(values: Any) -> int:
    """Significant digits that distinguish these numbers: six of those that differ, and at least
    all before the decimal point."""
    import numpy as np

    values = np.asarray(values, float)
    largest = float(np.abs(values).max(initial=0))
    spread = float(np.ptp(values)) if len(values) else 0.0
    if not 0 < largest < float("inf"):
        return _DIGITS
    before = math.floor(math.log10(largest)) + 1
    same = math.floor(math.log10(largest / spread)) if spread else 0
    return min(max(_DIGITS, _DIGITS + same, before), _MAX_DIGITS)


def _short(value: Any, places: int) -> str:
    if isinstance(value, float):
        return f"{value:.{places}g}"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def to_json(value: Any) -> Any:
    """A value that JSON can hold: None for masked and non-finite values."""
    import numpy as np

    if value is np.ma.masked or value is None:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if isinstance(value, (int, str, bool)) else str(value)
