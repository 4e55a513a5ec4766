"""Two images and what was matched between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocols import Floats
from ._common import ANOMALOUS, NORMAL, SCORES, check_drawable, check_flat, colour_bar, pyplot, span


def plot_matches(
    images: Any,
    X: Any,
    values: Any,
    ax: Any = None,
    *,
    truth: bool = False,
    title: str = "",
    colorbar: bool = True,
) -> Any:
    """Two images side by side, with their matches coloured by anomaly score.

    images: the two pictures, gray (h, w) or RGB (h, w, 3), of any sizes, or None for none;
    X (n, 4), rows (x1, y1, x2, y2) in pixels; values (n,): scores, high = anomalous, worst
    drawn last; or, with truth=True, labels, 0 = anomalous. Returns the axes.
    """
    plt = pyplot()
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] != 4 or values.shape != (len(X),):
        raise ValueError(
            f"the picture takes X (n, 4) and values (n,), got {X.shape} and {values.shape}."
        )
    check_drawable("X", X)
    check_drawable("values", values)
    pictures = None if images is None else _checked(images)
    if ax is None:
        ax = plt.subplots(figsize=_size(pictures, X), layout="constrained")[1]
    check_flat(ax)
    width = _draw_images(ax, pictures, X)
    if truth:
        values = (values == 0).astype(float)
        colours, low, high = plt.matplotlib.colors.ListedColormap([NORMAL, ANOMALOUS]), 0.0, 1.0
    else:
        colours, (low, high) = plt.get_cmap(SCORES), span(values)
    lines = _draw_lines(ax, X, values, width, {"cmap": colours, "clim": (low, high)})
    ax.set_title(title, fontsize=10)
    ax.set_xticks([])
    ax.set_yticks([])
    if colorbar:
        bar = colour_bar(ax, lines, values, "" if truth else "anomaly score")
        if truth:
            bar.set_ticks([0.25, 0.75], labels=["right", "wrong"], rotation=90, va="center")
    return ax


def _draw_lines(ax: Any, X: Floats, values: Any, width: float, look: dict[str, Any]) -> Any:
    """The matches, worst last; the more there are, the thinner and fainter."""
    order = np.argsort(values, kind="stable")
    first, second = X[order, :2], X[order, 2:] + [width, 0]
    thin = float(np.clip(12 / np.sqrt(len(X)), 0.12, 1.3))
    many = len(X) > 5_000
    lines = pyplot().matplotlib.collections.LineCollection(
        np.stack([first, second], axis=1), lw=0.9 * thin, alpha=0.6 if len(X) < 1_000 else 0.35,
        array=values[order], rasterized=many, **look,
    )  # fmt: skip
    ax.add_collection(lines)
    (low, high), size = look["clim"], max(12 * thin, 3.0)
    for ends in (first, second):
        ax.scatter(
            *ends.T, c=values[order], s=size, cmap=look["cmap"], vmin=low, vmax=high,
            linewidths=0.2 if size > 3 else 0, edgecolors="black", zorder=3, rasterized=many,
        )  # fmt: skip
    return lines


def _checked(images: Any) -> tuple[Any, Any]:
    """Two arrays of pixels."""
    if len(images) != 2:
        raise ValueError(f"images must be two pictures, got {len(images)}.")
    left, right = (np.asarray(image) for image in images)
    for name, image in (("first", left), ("second", right)):
        if (
            not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] in (3, 4)))
            or not image.size
        ):
            raise ValueError(
                f"the {name} image must be gray (h, w) or RGB (h, w, 3), got {image.shape}."
            )
    return left, right


def _extent(X: Floats, columns: list[int]) -> tuple[float, float]:
    """How large an image is at least, from the matches in it."""
    across, up = X[:, columns].max(axis=0)
    return max(float(across), 1.0), max(float(up), 1.0)


def _size(pictures: Any, X: Floats) -> tuple[float, float]:
    """A figure as wide as a page and as high as the images need."""
    if pictures is None:
        shapes = [_extent(X, [0, 1]), _extent(X, [2, 3])]
    else:
        shapes = [(image.shape[1], image.shape[0]) for image in pictures]
    across, up = sum(shape[0] for shape in shapes), max(shape[1] for shape in shapes)
    return 10.0, float(np.clip(8.8 * up / across + 0.5, 2.0, 9.0))


def _draw_images(ax: Any, pictures: Any, X: Floats) -> float:
    """Draw the two, and say how far the second stands to the right."""
    if pictures is None:
        (wide, high), (other, up) = _extent(X, [0, 1]), _extent(X, [2, 3])
        width = 1.04 * wide
        ax.set_facecolor("#f7f7f7")
        ax.set_xlim(min(0.0, float(X[:, 0].min())), width + other)
        ax.set_ylim(max(high, up), min(0.0, float(X[:, [1, 3]].min())))
        ax.axvline(width, color="#bbbbbb", lw=0.8)
    else:
        left, right = pictures
        width = left.shape[1] * 1.02
        for image, start in ((left, 0.0), (right, width)):
            box = (start, start + image.shape[1], image.shape[0], 0)
            whole = {"vmin": 0, "vmax": 255} if image.dtype == np.uint8 else {}
            ax.imshow(image, cmap="gray", extent=box, alpha=0.75, **whole)
        ax.set_xlim(0, width + right.shape[1])
        ax.set_ylim(max(left.shape[0], right.shape[0]), 0)
        for side in ax.spines.values():
            side.set_visible(False)
    ax.set_aspect("equal")
    return float(width)
