"""What `detect`, `matches`, `cloud` and `explain` share: a detector from options, and its answer
in words and numbers."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ._input import Points
from ._options import Misunderstood, auto_or_positive, auto_or_share, count, names, option
from ._output import Output

_TOP = 10
_NAMED = 10
_DIGITS, _MOST_DIGITS = 6, 12
# Characters of a cell.
_LONGEST = 20
_SOURCES = {
    "given": "as given",
    "estimated": "estimated from the data",
    "guessed": "guessed, since no structure stands out",
}


def add_detector(
    parser: argparse.ArgumentParser, family: str | None = None, instead: Any = None
) -> None:
    """The options of a detector; `family` is the default; without one it has to be given, or
    another option of the group `instead`."""
    group = parser.add_argument_group("detector")
    (instead or group).add_argument(
        "--family", type=names, metavar="NAME", default=None if family is None else [family],
        required=family is None and instead is None,
        help="what a structure is; several separated by commas; `piforest families` lists them"
        + ("" if family is None else f" (default: {family})"),
    )  # fmt: skip
    group.add_argument(
        "--option", type=option, action="append", default=[], metavar="NAME=VALUE",
        help="an option of the family, such as degree=2; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--sigma", type=auto_or_positive, default="auto", metavar="NUMBER",
        help="the noise of the structures in the units of the data (default: estimated)",
    )  # fmt: skip
    group.add_argument(
        "--contamination", type=auto_or_share, default="auto", metavar="SHARE",
        help="share of the points to flag (default: found out)",
    )  # fmt: skip
    group.add_argument(
        "--models", type=count, metavar="N", help="random models to draw (default: 5,000 to 10,000)"
    )
    group.add_argument("--trees", type=count, default=100, metavar="N", help="default: %(default)s")


def families_from(args: argparse.Namespace) -> list[Any]:
    """The families that --family names, each with those of the --options that it has."""
    from dataclasses import fields

    from ..._validation import unknown_name
    from ...families import get_family, list_families

    for name in args.family:
        if name not in list_families():
            raise Misunderstood(str(unknown_name("--family", name, list_families())))
    given = dict(args.option)
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


def detector_from(args: argparse.Namespace, families: Sequence[Any], output: Output) -> Any:
    """The default detector with the given options, not fitted."""
    from ...estimators import PreferenceIsolationForest

    return PreferenceIsolationForest(
        families[0] if len(families) == 1 else list(families),
        sigma=args.sigma,
        contamination=args.contamination,
        n_models=args.models or "auto",
        n_estimators=args.trees,
        device=args.device,
        n_jobs=args.jobs,
        random_state=args.seed,
        verbose=output.verbose,
    )


class Found(NamedTuple):
    """A fitted detector and what it says."""

    detector: Any
    scores: Any
    """(n,) of the points that it was fitted to"""
    answer: dict[str, Any]
    """as JSON has it"""


def found_in(
    args: argparse.Namespace,
    output: Output,
    families: Sequence[Any],
    points: Points,
    values: Mapping[str, Any],
) -> Found:
    """Fit to the points and tell what was found. values: columns (n,) to show of a row."""
    detector = detector_from(args, families, output)
    start = time.perf_counter()
    detector.fit(points.X)
    known = detector.findings_.has_scores
    scores = detector.scores_ if known else detector.anomaly_score(points.X)
    _ = detector.structures_  # part of the answer, and of its time
    seconds = time.perf_counter() - start
    answer = summary_of(detector, scores, points.rows, seconds, values)
    tell(output, answer)
    return Found(detector, scores, answer)


def summary_of(
    detector: Any, scores: Any, rows: Any, seconds: float, values: Mapping[str, Any]
) -> dict[str, Any]:
    """What was found, as JSON has it. rows (n,): the numbers of the scored rows as the user
    counts them; values: columns (n,) to show beside the most anomalous rows."""
    import numpy as np

    from ..._random import SUBSET

    threshold = float(detector.threshold_)
    flagged = scores > threshold
    order = np.argsort(-scores, kind="stable")[:_TOP]
    return {
        "points": len(scores),
        "family": [models.family.name for models in detector.models_],
        "models": int(detector.n_models_),
        "degenerate_samples": int(detector.n_degenerate_),
        "sigma": float(detector.sigma_),
        "sigma_source": detector.sigma_source_,
        "threshold": threshold,
        "anomalies": int(flagged.sum()),
        "members_counted_in": min(len(scores), SUBSET),
        "structures": [
            {
                "family": each.family.name,
                "members": len(each.members),
                "half_width": float(each.half_width),
                "log_ratio": float(each.log_ratio),
                "params": [float(value) for value in each.params],
            }
            for each in detector.structures_
        ],
        "seconds": seconds,
        "most_anomalous": [
            {
                "row": int(rows[at]),
                "score": float(scores[at]),
                "anomaly": bool(flagged[at]),
                "values": {name: plain(column[at]) for name, column in values.items()},
            }
            for at in order
        ],
    }


def tell(output: Output, answer: Mapping[str, Any]) -> None:
    """The answer of `summary_of` in words."""
    n, flagged, degenerate = answer["points"], answer["anomalies"], answer["degenerate_samples"]
    were = "sample was" if degenerate == 1 else "samples were"
    dropped = f"; {degenerate:,} {were} degenerate" if degenerate else ""
    output.say(f"models      {answer['models']:,} of family {', '.join(answer['family'])}{dropped}")
    source = answer["sigma_source"]
    output.say(f"sigma       {answer['sigma']:.4g}, {_SOURCES.get(source, source)}")
    output.say(
        f"anomalies   {flagged:,} of {n:,} ({100 * flagged / n:.3g} %) score above "
        f"{answer['threshold']:.3f}"
    )
    found = answer["structures"]
    some = answer["members_counted_in"]
    of = f", their points counted in a random {some:,}" if some < n else ""
    output.say(f"structures  {len(found)}" + (of if found else " that stand out from chance"))
    for k, each in enumerate(found[:_NAMED]):
        counted = f"{each['members']:,} points"
        output.say(f"  {k:>2}  {each['family']}, {counted}, half-width {each['half_width']:.3g}")
    if len(found) > _NAMED:
        output.say(f"  and {len(found) - _NAMED} more")
    output.say(f"time        {answer['seconds']:.2f} s")
    output.say("\nmost anomalous rows")
    for line in listed(answer["most_anomalous"]):
        output.say(line)


def listed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
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
    """A number that is written too long to show is rounded: cut off, it would lose its
    exponent."""
    if isinstance(value, str) and len(value) > _LONGEST:
        with suppress(ValueError):
            return float(value)
    return value


def digits(values: Any) -> int:
    """How many significant digits tell these numbers apart: six of where they differ, and those
    before the decimal point."""
    import numpy as np

    values = np.asarray(values, float)
    largest = float(np.abs(values).max(initial=0))
    spread = float(np.ptp(values)) if len(values) else 0.0
    if not 0 < largest < float("inf"):
        return _DIGITS
    before = math.floor(math.log10(largest)) + 1
    same = math.floor(math.log10(largest / spread)) if spread else 0
    return min(max(_DIGITS, _DIGITS + same, before), _MOST_DIGITS)


def _short(value: Any, places: int) -> str:
    if isinstance(value, float):
        return f"{value:.{places}g}"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def plain(value: Any) -> Any:
    """A value that JSON takes: no NaN, no masked, no array."""
    import numpy as np

    if value is np.ma.masked or value is None:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if isinstance(value, (int, str, bool)) else str(value)
