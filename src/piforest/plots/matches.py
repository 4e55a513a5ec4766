"""Two images and the matches between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Floats
from ..typing import RowsLike
from . import _common as common
from ._motions import draw_motions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_matches"]


def plot_matches(
    images: Sequence[ArrayLike] | None,
    X: RowsLike,
    values: ArrayLike,
    ax: Axes | None = None,
    *,
    truth: bool = False,
    threshold: float | None = None,
    motions: ArrayLike | None = None,
    title: str = "",
    colorbar: bool = True,
) -> Axes:
    """Draw two images side by side, with their matches coloured by anomaly score or by motion.

    Parameters
    ----------
    images : two array-likes of shape (h, w) or (h, w, 3), or None
        The images, grey or RGB, of any sizes; None draws the matches alone.
    X : array-like of shape (n, 4)
        The matches, rows (x1, y1, x2, y2) in pixels.
    values : array-like of shape (n,)
        Anomaly scores, high = anomalous, the highest on top; with `truth=True` labels,
        0 = anomalous.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    truth : bool, default=False
        Whether `values` are labels.
    threshold : float or None, default=None
        Colour scores blue below the threshold and red above it, with strong lines, over the
        scores that occur. None spreads the colours over the middle 96 % of the scores.
    motions : array-like of int of shape (n,) or None, default=None
        The motion of each match, -1 for none, such as `Filtered.labels`. With it, the ends of all
        matches are drawn: each motion in a colour, those above the threshold as red crosses;
        lines are drawn for a fixed random few. It needs a threshold.
    title : str, default=""
        The title of the axes.
    colorbar : bool, default=True
        Add a colour bar, or a legend of the labels.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from piforest.datasets import make_plane_pair
    >>> from piforest.plots import plot_matches
    >>> pair = make_plane_pair(2, random_state=0)
    >>> ax = plot_matches(pair.images, pair.data, pair.target, truth=True)
    """
    rows, scores = np.asarray(X, np.float64), np.asarray(values)
    if rows.ndim != 2 or rows.shape[1] != 4 or scores.shape != (len(rows),):
        raise ValueError(
            "plot_matches takes X (n, 4) and values (n,), got shapes "
            f"{rows.shape} and {scores.shape}."
        )
    common.check_drawable("X", rows)
    common.check_drawable("values", scores)
    pixels = None if images is None else _validate_images(images)
    axes: Axes = common.new_axes(_figure_size(pixels, rows)) if ax is None else ax
    common.check_2d(axes)
    offset = _draw_images(axes, pixels, rows)
    axes.set_title(title, fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])
    if motions is not None:
        draw_motions(axes, rows, *_validate_motions(motions, scores, threshold), offset)
        return axes
    if truth:
        scores = (scores == 0).astype(float)
        labels = common.pyplot().matplotlib.colors.ListedColormap([common.NORMAL, common.ANOMALOUS])
        colours = {"cmap": labels, "vmin": 0.0, "vmax": 1.0}
    else:
        colours = common.score_colours(scores, threshold)
        if threshold is not None:
            colours = _over_occurring(colours, scores, threshold)
    lines = _draw_lines(axes, rows, scores, offset, colours, threshold)
    if truth and colorbar:
        _add_label_legend(axes, int(scores.sum()), len(scores))
    elif colorbar:
        common.add_colour_bar(axes, lines, scores, threshold)
    return axes


def _validate_motions(motions: Any, scores: Any, threshold: Any) -> tuple[Any, Any]:
    labels = np.asarray(motions)
    if threshold is None or labels.shape != scores.shape or labels.dtype.kind not in "iu":
        raise ValueError(
            f"motions must be integers of shape {scores.shape}, with a threshold, got "
            f"{labels.dtype} {labels.shape} and threshold {threshold!r}."
        )
    return labels, scores > threshold


def _over_occurring(colours: dict[str, Any], scores: Any, threshold: float) -> dict[str, Any]:
    """The colours on both sides of the threshold, each over the scores that occur there."""
    low, high = float(np.min(scores)), float(np.max(scores))
    low = low if low < threshold else threshold - 1e-3
    high = high if high > threshold else threshold + 1e-3
    norm = common.pyplot().matplotlib.colors.TwoSlopeNorm(threshold, low, high)
    return {"cmap": colours["cmap"], "norm": norm}


def _add_label_legend(ax: Any, wrong: int, n: int) -> None:
    named = (
        (common.NORMAL, f"right: {n - wrong:,} matches"),
        (common.ANOMALOUS, f"wrong: {wrong:,} matches"),
    )
    line = common.pyplot().matplotlib.lines.Line2D
    handles = [line([], [], color=colour, marker="o", label=text) for colour, text in named]
    common.add_legend(ax, 2, handles, below=0.5)


def _draw_lines(
    ax: Any, X: Floats, values: Any, offset: float, colours: dict[str, Any], threshold: float | None
) -> Any:
    """Draw the matches, the highest values last; the more there are, the thinner and fainter."""
    order = np.argsort(values, kind="stable")
    first, second = X[order, :2], X[order, 2:] + [offset, 0]
    thin = float(np.clip(12 / np.sqrt(len(X)), 0.12, 1.3))
    width: Any = 0.9 * thin
    alpha: Any = 0.6 if len(X) < 1_000 else 0.35
    if threshold is not None:
        # Flagged matches, often few among many, must be visible.
        flagged = values[order] > threshold
        width = np.where(flagged, max(1.1, width), width)
        alpha = np.where(flagged, 0.9, alpha / 2)
    rasterized = len(X) > common.RASTERIZED
    lines = common.pyplot().matplotlib.collections.LineCollection(
        np.stack([first, second], axis=1), lw=width, alpha=alpha, array=values[order],
        rasterized=rasterized, cmap=colours["cmap"], norm=colours.get("norm"),
    )  # fmt: skip
    if "norm" not in colours:
        lines.set_clim(colours["vmin"], colours["vmax"])
    ax.add_collection(lines)
    size = max(12 * thin, 3.0)
    for ends in (first, second):
        ax.scatter(
            *ends.T, c=values[order], s=size, linewidths=0.2 if size > 3 else 0, zorder=3,
            edgecolors="black", rasterized=rasterized, **colours,
        )  # fmt: skip
    return lines


def _validate_images(images: Sequence[ArrayLike]) -> tuple[Any, Any]:
    if len(images) != 2:
        raise ValueError(f"images must be two arrays, got {len(images)}.")
    left, right = (np.asarray(image) for image in images)
    for name, image in (("first", left), ("second", right)):
        grey, colour = image.ndim == 2, image.ndim == 3 and image.shape[2] in (3, 4)
        if not (grey or colour) or not image.size:
            raise ValueError(
                f"the {name} image must be grey (h, w) or RGB (h, w, 3), got shape {image.shape}."
            )
    return left, right


def _extent(X: Floats, columns: list[int]) -> tuple[float, float]:
    """The least width and height of an image that contains the ends of its matches."""
    across, up = X[:, columns].max(axis=0)
    return max(float(across), 1.0), max(float(up), 1.0)


def _figure_size(images: Any, X: Floats) -> tuple[float, float]:
    """The width of a page, and the height that the images need."""
    if images is None:
        shapes = [_extent(X, [0, 1]), _extent(X, [2, 3])]
    else:
        shapes = [(image.shape[1], image.shape[0]) for image in images]
    across, up = sum(shape[0] for shape in shapes), max(shape[1] for shape in shapes)
    return 10.0, float(np.clip(8.8 * up / across + 0.5, 2.0, 9.0))


def _draw_images(ax: Any, images: Any, X: Floats) -> float:
    """Draw both images; returns the x coordinate where the second begins."""
    if images is None:
        (wide, high), (other, up) = _extent(X, [0, 1]), _extent(X, [2, 3])
        offset = 1.04 * wide
        ax.set_facecolor(common.BACKGROUND)
        ax.set_xlim(min(0.0, float(X[:, 0].min())), offset + other)
        ax.set_ylim(max(high, up), min(0.0, float(X[:, [1, 3]].min())))
        ax.axvline(offset, color="#bbbbbb", lw=0.8)
    else:
        left, right = images
        offset = left.shape[1] * 1.02
        for image, start in ((left, 0.0), (right, offset)):
            box = (start, start + image.shape[1], image.shape[0], 0)
            limits = {"vmin": 0, "vmax": 255} if image.dtype == np.uint8 else {}
            ax.imshow(image, cmap="gray", extent=box, alpha=0.75, **limits)
        ax.set_xlim(0, offset + right.shape[1])
        ax.set_ylim(max(left.shape[0], right.shape[0]), 0)
        for side in ax.spines.values():
            side.set_visible(False)
    ax.set_aspect("equal")
    return float(offset)
