"""The results of detectors in windows, and of many pairs of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...protocols import Floats
from ...report.content import most_telling
from .arrays import Arrays
from .results import ALL_SCORES, MOST_ROWS, write_columns, write_scores
from .running import RecordingOutput

# A map is shown with at most this many pixels on its longer side.
_LONGEST = 1500


def windows_result(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    """Of a map, a series, or a scan in windows."""
    if "surface" in recorded.found:
        return _of_map(arrays, recorded)
    if "series" in recorded.found:
        return _of_series(arrays, recorded)
    return _of_local(arrays, recorded)


def _of_map(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    found, summary = recorded.found["surface"], recorded.summary
    np.save(arrays.folder.parent / ALL_SCORES, found.scores)
    step = max(1, -(-max(found.values.shape) // _LONGEST))
    for name, values in (("map:values", found.values), ("map:scores", found.scores)):
        arrays.write(name, values[::step, ::step].astype(np.float32))
    scored = found.scores[np.isfinite(found.scores)]
    return {
        **map_findings(found),
        "total": int(scored.size), "shown": int(scored.size), "noun": "pixels",
        "view": {"mode": "map", "width": summary["width"], "height": summary["height"],
                 "step": step, "low": _low(found.values), "high": _high(found.values)},
        "structures": [],
        "thresholds": _thresholds(scored, summary["threshold"]), "false_alarms": None,
        "columns": [], "images": 0, "unit": "", "derived": [],
    }  # fmt: skip


def _of_series(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    found, summary, used = recorded.found["series"], recorded.summary, recorded.found["used"]
    np.save(arrays.folder.parent / ALL_SCORES, found.scores)
    table = recorded.found["table"]
    shown = most_telling(found.scores, MOST_ROWS)
    columns = {name: each[used][shown] for name, each in table.columns.items()}
    write_columns(arrays, columns)
    arrays.write("time", found.times[shown])
    rows = np.flatnonzero(used) + table.first_row
    write_scores(arrays, found.scores[shown], rows[shown], None, shown)
    return {
        **series_findings(recorded.found),
        "total": len(found.scores), "shown": len(shown), "noun": "rows",
        "view": {"mode": "series", "time": summary["time"], "channels": summary["channels"],
                 "gaps": [int(rows[each]) for each in found.gaps]},
        "columns": list(columns), "structures": [], "derived": [],
        "thresholds": _thresholds(found.scores, summary["threshold"]), "false_alarms": None,
        "images": 0, "unit": "",
    }  # fmt: skip


def _of_local(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    points, scores, summary = recorded.found["points"], recorded.found["scores"], recorded.summary
    np.save(arrays.folder.parent / ALL_SCORES, scores)
    shown = most_telling(scores, MOST_ROWS)
    whole = points.complete()
    write_columns(arrays, {name: each[shown] for name, each in whole.columns.items()})
    for k in range(points.X.shape[1]):
        arrays.write(f"point:{k}", points.X[shown, k])
    write_scores(arrays, scores[shown], points.rows[shown], None, shown)
    names = whole.names
    return {
        "headline": f"{summary['anomalies']:,} of {summary['points']:,} points are off the smooth "
        "surface around them.",
        "total": len(scores), "shown": len(shown), "noun": "points",
        "columns": names, "points": points.names, "derived": [], "structures": [],
        "view": {"mode": "3d", "places": [names.index(each) for each in points.names[:3]],
                 "opening": [names.index(each) for each in points.names[:3]],
                 "equal": True, "law": False, "low": points.X.min(axis=0).tolist(),
                 "high": points.X.max(axis=0).tolist()},
        "thresholds": _thresholds(scores, summary["threshold"]), "false_alarms": None,
        "images": 0, "unit": "",
    }  # fmt: skip


def map_findings(found: Any) -> dict[str, Any]:
    """The defects of a map, and a sentence."""
    from ..cli.surface import records_of

    defects = records_of(found)
    several = "" if len(defects) == 1 else "s"
    text = f"{len(defects):,} defect{several}: {int(found.flagged.sum()):,} pixels are off the "
    return {"headline": f"{text}smooth surface around them.", "defects": defects}


def series_findings(kept: dict[str, Any]) -> dict[str, Any]:
    """The anomalous stretches of a series, by the rows of its file, and a sentence."""
    from ..cli.series import records_of

    found, table, used = kept["series"], kept["table"], kept["used"]
    rows = np.flatnonzero(used) + table.first_row
    records = records_of(kept["args"], found, table, used)
    runs = [{**each, "first": int(rows[run.first]), "last": int(rows[run.last])}
            for each, run in zip(records, found.runs)]  # fmt: skip
    several = "" if len(runs) == 1 else "es"
    text = f"{int(found.flagged.sum()):,} of {len(found.scores):,} rows."
    return {"headline": f"{len(runs):,} anomalous stretch{several}: {text}", "runs": runs}


def pairs_result(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    """Of many pairs of images: a table of them."""
    results = recorded.found["pairs"]
    matches = sum(len(each.kept) for each in results)
    kept = sum(int(each.kept.sum()) for each in results)
    arrays.write("kept", np.array([each.kept.sum() for each in results], np.int32))
    return {
        "headline": f"{matches - kept:,} of {matches:,} matches in {len(results):,} pairs follow "
        "no motion.",
        "total": len(results), "shown": len(results), "noun": "pairs",
        "view": {"mode": "pairs"}, "pairs": recorded.summary["pairs"], "structures": [],
        "thresholds": None, "false_alarms": None, "columns": [], "images": 0, "unit": "",
        "derived": [],
    }  # fmt: skip


def _thresholds(scores: Floats, threshold: float) -> dict[str, Any] | None:
    from ...report.payload import threshold_table

    return threshold_table(scores, threshold) if len(scores) else None


def _low(values: Floats) -> float | None:
    return float(np.nanpercentile(values, 1)) if np.isfinite(values).any() else None


def _high(values: Floats) -> float | None:
    return float(np.nanpercentile(values, 99)) if np.isfinite(values).any() else None
