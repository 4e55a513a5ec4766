"""Colours, validation and axes that the plots share. Matplotlib is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..protocols import Floats
from ..units import may_share_unit

# Orange and blue of Okabe and Ito, as in the paper: safe for colour-blind readers.
NORMAL, ANOMALOUS = "#E69F00", "#0072B2"
# What a detector decides, in the direction of the score colours, and as in a report.
KEPT, FLAGGED = "#0072B2", "#D55E00"
# Blue to red over light grey: no green, and both ends are dark.
SCORES = "coolwarm"
# Structures, in the order of a report: Okabe and Ito without the colours of kept and flagged.
COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#6B5BB5", "#8C6D3F", "#F0E442")
GREY = "#999999"
BACKGROUND = "#f7f7f7"
# With more markers than this, vector files hold them as one image.
RASTERIZED = 5_000
# Axes whose ranges differ by more than this factor have different units: no equal aspect.
_DIFFERENT_UNITS = 12.0


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'piforest[plots]'") from error
    return plt


def validate_rows(name: str, X: Any, values: Any) -> tuple[Floats, Any]:
    """X with 2, 3, 4 or 6 columns and one value for each row, all of them finite."""
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] not in (2, 3, 4, 6) or values.shape != (len(X),):
        raise ValueError(
            "X must have 2 or 3 columns (points) or 4 or 6 (lines between two points: matches or "
            f"segments), and {name} one value for each row; got shapes {X.shape} and "
            f"{values.shape}. Select the columns to draw."
        )
    check_drawable("X", X)
    check_drawable(name, values)
    return X, values


def check_drawable(name: str, values: Any) -> None:
    """Raise unless there are rows and all numbers are finite."""
    if len(values) == 0:
        raise ValueError(f"{name} has no rows, so there is nothing to draw.")
    if not np.issubdtype(values.dtype, np.number) and values.dtype != np.bool_:
        raise ValueError(f"{name} must be numeric, got dtype {values.dtype}.")
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if bad.any():
        raise ValueError(
            f"{name} must be finite, row {int(np.argmax(bad))} is not; remove such rows."
        )


def check_detector(function: str, detector: Any) -> None:
    """Raise unless `detector` is a fitted detector."""
    if not (hasattr(detector, "anomaly_score") and hasattr(detector, "set_threshold")):
        raise ValueError(
            f"{function} takes a fitted detector (PreferenceIsolationForest or VoronoiForest), "
            f"got {type(detector).__name__}."
        )
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(detector, "fitted_")


def validate_scores(values: Any, X: Any = None) -> Floats:
    """Scores (n,), one for each row of X where X is given."""
    scores: Floats = np.atleast_1d(np.asarray(values, np.float64))
    # Sparse matrices have no length, lists have no shape.
    n = len(scores) if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    if scores.shape != (n,):
        rows = "" if X is None else f", one for each of the {n} rows of X"
        raise ValueError(f"scores must be (n,){rows}, got shape {scores.shape}.")
    check_drawable("scores", scores)
    return scores


def column_names(X: Any, detector: Any = None) -> list[str] | None:
    """Column names of a data frame, or those that the detector was fitted with."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(detector, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def new_axes(size: tuple[float, float], in_3d: bool = False) -> Any:
    """The only axes of a new figure."""
    options = {"projection": "3d"} if in_3d else {}
    figure, ax = pyplot().subplots(figsize=size, layout="constrained", subplot_kw=options)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return ax


def axes_for(X: Floats, ax: Any, size: tuple[float, float] = (5.5, 4.5)) -> Any:
    """The given axes, or new ones; 3D axes for points with three coordinates."""
    in_3d = X.shape[1] in (3, 6)
    if ax is None:
        return new_axes(size, in_3d)
    if in_3d and not is_3d(ax):
        raise ValueError(
            f"X has {X.shape[1]} columns, so ax must be 3D: "
            "plt.subplots(subplot_kw={'projection': '3d'})."
        )
    if not in_3d:
        check_2d(ax)
    return ax


