"""Structures that one model explains as well are united, the best pair first.

A pair is tried again only after one of its two structures changed, in its model or its points: a
search that finds a hundred pieces of a curve unites them in steps that cost as much as one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._random import Stream
from ..protocols import Bools, Floats, Ints
from .greedy import REACH, Candidate, nearest_of
from .local_models import best_candidate, models_of, refine, refined

# A structure contains this share of the points that it explains in place of others.
COVERED = 0.8
# Two structures are one if a band explains both as well as bands that are narrower by this factor:
# real structures are not exact, and the error of a plane of 300 points is significant. Models of
# large minimal samples bend so much that a slightly wider band may contain two structures.
_SAME_WIDTH, _LARGE_SAMPLE = 1.5, 7
# A pair is given up if the model that contains most of its points contains less than this share of
# either: of 276 pairs, those that became one structure had .7 or more.
_HOPELESS = 0.3
# The nearest structures that a structure may be united with.
_NEIGHBOURS = 3


def united(found: list[Candidate], counted: Bools, limit: float, stream: Stream) -> list[Candidate]:
    """Pairs of structures that one model explains as well are replaced by it, the best first."""
    if len(found) < 2:
        return found
    search = _Unions(found, counted, limit, stream)
    while search.unite():
        pass
    kept = list(search.found.values())
    return refine(kept, counted, limit, stream.child("refine")) if search.n_united else kept


def evidence(found: Sequence[Candidate], limit: float) -> float:
    """The sum of the log-likelihood ratios, minus the price of each structure."""
    return sum(each.log_ratio - limit for each in found)


def tolerance(candidate: Candidate, rows: Ints, cells: Ints) -> float:
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


class _Trial(NamedTuple):
    """The union of two structures as they were."""

    of: tuple[int, int]
    """how often each had changed"""
    gain: float
    """the evidence of the union, compared with theirs; negative if they stay apart"""
    union: Candidate | None


class _Unions:
    """Structures by number; a union gets a new one."""

    def __init__(
        self, found: list[Candidate], counted: Bools, limit: float, stream: Stream
    ) -> None:
        self.X, self.counted, self.limit, self.stream = found[0].bands.X, counted, limit, stream
        self.found = dict(enumerate(found))
        self._n_first, self.n_united = len(found), 0
        self._n_changes = dict.fromkeys(self.found, 0)
        self._trials: dict[tuple[int, int], _Trial] = {}
        self._distances = {k: self._distances_to(each) for k, each in self.found.items()}
        self._members = self._nearest()
        # Those at the start, so that a pair which did not change has the same union as before.
        explained = np.concatenate(list(self._members.values()))
        self._free = counted.copy()
        self._free[explained] = False

    def unite(self) -> bool:
        """Replace the best pair by its union; False if none is one structure."""
        trials = {pair: self._trial(*pair) for pair in self._neighbours()}
        best = max(trials, key=lambda pair: trials[pair].gain, default=None)
        if best is None or trials[best].union is None or trials[best].gain < 0:
            return False
        for k in best:
            del self.found[k], self._distances[k], self._n_changes[k]
        self._add(self._n_first + self.n_united, trials[best].union)
        self.n_united += 1
        self._follow()
        return True

    def _add(self, number: int, candidate: Candidate | None) -> None:
        assert candidate is not None
        self.found[number], self._distances[number] = candidate, self._distances_to(candidate)
        self._n_changes[number] = self._n_changes.get(number, -1) + 1

    def _follow(self) -> None:
        """Refine the union, and the structures whose points are others now."""
        before, self._members = self._members, self._nearest()
        changed = [
            k
            for k, rows in self._members.items()
            if k not in before or not np.array_equal(rows, before[k])
        ]
        free = self.counted.copy()
        free[np.concatenate(list(self._members.values()))] = False
        for k in changed:
            stream = self.stream.child("moved", self.n_united, k)
            self._add(k, refined(self.found[k], self._members[k], free, stream))
        self._members = self._nearest()
        for k, rows in self._members.items():
            if k not in changed and not np.array_equal(rows, before[k]):
                self._n_changes[k] += 1

    def _distances_to(self, candidate: Candidate) -> Floats:
        residuals = candidate.bands.family.residuals(self.X, candidate.params[None])[:, 0]
        return np.asarray(residuals / candidate.half_width)

    def _nearest(self) -> dict[int, Ints]:
        """The points of each structure."""
        cells = nearest_of(np.column_stack(list(self._distances.values())), self.counted)
        return {k: np.flatnonzero(cells == i) for i, k in enumerate(self.found)}

    def _neighbours(self) -> list[tuple[int, int]]:
        """Pairs of structures of one family, with some of those that are nearest to the points of
        each: all pairs would be too many."""
        numbers, pairs = list(self.found), set()
        distances = np.column_stack([self._distances[k] for k in numbers])
        alive = {k for k in numbers if len(self._members[k])}
        for a in sorted(alive):
            near = dict(zip(numbers, np.median(distances[self._members[a]], axis=0)))
            family = self.found[a].bands.family
            others = [b for b in alive - {a} if self.found[b].bands.family is family]
            for b in sorted(others, key=lambda b: (near[b], b))[:_NEIGHBOURS]:
                pairs.add((min(a, b), max(a, b)))
        return sorted(pairs)

    def _trial(self, a: int, b: int) -> _Trial:
        state = self._n_changes[a], self._n_changes[b]
        kept = self._trials.get((a, b))
        if kept is None or kept.of != state:
            kept = self._trials[a, b] = _Trial(state, *self._tried(a, b))
        return kept

    def _tried(self, a: int, b: int) -> tuple[float, Candidate | None]:
        pair, parts = [self.found[a], self.found[b]], [self._members[a], self._members[b]]
        union = union_of(pair, parts, self._free, self.stream.child(a, b))
        if union is None:
            return -np.inf, None
        rows, cells = np.concatenate(parts), np.repeat([0, 1], [len(rows) for rows in parts])
        gain = evidence([union], self.limit) + tolerance(union, rows, cells)
        return gain - evidence(pair, self.limit), union


def union_of(
    pair: Sequence[Candidate], parts: Sequence[Ints], free: Bools, stream: Stream
) -> Candidate | None:
    """The best model of the points of two structures, if it contains most points of both.

    parts: the points of each; free: those of no structure.
    """
    bands, half_width = pair[0].bands, max(each.half_width for each in pair)
    both = np.concatenate(parts)
    larger = pair[0] if len(parts[0]) >= len(parts[1]) else pair[1]
    models = models_of(larger._replace(half_width=half_width), both, stream)
    models = np.concatenate([models, *(each.params[None] for each in pair)])
    R = bands.family.residuals(bands.X[both], models)
    most = int(np.argmax(np.sum(half_width >= R, axis=0)))
    near, n_first = REACH * half_width >= R[:, most], len(parts[0])
    if min(np.mean(near[:n_first]), np.mean(near[n_first:])) < _HOPELESS:
        return None
    fullest = Candidate(bands, models[most], half_width, 0.0)
    models = np.concatenate([models, models_of(fullest, both, stream.child("fullest"))])
    among = free.copy()
    among[both] = True
    union = best_candidate(bands, models, np.flatnonzero(among))
    reach = REACH * union.half_width
    covers = all(
        np.mean(bands.family.residuals(bands.X[rows], union.params[None]) <= reach) >= COVERED
        for rows in parts
    )
    return union if covers else None
