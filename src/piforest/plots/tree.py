"""A tree as nested Voronoi cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocols import Floats
from ._common import SCORES, axes, check_detector, frame, mark_size, names_of, pyplot

# With more leaves than this, letters would cover the cells.
_LETTERED = 60


def plot_tree(forest: Any, tree: int = 0, ax: Any = None, *, title: str = "") -> Any:
    """One tree over points in the plane, as nested Voronoi cells.

    forest: a fitted `VoronoiForest` with the Euclidean metric on two columns. The
    heavier a line, the nearer to the root its split; a leaf's colour and letter (in
    the order of the path length; none where there are more than 60 leaves) say how soon a
    point there is isolated. Returns the axes.
    """
    plt = pyplot()
    check_detector("plot_tree", forest)
    pool, flat = _plane(forest), forest.forest_.trees
    if not 0 <= tree < len(flat):
        raise ValueError(f"tree must be from 0 to {len(flat) - 1}, got {tree!r}.")
    ax = axes(pool, ax, (6, 4.8))
    leaves, inner = _cells(pool, flat, tree)
    lengths = np.array([depth + flat.depths[size] for _, depth, size in leaves])
    shades = plt.Normalize(lengths.min(), lengths.max())
    colours = plt.get_cmap(f"{SCORES}_r")
    order = np.argsort(lengths, kind="stable")
    for letter, k in zip(_letters(len(leaves)), order):
        cell = leaves[k][0]
        ax.fill(*cell.T, color=colours(shades(lengths[k])), alpha=0.55, linewidth=0)
        if len(leaves) <= _LETTERED:
            ax.text(*cell.mean(axis=0), letter, ha="center", va="center", fontsize=9)
    for cell, depth in sorted(inner, key=lambda item: -item[1]):
        ax.plot(*np.vstack([cell, cell[:1]]).T, color="#333333", lw=3.2 / 2**depth)
    size = min(14.0, mark_size(len(pool)))
    ax.scatter(*pool.T, s=size, c="black", linewidths=0, zorder=3, rasterized=len(pool) > 5_000)
    ax.margins(0)
    frame(ax, title, names_of(None, forest))
    ax.figure.colorbar(
        plt.cm.ScalarMappable(shades, colours), ax=ax, alpha=0.55, shrink=0.8, label="path length h"
    )
    return ax


def _plane(forest: Any) -> Floats:
    """The pool (n, 2), whose cells can be drawn."""
    if hasattr(forest, "embedding_"):
        raise ValueError(
            "plot_tree draws a VoronoiForest('euclidean') fitted on two columns, got a "
            f"{type(forest).__name__}, whose trees lie in the space of preferences; "
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
    leaves, inner, todo = [], [], [(0, box, 0)]
    while todo:
        node, cell, depth = todo.pop()
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
                todo.append((child + k, part, depth + 1))
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