def is_3d(ax: Any) -> bool:
    """Whether axes have a third dimension."""
    return getattr(ax, "name", "") == "3d"


def check_2d(ax: Any) -> None:
    """Raise unless `ax` is one axes without a third dimension."""
    if not hasattr(ax, "plot"):
        raise ValueError(
            f"ax must be one matplotlib Axes, got {type(ax).__name__}; omit it for a new figure."
        )
    if is_3d(ax):
        raise ValueError("this plot is 2D, so ax must be 2D too: plt.subplots().")


def marker_size(n: int) -> float:
    """Area of a marker in square points: 36 for few points, 9 for 1,000, 1 for many."""
    return float(np.clip(280 / np.sqrt(max(n, 1)), 1.0, 36.0))


def draw_rows(ax: Any, X: Floats, n: int | None = None, **style: Any) -> Any:
    """Draw rows as points, or as lines between two points; returns the collection.

    n: rows in the whole plot, if there are more than these.
    """
    d, n = X.shape[1], n or len(X)
    rasterized = n > RASTERIZED
    if d in (2, 3):
        # The middle of the colour map is pale: an edge keeps such markers visible.
        edge = 0.25 if "cmap" in style and n < RASTERIZED else 0
        default: dict[str, Any] = {"s": marker_size(n), "linewidths": edge}
        default |= {"edgecolors": "#777777"} if edge else {}
        return ax.scatter(*X.T, **{**default, "rasterized": rasterized, **style})
    ends = X.reshape(len(X), 2, d // 2)
    colour = {"color": style["c"]}
    if "cmap" in style:
        colour = {"array": style["c"], "cmap": style["cmap"]}
    width = style.get("lw", float(np.clip(18 / np.sqrt(n), 0.2, 1.5)))
    common = {"lw": width, "rasterized": rasterized, "zorder": style.get("zorder", 2), **colour}
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
    if "cmap" in style and n < RASTERIZED:
        from matplotlib import patheffects as effects

        lines.set_path_effects([effects.withStroke(linewidth=width + 0.3, foreground="#777777")])
    if "vmin" in style:
        lines.set_clim(style["vmin"], style["vmax"])
    if "label" in style:
        lines.set_label(style["label"])
    lines.set_alpha(style.get("alpha"))
    return lines


def colour_limits(scores: Floats) -> tuple[float, float]:
    """Limits of the colour map: the middle 96 % of the scores, never an empty interval."""
    low, high = (float(each) for each in np.percentile(scores, [2, 98]))
    if not low < high:
        low, high = float(np.min(scores)), float(np.max(scores))
    return (low, high) if low < high else (low - 0.01, high + 0.01)


def score_colours(scores: Floats, threshold: float | None) -> dict[str, Any]:
    """Colour map and limits for scores; with a threshold, blue below it and red above it."""
    plt = pyplot()
    if threshold is None:
        low, high = colour_limits(scores)
        return {"cmap": plt.get_cmap(SCORES), "vmin": low, "vmax": high}
    sides = np.concatenate([np.linspace(0, 0.36, 128), np.linspace(0.64, 1, 128)])
    colours = plt.matplotlib.colors.ListedColormap(plt.get_cmap(SCORES)(sides))
    reach = colour_reach(scores, threshold)
    return {"cmap": colours, "vmin": threshold - reach, "vmax": threshold + reach}


def colour_reach(scores: Floats, threshold: float) -> float:
    """Half the range of colours around a threshold.

    It follows the low scores: a point that prefers no structure scores far above the others,
    and would leave no colours for them.
    """
    low, high = np.percentile(scores, [2, 98])
    return max(float(threshold - low), 0.2 * float(high - threshold), 1e-3)


def add_colour_bar(
    ax: Any, drawn: Any, scores: Floats, threshold: float | None = None, label: str = ""
) -> None:
    """A colour bar beside the axes, with a line at the threshold.

    Its ends are pointed where scores lie beyond them.
    """
    low, high = drawn.get_clim()
    below, above = np.min(scores) < low, np.max(scores) > high
    extend = "both" if below and above else "min" if below else "max" if above else "neither"
    space = {"shrink": 0.7, "pad": 0.1} if is_3d(ax) else {"shrink": _height(ax)}
    # Markers may be transparent, the colours of the bar are not.
    opaque = pyplot().cm.ScalarMappable(drawn.norm, drawn.cmap)
    label = label or "anomaly score" + ("" if threshold is None else "; the line is the threshold")
    bar = ax.figure.colorbar(opaque, ax=ax, label=label, extend=extend, **space)
    bar.ax.tick_params(labelsize=8)
    if threshold is not None:
        bar.ax.axhline(threshold, color="black", lw=1.2)
        # The colours are symmetric about the threshold; no score is above 1.
        bar.ax.set_ylim(low, min(high, max(1.0, threshold)))


def _height(ax: Any) -> float:
    """Approximate share of their height that axes with equal aspect fill."""
    place = ax.get_subplotspec()
    if place is None or ax.get_aspect() != 1:
        return 1.0
    box = place.get_position(ax.figure)
    wide, high = np.array([box.width, box.height]) * ax.figure.get_size_inches()
    across, up = (abs(end - start) for start, end in _limits(ax))
    # Labels and the bar itself take about a tenth of the width.
    return float(np.clip(0.9 * wide * up / across / high, 0.5, 1.0))


def finish_axes(ax: Any, title: str, names: Sequence[str] | None = None) -> None:
    """Title, axis labels and ticks; equal aspect where the ranges are similar and the axes may have
    one unit."""
    in_3d = is_3d(ax)
    labels = ["x", "y", "z"][: 2 + in_3d]
    if names is not None and len(names) == len(labels):
        labels = [str(name) for name in names]
    ranges = [abs(high - low) for low, high in _limits(ax)]
    equal = max(ranges) <= _DIFFERENT_UNITS * min(ranges) and may_share_unit(labels)
    ax.set_aspect("equal" if equal else "auto")
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.tick_params(labelsize=8)
    if in_3d:
        ax.set_zlabel(labels[2])
        ax.set_box_aspect(None, zoom=0.9)
        for axis, limits in zip((ax.xaxis, ax.yaxis, ax.zaxis), _limits(ax)):
            axis.set_ticks(_inner_ticks(*limits))
    else:
        ax.set_facecolor(BACKGROUND)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(pyplot().MaxNLocator(7, steps=[1, 2, 5, 10]))
        shared = (ax.get_shared_x_axes(), ax.get_shared_y_axes())
        if any(len(group.get_siblings(ax)) > 1 for group in shared):
            ax.label_outer()


def _limits(ax: Any) -> list[tuple[float, float]]:
    names = ("xlim", "ylim", "zlim") if is_3d(ax) else ("xlim", "ylim")
    return [getattr(ax, f"get_{name}")() for name in names]


def _inner_ticks(low: float, high: float) -> Any:
    """Ticks away from the corners, where the numbers of two axes would overlap."""
    ticks = pyplot().MaxNLocator(5).tick_values(low, high)
    inset = 0.12 * (high - low)
    return ticks[(ticks > low + inset) & (ticks < high - inset)]


def add_legend(ax: Any, columns: int, handles: Any = None, *, below: float = 3.4) -> None:
    """A legend below the axes and their labels, with at most `columns` entries in a row."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    rows = -(-len(handles) // columns)
    legend = ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False, fontsize=9,
        borderaxespad=1.0 if is_3d(ax) else below, ncols=-(-len(handles) // rows),
        handletextpad=0.4, columnspacing=1.2,
    )  # fmt: skip
    for handle in legend.legend_handles:
        # Large enough to tell colours apart, whatever the size of the markers in the plot.
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([28])
        handle.set_alpha(1)
