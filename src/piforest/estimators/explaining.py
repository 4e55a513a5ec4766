"""Explanations of rows by a fitted forest of preferences."""

from __future__ import annotations

from typing import Literal

from .._random import Stream
from ..engines import Backend
from ..explain import Certainty, Explanation, explanations
from ..findings import Findings
from ..fitted import FittedForest
from ..labels import votes as labels
from ..labels.again import flagged_again
from ..protocols import Floats
from ..structures.greedy import Structure


def explain_rows(
    fitted: FittedForest,
    findings: Findings,
    backend: Backend,
    rows: Floats,
    threshold: float,
    chosen: Literal["automatic", "given"] | float,
    structures: list[Structure],
) -> list[Explanation]:
    """An explanation of each of the validated rows (n, d).

    chosen: how the threshold was: a share of the training rows, or given, so that it is the same
    for any forest. structures: with the members that the threshold leaves them.
    """
    scores = backend.scores(fitted, rows)
    stability = flagged_again(
        backend.path_lengths(fitted, rows),
        fitted.forest.trees.normaliser,
        threshold if chosen == "given" else findings.thresholds_again(backend, chosen),
        Stream(fitted.key).child("stability"),
    )
    certainty = Certainty(stability)
    if fitted.has_null:
        calibration = findings.calibration(backend)
        probability = calibration.probability(scores) if structures else None
        chance = labels.chance_p_values(scores, findings.null_scores(backend))
        certainty = Certainty(stability, calibration.p_values(scores), probability, chance)
    members = findings.member_rows(backend)
    return explanations(
        rows, scores, certainty, threshold, structures, members, fitted.ranges, findings.names
    )
