"""Two images and what was matched between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocols import Floats
from ._common import ANOMALOUS, NORMAL, SCORES, pyplot


def plot_matches(
    images: Any, X: Any, values: Any, ax: Any = None, *, truth: bool = False, title: str = ""
) -> Any:
    """Two images side by side, with their matches coloured by anomaly score.

    images: the two pictures, gray or RGB, or None for none; X (n, 4), rows
    (x1, y1, x2, y2) in pixels; values (n,): scores, high = anomalous, worst drawn
    last; or, with truth=True, labels, 0 = anomalous. Returns the axes.
    """
    plt = pyplot()
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
