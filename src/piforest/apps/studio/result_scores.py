"""The result of `score`: new rows by a model that is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...report.content import most_telling
from ...structures.assignment import Assignment
from .arrays import Arrays
from .commands import MODEL
from .results import MOST_ROWS, false_alarms, write_columns, write_nearest, write_scores
from .running import RecordingOutput


def scores_result(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    """The rows of all blocks, as those of a detection, without structures of their own."""
    from ...report.payload import outline_data, threshold_table

    blocks, summary = recorded.blocks, recorded.summary
    detector = blocks[0]["detector"]
    X, scores = _joined(blocks, "X"), _joined(blocks, "scores")
    shown = most_telling(scores, MOST_ROWS)
    rows = np.concatenate([each["block"].rows[each["scored"]] for each in blocks])
    names = blocks[0]["block"].names
    columns = {
        name: np.ma.concatenate([each["block"].columns[name][each["scored"]] for each in blocks])[  # type: ignore[no-untyped-call]
            shown
        ]
        for name in names
    }
    write_columns(arrays, columns)
    for k in range(X.shape[1]):
        arrays.write(f"point:{k}", X[shown, k])
    write_scores(arrays, scores[shown], rows[shown], _assigned(blocks), shown)
    thresholds = threshold_table(scores, summary["threshold"])
    structures = getattr(detector, "structures_", [])
    write_nearest(arrays, X[shown], structures)
    outlines = outline_data(structures, X)
    flagged, n = summary["anomalies"], len(scores)
    used = summary["columns"]
    solid = len(used) in (3, 6)
    places = [names.index(each) for each in used]
    return {
        "headline": f"{flagged:,} of {n:,} rows are anomalous by {_model_name(summary['model'])} "
        f"({100 * flagged / n:.1f} %).",
        "total": n, "shown": len(shown), "noun": "rows", "columns": names, "points": used,
        "derived": [],
        "view": {"mode": "3d" if solid else "2d", "places": places, "opening": places,
                 "equal": False, "law": False, "low": X.min(axis=0).tolist(),
                 "high": X.max(axis=0).tolist()},
        "structures": [
            {**each.as_dict(), "number": k, **(outlines[k] if k < len(outlines) else {})}
            for k, each in enumerate(structures)
        ],
        "thresholds": thresholds, "false_alarms": false_alarms(detector, thresholds),
        "unit": "", "images": 0,
    }  # fmt: skip


def _model_name(name: str) -> str:
    """The model of a run has a name that says nothing."""
    return "the model of the run" if name == MODEL else name


def _joined(blocks: list[dict[str, Any]], name: str) -> Any:
    return np.concatenate([each[name] for each in blocks])


def _assigned(blocks: list[dict[str, Any]]) -> Assignment | None:
    parts = [each["assigned"] for each in blocks]
    if any(each is None for each in parts):
        return None
    return Assignment(
        np.concatenate([each.labels for each in parts]),
        np.concatenate([each.distances for each in parts]),
        None,
    )
