"""Explanations: why a point is anomalous or not, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ._numbers import readable
from ._ranges import Ranges
from .families import layout_of
from .families.scaled import column_units
from .protocols import Floats
from .structures.greedy import REACH, Structure

__all__ = ["Change", "Explanation", "Nearby"]

_N_NEAREST = 3
_MAX_SIGMAS = 4.0  # a flagged point within this distance is on a structure nevertheless
_UNUSUAL = 0.05  # p-values up to this are unusual for normal rows
_STEPS = 30  # of Newton's method; one is enough for a plane
_ON = 1e-3  # sigmas within which a changed row lies on a structure
_FARTHEST = 10.0  # ranges of a column beyond which a change is no reason
_GAP = 99.0  # percent of the points of a structure are nearer to another one than a gap
_GAP_POINTS = 2000  # points that the gap is measured on


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
    equation: str
    """the structure as a line of text"""


@dataclass(frozen=True)
class Change:
    """What one column alone would have to be for a row to lie on its nearest structure."""

    column: str
    """its name"""
    change: float
    """the difference to what it is"""
    value: float
    """what it would have to be"""
    relative: float
    """the change in units of the range of the column on the structure"""


@dataclass(frozen=True)
class Explanation:
    """The score of a point, and the structures that are nearest to it in half-widths."""

    score: float
    threshold: float
    """points with larger scores are anomalous"""
    p_value: float | None
    """the probability that a normal point scores as high, small for anomalies; None if it is not
    available"""
    anomalous: bool
    nearest: list[Nearby]
    text: str
    stability: float = 0.0
    """the share of forests, drawn again from the trees, that flag the point, each with its own
    threshold"""
    probability: float | None = None
    """the probability of an anomaly; None if it is not available"""
    chance_p_value: float | None = None
    """the probability that a point of no structure scores as low, large for anomalies; None if it
    is not available"""
    changes: list[Change] = field(default_factory=list)
    """the columns that would bring the point onto the nearest structure, each alone, the least
    change first; empty for structures of other dimensions than one less than the columns"""
    extrapolated: bool = False
    """whether the point is anomalous and on the nearest structure, but no point of it is near"""
    outside: list[str] = field(default_factory=list)
    """the columns in which the point is outside the range of the training points"""

    def __str__(self) -> str:
        return self.text


class Certainty(NamedTuple):
    """How certain the labels of n rows are."""

    stability: Floats
    p_values: Floats | None = None
    probability: Floats | None = None
    chance: Floats | None = None


def explanations(
    X: Floats,
    scores: Floats,
    certainty: Certainty,
    threshold: float,
    structures: list[Structure],
    members: Sequence[Floats] | None = None,
    ranges: Ranges | None = None,
    names: Sequence[str] | None = None,
) -> list[Explanation]:
    """The explanations of the rows of X; members: the rows of each structure, if they are known;
    ranges: of the columns of the training rows, which have these names."""
    columns = [structure.residuals(X) for structure in structures]
    distances = np.column_stack(columns) if columns else np.empty((len(X), 0))
    sigmas = distances / np.array([structure.sigma for structure in structures])
    relative = distances / np.array([structure.half_width for structure in structures])
    results = []
    for i in range(len(X)):
        order = np.argsort(relative[i], kind="stable")[:_N_NEAREST]
        nearest = [
            Nearby(
                int(k),
                float(distances[i, k]),
                float(sigmas[i, k]),
                structures[k].support,
                structures[k].equation,
            )
            for k in order
        ]
        p, probability, chance = (
            None if each is None else float(each[i]) for each in certainty[1:]
        )
        score = float(scores[i])
        off = bool(nearest) and nearest[0].sigmas > 1
        changes = column_changes(structures[order[0]], X[i]) if off else []
        found = Explanation(
            score, threshold, p, score > threshold, nearest, "",
            float(certainty.stability[i]), probability, chance, changes,
        )  # fmt: skip
        if members is not None and found.anomalous and _is_on(found, structures):
            k = int(order[0])
            alone = _is_alone(structures[k], X[i], members[k])
            found = replace(found, extrapolated=alone)
        text = _sentence(found, structures, X[i])
        if ranges is not None:
            beyond = np.flatnonzero(ranges.outside(X[i : i + 1])[0]).tolist()
            known = [f"column {k}" for k in range(X.shape[1])] if names is None else list(names)
            found = replace(found, outside=[known[k] for k in beyond])
            text += _outside_sentence(ranges, beyond, known)
        results.append(replace(found, text=text))
    return results


def _is_on(found: Explanation, structures: list[Structure]) -> bool:
    """Whether a point is on its nearest structure: for one that is not flagged, as `assign` says,
    within three half-widths."""
    if not found.nearest:
        return False
    nearest = structures[found.nearest[0].structure]
    reach = _MAX_SIGMAS if found.anomalous else REACH * nearest.half_width / nearest.sigma
    return found.nearest[0].sigmas <= reach


def _is_alone(structure: Structure, x: Floats, members: Floats) -> bool:
    """Whether the row x (d,) is farther from the members (n, d) of a structure than nearly all of
    these are from each other."""
    if len(members) < 2:
        return False
    units = column_units(structure.family, len(x))
    if layout_of(structure.family).kind == "table":
        # The columns of a table are no lengths: their spread says what is near.
        spread = members.std(axis=0)
        units = np.where(spread > 0, spread, 1.0)
    tree = cKDTree(members / units)
    some = members[:: -(-len(members) // _GAP_POINTS)]
    gaps = tree.query(some / units, k=2)[0][:, 1]
    return bool(tree.query(x / units)[0] > np.percentile(gaps, _GAP))


def column_changes(structure: Structure, x: Floats) -> list[Change]:
    """What each column alone would have to be for the row x (d,) to lie on a structure; the least
    change first, relative to the range of the column on the structure."""
    bounds = structure.extent.get("bounds", {})
    if structure.family.codimension(len(x)) != 1 or not bounds:
        return []
    found = []
    for column, name in enumerate(structure.names):
        low, high = bounds[name]
        size = float(high - low)
        change = _root(structure, x, column, size) if size > 0 else None
        if change is not None:
            value = float(x[column]) + change
            found.append(Change(name, change, value, abs(change) / size))
    return sorted(found, key=lambda each: each.relative)


def _root(structure: Structure, x: Floats, column: int, size: float) -> float | None:
    """The change of one column at which the distance vanishes, by Newton's method; None if there is
    none nearby."""

    def distance(change: float) -> float:
        moved = x.copy()
        moved[column] += change
        return float(structure.residuals(moved[None])[0])

    change, away, step = 0.0, distance(0.0), 1e-6 * size
    for _ in range(_STEPS):
        if not np.isfinite(away):
            return None
        if away <= _ON * structure.sigma:
            return change
        slope = (distance(change + step) - distance(change - step)) / (2 * step)
        if not np.isfinite(slope) or abs(slope) * _FARTHEST * size < away:
            return None
        change -= away / slope
        away = distance(change)
        # Closer than the kink of the distance on the structure itself.
        step = min(step, 1e-3 * away / abs(slope)) or step
    return None


def _outside_sentence(ranges: Ranges, columns: list[int], names: list[str]) -> str:
    if not columns:
        return ""
    return f" Outside the ranges of the fit ({ranges.text(columns, names)}): little is known there."


def _sentence(found: Explanation, structures: list[Structure], x: Floats) -> str:
    anomalous, nearest = found.anomalous, found.nearest
    numbers = f"score {found.score:.3f}, threshold {found.threshold:.3f}"
    numbers += "" if found.p_value is None else f", p = {found.p_value:.3g}"
    if 0 < found.stability < 1:
        numbers += f", flagged by {100 * found.stability:.3g} % of forests drawn again"
    head = f"{'anomalous' if anomalous else 'normal'} ({numbers}): "
    if not nearest:
        nothing = "" if anomalous else ", so that no point is flagged"
        return head + f"no structure was found in the data{nothing}."
    first = nearest[0]
    family = structures[first.structure].family.name
    what = f"structure {first.structure} ({family}, {first.support} points)"
    if not np.isfinite(first.sigmas):
        return head + "on the wrong side of every structure."
    away = f"{first.sigmas:.3g} sigmas ({readable(first.distance)}) away"
    unusual = ""
    if not anomalous and found.p_value is not None and found.p_value <= _UNUSUAL:
        unusual = "; few normal rows score as high, but its score is not above the threshold"
    if _is_on(found, structures):
        but = ", but it shares too little with its points" if anomalous else ""
        if found.extrapolated:
            but = ", but no other row is near here on this structure (extrapolation)"
        return head + f"on {what}, {away}{but or unusual}."
    but = "" if anomalous else unusual or ", but it shares enough with the points of some"
    text = head + f"on no structure; the nearest is {what}, {away}{but}."
    # A change of more than the whole range of a column is no reason.
    if anomalous and found.changes and found.changes[0].relative <= 1:
        least = found.changes[0]
        now = float(x[structures[first.structure].names.index(least.column)])
        text += (
            f" To lie on it, {least.column} alone would have to be {readable(least.value, 4)} "
            f"instead of {readable(now, 4)}."
        )
    return text
