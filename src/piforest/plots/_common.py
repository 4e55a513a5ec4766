"""Colours, frames and the late import of matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocols import Floats

# Okabe and Ito's orange and blue, as in the paper, safe for the colour-blind.
NORMAL, ANOMALOUS = "#E69F00", "#0072B2"
SCORES = "coolwarm"
# The rest of their colours, for structures; anomalies are grey there.
COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#0072B2", "#F0E442")
GREY = "#999999"


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'piforest[plots]'") from error
    return plt


def checked(name: str, X: Any, values: Any) -> tuple[Floats, Any]:
    """X with 2, 3, 4 or 6 columns and as many values as rows."""
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] not in (2, 3, 4, 6) or values.shape != (len(X),):
        raise ValueError(
            "the picture takes X with 2 or 3 columns (points) or with 4 or 6 (lines from one end "
            f"to the other: matches or segments) and {name} (n,), got {X.shape} and "
            f"{values.shape}. Pass the columns to be drawn."
        )
    return X, values


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
    return ax


def draw(ax: Any, X: Floats, **look: Any) -> Any:
    """Rows as points, or as lines from one end to the other; returns what colours belong to."""
    d = X.shape[1]
    if d in (2, 3):
        return ax.scatter(*X.T, **{"s": 9, "linewidths": 0, **look})
    ends = X.reshape(len(X), 2, d // 2)
    colour = {"array": look["c"], "cmap": look["cmap"]} if "cmap" in look else {"color": look["c"]}
    if d == 4:
        lines = pyplot().matplotlib.collections.LineCollection(ends, lw=1, **colour)
        ax.add_collection(lines)
        ax.autoscale_view()
    else:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        had_data = ax.has_data()
        lines = Line3DCollection(ends, lw=1, **colour)
        ax.add_collection(lines)
        ax.auto_scale_xyz(*ends.reshape(-1, 3).T, had_data)
    if "vmin" in look:
        lines.set_clim(look["vmin"], look["vmax"])
    if "label" in look:
        lines.set_label(look["label"])
    lines.set_alpha(look.get("alpha"))
    return lines


def frame(ax: Any, title: str) -> None:
    """Equal axes with their names."""
    ax.set_aspect("equal")
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    ax.tick_params(labelsize=8)
    if getattr(ax, "name", "") == "3d":
        ax.set_zlabel("z")
        ax.set_box_aspect(None, zoom=0.9)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_major_locator(pyplot().MaxNLocator(4))
    else:
        ax.set_facecolor("#f7f7f7")
        ax.label_outer()


def legend(ax: Any, columns: int) -> None:
    """Below the picture."""
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=3.4, ncols=columns,
        frameon=False, markerscale=2, fontsize=9, handletextpad=0.3,
    )  # fmt: skip
