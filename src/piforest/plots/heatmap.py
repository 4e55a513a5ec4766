"""The anomaly score over the plane."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import check_integer
from ..protocols import Floats
from ..typing import RowsLike
from . import _common as common
from .structures import outlines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.detector import Detector

__all__ = ["plot_heatmap"]

_MARGIN = 0.05
# More points than this would hide the scores.
_MAX_POINTS = 2_000


def plot_heatmap(
    detector: Detector,
    X: RowsLike | None = None,
    ax: Axes | None = None,
    *,
    resolution: int = 160,
    threshold: bool = True,
    structures: bool = False,
    title: str = "",
    colorbar: bool = True,
) -> Axes:
    """Draw the score of a grid of points over the plane, with the data on top.

    Parameters
    ----------
    detector : Detector
        A detector fitted on two columns.
    X : array-like of shape (n, 2) or None, default=None
        The points to show; by default the training points (the pool, if there are more). At
        most 2,000 of them are drawn, at even intervals.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    resolution : int, default=160
        Grid points along the longer side.
    threshold : bool, default=True
        Draw a black contour at `detector.threshold_`.
    structures : bool, default=False
        Draw the models of `detector.structures_`.
    title : str, default=""
        The title of the axes.
    colorbar : bool, default=True
        Add a colour bar.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> from piforest.plots import plot_heatmap
    >>> X = make_lines(3, random_state=0).data
    >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    >>> ax = plot_heatmap(detector, resolution=40, structures=True)
    """
    common.check_detector("plot_heatmap", detector)
    check_integer("resolution", resolution, 2)
    _check_plane(detector)
    points = _training_points(detector) if X is None else np.asarray(X, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"plot_heatmap takes X (n, 2), got shape {points.shape}.")
    common.check_drawable("X", points)
    axes: Axes = common.axes_for(points, ax)
    x, y, scores = _grid_scores(detector, points, resolution)
    low, high = common.colour_limits(scores)
    box = (x[0], x[-1], y[0], y[-1])
    image = axes.imshow(
        scores, cmap=common.SCORES, vmin=low, vmax=high, extent=box, origin="lower",
        interpolation="bilinear", aspect="auto", zorder=0,
    )  # fmt: skip
    level = detector.threshold_
    if threshold and scores.min() < level < scores.max():
        axes.contour(x, y, scores, levels=[level], colors="black", linewidths=0.7, zorder=1)
    _draw_points(axes, points)
    if structures:
        _draw_structures(axes, detector, points)
    axes.set_xlim(box[:2])
    axes.set_ylim(box[2:])
    common.finish_axes(axes, title, common.column_names(X, detector))
    if colorbar:
        marked = level if threshold and low < level < high else None
        common.add_colour_bar(axes, image, scores, marked, "anomaly score")
    return axes


def _training_points(detector: Any) -> Floats:
    """The points that the detector was fitted on, or those of its pool."""
    fitted = detector.fitted_
    points = fitted.forest.pool if fitted.pool_points is None else fitted.pool_points
    if not isinstance(points, np.ndarray):
        raise ValueError("this detector does not store its training points: pass X.")
    return np.asarray(points, np.float64)


def _grid_scores(detector: Any, points: Floats, resolution: int) -> tuple[Floats, Floats, Floats]:
    """Grid coordinates along x and y, and the scores (y, x) there."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.where(high > low, high - low, max(1e-9, float(np.max(high - low))))
    low, high = low - _MARGIN * size, high + _MARGIN * size
    # In proportion to the length of each side, but at least a fifth of the resolution.
    counts = np.maximum(resolution * (high - low) / np.max(high - low), resolution / 5)
    x, y = (np.linspace(low[k], high[k], max(2, round(counts[k]))) for k in (0, 1))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    with warnings.catch_warnings():
        # The columns of the grid are those of the detector, in its order.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        scores = detector.anomaly_score(grid)
    return x, y, scores.reshape(len(y), len(x))


def _draw_points(ax: Any, points: Floats) -> None:
    """Draw black points with a white edge, visible on every colour."""
    chosen = np.unique(np.linspace(0, len(points) - 1, _MAX_POINTS).round().astype(int))
    size = common.marker_size(len(chosen))
    ax.scatter(*points[chosen].T, s=size, c="black", edgecolors="white", linewidths=0.4, zorder=2)


def _draw_structures(ax: Any, detector: Any, points: Floats) -> None:
    if not hasattr(type(detector), "structures_"):
        raise ValueError(
            f"structures=True needs a detector with models, {type(detector).__name__} has none."
        )
    for each in detector.structures_:
        for line in outlines(each, points):
            ax.plot(*line.T, color="#F0E442", lw=1.2, zorder=3)


def _check_plane(detector: Any) -> None:
    columns = getattr(detector, "n_features_in_", None)
    if columns != 2 or detector.forest_.metric.name == "precomputed":
        fitted_on = "objects or distances" if columns is None else f"{columns} columns"
        raise ValueError(
            f"plot_heatmap needs a detector fitted on 2 columns, this one was fitted on "
            f"{fitted_on}. plot_scores(X, detector.anomaly_score(X)) draws 3D points and matches, "
            "plot_preferences(detector, X, kind='map') any rows."
        )
