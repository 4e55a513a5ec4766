"""Pictures. Matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .protocols import Floats

# Okabe and Ito's orange and blue, as in the paper, safe for the colour-blind.
NORMAL, ANOMALOUS = "#E69F00", "#0072B2"
SCORES = "coolwarm"


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'piforest[plots]'") from error
    return plt


def plot_scores(
    X: Any, scores: Any, ax: Any = None, *, title: str = "", colorbar: bool = True
) -> Any:
    """Points in the plane, coloured by anomaly score: high red, low blue, worst drawn last.

    X (n, 2); scores (n,), high = anomalous. The colours span the middle 96 % of
    the scores. Draws into `ax`, or a new figure, and returns the axes.
    """
    plt = _pyplot()
    X, scores = _in_the_plane("scores", X, scores)
    if ax is None:
        ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")[1]
    order = np.argsort(scores, kind="stable")
    low, high = np.percentile(scores, [2, 98])
    drawn = ax.scatter(
        *X[order].T, c=scores[order], s=9, cmap=SCORES, vmin=low, vmax=high, linewidths=0
    )
    _frame(ax, title)
    if colorbar:
        ax.figure.colorbar(drawn, ax=ax, label="anomaly score")
    return ax


def plot_truth(X: Any, y: Any, ax: Any = None, *, title: str = "") -> Any:
    """Points in the plane by their true label: y > 0 in a structure, y = 0 anomalous."""
    plt = _pyplot()
    X, y = _in_the_plane("y", X, y)
    if ax is None:
        ax = plt.subplots(figsize=(5, 4.5), layout="constrained")[1]
    ax.scatter(*X[y == 0].T, s=9, c=ANOMALOUS, linewidths=0, label="anomalous")
    ax.scatter(*X[y > 0].T, s=9, c=NORMAL, linewidths=0, label="normal")
    _frame(ax, title)
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=3.4, ncols=2, frameon=False,
        markerscale=2, fontsize=9, handletextpad=0.1,
    )  # fmt: skip
    return ax


def plot_comparison(
    X: Any, y: Any, methods: Mapping[str, Floats], aucs: Mapping[str, float]
) -> Any:
    """The truth and each method's scores side by side, as in the paper's five panels.

    Each panel spans its own range of scores, since the methods share no unit.
    Returns the figure.
    """
    plt = _pyplot()
    if not methods:
        raise ValueError("methods must hold at least one name and its scores, got none.")
    columns = len(methods) + 1
    across, up = np.ptp(np.asarray(X, np.float64), axis=0)
    height = 1.3 + 2.7 * min(2.0, up / across if across > 0 else 1.0)
    figure, axes = plt.subplots(
        1, columns, figsize=(3.0 * columns, height), layout="constrained", sharex=True, sharey=True
    )
    plot_truth(X, y, axes[0], title="input")
    for ax, (name, scores) in zip(axes[1:], methods.items()):
        plot_scores(X, scores, ax, title=f"{name}\nAUC {aucs[name]:.3f}", colorbar=False)
    bar = figure.colorbar(axes[-1].collections[0], ax=axes, pad=0.01, aspect=25, shrink=0.7)
    bar.set_ticks(bar.mappable.get_clim(), labels=["low", "high"])
    bar.set_label("anomaly score", labelpad=-12)
    return figure


def _in_the_plane(name: str, X: Any, values: Any) -> tuple[Floats, Any]:
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] != 2 or values.shape != (len(X),):
        raise ValueError(
            f"the picture takes X (n, 2) and {name} (n,), got {X.shape} and {values.shape}."
        )
    return X, values


def _frame(ax: Any, title: str) -> None:
    ax.set_aspect("equal")
    ax.set_facecolor("#f7f7f7")
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    ax.label_outer()
    ax.tick_params(labelsize=8)


def plot_tree(forest: Any, tree: int = 0, ax: Any = None, *, title: str = "") -> Any:
    """One tree over points in the plane, as nested Voronoi cells.

    forest: a fitted `VoronoiForest` with the Euclidean metric on two columns. The
    heavier a line, the nearer to the root its split; a leaf's colour and letter (in
    the order of the path length) say how soon a point there is isolated. Returns the axes.
    """
    plt = _pyplot()
    pool, flat = np.asarray(forest.forest_.pool), forest.forest_.forest
    if forest.forest_.metric.name != "euclidean" or pool.ndim != 2 or pool.shape[1] != 2:
        raise ValueError("plot_tree draws a VoronoiForest('euclidean') fitted on two columns.")
    if not 0 <= tree < len(flat):
        raise ValueError(f"tree must be from 0 to {len(flat) - 1}, got {tree!r}.")
    if ax is None:
        ax = plt.subplots(figsize=(6, 4.8), layout="constrained")[1]
    leaves, inner = _cells(pool, flat, tree)
    lengths = np.array([depth + flat.depths[size] for _, depth, size in leaves])
    shades = plt.Normalize(lengths.min(), lengths.max())
    colours = plt.get_cmap(f"{SCORES}_r")
    order = np.argsort(lengths, kind="stable")
    for letter, k in zip(_letters(len(leaves)), order):
        cell = leaves[k][0]
        ax.fill(*cell.T, color=colours(shades(lengths[k])), alpha=0.55, linewidth=0)
        ax.text(*cell.mean(axis=0), letter, ha="center", va="center", fontsize=9)
    for cell, depth in sorted(inner, key=lambda item: -item[1]):
        ax.plot(*np.vstack([cell, cell[:1]]).T, color="#333333", lw=3.2 / 2**depth)
    ax.scatter(*pool.T, s=14, c="black", linewidths=0, zorder=3)
    _frame(ax, title)
    ax.figure.colorbar(
        plt.cm.ScalarMappable(shades, colours), ax=ax, alpha=0.55, shrink=0.8, label="path length h"
    )
    return ax


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


def plot_matches(
    images: Any, X: Any, values: Any, ax: Any = None, *, truth: bool = False, title: str = ""
) -> Any:
    """Two images side by side, with their matches coloured by anomaly score.

    images: the two pictures, gray or RGB, or None for none; X (n, 4), rows
    (x1, y1, x2, y2) in pixels; values (n,): scores, high = anomalous, worst drawn
    last; or, with truth=True, labels, 0 = anomalous. Returns the axes.
    """
    plt = _pyplot()
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] != 4 or values.shape != (len(X),):
        raise ValueError(
            f"the picture takes X (n, 4) and values (n,), got {X.shape} and {values.shape}."
        )
    if ax is None:
        ax = plt.subplots(figsize=(10, 4.2), layout="constrained")[1]
    width = _draw_images(ax, images, X)
    if truth:
        values = (values == 0).astype(float)
        colours, low, high = plt.matplotlib.colors.ListedColormap([NORMAL, ANOMALOUS]), 0, 1
    else:
        colours, (low, high) = plt.get_cmap(SCORES), np.percentile(values, [2, 98])
    order = np.argsort(values, kind="stable")
    first, second = X[order, :2], X[order, 2:] + [width, 0]
    thin = min(1.0, 12 / np.sqrt(len(X)))
    lines = plt.matplotlib.collections.LineCollection(
        np.stack([first, second], axis=1), cmap=colours, lw=0.9 * thin, alpha=0.6
    )
    lines.set_array(values[order])
    lines.set_clim(low, high)
    ax.add_collection(lines)
    for ends in (first, second):
        ax.scatter(
            *ends.T, c=values[order], s=12 * thin, cmap=colours, vmin=low, vmax=high,
            linewidths=0.2, edgecolors="black", zorder=3,
        )  # fmt: skip
    ax.set_title(title, fontsize=10)
    ax.set_axis_off()
    return ax


def _draw_images(ax: Any, images: Any, X: Floats) -> float:
    """Draw the two, and say how far the second stands to the right."""
    if images is None:
        width = 1.04 * max(X[:, 0].max(), X[:, 2].max())
        height = max(X[:, 1].max(), X[:, 3].max())
        ax.set_facecolor("#f7f7f7")
        ax.set_xlim(0, 2 * width)
        ax.set_ylim(height, 0)
        ax.axvline(width, color="#bbbbbb", lw=0.8)
    else:
        left, right = (np.asarray(image) for image in images)
        width = left.shape[1] * 1.02
        for image, start in ((left, 0.0), (right, width)):
            extent = (start, start + image.shape[1], image.shape[0], 0)
            ax.imshow(image, cmap="gray", extent=extent, alpha=0.75)
        ax.set_xlim(0, width + right.shape[1])
        ax.set_ylim(max(left.shape[0], right.shape[0]), 0)
    ax.set_aspect("equal")
    return float(width)
