"""The ground in airborne scans: what connects smooth surfaces and lies lowest at its borders.

Roofs are structures, too. So the ground is not told by distances to surfaces but by how they hang
together: local planes that continue each other form a surface, and a surface is ground unless it
lies above its neighbours along most of its border, as a roof does, and is not very large.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator
from scipy.sparse.csgraph import connected_components

from ._validation import check_positive
from .protocols import Bools, Floats, Ints

__all__ = ["Ground", "find_ground"]

# A cell is twice the mean spacing, so that it holds four points: the lowest of four is rarely in a
# tree. The tolerance, in sides of a cell, is that of links, borders and points alike. Both were
# chosen on samples 11 and 31 of the ISPRS filter test.
_SPACINGS, _TOLERANCE = 2.0, 0.2
# A smaller surface says nothing: a plane through nine cells holds one of this size by chance.
_LEAST_CELLS = 6
_ABOVE = 0.5  # of the border of an object
# A surface with this share of the cells is ground, though it lies above the others, as a plateau
# above cliffs does: no building is that large a part of a scan. Chosen on sample 53.
_PLATEAU = 0.1
# The surface takes in cells that continue it until it stays, at most so often.
_GROWTHS = 50
_LEAST_POINTS = 100
Rises = tuple[Floats, Floats]
"""how much the surface rises over a cell, along y and along x"""
_WINDOW = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
_EDGES = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True)
class Ground:
    """The ground of a scan, the result of `find_ground`."""

    is_ground: Bools
    """(n,) whether each point is ground"""
    height: Floats
    """(n,) of each point above the ground, in the unit of z"""
    surface: Floats = field(repr=False)
    """(rows, columns) z of the ground in the middle of each cell; rows are y"""
    origin: tuple[float, float]
    """the smallest x and y"""
    cell: float
    """the side of a cell"""
    tolerance: float
    """the distance from a surface at which a point belongs to it, where that is level"""
    n_surfaces: int
    """of the ground: more than 1 where walls or trees divide it"""
    share: float
    """of the cells in which the ground was seen; elsewhere it is interpolated"""


def find_ground(
    X: ArrayLike,
    *,
    cell: float | Literal["auto"] = "auto",
    tolerance: float | Literal["auto"] = "auto",
) -> Ground:
    """Tell the ground of an airborne scan from buildings and trees.

    The lowest point of each cell of a grid stands for it. Each cell takes the slope of that of the
    nine planes through 3 x 3 cells around it that fits best, so that slopes do not reach over
    edges. Neighbouring cells that continue each other's planes are one surface. A surface is ground
    if it has six cells and lies above its neighbours on at most half of the steps at its border, or
    if it has a tenth of all cells, as a plateau above cliffs may.
    The ground is interpolated between its cells and takes in cells that continue it until it stays.
    Points below it or within the tolerance above it are ground, without single pits far below it;
    on slopes the tolerance is larger by half of the rise of a cell.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points; the first three columns are x, y and z in one unit. Z points up.
    cell : "auto" or float, default="auto"
        The side of the cells of the grid. "auto": twice the mean spacing of the points.
    tolerance : "auto" or float, default="auto"
        How far from a level surface its points may lie. "auto": a fifth of a cell.

    Returns
    -------
    Ground

    Raises
    ------
    ValueError
        If the points are too few or in one line, or if no surface is seen.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest.terrain import find_ground
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.uniform(0, 60, (2, 3600))
    >>> house = (abs(x - 30) < 8) & (abs(y - 30) < 8)
    >>> z = 0.1 * x + 5 * house + rng.normal(scale=0.03, size=3600)
    >>> ground = find_ground(np.column_stack([x, y, z]))
    >>> float((ground.is_ground == ~house).mean()) > 0.98
    True
    """
    points = _checked(X)
    grid = _Grid.over(points, cell, tolerance)
    surfaces = _surfaces(grid, _slopes(grid))
    seen = _ground_cells(grid, surfaces)
    n_surfaces = len(np.unique(surfaces[seen]))
    surface, seen = _grown(grid.z, grid.tolerance, seen)
    height = points[:, 2] - grid.at(surface, points)
    allowed = grid.tolerance + grid.at(_rise(surface), points) / 2
    # Nothing lies under the ground: points below the surface show that it is too high there.
    is_ground = (height <= allowed) & ~(grid.in_pits(points) & (height < -allowed))
    return Ground(
        is_ground,
        height,
        surface,
        (float(grid.low[0]), float(grid.low[1])),
        grid.cell,
        grid.tolerance,
        n_surfaces,
        float(np.mean(seen)),
    )


def _checked(X: ArrayLike) -> Floats:
    points = np.asarray(X, np.float64)
    if points.ndim != 2 or points.shape[1] < 3:
        raise ValueError(f"X must have columns x, y and z, got shape {points.shape}.")
    points = points[:, :3]
    if len(points) < _LEAST_POINTS:
        raise ValueError(
            f"the ground needs at least {_LEAST_POINTS} points of a scan, got {len(points)}."
        )
    if not np.isfinite(points).all():
        raise ValueError("X contains NaN or infinity; drop these points.")
    if not (np.ptp(points[:, :2], axis=0) > 0).all():
        raise ValueError("all points have the same x or y: a scan covers an area.")
    return points


@dataclass(frozen=True)
class _Grid:
    """The lowest point of each cell; empty cells take the z of the nearest other one."""

    low: Floats
    cell: float
    tolerance: float
    z: Floats
    """(rows, columns)"""

    @classmethod
    def over(cls, points: Floats, cell: Any, tolerance: Any) -> _Grid:
        low, span = points[:, :2].min(axis=0), np.ptp(points[:, :2], axis=0)
        spacing = float(np.sqrt(span.prod() / len(points)))
        given = not (isinstance(cell, str) and cell == "auto")
        side = check_positive("cell", cell, "Or 'auto'.") if given else _SPACINGS * spacing
        if side < spacing / 4 or side > span.max() / 4:
            raise ValueError(
                f"cell must be from {spacing / 4:.3g}, a quarter of the spacing of the points, to "
                f"{span.max() / 4:.3g}, a quarter of the range, got {side:.3g}."
            )
        is_auto = isinstance(tolerance, str) and tolerance == "auto"
        step = _TOLERANCE * side if is_auto else check_positive("tolerance", tolerance)
        at = np.floor((points[:, :2] - low) / side).astype(np.int64)
        width, height = (at.max(axis=0) + 1).tolist()
        lowest = np.full(width * height, np.inf)
        np.minimum.at(lowest, at[:, 1] * width + at[:, 0], points[:, 2])
        z = lowest.reshape(height, width)
        nearest = ndimage.distance_transform_edt(
            np.isinf(z), return_distances=False, return_indices=True
        )
        return cls(low, side, step, z[tuple(nearest)])

    def at(self, values: Floats, points: Floats) -> Floats:
        """Values of the middles of cells at points, interpolated."""
        x, y = ((points[:, :2] - self.low) / self.cell - 0.5).T
        return np.asarray(ndimage.map_coordinates(values, [y, x], order=1, mode="nearest"))

    def in_pits(self, points: Floats) -> Bools:
        """(n,) which points are in cells lower than all neighbours, as false echoes make them."""
        around = np.ones((3, 3), np.bool_)
        around[1, 1] = False
        pits = self.z < ndimage.minimum_filter(self.z, footprint=around) - self.tolerance
        at = np.floor((points[:, :2] - self.low) / self.cell).astype(np.int64)
        return np.asarray(pits[at[:, 1], at[:, 0]])


def _shifted(values: NDArray[Any], dy: int, dx: int, outside: Any) -> NDArray[Any]:
    """The value of the neighbour (row + dy, column + dx) of each cell."""
    padded = np.pad(values, 1, constant_values=outside)
    h, w = values.shape
    return padded[1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w]


def _planes(z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Least-squares planes of 3 x 3 cells: level, rise along y and along x, and squared residuals.
    At the border of the grid z is continued."""
    around = np.stack([np.pad(z, 1, mode="edge")[1 + dy :, 1 + dx :][: len(z), : z.shape[1]]
                       for dy, dx in _WINDOW])  # fmt: skip
    dy, dx = np.array(_WINDOW, np.float64).T[:, :, None, None]
    level = around.mean(axis=0)
    along_y, along_x = np.sum(dy * around, axis=0) / 6, np.sum(dx * around, axis=0) / 6
    residual = around - level - dy * along_y - dx * along_x
    return level, along_y, along_x, np.sum(residual**2, axis=0)


