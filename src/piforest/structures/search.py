"""Search for the structures of the data: several starts, then refinement, divisions and unions.

The evidence of a set of structures is the sum of their log-likelihood ratios, minus the
significance limit for each: one structure more must explain more than chance does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._random import Stream
from ..protocols import Bools, Floats, Ints
from .greedy import (
    MAX_STRUCTURES,
    REACH,
    BandCounts,
    Candidate,
    Structure,
    evidence_rows,
    greedy,
    members_of,
    relative_distances,
    significance_limit,
)
from .laws import is_wide, settled
from .local_models import best_candidate, local_bands, models_of, refine

_REFINEMENTS = 4
# Models of neighbours that are drawn among the points of a structure.
_LOCAL_MODELS = 1000
# Starts: greedy selection with narrower and narrower bands.
_STARTS = 8
# The parts of a divided structure are narrower than it by this factor, and contain this share of
# its points.
_NARROWER, _COVERED = 2.0, 0.8
# Two structures are one if a band explains both as well as bands that are narrower by this factor:
# real structures are not exact, and the error of a plane of 300 points is significant. Models of
# large minimal samples bend so much that a slightly wider band may contain two structures.
_SAME_WIDTH, _LARGE_SAMPLE = 1.5, 7
# The nearest structures that a structure may be united with.
_NEIGHBOURS = 3


class _Effort(NamedTuple):
    """How much is tried for a start."""

    local_models: int
    """models of neighbours that are drawn among the points"""
    look_ahead: bool
    step: int
    """of the narrower bands, every so many are tried"""


_THOROUGH, _ROUGH = _Effort(_LOCAL_MODELS, True, 1), _Effort(500, False, 3)


def rough_structures(families: Sequence[BandCounts], stream: Stream) -> list[Structure]:
    """The structures of all points, without members, from few starts and one refinement."""
    everything = np.ones(len(families[0].X), np.bool_)
    counted, limit = evidence_rows(families, everything), significance_limit(families)
    found = _best_start(families, counted, limit, stream.child("starts"), _ROUGH)
    found = refine(found, counted, limit, stream.child("refine"))
    return [each.structure() for each in found if each.log_ratio > limit]


def find_structures(
    families: Sequence[BandCounts],
    normal: Bools,
    stream: Stream,
    known: Sequence[Structure] = (),
) -> list[Structure]:
    """The structures of the `normal` points; known: those that are taken if none is found, since
    the rows that are not normal were needed to see them."""
    X, raw = families[0].X, families[0].raw
    counted, limit = evidence_rows(families, normal), significance_limit(families)
    found = _best_start(families, counted, limit, stream.child("starts"), _THOROUGH)
    for step in range(_REFINEMENTS):
        found = refine(found, counted, limit, stream.child(step))
    found = _divided(found, counted, limit, stream.child("divide"))
    found = _united(found, counted, limit, stream.child("unite"))
    found = [each for each in found if each.log_ratio > limit]
    found = sorted(settled(found, counted), key=lambda c: -c.log_ratio)
    structures = [each.structure() for each in found[:MAX_STRUCTURES]] or list(known)
    cells = members_of(X, normal, structures)
    rounded = None if raw is X else raw
    return [
        each.with_noise(X, np.flatnonzero(cells == k), rounded) for k, each in enumerate(structures)
    ]


def _evidence(found: Sequence[Candidate], limit: float) -> float:
    return sum(each.log_ratio - limit for each in found)


def _best_start(
    families: Sequence[BandCounts], counted: Bools, limit: float, stream: Stream, effort: _Effort
) -> list[Candidate]:
    """The structures of greedy selection with the most evidence.

    A wide band around several structures has more evidence than each of them, and less than all.
    Therefore the selection is repeated with bands that are narrower than the widest one it found,
    again with models of neighbours, and completed without that limit.
    """
    rows = np.flatnonzero(counted)
    local = [
        local_bands(bands, rows, effort.local_models, stream.child(i))
        for i, bands in enumerate(families)
    ]
    # The local models are measured on the counted rows alone, so the others are as well.
    every = [bands.of_rows(rows) for bands in families]
    every += [bands for bands in local if bands is not None]
    active = np.ones(len(rows), np.bool_)
    starts = [greedy(every, active, REACH, look_ahead=effort.look_ahead)]
    widest = max((each.half_width for each in starts[0]), default=0.0)
    widths = {float(width) for bands in families if not is_wide(bands) for width in bands.widths}
    narrower = sorted((width for width in widths if width < widest), reverse=True)[:_STARTS]
    for width in narrower[:: effort.step]:
        narrow = greedy(every, active, REACH, widest=width)
        rest = active & ~_explained(every[0].X, narrow)
        starts.append(narrow + greedy(every, rest, REACH))
    best = max(starts, key=lambda found: _evidence(found, limit))
    whole = {id(bands.family): bands for bands in families}
    return [each._replace(bands=whole[id(each.bands.family)]) for each in best]


def _explained(X: Floats, found: Sequence[Candidate]) -> Bools:
    """(n,) which rows are within the reach of a structure."""
    return np.asarray(
        members_of(X, np.ones(len(X), np.bool_), [each.structure() for each in found]) >= 0
    )


def _divided(
    found: list[Candidate], counted: Bools, limit: float, stream: Stream
) -> list[Candidate]:
    """Structures that consist of several much narrower ones are replaced by these."""
    if not found:
        return found
    cells = members_of(found[0].bands.X, counted, [each.structure() for each in found])
    parts = [
        part
        for k, each in enumerate(found)
        for part in _parts(each, np.flatnonzero(cells == k), limit, stream.child(k))
    ]
    return parts if len(parts) == len(found) else refine(parts, counted, limit, stream.child("all"))


def _parts(candidate: Candidate, members: Ints, limit: float, stream: Stream) -> list[Candidate]:
    """The structures within the band of a candidate, if these explain its points better."""
    bands = candidate.bands
    inside = local_bands(bands, members, _LOCAL_MODELS, stream)
    widest = candidate.half_width / _NARROWER * (1 + 1e-9)
    if inside is None or is_wide(bands) or bands.widths[-1] > widest:
        return [candidate]
    found = greedy([inside], np.ones(len(members), np.bool_), REACH, look_ahead=True, widest=widest)
    parts = [each._replace(bands=bands) for each in found]
    if len(parts) < 2:
        return [candidate]
    among = np.zeros(len(bands.X), np.bool_)
    among[members] = True
    parts = refine(parts, among, limit, stream.child("refine"))
    whole = best_candidate(bands, candidate.params[None], members)
    cells = members_of(bands.X, among, [each.structure() for each in parts])
    divides = (
        _evidence(parts, limit)
        > _evidence([whole], limit) + _tolerance(whole, members, cells[members])
        and all(each.half_width <= widest for each in parts)
        and np.mean(cells[members] >= 0) >= _COVERED
    )
    if len(parts) < 2 or not divides:
        return [candidate]
    return [
        deeper
        for k, each in enumerate(parts)
        for deeper in _parts(each, np.flatnonzero(cells == k), limit, stream.child(k))
    ]


def _tolerance(candidate: Candidate, rows: Ints, cells: Ints) -> float:
    """The evidence that several structures must have more than one for the same rows.

    Either what its points would gain in a band that is narrower by the factor which does not
    matter, or the price of saying to which of the structures, `cells`, each point belongs: without
    it, the two halves of any band have more evidence than the band.
    """
    bands, size = candidate.bands, candidate.bands.models.samples.shape[1]
    if size >= _LARGE_SAMPLE:
        return 0.0
    residuals = bands.family.residuals(bands.X[rows], candidate.params[None])
    inside = max(0, int(np.sum(residuals <= candidate.half_width)) - size)
    narrower = np.log(_SAME_WIDTH) * bands.codimension * inside
    counts = np.bincount(cells[cells >= 0])
    counts = counts[counts > 0]
    labels = float(np.sum(counts * np.log(counts.sum() / counts)))
    return float(max(narrower, labels))


def _united(
    found: list[Candidate], counted: Bools, limit: float, stream: Stream
) -> list[Candidate]:
    """Pairs of structures that one model explains as well are replaced by it, the best first."""
    for step in range(len(found)):
        cells = members_of(found[0].bands.X, counted, [each.structure() for each in found])
        best: tuple[float, int, int, Candidate] | None = None
        for a, b in _neighbours(found, cells):
            union = _union(found[a], found[b], cells, (a, b), counted, stream.child(step, a, b))
            if union is None:
                continue
            rows = np.flatnonzero((cells == a) | (cells == b))
            gain = _evidence([union], limit) + _tolerance(union, rows, cells[rows])
            gain -= _evidence([found[a], found[b]], limit)
            if gain >= 0 and (best is None or gain > best[0]):
                best = gain, a, b, union
        if best is None:
            break
        _, a, b, union = best
        found = [each for k, each in enumerate(found) if k not in (a, b)] + [union]
        found = refine(found, counted, limit, stream.child("refine", step))
    return found


def _neighbours(found: list[Candidate], cells: Ints) -> list[tuple[int, int]]:
    """Pairs of structures of one family, with some of those that are nearest to the points of
    each: all pairs would be too many."""
    distances = relative_distances(found[0].bands.X, [each.structure() for each in found])
    pairs = set()
    for a, each in enumerate(found):
        if not np.any(cells == a):
            continue
        near = np.median(distances[cells == a], axis=0)
        others = [
            b for b, other in enumerate(found)
            if b != a and other.bands.family is each.bands.family and np.any(cells == b)
        ]  # fmt: skip
        for b in sorted(others, key=lambda b: (near[b], b))[:_NEIGHBOURS]:
            pairs.add((min(a, b), max(a, b)))
    return sorted(pairs)


def _union(
    one: Candidate,
    two: Candidate,
    cells: Ints,
    pair: tuple[int, int],
    counted: Bools,
    stream: Stream,
) -> Candidate | None:
    """The best model of the points of two structures, if it contains most points of both."""
    bands, half_width = one.bands, max(one.half_width, two.half_width)
    each = [np.flatnonzero(cells == k) for k in pair]
    both, larger = np.concatenate(each), one if len(each[0]) >= len(each[1]) else two
    models = models_of(larger._replace(half_width=half_width), both, stream)
    models = np.concatenate([models, one.params[None], two.params[None]])
    inside = np.sum(bands.family.residuals(bands.X[both], models) <= half_width, axis=0)
    fullest = Candidate(bands, models[int(np.argmax(inside))], half_width, 0.0)
    models = np.concatenate([models, models_of(fullest, both, stream.child("fullest"))])
    free = np.flatnonzero(counted & (np.isin(cells, pair) | (cells == -1)))
    union = best_candidate(bands, models, free)
    reach = REACH * union.half_width
    covers = all(
        np.mean(bands.family.residuals(bands.X[rows], union.params[None]) <= reach) >= _COVERED
        for rows in each
    )
    return union if covers else None
