"""Colours, checks, frames and the late import of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..protocols import Floats

# Okabe and Ito's orange and blue, as in the paper, safe for the colour-blind.
NORMAL, ANOMALOUS = "#E69F00", "#0072B2"
# What a detector says, in the direction of the scores' colours, and as in a report.
KEPT, FLAGGED = "#0072B2", "#D55E00"
# Blue to red over light grey, safe too: no green, and both ends are dark.
SCORES = "coolwarm"
# For structures, in the order of a report's: Okabe and Ito's but for what is kept and flagged.
COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#6B5BB5", "#8C6D3F", "#F0E442")
GREY = "#999999"
PAPER = "#f7f7f7"
# From so many marks on, a vector file holds them as one image.
_MANY = 5_000
# Axes whose ranges differ by more than this have different units, and are not drawn to scale.
_UNLIKE = 12.0


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'piforest[plots]'") from error
    return plt


def checked(name: str, X: Any, values: Any) -> tuple[Floats, Any]:
    """X with 2, 3, 4 or 6 columns and as many values as rows, all of them finite."""
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] not in (2, 3, 4, 6) or values.shape != (len(X),):
        raise ValueError(
            "the picture takes X with 2 or 3 columns (points) or with 4 or 6 (lines from one end "
            f"to the other: matches or segments) and {name} (n,), got {X.shape} and "
            f"{values.shape}. Pass the columns to be drawn."
        )
    check_drawable("X", X)
    check_drawable(name, values)
    return X, values


def check_drawable(name: str, values: Any) -> None:
    """Is there something to draw, and are all numbers finite?"""
    if len(values) == 0:
        raise ValueError(f"there is nothing to draw: {name} has no rows.")
    if not np.issubdtype(values.dtype, np.number) and values.dtype != np.bool_:
        raise ValueError(f"{name} must be numbers to be drawn, got {values.dtype}.")
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if bad.any():
        raise ValueError(
            f"{name} must be finite to be drawn, row {int(np.argmax(bad))} is not; "
            "leave such rows out."
        )


def check_detector(who: str, detector: Any) -> None:
    """Is it a fitted detector?"""
    if not (hasattr(detector, "anomaly_score") and hasattr(detector, "set_threshold")):
        raise ValueError(
            f"{who} takes a fitted detector (PreferenceIsolationForest or VoronoiForest), got "
            f"{type(detector).__name__}."
        )
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(detector, "fitted_")


def known_scores(values: Any, X: Any = None) -> Floats:
    """Scores (n,), one for each row of X where X is given."""
    scores: Floats = np.atleast_1d(np.asarray(values, np.float64))
    # Sparse matrices have no length, lists have no shape.
    n = len(scores) if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    if scores.shape != (n,):
        rows = "" if X is None else f", one for each of the {n} rows of X"
        raise ValueError(f"scores must be (n,){rows}, got {scores.shape}.")
    check_drawable("scores", scores)
    return scores


def names_of(X: Any, detector: Any = None) -> list[str] | None:
    """The columns' names: those of a data frame, or those that the detector was fitted with."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(detector, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def new_axes(size: tuple[float, float], space: bool = False) -> Any:
    """A figure's only axes, with room for labels around them."""
    options = {"projection": "3d"} if space else {}
    figure, ax = pyplot().subplots(figsize=size, layout="constrained", subplot_kw=options)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return ax


def axes(X: Floats, ax: Any, size: tuple[float, float] = (5.5, 4.5)) -> Any:
    """The given axes, or new ones, in space where X needs it."""
    space = X.shape[1] in (3, 6)
    if ax is None:
        return new_axes(size, space)
    if space and getattr(ax, "name", "") != "3d":
        raise ValueError(
            f"X has {X.shape[1]} columns, so ax must be in space: "
            "plt.subplots(subplot_kw={'projection': '3d'})."
        )
    if not space:
        check_flat(ax)
    return ax


def check_flat(ax: Any) -> None:
    if not hasattr(ax, "plot"):
        raise ValueError(
            f"ax must be one matplotlib axes, got {type(ax).__name__}; leave it out for a new one."
        )
    if getattr(ax, "name", "") == "3d":
        raise ValueError("this picture is flat, so ax must not be in space: plt.subplots().")


def mark_size(n: int) -> float:
    """Few points are large, many are small: about 9 square points for 1,000."""
    return float(np.clip(280 / np.sqrt(max(n, 1)), 1.0, 36.0))