def _slopes(grid: _Grid) -> Rises:
    """The rise along y and x at each cell: of the plane that fits best among those of the nine
    windows that hold the cell and pass within the tolerance of it."""
    level, along_y, along_x, residual = _planes(grid.z)
    best, rise_y, rise_x = residual, along_y, along_x
    for dy, dx in _WINDOW:
        other_y, other_x = (_shifted(each, dy, dx, 0.0) for each in (along_y, along_x))
        here = _shifted(level, dy, dx, np.inf) - dy * other_y - dx * other_x
        fit = np.where(
            np.abs(here - grid.z) <= grid.tolerance, _shifted(residual, dy, dx, np.inf), np.inf
        )
        better = fit < best
        best = np.where(better, fit, best)
        rise_y, rise_x = np.where(better, other_y, rise_y), np.where(better, other_x, rise_x)
    return rise_y, rise_x


def _surfaces(grid: _Grid, rises: Rises) -> Ints:
    """(rows, columns) the number of the surface of each cell."""
    rise_y, rise_x = rises
    number = np.arange(grid.z.size).reshape(grid.z.shape)
    ends = []
    for dy, dx in _EDGES:
        step = _shifted(grid.z, dy, dx, np.inf) - grid.z
        other = dy * _shifted(rise_y, dy, dx, 0.0) + dx * _shifted(rise_x, dy, dx, 0.0)
        off = np.maximum(np.abs(step - dy * rise_y - dx * rise_x), np.abs(step - other))
        linked = off <= grid.tolerance
        ends.append([number[linked], _shifted(number, dy, dx, -1)[linked]])
    first, second = np.concatenate(ends, axis=1)
    links = scipy.sparse.coo_array(
        (np.ones(len(first), np.int8), (first, second)), shape=(grid.z.size,) * 2
    )
    labels: Ints = connected_components(links, directed=False)[1]
    return labels.reshape(grid.z.shape)


