"""Bounds of models: the part of a line, a circle or a plane on which its points lie.

A model is infinite, or goes all around; a structure ends somewhere. The chart of a family says
where on a model a point lies. It is divided into cells, and a scan finds the interval or rectangle
of cells in which the points of the band are most crowded compared with the null rows of the family.
If the evidence suffices, the model has no points elsewhere: residuals outside are infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._kernels import bounds as compiled
from ._random import Stream
from .families import Family, extent, layout_of, null_rows
from .models import ModelSet
from .protocols import Bools, Floats, ModelFamily

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


def find_bounds(models: ModelSet, X: Floats, stream: Stream) -> Bounds | None:
    """Bounds of models with scales, from the rows of X; None if the family has no chart or no
    model is bounded.

    The points of a band are those within two scales.
    """
    family = models.family
    if not isinstance(family, Family):
        return None
    coordinates = family.coordinates(X, models.params)
    if not coordinates:
        return None
    null = null_rows(family, X, _NULL_ROWS, stream)
    # The background of a match or a record is that of all of them: its chart is a part of the row.
    everywhere = layout_of(family).kind in ("matches", "table")
    wide = np.inf if everywhere else _BACKGROUND * extent(family, X)
    limits = 2 * models.scale, np.full(len(models), wide)
    charted = [
        (family.residuals(rows, models.params), limit, family.coordinates(rows, models.params))
        for rows, limit in zip((X, null), limits)
    ]
    low, size = _ranges(charted, len(models), family.chart_wraps)
    b = CELLS if len(coordinates) == 1 else CELLS_2D
    shape = (len(models), b ** len(coordinates))
    counts, background = np.zeros((2, *shape))
    for (R, limit, U), out in zip(charted, (counts, background)):
        compiled.count_cells(R, limit, U[0], U[-1], low, size, b, out)
    cells = np.ones(shape, np.bool_)
    scan = _pieces if len(coordinates) == 1 else _patches
    wraps = family.chart_wraps
    # Half of it even, since few null rows lie at the border of the data.
    background /= np.maximum(background.sum(axis=1, keepdims=True), 1)
    background = (background + 1 / shape[1]) / 2
    # A band that is nearly as wide as its background does not stand out from it.
    for j in np.flatnonzero(4 * models.scale <= wide):
        cells[j] = scan(counts[j], background[j], wraps)
    bounds = Bounds(low, size, cells)
    return bounds if bounds.bounded.any() else None


def _ranges(charted: Any, m: int, wraps: bool) -> tuple[Floats, Floats]:
    """(m, 2) the range of each coordinate over the points and the background of each model."""
    low, size = np.zeros((m, 2)), np.full((m, 2), np.inf)
    for axis in range(len(charted[0][2])):
        if wraps and axis == 0:
            size[:, 0] = 4.0
            continue
        first, last = np.full(m, np.inf), np.full(m, -np.inf)
        for R, limit, U in charted:
            compiled.chart_ranges(R, limit, U[axis], first, last)
        known = last > first
        low[:, axis] = np.where(known, first, 0.0)
        size[:, axis] = np.where(known, last - low[:, axis], np.inf)
    return low, size


def _pieces(counts: Floats, shares: Floats, wraps: bool) -> Bools:
    """Up to three intervals of cells in which points are crowded, with a margin; all cells if
    there is none."""
    kept, out, b = np.zeros(len(counts), np.bool_), np.zeros(4), len(counts)
    core = kept.copy()
    for _ in range(_MAX_PIECES):
        compiled.crowded_interval(counts, shares, core, wraps, out)
        first, length, ratio, k = out
        if ratio < _LEAST_RATIO:
            break
        # A new point may lie beyond the last one seen, by about the distance between points.
        margin = 1 + int(2 * length / k)
        core[np.arange(int(first), int(first + length)) % b] = True
        wide = np.arange(int(first) - margin, int(first + length) + margin)
        kept[wide % b if wraps else np.clip(wide, 0, b - 1)] = True
    return kept if _ends(counts, shares, kept) else ~np.zeros_like(kept)


def _patches(counts: Floats, shares: Floats, wraps: bool) -> Bools:
    """Up to three rectangles of cells in which points are crowded, with a margin of one cell; all
    cells if there is none."""
    b, out = CELLS_2D, np.zeros(6)
    workspace = np.empty((2, b + 1, b + 1))
    left, weights = counts.reshape(b, b).copy(), shares.reshape(b, b).copy()
    kept = np.zeros((b, b), np.bool_)
    for _ in range(_MAX_PIECES):
        compiled.crowded_rectangle(left, weights, *workspace, out)
        if out[4] < _LEAST_RATIO:
            break
        top, at, rows, columns = out[:4].astype(int)
        kept[max(top - 1, 0) : top + rows + 1, max(at - 1, 0) : at + columns + 1] = True
        left[top : top + rows, at : at + columns] = 0.0
        weights[top : top + rows, at : at + columns] = 0.0
    return kept.ravel() if _ends(counts, shares, kept.ravel()) else ~np.zeros(b * b, np.bool_)


def _ends(counts: Floats, shares: Floats, kept: Bools) -> bool:
    """Whether points are rare outside the kept cells."""
    inside, outside = counts[kept].sum(), counts[~kept].sum()
    allowed = _MAX_OUTSIDE * inside * shares[~kept].sum()
    return bool(inside > 0 and outside * shares[kept].sum() <= allowed)
