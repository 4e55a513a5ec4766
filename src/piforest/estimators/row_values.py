"""Values of rows, computed where the rows are: no methods, so that no worker gets the detector."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tensors import match_input_type, to_numpy
from ..labels import votes as labels
from ..labels.calibration import Calibration
from ..protocols import Floats
from ..structures.assignment import assign_rows
from ..structures.greedy import Structure
from ..structures.pieces import Pieces


def assigned(
    structures: list[Structure],
    pieces: Pieces | None,
    part: int,
    X: Floats,
    scores: Floats,
    threshold: float,
) -> Any:
    found = assign_rows(X, scores <= threshold, structures)
    return found[part] if pieces is None or part else pieces.of(X, found)


def p_values(calibration: Calibration, scores: Any, threshold: float) -> Any:
    return match_input_type(calibration.p_values(to_numpy(scores)), scores)


def probability(calibration: Calibration, known: bool, scores: Any, threshold: float) -> Any:
    found = calibration.probability(to_numpy(scores)) * (1.0 if known else np.nan)
    return match_input_type(found, scores)


def chance(null: Floats, scores: Any, threshold: float) -> Any:
    return match_input_type(labels.chance_p_values(to_numpy(scores), null), scores)
