"""Matches: does a map of the images explain more than their epipolar geometry does?

Null rows spread the second points of matches over all directions, while real ones lie in a short
part of an epipolar line. A few maps through part of the rows then seem to explain more than the
epipolar geometry that all rows follow. So maps are judged once more, against rows that follow the
epipolar geometry but lie anywhere in that part of their lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream
from ..families import layout_of
from ..families._null import still_within
from ..families._samples import freedom
from ..protocols import Floats, ModelFamily
from .description import (
    Described,
    Description,
    Scales,
    best_description,
    describe,
    scales_of,
)
from .search import fit_members

_COPIES = 40
_ENDS = (5, 95)  # percentiles of the positions along epipolar lines
# The evidence of maps along epipolar lines, in nats for each row, that is worth believing them;
# more if they are this many times as many as the epipolar geometries of several motions, since they
# may be the faces of moving things.
_SEEN, _SEEN_BY_MANY, _MANY = 0.5, 1.5, 2
_HALF = 0.5
# No real wall is flat: a map with up to this many times the noise of the epipolar geometry is none
# the worse for it.
_UNEVEN = 2.0


def preferred_match_family(
    order: Sequence[int],
    families: dict[int, ModelFamily],
    single: dict[int, Description],
    found: dict[int, list[Described]],
    X: Floats,
    null: Floats,
    stream: Stream,
) -> tuple[list[int], dict[int, str]]:
    """The order of the families with maps first only if they say where on epipolar lines the rows
    lie; and notes on the families that this concerns."""
    lines, maps = (
        [k for k in order if _is_match(families[k]) and families[k].codimension(4) == c]
        for c in (1, 2)
    )
    most = single[order[0]].evidence
    for group in filter(None, (lines, maps)):
        # Maps need more evidence than epipolar geometries, since they say more of each row.
        if group is lines or single[group[0]].evidence > _HALF * most:
            _fit_to_best(group, families, single, found, X, null, stream.child("members"))
        group.sort(key=lambda k: -single[k].evidence)
    order = sorted(order, key=lambda k: -single[k].evidence)
    useful = [k for k in (*lines[:1], *maps[:1]) if single[k].structures]
    # Null rows favour maps: those that are behind all the same are behind.
    if len(useful) < 2 or order[0] not in maps:
        return order, {}
    epipolar = useful[0]
    rows, beside = _along_lines(single[epipolar], X, stream)
    sigma = single[epipolar].sigma
    judged = max(
        (_judged(found[k], sigma, rows, beside) for k in maps), key=lambda each: each.evidence
    )
    motions, number = len(single[epipolar].structures), len(judged.structures)
    many = motions > 1 and number >= _MANY * motions
    if judged.evidence > (_SEEN_BY_MANY if many else _SEEN) * max(len(rows), 1):
        return [*maps, *(k for k in order if k not in maps)], {}
    note = "Maps have more evidence, but hardly say where on their epipolar lines the rows lie."
    if many:
        note = f"Maps have more evidence, but {number} are needed for the {motions} motions."
    return [*lines, *(k for k in order if k not in lines)], {epipolar: note}


def _fit_to_best(
    group: Sequence[int],
    families: dict[int, ModelFamily],
    single: dict[int, Description],
    found: dict[int, list[Described]],
    X: Floats,
    null: Floats,
    stream: Stream,
) -> None:
    """Fit the other families to the structures of the best one, too: larger samples find fewer
    structures, and families that contain it should explain what it explains. Those with fewer
    parameters only if they explain half as much, and none that explains as much already."""
    if not group or not single[group[0]].structures:
        return
    best = single[group[0]]
    for k in group[1:]:
        freer = freedom(families[k], 4) > freedom(families[group[0]], 4)
        behind = single[k].log_ratio < best.log_ratio
        if behind and (freer or single[k].evidence > _HALF * best.evidence):
            fitted = [
                each
                for number, seed in enumerate(best.structures)
                for each in fit_members(families[k], seed, X, null, stream.child(k, number))
            ]
            found[k] += fitted
            tried = (single[k], best_description(found[k]), best_description(fitted))
            single[k] = max(tried, key=lambda each: each.evidence)


def _is_match(family: ModelFamily) -> bool:
    return layout_of(family).kind == "matches"


def _judged(found: Sequence[Described], sigma: float, rows: Floats, null: Floats) -> Description:
    """The description of rows on epipolar lines by maps that were found. sigma: the noise of the
    epipolar geometries, across their lines.

    A map that takes the place of epipolar geometries also has to say where the rows lie across the
    lines: one that is wider says less of this, by the ratio of the two densities.
    """
    judged = []
    for each in found:
        sigmas = each.sigma * 2.0 ** (np.arange(-4, 5) / 2)
        scales = scales_of(each.family, each.params, null, sigmas, codimension=1)
        means = scales.means * np.maximum(sigmas / (_UNEVEN * sigma), 1.0)
        judged.append(describe(each.family, each.params, rows, Scales(sigmas, means)))
    return best_description(judged)


def _along_lines(epipolar: Description, X: Floats, stream: Stream) -> tuple[Floats, Floats]:
    """The rows of epipolar geometries, and null rows that lie elsewhere on the same lines."""
    cells, rng = epipolar.rows(), stream.generator()
    rows, null = [np.empty((0, 4))], [np.empty((0, 4))]
    for k, each in enumerate(epipolar.structures):
        members = X[cells == k]
        if len(members) < 2:
            continue
        along = _directions(each, members)
        at = np.sum(along * (members[:, 2:] - members[:, :2]), axis=1)
        low, middle, high = np.percentile(at, (_ENDS[0], 50, _ENDS[1]))
        part = max(abs(middle) / 2, still_within(X))
        low, high = min(low, middle - part), max(high, middle + part)
        copies = np.repeat(members, _COPIES, axis=0)
        moves = rng.uniform(low, high, len(copies)) - np.repeat(at, _COPIES)
        copies[:, 2:] += moves[:, None] * np.repeat(along, _COPIES, axis=0)
        rows.append(members)
        null.append(copies)
    return np.concatenate(rows), np.concatenate(null)


def _directions(structure: Described, X: Floats) -> Floats:
    """(n, 2) unit vectors along the epipolar lines in the second image, all to the same side.

    The residual after a move of the second point in three directions tells the normal of its line.
    """
    family, params = structure.family, structure.params[None]
    step = 100 * structure.sigma
    r = []
    for direction in ((1.0, 0.0), (0.0, 1.0), (np.sqrt(0.5), np.sqrt(0.5))):
        moved = X.copy()
        moved[:, 2:] += step * np.array(direction)
        r.append(np.asarray(family.residuals(moved, params)[:, 0]) / step)
    x, y = r[0], np.where(np.sqrt(2) * r[2] >= np.maximum(r[0], r[1]), r[1], -r[1])
    along = np.column_stack([-y, x])
    along /= np.maximum(np.sqrt(np.sum(along**2, axis=1)), 1e-300)[:, None]
    main = np.linalg.eigh(along.T @ along)[1][:, -1]
    return np.asarray(along * np.where(along @ main < 0, -1.0, 1.0)[:, None])
