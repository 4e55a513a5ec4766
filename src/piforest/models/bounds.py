"""Bounds of models: the part of a line, a circle or a plane on which its points lie.

A model is infinite, or goes all around; a structure ends somewhere. The chart of a family says
where on a model a point lies. It is divided into cells, and a scan finds the interval or rectangle
of cells in which the points of the band are most crowded compared with the null rows of the family.
If the evidence suffices, the model has no points elsewhere: residuals outside are infinite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import bounds as compiled
from .._random import Stream
from .._threads import in_parts
from ..families import Family, extent, layout_of, null_rows
from ..protocols import Bools, Floats, Ints, ModelFamily
from .drawing import ModelSet
from .residuals import is_built_in

__all__ = ["Bounds"]

# Cells along a curve, and in each direction of a surface.
CELLS, CELLS_2D = 64, 12
# The least log-likelihood ratio of a part: a scan compares about 2,000 intervals or 6,000
# rectangles, and chance exceeds their logarithm seldom.
_LEAST_RATIO = 10.0
_MAX_PIECES = 3
# The density outside, compared with the background, is at most this share of that inside: many
# points make any unevenness significant, but a part with fewer points is no end.
_MAX_OUTSIDE = 0.25
_NULL_ROWS = 8192
# Models of a thread, of which fewer take as long, and rows of a block; see `refit`.
_PART, _FEWEST, _BLOCK = 128, 64, 256
# The band whose null points are the background, in units of the extent.
_BACKGROUND = 0.36


@dataclass(frozen=True)
class Bounds:
    """The cells of the chart of each model that belong to it."""

    low: Floats
    """(m, 2) where the cells begin, in the coordinates of the chart"""
    size: Floats
    """(m, 2) the length of all cells; infinite for a second coordinate that does not exist"""
    cells: NDArray[np.bool_]
    """(m, 64), or (m, 144) for two coordinates: which cells belong to the model"""

    def __getitem__(self, models: Any) -> Bounds:
        return Bounds(self.low[models], self.size[models], self.cells[models])

    @property
    def bounded(self) -> Bools:
        """(m,) whether a model is bounded at all."""
        return np.asarray(~self.cells.all(axis=1))

    def pieces(self, model: int, wraps: bool = False) -> list[Floats]:
        """The parts of one model, in the coordinates of its chart.

        Parameters
        ----------
        model : int
            The number of the model.
        wraps : bool, default=False
            Whether the first coordinate is periodic: `family.chart_wraps`. A part across its start
            then ends beyond the period.

        Returns
        -------
        list of array (coordinates, 2)
            Where each part begins and ends in each coordinate: intervals, or rectangles that do
            not overlap. Ends are infinite where the model is not bounded.

        Examples
        --------
        >>> import numpy as np
        >>> cells = (np.arange(64) >= 16) & (np.arange(64) < 48)
        >>> bounds = Bounds(np.array([[0.0, 0.0]]), np.array([[8.0, np.inf]]), cells[None])
        >>> bounds.pieces(0)
        [array([[2., 6.]])]
        """
        two = self.cells.shape[1] == CELLS_2D**2
        b = CELLS_2D if two else self.cells.shape[1]
        grid = self.cells[model].reshape(b, -1)
        parts = _rectangles(grid)
        if wraps and len(parts) > 1 and grid[0, 0] and grid[-1, 0] and not two:
            # The last interval continues in the first.
            parts[0] = [
                (parts[-1][0][0], parts.pop()[0][1] + parts[0][0][1] - parts[0][0][0]),
                (0, 1),
            ]
        axes = 1 + two
        low, step = self.low[model, :axes, None], self.size[model, :axes, None] / b
        found = [np.array(part[:axes], float) for part in parts]
        for part in found:
            # Points beyond the outermost cells count as points of these.
            free = np.array([not wraps, True])[:axes]
            part[free & (part[:, 0] == 0), 0] = -np.inf
            part[free & (part[:, 1] == b), 1] = np.inf
        return [low + step * part for part in found]


def _rectangles(grid: Bools) -> list[list[tuple[int, int]]]:
    """Disjoint rectangles, as the first and the last index + 1 of rows and columns, that cover the
    True cells: runs within a row, which grow while the next row has the same run."""
    done: list[list[tuple[int, int]]] = []
    growing: dict[tuple[int, int], int] = {}
    for i in range(len(grid) + 1):
        row = (
            np.concatenate([[False], grid[i], [False]]) if i < len(grid) else np.zeros(2, np.bool_)
        )
        edges = np.flatnonzero(row[1:] != row[:-1]).tolist()
        runs = list(zip(edges[::2], edges[1::2]))
        for run in [each for each in growing if each not in runs]:
            done.append([(growing.pop(run), i), run])
        for run in runs:
            growing.setdefault(run, i)
    return done


def cells_of(family: ModelFamily, params: Floats, d: int) -> int:
    """The number of cells of a model in d columns; 0 if the family has no chart."""
    if not isinstance(family, Family):
        return 0
    return (0, CELLS, CELLS_2D**2)[len(family.coordinates(np.zeros((1, d)), params[:1]))]


def unbounded(models: ModelSet) -> Bounds | None:
    """Bounds that exclude nothing; None if the family has no chart."""
    n_cells, m = cells_of(models.family, models.params, models.points.shape[1]), len(models)
    if n_cells == 0:
        return None
    return Bounds(np.zeros((m, 2)), np.full((m, 2), np.inf), np.ones((m, n_cells), np.bool_))


def find_bounds(models: ModelSet, X: Floats, stream: Stream) -> Bounds | None:
    """Bounds of models with scales, from the rows of X; None if the family has no chart or no
    model is bounded.

    The points of a band are those within two scales.
    """
    family = models.family
    if not isinstance(family, Family):
        return None
    axes = len(family.coordinates(X[:1], models.params[:1]))
    if axes == 0:
        return None
    null = null_rows(family, X, _NULL_ROWS, stream)
    # The background of a match or a record is that of all of them: its chart is a part of the row.
    everywhere = layout_of(family).kind in ("matches", "table")
    wide = np.inf if everywhere else _BACKGROUND * extent(family, X)
    b = CELLS if axes == 1 else CELLS_2D
    shape = (len(models), b**axes)
    counts, cells = np.zeros((2, *shape)), np.zeros(shape, np.bool_)
    low, size = np.empty((2, len(models), 2))
    limits = 2 * models.scale, np.full(len(models), wide)

    def count(at: slice) -> None:
        params, near = models.params[at], [limit[at] for limit in limits]
        low[at], size[at] = _ranges(family, params, (X, null), near, axes)
        ranges = np.ascontiguousarray(low[at].T), np.ascontiguousarray(size[at].T)
        cell = np.empty(len(params), np.int32)
        for rows, limit, out in zip((X, null), near, counts):
            for R, U in _charted(family, params, rows):
                compiled.count_cells(R, limit, U[0], U[-1], *ranges, b, cell, out[at])

    def scan(at: slice) -> None:
        inside = counts[0][at], background[at]
        # A band that is nearly as wide as its background does not stand out from it.
        narrow = np.flatnonzero(4 * models.scale[at] <= wide)
        if axes == 2:
            _keep_rectangles(*inside, narrow, cells[at])
            return
        compiled.keep_intervals(
            *inside, narrow, family.chart_wraps, _LEAST_RATIO, _MAX_PIECES, np.empty(b, np.bool_),
            np.empty(4), cells[at],
        )  # fmt: skip

    fewest = _FEWEST if is_built_in(family) else _PART
    in_parts(count, len(models), _PART, fewest)
    background = _background(counts[1], layout_of(family).kind == "table")
    in_parts(scan, len(models), _PART, fewest)
    cells[~_ends(counts[0], background, cells)] = True
    bounds = Bounds(low, size, cells)
    return bounds if bounds.bounded.any() else None


def _background(counts: Floats, are_records: bool) -> Floats:
    """(m, cells) the share of each cell, from the null rows in it.

    Half of it is even, since few null rows lie at the border of the data. Not so for records: the
    null rows have their features, and a law does not end where records become rare.
    """
    even = 1 / counts.shape[1]
    if are_records:
        return np.asarray((counts + even) / (counts.sum(axis=1, keepdims=True) + 1))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.asarray((shares + even) / 2)


def _charted(family: Family, params: Floats, X: Floats) -> Iterator[tuple[Floats, list[Floats]]]:
    """Residuals and coordinates, each (rows, m), in blocks of rows that fit into the cache."""
    d = X.shape[1]
    residuals, coordinates = family.residuals_to(params, d), family.coordinates_to(params, d)
    for start in range(0, len(X), _BLOCK):
        block = X[start : start + _BLOCK]
        yield residuals(block), coordinates(block)


def _ranges(
    family: Family, params: Floats, points: Sequence[Floats], limits: Sequence[Floats], axes: int
) -> tuple[Floats, Floats]:
    """(m, 2) the range of each coordinate over the points and the background of each model."""
    m, first_axis = len(params), int(family.chart_wraps)
    low, size = np.zeros((m, 2)), np.full((m, 2), np.inf)
    size[:, :first_axis] = 4.0
    if first_axis == axes:
        return low, size
    first, last = np.full((2, m), np.inf), np.full((2, m), -np.inf)
    for rows, limit in zip(points, limits):
        for R, U in _charted(family, params, rows):
            for axis in range(first_axis, axes):
                compiled.chart_ranges(R, limit, U[axis], first[axis], last[axis])
    for axis in range(first_axis, axes):
        known = last[axis] > first[axis]
        low[:, axis] = np.where(known, first[axis], 0.0)
        size[:, axis] = np.where(known, last[axis] - low[:, axis], np.inf)
    return low, size


def _keep_rectangles(counts: Floats, shares: Floats, models: Ints, cells: Bools) -> None:
    """Set the cells of up to three rectangles in which points are crowded, with a margin of one
    cell."""
    b, out = CELLS_2D, np.zeros(6)
    workspace = np.empty((2, b + 1, b + 1))
    for j in models:
        left, weights = counts[j].reshape(b, b).copy(), shares[j].reshape(b, b).copy()
        kept = cells[j].reshape(b, b)
        for _ in range(_MAX_PIECES):
            compiled.crowded_rectangle(left, weights, *workspace, out)
            if out[4] < _LEAST_RATIO:
                break
            top, at, rows, columns = out[:4].astype(int)
            kept[max(top - 1, 0) : top + rows + 1, max(at - 1, 0) : at + columns + 1] = True
            left[top : top + rows, at : at + columns] = 0.0
            weights[top : top + rows, at : at + columns] = 0.0


def _ends(counts: Floats, shares: Floats, kept: Bools) -> Bools:
    """(m,) whether points are rare outside the kept cells."""
    inside, outside = (np.where(part, counts, 0.0).sum(axis=1) for part in (kept, ~kept))
    near, far = (np.where(part, shares, 0.0).sum(axis=1) for part in (kept, ~kept))
    return np.asarray((inside > 0) & (outside * near <= _MAX_OUTSIDE * inside * far))
