"""Explanations: why a point is anomalous or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .protocols import Floats
from .structures import Structure

__all__ = ["Explanation", "Nearby"]

_N_NEAREST = 3
_MAX_SIGMAS = 4.0  # a point within this distance is on a structure


@dataclass(frozen=True)
class Nearby:
    """A structure as seen from a point."""

    structure: int
    """its index in `structures_`"""
    distance: float
    """in the units of the data"""
    sigmas: float
    """the same in units of the structure's noise"""
    support: int
    """the number of training points (of a random 50,000, if there are more) on the structure"""


@dataclass(frozen=True)
class Explanation:
    """The score of a point, and the structures that are nearest to it in units of their noise."""

    score: float
    threshold: float
    """points with larger scores are anomalous"""
    p_value: float | None
    """None if it is not available"""
    anomalous: bool
    nearest: list[Nearby]
    text: str

    def __str__(self) -> str:
        return self.text


def explanations(
    X: Floats,
    scores: Floats,
    p_values: Floats | None,
    threshold: float,
    structures: list[Structure],
) -> list[Explanation]:
    columns = [structure.residuals(X) for structure in structures]
    distances = np.column_stack(columns) if columns else np.empty((len(X), 0))
    sigmas = distances / np.array([structure.sigma for structure in structures])
    results = []
    for i in range(len(X)):
        order = np.argsort(sigmas[i], kind="stable")[:_N_NEAREST]
        nearest = [
            Nearby(int(k), float(distances[i, k]), float(sigmas[i, k]), structures[k].support)
            for k in order
        ]
        score = float(scores[i])
        p = None if p_values is None else float(p_values[i])
        text = _sentence(score, threshold, p, nearest, structures)
        results.append(Explanation(score, threshold, p, score > threshold, nearest, text))
    return results


def _sentence(
    score: float,
    threshold: float,
    p: float | None,
    nearest: list[Nearby],
    structures: list[Structure],
) -> str:
    anomalous = score > threshold
    numbers = f"score {score:.3f}, threshold {threshold:.3f}"
    numbers += "" if p is None else f", p = {p:.3f}"
    head = f"{'anomalous' if anomalous else 'normal'} ({numbers}): "
    if not nearest:
        nothing = "" if anomalous else ", so that no point is flagged"
        return head + f"no structure was found in the data{nothing}."
    first = nearest[0]
    family = structures[first.structure].family.name
    what = f"structure {first.structure} ({family}, {first.support} points)"
    if not np.isfinite(first.sigmas):
        return head + "on the wrong side of every structure."
    away = f"{first.sigmas:.3g} sigmas ({first.distance:.3g}) away"
    if first.sigmas <= _MAX_SIGMAS:
        but = ", but it shares too little with its points" if anomalous else ""
        return head + f"on {what}, {away}{but}."
    but = "" if anomalous else ", but it shares enough with the points of some"
    return head + f"on no structure; the nearest is {what}, {away}{but}."
