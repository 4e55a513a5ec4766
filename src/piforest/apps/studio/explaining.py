"""Why a row is anomalous, or not, by the model of a job. Runs in a helper."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...protocols import Floats
from ..server.guard import Refused
from .arrays import Arrays
from .commands import FAMILY_FILE, MODEL

# Models that are kept in memory.
_KEPT = 4


def explain(
    folder: str, row: int, points: list[str], threshold: float | None, code: bool
) -> dict[str, Any]:
    """The explanation of a row, by its number in the file, at the threshold of the model or at
    another. code: whether functions of the job may run."""
    arrays = Arrays(Path(folder) / "arrays")
    at = np.flatnonzero(arrays.read("rows") == row)
    if not len(at):
        raise Refused(404, f"row {row} has no score: it lacks a number, or is not shown.")
    x = np.array([arrays.read(f"point:{k}")[at[0]] for k in range(len(points))])
    detector = load_model(folder, code)
    if not hasattr(detector, "explain"):
        raise Refused(422, "this model explains no rows.")
    detector.findings_.name_columns(points)
    reason = _reason(detector, x, threshold)
    own = float(arrays.read("scores")[at[0]])
    return {
        "row": row, "text": reason.text + _floor(detector, reason.p_value), "score": own,
        "threshold": reason.threshold,
        "values": dict(zip(points, x.tolist())),
        "nearest": [asdict(each) for each in reason.nearest],
        "stability": reason.stability, "p_value": reason.p_value,
        "probability": reason.probability,
        "changes": [asdict(each) for each in reason.changes],
    }  # fmt: skip


def _floor(detector: Any, p: float | None) -> str:
    """What to know of a p that cannot be smaller."""
    from ...report.parts import smallest_p

    if p is None:
        return ""
    weight = detector.findings_.calibration(detector.backend_).weight
    # Of a sum: it has the error of its rounding.
    return f" {smallest_p(detector)}" if p <= (1 + 1e-9) / (1 + weight) else ""


def _reason(detector: Any, x: Floats, threshold: float | None) -> Any:
    chosen = (detector.threshold_, detector.threshold_source_)
    try:
        if threshold is not None:
            detector.set_threshold(threshold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # plain arrays have no names
            return detector.explain(x[None])[0]
    finally:  # it stays in memory for the next row
        detector.threshold_, detector.threshold_source_ = chosen


def load_model(folder: str, code: bool) -> Any:
    """The model of a job; the functions of its family run only if code is allowed."""
    path = Path(folder) / "run" / MODEL
    functions = path.with_name(FAMILY_FILE)
    if not path.exists():
        raise Refused(422, "this result has no model; windows are explained by their runs.")
    if functions.exists() and not code:
        raise Refused(403, "the family of this job is code; start Studio with --allow-code.")
    return _loaded(str(path), str(functions) if functions.exists() else "", path.stat().st_mtime_ns)


@lru_cache(_KEPT)
def _loaded(path: str, functions: str, changed: int) -> Any:
    from ...estimators import load
    from ..cli._functions import family_of_file

    return load(path, family=family_of_file(Path(functions))) if functions else load(path)
