"""Why is this point anomalous, or not?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .protocols import Bools, Floats
from .structures import Structure

_NEAREST = 3


@dataclass(frozen=True)
class Nearby:
    """A structure as seen from a point."""

    structure: int
    """its place in `structures_`"""
    distance: float
    """in the units of the data"""
    sigmas: float
    """the same in units of the structure's noise"""
    support: int
    """how many training points belong to the structure"""


@dataclass(frozen=True)
class Explanation:
    """One point, what it scored, and the structures nearest to it in their own sigmas."""

    score: float
    p_value: float
    anomalous: bool
    nearest: list[Nearby]
    text: str

    def __str__(self) -> str:
        return self.text


def explanations(
    X: Floats, scores: Floats, p_values: Floats, anomalous: Bools, structures: list[Structure]
) -> list[Explanation]:
    columns = [each.residuals(X) for each in structures]
    distances = np.column_stack(columns) if columns else np.empty((len(X), 0))
    sigmas = distances / np.array([each.sigma for each in structures])
    found = []
    for i in range(len(X)):
        order = np.argsort(sigmas[i], kind="stable")[:_NEAREST]
        nearest = [
            Nearby(int(k), float(distances[i, k]), float(sigmas[i, k]), structures[k].support)
            for k in order
        ]
        score, p, flag = float(scores[i]), float(p_values[i]), bool(anomalous[i])
        text = _sentence(score, p, flag, nearest, structures)
        found.append(Explanation(score, p, flag, nearest, text))
    return found


def _sentence(
    score: float, p: float, flag: bool, nearest: list[Nearby], structures: list[Structure]
) -> str:
    head = f"{'anomalous' if flag else 'normal'} (score {score:.3f}, p = {p:.3f}): "
    if not nearest:
        return head + "no structure was found in the data."
    first = nearest[0]
    family = structures[first.structure].family.name
    what = f"structure {first.structure}, a {family} with {first.support} points"
    if not np.isfinite(first.sigmas):
        return head + "no structure can be seen from it."
    away = f"{first.sigmas:.1f} sigmas ({first.distance:.3g}) away."
    return head + (f"on {what}, {away}" if first.sigmas <= 4 else f"nearest is {what}, {away}")
