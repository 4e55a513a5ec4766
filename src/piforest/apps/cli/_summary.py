"""The result of a detection: as JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..._numbers import readable
from ._output import NOTHING_FLAGGED, Output

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ...estimators import LocalPreferenceIsolationForest, PreferenceIsolationForest
    from ...protocols import Bools, Floats, Ints
    from ...structures.assignment import Assignment
    from ...structures.greedy import Structure

_TOP = 10
_NAMED = 10
_DIGITS, _MAX_DIGITS = 6, 12
# Characters of a cell.
_LONGEST = 20
_SOURCES = {
    "given": "as given",
    "estimated": "estimated from the data",
    "guessed": "guessed, since no structure stands out",
}


def summarize(
    detector: PreferenceIsolationForest,
    scores: Floats,
    rows: Ints,
    seconds: float,
    values: Mapping[str, Any],
    n_fitted: int,
    assigned: Assignment,
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
        "most_anomalous": rows_as_json(order, rows, scores, flagged, values, assigned),
    }


def diagnosis_of(
    detector: PreferenceIsolationForest | LocalPreferenceIsolationForest,
) -> list[dict[str, str]]:
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


def rows_as_json(
    order: Iterable[int],
    rows: Ints,
    scores: Floats,
    flagged: Bools,
    values: Mapping[str, Any],
    assigned: Assignment,
) -> list[dict[str, Any]]:
    """Rows with score, structure and values, as in JSON. order: their positions."""
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


def digits(values: ArrayLike) -> int:
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


def with_pieces(
    structures: list[dict[str, Any]], pieces: Iterable[tuple[int, Structure]]
) -> list[dict[str, Any]]:
    """The structures, each with its pieces, which come with the numbers of their structures."""
    parts: list[list[dict[str, Any]]] = [[] for _ in structures]
    for number, (parent, piece) in enumerate(pieces):
        parts[parent].append({"piece": number, "members": piece.support, "extent": piece.extent})
    return [{**each, "pieces": own} for each, own in zip(structures, parts)]