def draw(ax: Any, X: Floats, n: int | None = None, **look: Any) -> Any:
    """Rows as points, or as lines from one end to the other; returns what colours belong to.

    n: how many rows the whole picture has, if more than these.
    """
    d, n = X.shape[1], n or len(X)
    if d in (2, 3):
        # The middle of the colours is pale: a rim keeps it in sight.
        rim = 0.25 if "cmap" in look and n < _MANY else 0
        usual: dict[str, Any] = {"s": mark_size(n), "linewidths": rim, "rasterized": n > _MANY}
        usual |= {"edgecolors": "#777777"} if rim else {}
        return ax.scatter(*X.T, **{**usual, **look})
    ends = X.reshape(len(X), 2, d // 2)
    colour = {"array": look["c"], "cmap": look["cmap"]} if "cmap" in look else {"color": look["c"]}
    width = look.get("lw", float(np.clip(18 / np.sqrt(n), 0.2, 1.5)))
    common = {"lw": width, "rasterized": n > _MANY, "zorder": look.get("zorder", 2), **colour}
    if d == 4:
        lines = pyplot().matplotlib.collections.LineCollection(ends, **common)
        ax.add_collection(lines)
        ax.autoscale_view()
    else:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        had_data = ax.has_data()
        lines = Line3DCollection(ends, **common)
        ax.add_collection(lines)
        ax.auto_scale_xyz(*ends.reshape(-1, 3).T, had_data)
    if "cmap" in look and n < _MANY:
        from matplotlib import patheffects as effects

        lines.set_path_effects([effects.withStroke(linewidth=width + 0.3, foreground="#777777")])
    if "vmin" in look:
        lines.set_clim(look["vmin"], look["vmax"])
    if "label" in look:
        lines.set_label(look["label"])
    lines.set_alpha(look.get("alpha"))
    return lines


def span(scores: Floats) -> tuple[float, float]:
    """The middle 96 % of the scores, which the colours span; never empty."""
    low, high = (float(each) for each in np.percentile(scores, [2, 98]))
    if not low < high:
        low, high = float(np.min(scores)), float(np.max(scores))
    return (low, high) if low < high else (low - 0.01, high + 0.01)


def colour_bar(ax: Any, drawn: Any, values: Floats, label: str = "anomaly score") -> Any:
    """Beside the axes; its ends are pointed where values lie beyond them."""
    low, high = drawn.get_clim()
    below, above = np.min(values) < low, np.max(values) > high
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[
        int(below), int(above)
    ]
    if getattr(ax, "name", "") == "3d":
        space = {"shrink": 0.7, "pad": 0.1}
    else:
        space = {"shrink": _height(ax)}
    # Marks may be transparent, their colours in the bar are not.
    opaque = pyplot().cm.ScalarMappable(drawn.norm, drawn.cmap)
    bar = ax.figure.colorbar(opaque, ax=ax, label=label, extend=extend, **space)
    bar.ax.tick_params(labelsize=8)
    return bar


def _height(ax: Any) -> float:
    """About what share of the height of their place axes fill that are drawn to scale."""
    place = ax.get_subplotspec()
    if place is None or ax.get_aspect() != 1:
        return 1.0
    box = place.get_position(ax.figure)
    wide, high = np.array([box.width, box.height]) * ax.figure.get_size_inches()
    across, up = (abs(end - start) for start, end in _limits(ax))
    # Labels and the bar itself take about a tenth of the width.
    return float(np.clip(0.9 * wide * up / across / high, 0.5, 1.0))


def frame(ax: Any, title: str, names: Sequence[str] | None = None) -> None:
    """Axes with their names, drawn to scale where their units are alike."""
    space = getattr(ax, "name", "") == "3d"
    labels = list(names) if names is not None and len(names) == 2 + space else ["x", "y", "z"]
    ax.set_aspect("equal" if _alike(ax) else "auto")
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.tick_params(labelsize=8)
    if space:
        ax.set_zlabel(labels[2])
        ax.set_box_aspect(None, zoom=0.9)
        for axis, limits in zip((ax.xaxis, ax.yaxis, ax.zaxis), _limits(ax)):
            axis.set_ticks(_inner_ticks(*limits))
    else:
        ax.set_facecolor(PAPER)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(pyplot().MaxNLocator(7, steps=[1, 2, 5, 10]))
        shared = (ax.get_shared_x_axes(), ax.get_shared_y_axes())
        if any(len(group.get_siblings(ax)) > 1 for group in shared):
            ax.label_outer()


def _limits(ax: Any) -> list[tuple[float, float]]:
    names = ("xlim", "ylim", "zlim") if getattr(ax, "name", "") == "3d" else ("xlim", "ylim")
    return [getattr(ax, f"get_{name}")() for name in names]


def _inner_ticks(low: float, high: float) -> Any:
    """Not at the corners, where the numbers of two axes meet."""
    ticks = pyplot().MaxNLocator(5).tick_values(low, high)
    inset = 0.12 * (high - low)
    return ticks[(ticks > low + inset) & (ticks < high - inset)]


def _alike(ax: Any) -> bool:
    ranges = [abs(high - low) for low, high in _limits(ax)]
    return bool(max(ranges) <= _UNLIKE * min(ranges))


def legend(ax: Any, most: int, handles: Any = None, *, below: float = 3.4, **options: Any) -> None:
    """Below the picture and its labels, in rows of at most so many, as even as they can be."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    rows = -(-len(handles) // most)
    below = 1.0 if getattr(ax, "name", "") == "3d" else below
    made = ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=below,
        ncols=-(-len(handles) // rows), frameon=False, fontsize=9, handletextpad=0.4,
        columnspacing=1.2, **options,
    )  # fmt: skip
    for handle in made.legend_handles:
        # As large as they can be told apart, whatever their size in the picture.
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([28])
        handle.set_alpha(1)