def _ground_cells(grid: _Grid, surfaces: Ints) -> Bools:
    """Which cells belong to surfaces that are ground."""
    n = int(surfaces.max()) + 1
    above, below = np.zeros((2, n), np.int64)
    for dy, dx in _EDGES:
        step = _shifted(grid.z, dy, dx, np.nan) - grid.z
        other = _shifted(surfaces, dy, dx, -1)
        # A step within a surface, or of less than the tolerance, is no border.
        for sign, here, there in ((1, above, below), (-1, below, above)):
            falls = (sign * step < -grid.tolerance) & (other != surfaces)
            here += np.bincount(surfaces[falls], minlength=n)
            there += np.bincount(other[falls], minlength=n)
    size = np.bincount(surfaces.ravel(), minlength=n)
    ground = (size >= _LEAST_CELLS) & (above <= _ABOVE * (above + below))
    ground |= size >= max(_LEAST_CELLS, _PLATEAU * surfaces.size)
    if not ground.any():
        raise ValueError(
            f"no surface of {_LEAST_CELLS} cells of {grid.cell:.3g} lies below its surroundings, "
            "so that no ground is seen. Pass a larger cell, or a larger tolerance for rough ground."
        )
    return np.asarray(ground[surfaces])


def _grown(z: Floats, tolerance: float, seen: Bools) -> tuple[Floats, Bools]:
    """The ground in every cell, and in which cells it was seen at last."""
    surface = _interpolated(z, seen)
    for _ in range(_GROWTHS):
        allowed = tolerance + _rise(surface) / 2
        grown = seen | (np.abs(z - surface) <= allowed)
        if (grown == seen).all():
            break
        seen = grown
        surface = _interpolated(z, seen)
    return surface, seen


def _interpolated(cells: Floats, seen: Bools) -> Floats:
    """Linear between the cells in which the ground is seen; the nearest of them beyond."""
    surface = np.array(cells)
    holes = np.argwhere(~seen)
    if len(holes) == 0:
        return surface
    # Only cells at a hole decide what is in it; triangles of the others are not needed.
    at_hole = seen & ndimage.binary_dilation(~seen, np.ones((3, 3)))
    known, z = np.argwhere(at_hole), cells[at_hole]
    filled = np.full(len(holes), np.nan)
    if len(known) > 3 and (np.ptp(known, axis=0) > 0).all():
        filled = LinearNDInterpolator(known, z)(holes)
    outside = np.isnan(filled)
    filled[outside] = NearestNDInterpolator(known, z)(holes[outside])
    surface[~seen] = filled
    return surface


def _rise(surface: Floats) -> Floats:
    """How much the ground rises over a cell, at each cell."""
    along_y, along_x = np.gradient(surface)
    return np.asarray(np.hypot(along_y, along_x))
