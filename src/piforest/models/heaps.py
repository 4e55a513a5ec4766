"""Heaps: models through clusters of points, which are as wide as they are long.

A model through a dense heap has as much evidence as one of a structure, in a band of the size of
the heap. About the points of a structure, others lie along it; about those of a heap, they lie as
far across the model as along it.
"""

from __future__ import annotations

import numpy as np

from .._kernels.heaps import variance_ratios
from ..families import extent, layout_of
from ..families.scaled import scaled_rows
from ..protocols import Bools, Floats, ModelFamily

# The neighbourhood of a point, in half-widths of the band.
_REACH = 3.0
# Points of a band whose neighbourhoods are looked at, and the least number of neighbours.
_POINTS, _MIN_POINTS, _MIN_NEIGHBOURS = 32, 5, 4
# The variance across the model over that along it: about 0.1 for a structure with nothing beside
# it, about 1 if points are spread evenly in all directions. The residual of a table is measured
# along the target, so that it is larger where the law is steep.
_ISOTROPIC, _ISOTROPIC_TABLE = 0.5, 0.8
# A heap of points is about this many cells of the band's width long.
HEAP_CELLS = 5.5
# Percentiles whose difference is the spread of a column.
_SPREAD = (10, 90)


def can_be_heap(family: ModelFamily, d: int) -> bool:
    """Whether a model of d columns has directions across it and along it."""
    return layout_of(family).kind in ("points", "table") and 0 < family.codimension(d) < d


def is_heap(family: ModelFamily, X: Floats, R: Floats, half_width: Floats) -> Bools:
    """(m,) which models go through heaps of the points X.

    R (n, m): the residuals of the points, infinite for those that do not count; half_width (m,): of
    the bands of the models.
    """
    kind, d = layout_of(family).kind, X.shape[1]
    ratios = np.zeros(R.shape[1])
    if can_be_heap(family, d):
        c = 0 if kind == "table" else family.codimension(d)
        variance_ratios(
            R, half_width, _REACH, _places(family, X), c, _MIN_POINTS, _MIN_NEIGHBOURS,
            np.empty((2, len(X)), np.int64), np.empty(_POINTS), ratios,
        )  # fmt: skip
    found = ratios > (_ISOTROPIC_TABLE if kind == "table" else _ISOTROPIC)
    if kind == "table":
        return found
    # Neighbourhoods as large as the data say how these are spread, not what the model goes through.
    return found & (_REACH * half_width < extent(family, X))


def fills_little(family: ModelFamily, X: Floats, r: Floats, width: float) -> bool:
    """Whether the points X in a wide band fill few places along the model: about as many cells of
    its width as two heaps, or few of those that the features of a table fill.

    r (n,): the residuals, infinite for points that do not count.
    """
    kind, dimension = layout_of(family).kind, X.shape[1] - family.codimension(X.shape[1])
    if kind not in ("points", "table") or dimension < 1:
        return False
    places = _places(family, X)
    most = 2 * HEAP_CELLS**dimension
    if kind == "table":
        most = min(most, filled_cells(places, 2 * width) / 2**dimension)
    return bool(filled_cells(places[r <= width], 2 * width) < most)


def filled_cells(points: Floats, side: float) -> float:
    """The effective number of cells of a grid that the points fill: if they were spread evenly
    over that many cells, as many pairs of points would share a cell."""
    if len(points) < 2:
        return 0.0
    cells = np.floor((points - points.min(axis=0)) / side).astype(np.int64)
    counts = np.unique(cells, axis=0, return_counts=True)[1]
    pairs = np.sum(counts * (counts - 1))
    return float(len(points) * (len(points) - 1) / max(1, pairs))


def _places(family: ModelFamily, X: Floats) -> Floats:
    """(n, ...) where points lie: scaled points, or the features of a table in units in which all
    columns vary as much as the target."""
    layout = layout_of(family)
    if layout.kind != "table" or layout.target is None:
        return scaled_rows(family, X)
    target = layout.target % X.shape[1]
    spread = np.subtract(*np.percentile(X, _SPREAD[::-1], axis=0))
    units = np.where(spread > 0, spread, np.inf) / (spread[target] or 1.0)
    return np.asarray(np.delete(X / units, target, axis=1))
