"""Models of what is not explained yet, and no models of what narrower structures explain.

A structure with one per cent of many points is missed by samples of all of them. It is found by
samples of the points that are far from the large structures. Models that almost fit a large
structure, in bands so wide that anomalies lie in them, are not needed once a narrow one does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream, choose
from .._threads import in_threads, n_threads
from ..bands.evidence import full_band_table
from ..bands.ladder import Ladder
from ..models.drawing import ModelSet, joined
from ..models.membership import sample_membership
from ..models.refit import can_refit
from ..models.residuals import is_built_in
from ..protocols import Bools, Floats
from ..structures.greedy import BandCounts, Candidate, evidence_rows, greedy, significance_limit
from ..structures.local_models import local_models

# Rows and models that structures are looked for in.
ROWS, _MODELS = 4096, 2000
# Local samples of the unexplained rows that are drawn at a time.
_SAMPLES = 1000
_MAX_ROUNDS = 10
# Rows of a thread.
_BLOCK = 4096
# Points within this many half-widths of a structure are explained.
_REACH = 2.0
# A model is explained by structures that are narrower than its band by this factor.
_NARROWER = 2.0


def add_unexplained(
    drawn: Sequence[ModelSet], X: Sequence[Floats], ladders: Sequence[Ladder], stream: Stream
) -> list[ModelSet]:
    """`with_unexplained` for the models of each family, the rows they were drawn from, and the
    ladder that they are measured with."""
    return [
        with_unexplained(models, rows, ladder, stream.child("unexplained", i))
        for i, (models, rows, ladder) in enumerate(zip(drawn, X, ladders))
    ]


def drop_explained(
    models: Sequence[ModelSet],
    factors: Sequence[Floats],
    X: Sequence[Floats],
    ladders: Sequence[Ladder],
    stream: Stream,
) -> tuple[list[ModelSet], list[Floats]]:
    """The models of each family whose evidence is not due to narrower structures, and their
    factors. Models that are not refitted stay: each is narrow or wide by chance."""
    left, left_factors = list(models), list(factors)
    for i, (part, rows, ladder) in enumerate(zip(models, X, ladders)):
        if can_refit(part.family):
            some = rows[choose(stream.child("explained", i), len(rows), ROWS)]
            kept = np.flatnonzero(unexplained(part, some, ladder))
            left[i], left_factors[i] = part.take(kept), factors[i][kept]
    return left, left_factors


def with_unexplained(models: ModelSet, X: Floats, ladder: Ladder, stream: Stream) -> ModelSet:
    """The models drawn from the rows X, and significant ones of the rows that these do not explain:
    drawn from what is left, again and again, while there is another structure."""
    rows = X[choose(stream.child("rows"), len(X), ROWS)]
    found = _structures(_counts(models.first(_MODELS), rows, ladder))
    drawn, explained = [models], np.zeros(len(X), np.bool_)
    for step in range(_MAX_ROUNDS):
        explained |= _explained(X, found, np.inf)
        rest = np.flatnonzero(~explained)
        rest = rest[choose(stream.child("rest", step), len(rest), ROWS)]
        local = local_models(models.family, X, rest, _SAMPLES, stream.child("local", step))
        if local is None:
            break
        bands = _counts(local, X[rest], ladder)
        found = _structures(bands)
        if not found:
            break
        best = bands.ratios(bands.counts, len(rest)).max(axis=0)
        drawn.append(local.take(np.flatnonzero(best > significance_limit([bands]))))
    return joined(drawn)


def unexplained(models: ModelSet, X: Floats, ladder: Ladder) -> Bools:
    """(m,) which models have evidence apart from structures that are much narrower."""
    bands = _counts(models, X, ladder)
    found, limit = _structures(bands), significance_limit([bands])
    ratios = bands.ratios(bands.counts, len(X))
    width = bands.widths[np.argmax(ratios, axis=0)]
    needed = np.ones(len(models), np.bool_)
    for half_width in np.unique(width):
        narrow = _explained(X, found, half_width / _NARROWER * (1 + 1e-9))
        if narrow.any():
            without = bands.without(bands.counts, np.flatnonzero(narrow))
            left = bands.ratios(without, int(np.sum(~narrow))).max(axis=0)
            these = width == half_width
            needed[these] = (left[these] > limit) | (ratios[:, these].max(axis=0) <= limit)
    return needed


def _counts(models: ModelSet, X: Floats, ladder: Ladder) -> BandCounts:
    table = full_band_table(X, models, sample_membership([models]), ladder, n_threads())
    return BandCounts(X, models, table)


def _structures(bands: BandCounts) -> list[Candidate]:
    everything = np.ones(len(bands.X), np.bool_)
    return greedy([bands], evidence_rows([bands], everything), _REACH)


def _explained(X: Floats, found: list[Candidate], widest: float) -> Bools:
    """(n,) which rows are near a structure of at most this half-width."""
    narrow = [each for each in found if each.half_width <= widest]

    def near(rows: slice) -> Bools:
        inside = np.zeros(len(X[rows]), np.bool_)
        for each in narrow:
            r = each.bands.family.residuals(X[rows], each.params[None])[:, 0]
            inside |= r <= _REACH * each.half_width
        return inside

    # A custom family gets all rows at once: its last bits may depend on the block.
    whole = not narrow or not is_built_in(narrow[0].bands.family)
    size = len(X) if whole else _BLOCK
    blocks = [(slice(start, start + size),) for start in range(0, len(X), size)]
    return np.concatenate(list(in_threads(near, blocks, n_threads(), len(blocks))))
