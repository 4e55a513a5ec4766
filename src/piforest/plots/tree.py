"""A tree as nested Voronoi cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..protocols import Floats
from . import _common as common

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators import VoronoiForest

__all__ = ["plot_tree"]

# With more leaves than this, letters would cover the cells.
_MAX_LETTERS = 60


def plot_tree(
    forest: VoronoiForest, tree: int = 0, ax: Axes | None = None, *, title: str = ""
) -> Axes:
    """Draw one tree over points in the plane as nested Voronoi cells.

    The heavier a line, the nearer its split is to the root. The colour of a leaf is the path
    length of points in it; letters follow the same order, for up to 60 leaves.

    Parameters
    ----------
    forest : VoronoiForest
        A forest fitted on two columns with the Euclidean metric.
    tree : int, default=0
        The index of the tree.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str, default=""
        The title of the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import VoronoiForest
    >>> from piforest.plots import plot_tree
    >>> X = np.random.default_rng(0).normal(size=(27, 2))
    >>> ax = plot_tree(VoronoiForest("euclidean", random_state=0).fit(X))
    """
    common.check_detector("plot_tree", forest)
    pool, flat = _pool(forest), forest.forest_.trees
    if not 0 <= tree < len(flat):
        raise ValueError(f"tree must be from 0 to {len(flat) - 1}, got {tree!r}.")
    axes: Axes = common.axes_for(pool, ax, (6, 4.8))
    _draw_tree(axes, pool, flat, tree)
    axes.margins(0)
    common.finish_axes(axes, title, common.column_names(None, forest))
    return axes


def _draw_tree(ax: Any, pool: Floats, flat: Any, tree: int) -> None:
    """Draw the cells of leaves and nodes, the points and the colour bar."""
    plt = common.pyplot()
    leaves, inner = _cells(pool, flat, tree)
    lengths = np.array([depth + flat.depths[size] for _, depth, size in leaves])
    norm, colours = plt.Normalize(lengths.min(), lengths.max()), plt.get_cmap(f"{common.SCORES}_r")
    order = np.argsort(lengths, kind="stable")
    for letter, k in zip(_letters(len(leaves)), order):
        cell = leaves[k][0]
        ax.fill(*cell.T, color=colours(norm(lengths[k])), alpha=0.55, linewidth=0)
        if len(leaves) <= _MAX_LETTERS:
            ax.text(*cell.mean(axis=0), letter, ha="center", va="center", fontsize=9)
    for cell, depth in sorted(inner, key=lambda item: -item[1]):
        ax.plot(*np.vstack([cell, cell[:1]]).T, color="#333333", lw=3.2 / 2**depth)
    size, rasterized = min(14.0, common.marker_size(len(pool))), len(pool) > common.RASTERIZED
    ax.scatter(*pool.T, s=size, c="black", linewidths=0, zorder=3, rasterized=rasterized)
    shades = plt.cm.ScalarMappable(norm, colours)
    ax.figure.colorbar(shades, ax=ax, alpha=0.55, shrink=0.8, label="path length h")


def _pool(forest: Any) -> Floats:
    """The pool (n, 2), if its cells can be drawn."""
    if hasattr(forest, "embedding_"):
        raise ValueError(
            "plot_tree draws a VoronoiForest('euclidean') fitted on two columns, got a "
            f"{type(forest).__name__}, whose trees split the preference space; "
            "plot_heatmap(detector) draws its scores over the plane."
        )
    metric, columns = forest.forest_.metric.name, getattr(forest, "n_features_in_", None)
    if metric != "euclidean" or columns != 2:
        raise ValueError(
            "plot_tree draws a VoronoiForest('euclidean') fitted on two columns, got one with "
            f"metric {metric!r} on {columns} columns."
        )
    return np.asarray(forest.forest_.pool)


def _cells(pool: Floats, flat: Any, tree: int) -> tuple[list[Any], list[Any]]:
    """Leaves as (polygon, depth, size), and the cells of all nodes as (polygon, depth)."""
    margin = 0.08 * np.ptp(pool, axis=0)
    (left, low), (right, high) = pool.min(axis=0) - margin, pool.max(axis=0) + margin
    box = np.array([[left, low], [right, low], [right, high], [left, high]])
    root = flat.roots[tree]
    leaves, inner, stack = [], [], [(0, box, 0)]
    while stack:
        node, cell, depth = stack.pop()
        child = flat.first_child[root + node]
        inner.append((cell, max(0, depth - 1)))
        if child < 0:
            leaves.append((cell, depth, flat.size[root + node]))
            continue
        seeds = pool[flat.seed[root + child : root + child + flat.branching]]
        for k, seed in enumerate(seeds):
            part = cell
            for other in np.delete(seeds, k, axis=0):
                part = _nearer(part, seed, other)
            if len(part):
                stack.append((child + k, part, depth + 1))
    return leaves, inner


def _nearer(cell: Floats, seed: Floats, other: Floats) -> Floats:
    """The part of a convex polygon that is nearer to `seed` than to `other`."""
    sides = (cell - (seed + other) / 2) @ (other - seed)
    kept = []
    for here, there, side, next_side in zip(
        cell, np.roll(cell, -1, axis=0), sides, np.roll(sides, -1)
    ):
        if side <= 0:
            kept.append(here)
        if (side < 0 < next_side) or (next_side < 0 < side):
            kept.append(here + side / (side - next_side) * (there - here))
    return np.array(kept).reshape(-1, 2)


def _letters(n: int) -> list[str]:
    """a, b, ..., z, aa, ab, ..."""
    single = [chr(ord("a") + k) for k in range(26)]
    return (single + [a + b for a in single for b in single])[:n]
