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
from .alternatives import better_described
from .greedy import (
    MAX_STRUCTURES,
    REACH,
    BandCounts,
    Candidate,
    Structure,
    evidence_rows,
    greedy,
    members_of,
    significance_limit,
)
from .laws import is_wide, noisy_laws
from .local_models import best_candidate, local_bands, refine
from .unions import COVERED, evidence, tolerance, united

_REFINEMENTS = 4
# Models of neighbours that are drawn among the points of a structure. Among all points there are
# some for each of them, since more points have more structures, while their table of bands is no
# larger than that of a full pool and the former number.
_LOCAL_MODELS, _MODELS_EACH, _TABLE = 1000, 3, 1000 * 4096
# Starts: greedy selection with narrower and narrower bands.
_STARTS = 8
# No narrower bands are tried after a start with less than this share of the best evidence: of 45
# sets, the best start was not the first in three, and all before it had .95 of the best or more.
_HOPELESS = 0.75
# The parts of a divided structure are narrower than it by this factor.
_NARROWER = 2.0


class _Effort(NamedTuple):
    """How much is tried for a start."""

    local_models: int
    """models of neighbours that are drawn among the points, at least"""
    models_each: int
    """and for each of them"""
    look_ahead: bool
    step: int
    """of the narrower bands, every so many are tried"""


_THOROUGH = _Effort(_LOCAL_MODELS, _MODELS_EACH, look_ahead=True, step=1)
_ROUGH = _Effort(500, 0, look_ahead=False, step=3)


def rough_structures(families: Sequence[BandCounts], stream: Stream) -> list[Structure]:
    """The structures of all points, without members, from few starts and one refinement."""
    everything = np.ones(len(families[0].X), np.bool_)
    counted, limit = evidence_rows(families, everything), significance_limit(families)
    starts = _starts(families, counted, stream.child("starts"), _ROUGH)
    found = max(starts, key=lambda start: evidence(start, limit))
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
    starts = _starts(families, counted, stream.child("starts"), _THOROUGH)
    found = max(starts, key=lambda start: evidence(start, limit))
    for step in range(_REFINEMENTS):
        found = refine(found, counted, limit, stream.child(step))
    found = _divided(found, counted, limit, stream.child("divide"))
    found = united(found, counted, limit, stream.child("unite"))
    found = better_described(found, counted, stream.child("describe"))
    found = [each for each in found if each.log_ratio > limit]
    found = sorted(noisy_laws(families, found, counted), key=lambda c: -c.log_ratio)
    structures = [each.structure() for each in found[:MAX_STRUCTURES]] or list(known)
    cells = members_of(X, normal, structures)
    rounded = None if raw is X else raw
    return [
        each.with_noise(X, np.flatnonzero(cells == k), rounded) for k, each in enumerate(structures)
    ]


def _starts(
    families: Sequence[BandCounts], counted: Bools, stream: Stream, effort: _Effort
) -> list[list[Candidate]]:
    """The structures of several greedy selections.

    A wide band around several structures has more evidence than each of them, and less than all.
    Therefore the selection is repeated with bands that are narrower than the widest one it found,
    again with models of neighbours, and completed without that limit.
    """
    rows = np.flatnonzero(counted)
    most = min(effort.models_each * len(rows), _TABLE // max(1, len(rows)))
    n_local = max(effort.local_models, most)
    local = [local_bands(bands, rows, n_local, stream.child(i)) for i, bands in enumerate(families)]
    # The local models are measured on the counted rows alone, so the others are as well.
    every = [bands.of_rows(rows) for bands in families]
    every += [bands for bands in local if bands is not None]
    active = np.ones(len(rows), np.bool_)
    starts = [greedy(every, active, REACH, look_ahead=effort.look_ahead)]
    widest = max((each.half_width for each in starts[0]), default=0.0)
    widths = {float(width) for bands in families if not is_wide(bands) for width in bands.widths}
    narrower = sorted((width for width in widths if width < widest), reverse=True)[:_STARTS]
    limit, best = significance_limit(families), evidence(starts[0], significance_limit(families))
    for width in narrower[:: effort.step]:
        narrow = greedy(every, active, REACH, widest=width)
        rest = active & ~_explained(every[0].X, narrow)
        starts.append(narrow + greedy(every, rest, REACH))
        this = evidence(starts[-1], limit)
        if effort.step == 1 and this < _HOPELESS * best:
            break
        best = max(best, this)
    whole = {id(bands.family): bands for bands in families}
    return [
        [each._replace(bands=whole[id(each.bands.family)]) for each in start] for start in starts
    ]


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
        evidence(parts, limit)
        > evidence([whole], limit) + tolerance(whole, members, cells[members])
        and all(each.half_width <= widest for each in parts)
        and np.mean(cells[members] >= 0) >= COVERED
    )
    if len(parts) < 2 or not divides:
        return [candidate]
    return [
        deeper
        for k, each in enumerate(parts)
        for deeper in _parts(each, np.flatnonzero(cells == k), limit, stream.child(k))
    ]
