"""What a page shows of a command's result: `result.json` and arrays. Runs in the worker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...protocols import Floats, Ints
from .arrays import Arrays
from .diagnosing import with_actions
from .running import RecordingOutput
from .script_inputs import script_inputs
from .wording import plain
from .worker import write_json

# At most this many rows are shown: half the most anomalous ones, half a random sample.
MOST_ROWS = 1_000_000
# The scores of all rows, for downloads.
ALL_SCORES = "scores.npy"
# Why no row is flagged, although there are structures.
_NOTHING = {
    "too many beyond": "Too many are beyond the structures to flag any",
    "units differ": "The columns seem to have different units",
}


def write_result(folder: Path, spec: dict[str, Any], recorded: RecordingOutput) -> None:
    """Write the result of a command that has run."""
    arrays, found = Arrays(folder / "arrays"), recorded.found
    if recorded.blocks:
        from .result_scores import scores_result

        content = scores_result(arrays, recorded)
    elif "pairs" in found:
        from .result_windows import pairs_result

        content = pairs_result(arrays, recorded)
    elif "proposals" in found:
        from .result_families import proposals_result

        content = proposals_result(arrays, recorded)
    elif "surface" in found or "series" in found or "local" in found:
        from .result_windows import windows_result

        content = windows_result(arrays, recorded)
    else:
        content = detection_result(arrays, recorded)
    summary = recorded.summary
    result = {
        "told": script_inputs(recorded),
        "kind": spec["kind"], "summary": summary, **content,
        "diagnosis": with_actions(summary.get("diagnosis", []), spec["settings"]),
        "warnings": [plain(each) for each in recorded.warnings], "arrays": arrays.listing(),
    }  # fmt: skip
    write_json(folder / "result.json", finite(result))


def detection_result(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    """Of `detect`, `cloud` and `matches`: the view of the report, with arrays apart."""
    from ...report.axes import law_of
    from ...report.content import build_content, most_telling
    from ...report.payload import distance_unit, outline_data, threshold_table, view_of
    from ...structures.greedy import REACH

    points, found, images = (recorded.found[name] for name in ("points", "found", "images"))
    detector = found.detector
    np.save(arrays.folder.parent / ALL_SCORES, found.scores)
    content = build_content(
        detector, points.X, found.scores, points.complete(), points.names, points.rows, images
    )
    content = replace(content, shown=most_telling(found.scores, MOST_ROWS))
    law, shown = law_of(content), content.shown
    write_columns(arrays, {name: each[shown] for name, each in content.columns.items()})
    if law is not None:
        arrays.write(f"column:predicted {points.names[law.target]}", law.predicted)
    for k in range(points.X.shape[1]):
        arrays.write(f"point:{k}", points.X[shown, k])
    write_scores(arrays, found.scores[shown], points.rows[shown], found.assigned, shown)
    write_nearest(arrays, points.X[shown], content.structures)
    thresholds = threshold_table(found.scores, content.threshold)
    return {
        "headline": headline(recorded, content),
        "total": len(points.X), "shown": len(shown), "noun": content.noun,
        "columns": list(content.columns),
        "points": points.names,
        "derived": [] if law is None else [f"predicted {points.names[law.target]}"],
        "view": {**view_of(content, law), "low": points.X.min(axis=0).tolist(),
                 "high": points.X.max(axis=0).tolist()},
        "structures": _structures(
            recorded.summary["structures"], outline_data(content.structures, points.X)
        ),
        "thresholds": thresholds,
        "false_alarms": false_alarms(detector, thresholds),
        "unit": distance_unit(content),
        "reach": REACH,
        "images": len(images or ()),
        "columns_used": points.names,
    }  # fmt: skip


def write_columns(arrays: Arrays, columns: dict[str, Any]) -> None:
    """The columns of a table: numbers as float64, others as text."""
    from ...report.columns import as_text, floats_or_none, unmasked

    for name, values in columns.items():
        plain = unmasked(values)
        numbers = floats_or_none(plain)
        if numbers is None:
            arrays.write_texts(f"column:{name}", as_text(plain))
        else:
            arrays.write(f"column:{name}", numbers)


def write_scores(
    arrays: Arrays, scores: Floats, rows: Ints, assigned: Any, shown: Ints | slice
) -> None:
    """Scores, numbers of rows, and structures with distances in their sigmas where known."""
    arrays.write("scores", np.asarray(scores, np.float64))
    arrays.write("rows", np.asarray(rows, np.int32))
    if assigned is None:
        return
    arrays.write("structure", np.asarray(assigned.labels[shown], np.int32))
    distances = np.minimum(np.asarray(assigned.distances[shown], np.float64), 1e30)
    arrays.write("distance", distances.astype(np.float32))
    if assigned.pieces is not None:
        arrays.write("piece", np.asarray(assigned.pieces[shown], np.int32))


def write_nearest(arrays: Arrays, X: Floats, structures: Any) -> None:
    """The nearest structure of each row, whatever the threshold: the page moves it."""
    from ...structures.assignment import nearest_structures

    if structures:
        arrays.write("nearest", nearest_structures(X, structures)[0].astype(np.int32))


def headline(recorded: RecordingOutput, content: Any) -> str:
    """The result in one sentence."""
    summary = recorded.summary
    kind = " or ".join(name.replace("_", " ") for name in summary["family"])
    n, flagged = summary["points"], summary["anomalies"]
    if not summary["found_structure"]:
        return f"No {kind} was found in {n:,} {content.noun}; {flagged:,} are flagged."
    if summary["threshold_source"] in _NOTHING:
        return f"{_NOTHING[summary['threshold_source']]}: none of {n:,} {content.noun} is flagged."
    structures = len(summary["structures"])
    several = "" if structures == 1 else "s"
    return (
        f"{flagged:,} of {n:,} {content.noun} follow no {kind} ({100 * flagged / n:.1f} %); "
        f"{structures:,} structure{several} found."
    )


def _structures(
    described: list[dict[str, Any]], outlines: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The structures of the summary, numbered, with the outlines of the first ones."""
    return [
        {**each, "number": k, **(outlines[k] if k < len(outlines) else {"outline": None})}
        for k, each in enumerate(described)
    ]


def false_alarms(detector: Any, thresholds: dict[str, Any]) -> list[float | None] | None:
    """The expected share of normal rows among the flagged ones at each step of the threshold, as
    --false-alarm-rate bounds it; None at steps that flag nothing, and where it is not known."""
    from ...report.columns import decode

    if not getattr(detector, "has_null_", False) or not detector.found_structure_:
        return None
    calibration = detector.findings_.calibration(detector.backend_)
    count = len(decode(thresholds["above"]))
    steps = (thresholds["first"] + np.arange(count)) / thresholds["scale"]
    ordered = calibration.ordered
    flagged = len(ordered) - np.searchsorted(ordered, steps, side="right")
    p = calibration.p_values(np.nextafter(steps, np.inf))
    rate = np.minimum(1.0, p * len(ordered) / np.maximum(1, flagged))
    return [round(float(r), 6) if k else None for r, k in zip(rate, flagged)]


def finite(value: Any) -> Any:
    """JSON has no nan and no numpy numbers."""
    if isinstance(value, dict):
        return {str(name): finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, np.ndarray):
        return finite(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
