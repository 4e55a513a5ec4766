"""Colours, checks, frames and the late import of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..protocols import Floats

# Okabe and Ito's orange and blue, as in the paper, safe for the colour-blind.
NORMAL, ANOMALOUS = "#E69F00", "#0072B2"
# Blue to red over light grey, safe too: no green, and both ends are dark.
SCORES = "coolwarm"
# The rest of Okabe and Ito's colours, for structures; anomalies are grey there.
COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#0072B2", "#F0E442")
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
            f"{who} takes a fitted detector (PreferenceIsolationForest, PIF or VoronoiForest), "
            f"got {type(detector).__name__}."
        )
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(detector, "forest_")


def names_of(X: Any, detector: Any = None) -> list[str] | None:
    """The columns' names: those of a data frame, or those that the detector was fitted with."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(detector, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def axes(X: Floats, ax: Any, size: tuple[float, float] = (5.5, 4.5)) -> Any:
    """The given axes, or new ones, in space where X needs it."""
    space = X.shape[1] in (3, 6)
    if ax is None:
        options = {"projection": "3d"} if space else {}
        return pyplot().subplots(figsize=size, layout="constrained", subplot_kw=options)[1]
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
        usual = {"s": mark_size(n), "linewidths": 0, "rasterized": n > _MANY}
        return ax.scatter(*X.T, **{**usual, **look})
    ends = X.reshape(len(X), 2, d // 2)
    colour = {"array": look["c"], "cmap": look["cmap"]} if "cmap" in look else {"color": look["c"]}
    width = look.get("lw", float(np.clip(32 / np.sqrt(n), 0.2, 1.5)))
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
    space = {"shrink": 0.7, "pad": 0.1} if getattr(ax, "name", "") == "3d" else {}
    bar = ax.figure.colorbar(drawn, ax=ax, label=label, extend=extend, **space)
    bar.ax.tick_params(labelsize=8)
    # Lines and points may be transparent, their colours in the bar are not.
    bar.solids.set_alpha(1)
    return bar


def frame(ax: Any, title: str, names: Sequence[str] | None = None) -> None:
    """Axes with their names, drawn to scale where their units are alike."""
    space = getattr(ax, "name", "") == "3d"
    labels = list(names) if names is not None and len(names) == 2 + space else ["x", "y", "z"]
    ax.set_aspect("equal" if _alike(ax, space) else "auto")
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.tick_params(labelsize=8)
    if space:
        ax.set_zlabel(labels[2])
        ax.set_box_aspect(None, zoom=0.9)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_major_locator(pyplot().MaxNLocator(4))
    else:
        ax.set_facecolor(PAPER)
        shared = (ax.get_shared_x_axes(), ax.get_shared_y_axes())
        if any(len(group.get_siblings(ax)) > 1 for group in shared):
            ax.label_outer()


def _alike(ax: Any, space: bool) -> bool:
    limits = [ax.get_xlim(), ax.get_ylim(), *([ax.get_zlim()] if space else [])]
    ranges = [abs(high - low) for low, high in limits]
    return max(ranges) <= _UNLIKE * min(ranges)


def legend(ax: Any, columns: int, **options: Any) -> None:
    """Below the picture."""
    made = ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=3.4, ncols=columns,
        frameon=False, fontsize=9, handletextpad=0.3, columnspacing=1.2, **options,
    )  # fmt: skip
    for handle in made.legend_handles:
        # As large as they can be told apart, whatever their size in the picture.
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([28])
        handle.set_alpha(1)
