"""Connected pieces of structures: two coplanar tables are one plane and two patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..families import Family, layout_of
from ..protocols import Bools, Floats, Ints
from .assignment import Assignment
from .greedy import REACH, Structure

# Points that are so many times as far from their neighbours as these from theirs join nothing.
_STRAY = 2.0
# Neighbours of a point: log n, with which a random set of n points in a plane hangs together, and
# more, so that a set falls apart by chance in less than one of a hundred; a line has one way only.
_MORE_NEIGHBOURS, _MORE_ON_A_LINE = 4.6, 8.0
# So many pieces, all of them thinner than the gaps between them, are the lines of a scanner.
_SCAN_LINES = 5


@dataclass(frozen=True)
class Pieces:
    """The pieces of all structures, numbered one after another."""

    structures: list[Structure]
    """one for each piece: the model of its structure, with members and extent of its own"""
    parents: list[int]
    """for each piece: the number of the structure"""
    whole: list[Structure]
    """the structures that they are pieces of"""
    places: list[Floats]
    """for each whole structure: positions of its rows on it"""
    numbers: list[Ints]
    """for each whole structure: the pieces of these rows"""

    def of(self, X: Floats, assigned: Assignment) -> Ints:
        """(n,) the piece of each row, given its structure: that of the nearest training row."""
        labels = np.full(len(X), -1, np.int64)
        for k, (each, places, numbers) in enumerate(zip(self.whole, self.places, self.numbers)):
            rows = np.flatnonzero(assigned.labels == k)
            if len(rows):
                nearest = cKDTree(places).query(positions(each, X[rows]))[1]
                labels[rows] = numbers[nearest]
        return labels


def find_pieces(X: Floats, numbers: Ints, structures: Sequence[Structure]) -> Pieces:
    """The pieces of structures. X (n, d): the rows that the members are among; numbers (n,): their
    numbers, ascending."""
    found: list[Structure] = []
    parents: list[int] = []
    places, pieces = [], []
    kept = np.isin(numbers, np.concatenate([[-1], *(each.members for each in structures)]))
    for k, each in enumerate(structures):
        members = np.searchsorted(numbers, each.members)
        # Where another structure crosses, rows within reach may be its members; they are no gap.
        near = kept & (each.residuals(X) <= REACH * each.half_width)
        near[members] = True
        rows = np.flatnonzero(near)
        place = positions(each, X[rows])
        own = np.isin(rows, members, assume_unique=True)
        cells = _by_size(connected_cells(place), own)
        for cell in range(cells.max() + 1 if len(cells) else 0):
            part = rows[own & (cells == cell)]
            piece = replace(each, members=numbers[part])
            found.append(piece.with_description(X[part], each.names))
            parents.append(k)
        places.append(place)
        pieces.append(cells + len(found) - (cells.max() + 1 if len(cells) else 0))
    return Pieces(found, parents, list(structures), places, pieces)


def positions(structure: Structure, X: Floats) -> Floats:
    """(n, k) where on a structure rows lie: on the chart of the family; else the points, those of
    the first image for matches, and the features of a table in units of their range."""
    family, layout = structure.family, layout_of(structure.family)
    if layout.kind == "table":
        bounds = np.array([structure.extent["bounds"][name] for name in structure.names])
        size = bounds[:, 1] - bounds[:, 0]
        target = layout.target if layout.target is not None else -1
        return np.asarray(np.delete(X / np.where(size > 0, size, 1.0), target, axis=1))
    # A periodic coordinate would be cut where it begins.
    if isinstance(family, Family) and not family.chart_wraps:
        chart = family.coordinates(X, np.asarray(structure.params)[None])
        if chart:
            return np.column_stack([each[:, 0] for each in chart])
    if layout.views:
        return np.asarray(X[:, list(layout.views[0])])
    return X[:, :3] if layout.kind == "oriented points" else X


def connected_cells(places: Floats) -> Ints:
    """(n,) numbers of the connected parts of points, from 0.

    Two points are connected if one is among the nearest neighbours of the other: how many suffice
    for points of any density is known, so that a gap is one that the density beside it does not
    explain. Points that stand alone connect nothing, and belong to the nearest part.
    """
    unique, back = np.unique(places, axis=0, return_inverse=True)
    back = back.reshape(-1)
    more = _MORE_ON_A_LINE if unique.shape[1] == 1 else _MORE_NEIGHBOURS
    k = int(np.ceil(np.log(max(len(unique), 2)) + more))
    if len(unique) <= 2 * (k + 1):
        return np.zeros(len(places), np.int64)
    distances, near = cKDTree(unique).query(unique, k + 1)
    far = distances[:, -1]
    firm = far <= _STRAY * np.median(far[near[:, 1:]], axis=1)
    cells = np.full(len(unique), -1, np.int64)
    cells[firm] = _components(unique[firm], k)
    if not firm.all():
        cells[~firm] = cells[firm][cKDTree(unique[firm]).query(unique[~firm])[1]]
    return np.asarray(cells[back])


def _components(points: Floats, k: int) -> Ints:
    n = len(points)
    near = cKDTree(points).query(points, min(k + 1, n))[1]
    start = np.repeat(np.arange(n), near.shape[1] - 1)
    edges = (np.ones(len(start), bool), (start, near[:, 1:].ravel()))
    count, cells = connected_components(scipy.sparse.csr_array(edges, shape=(n, n)), directed=False)
    lines = points.shape[1] > 1 and count >= _SCAN_LINES and _are_lines(points, cells, count)
    return np.zeros(n, np.int64) if lines else cells.astype(np.int64)


def _are_lines(points: Floats, cells: Ints, count: int) -> bool:
    """Whether the parts are thinner than the gaps to the next ones."""
    thin, gaps = [], []
    for cell in range(count):
        own = points[cells == cell]
        axes = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)[2]
        thin.append(float(np.ptp((own - own.mean(axis=0)) @ axes[1])))
        gaps.append(float(cKDTree(points[cells != cell]).query(own)[0].min()))
    return bool(np.median(np.array(thin) / np.maximum(gaps, 1e-300)) < 1)


def _by_size(cells: Ints, own: Bools) -> Ints:
    """The parts numbered by their members, the largest first; those without any join the first."""
    counts: Any = np.bincount(cells[own], minlength=int(cells.max(initial=-1)) + 1)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    rank[counts == 0] = 0
    return rank[cells]
