"""Which structures a stream has, and when one comes or leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..protocols import Bools, Floats, Ints
from ..structures.greedy import (
    REACH,
    BandCounts,
    Structure,
    greedy_structures,
    members_of,
    relative_distances,
)
from .reservoir import Renewal

__all__ = ["Drift"]

# Two structures are one if they share more than this part of the rows of the larger. A structure
# is not new if more than this part of its rows belongs to known ones: two that nearly coincide may
# be found as one for a while.
_SAME = 0.5
# A structure has left if it is not found and less than this part of its largest share of the rows
# is in its band.
_LEFT = 0.5
# Points within this many half-widths belong to a structure that is compared.
_NEAR = 2.0
# A structure comes or leaves once it was seen or missed at this many renewals in a row: near the
# limit of significance, single renewals differ by chance.
_CONFIRMED = 2
# Events are kept for the last ones, so that memory does not grow.
_MAX_EVENTS = 1000


@dataclass(frozen=True)
class Drift:
    """A structure that came or left.

    Attributes
    ----------
    row : int
        The number of rows that the stream had when the change was confirmed.
    kind : {"came", "left"}
        What happened.
    structure : Structure
        The structure, as it was seen last. Its members are row numbers of the stream.
    """

    row: int
    kind: Literal["came", "left"]
    structure: Structure


@dataclass(frozen=True)
class Tracked:
    """A structure over several renewals."""

    structure: Structure
    confirmed: bool
    count: int
    """of renewals in a row: seen, until it is confirmed, then missed"""
    peak: float
    """the largest share of the rows that was in its band"""


class Tracker:
    """Follows structures from renewal to renewal."""

    def __init__(self) -> None:
        self.tracked: list[Tracked] = []
        self.events: list[Drift] = []

    @property
    def structures(self) -> list[Structure]:
        """The structures that are confirmed, in descending order of evidence."""
        known = [each.structure for each in self.tracked if each.confirmed]
        return sorted(known, key=lambda each: -each.log_ratio)

    def update(self, found: list[Structure], X: Floats, row: int, quiet: bool) -> None:
        """Compare the structures found in the rows X with those before.

        quiet: note no events, while the window fills for the first time.
        """
        same = _matches([each.structure for each in self.tracked], found, X)
        tracked, events = [], []
        for old, match in zip(self.tracked, same):
            now = _after(old, found[match] if match >= 0 else None, X)
            if now is None and old.confirmed:
                events.append(Drift(row, "left", old.structure))
            elif now is not None and now.confirmed and not old.confirmed:
                events.append(Drift(row, "came", now.structure))
            if now is not None:
                tracked.append(now)
        known = _near(X, [each.structure for each in tracked if each.confirmed]).any(axis=1)
        for k, each in enumerate(found):
            near = _near(X, [each])[:, 0]
            if k not in same and np.sum(near & known) <= _SAME * np.sum(near):
                tracked.append(Tracked(each, quiet, 0 if quiet else 1, float(near.mean())))
        self.tracked = tracked
        if not quiet:
            self.events = [*self.events, *events][-_MAX_EVENTS:]


def _after(old: Tracked, match: Structure | None, X: Floats) -> Tracked | None:
    """A structure after one more renewal; None if it is gone."""
    structure = old.structure if match is None else match
    share = float(_near(X, [structure]).mean())
    now = replace(old, structure=structure, peak=max(old.peak, share))
    if match is not None and old.confirmed:
        return replace(now, count=0)
    if match is not None:
        count = old.count + 1
        return replace(now, confirmed=count >= _CONFIRMED, count=count % _CONFIRMED)
    if not old.confirmed:
        return None
    if share >= _LEFT * now.peak:
        return replace(now, count=0)
    return None if old.count + 1 >= _CONFIRMED else replace(now, count=old.count + 1)


def _matches(before: list[Structure], found: list[Structure], X: Floats) -> list[int]:
    """For each structure before, the one of `found` that it is now; -1 for none. The pairs that
    share most come first, and each structure has one partner."""
    same, a, b = [-1] * len(before), _near(X, before), _near(X, found)
    both = a.T.astype(np.int64) @ b.astype(np.int64)
    larger = np.maximum(a.sum(axis=0)[:, None], b.sum(axis=0)[None, :])
    overlap = both / np.maximum(larger, 1)
    order = np.argsort(-overlap, axis=None, kind="stable")
    for i, k in zip(*np.unravel_index(order, overlap.shape)):
        if overlap[i, k] > _SAME and same[i] < 0 and k not in same:
            same[i] = int(k)
    return same


def _near(X: Floats, structures: list[Structure]) -> Bools:
    return np.asarray(relative_distances(X, structures) <= _NEAR)


def structures_of(renewal: Renewal, X: Floats, numbers: Ints) -> list[Structure]:
    """The structures of the rows of a renewal, with their noise; members are row numbers."""
    if renewal.table is None or not renewal.found:
        return []
    bands = BandCounts(renewal.X, renewal.models, renewal.table, X)
    found = greedy_structures([bands], REACH)
    cells = members_of(renewal.X, np.ones(len(X), np.bool_), found)
    known = []
    for k, each in enumerate(found):
        at = np.flatnonzero(cells == k)
        known.append(each.with_noise(X, at).with_members(numbers[at]))
    return known
