"""Unions of structures without anything kept: every pair is tried at every step."""

from __future__ import annotations

import numpy as np

from piforest.structures.greedy import members_of, relative_distances
from piforest.structures.local_models import refine, refined
from piforest.structures.unions import evidence, tolerance, union_of


def united(found, counted, limit, stream):
    numbered, n_united = dict(enumerate(found)), 0
    if len(found) < 2:
        return found
    unexplained = counted & (cells_of(numbered, counted) == -1)
    while True:
        best, best_gain = None, 0.0
        for a, b in neighbours(numbered, counted):
            cells, pair = cells_of(numbered, counted), [numbered[a], numbered[b]]
            parts = [np.flatnonzero(cells == k) for k in (a, b)]
            union = union_of(pair, parts, unexplained, stream.child(a, b))
            if union is None:
                continue
            rows = np.concatenate(parts)
            gain = evidence([union], limit) + tolerance(union, rows, cells[rows])
            gain -= evidence(pair, limit)
            if gain > best_gain or (best is None and gain >= 0):
                best, best_gain = (a, b, union), gain
        if best is None:
            break
        before = {k: np.flatnonzero(cells_of(numbered, counted) == k) for k in numbered}
        a, b, union = best
        del numbered[a], numbered[b]
        numbered[len(found) + n_united] = union
        n_united += 1
        cells = cells_of(numbered, counted)
        free, at = counted & (cells == -1), stream.child("moved", n_united)
        after = {k: np.flatnonzero(cells == k) for k in numbered}
        numbered = {
            k: each
            if k in before and np.array_equal(before[k], after[k])
            else refined(each, after[k], free, at.child(k))
            for k, each in numbered.items()
        }
    kept = list(numbered.values())
    return refine(kept, counted, limit, stream.child("refine")) if n_united else kept


def cells_of(numbered, counted):
    """The number of the structure of each point, -1 for none."""
    X = next(iter(numbered.values())).bands.X
    cells = members_of(X, counted, [each.structure() for each in numbered.values()])
    return np.append(list(numbered), -1)[cells]


def neighbours(numbered, counted):
    """The three structures of the same family that are nearest to the points of each."""
    cells, pairs = cells_of(numbered, counted), set()
    for a, one in numbered.items():
        rows = one.bands.X[cells == a]
        near = [
            (np.median(relative_distances(rows, [two.structure()])), b)
            for b, two in numbered.items()
            if b != a and two.bands.family is one.bands.family and np.any(cells == b) and len(rows)
        ]
        pairs |= {(min(a, b), max(a, b)) for _, b in sorted(near)[:3]}
    return sorted(pairs)
