"""The anomaly score over the plane."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._validation import check_integer
from ..protocols import Floats
from ._common import (
    SCORES,
    axes,
    check_detector,
    check_drawable,
    colour_bar,
    frame,
    mark_size,
    names_of,
    span,
)
from .structures import outlines

_MARGIN = 0.05
# More points than this would cover what they lie on.
_DOTS = 2_000


def plot_heatmap(
    detector: Any,
    X: Any = None,
    ax: Any = None,
    *,
    resolution: int = 160,
    threshold: bool = True,
    structures: bool = False,
    title: str = "",
    colorbar: bool = True,
) -> Any:
    """The score that a point would have at each place of the plane, with points over it.

    detector: fitted on two columns. X (n, 2): the points to show, by default the training
    points (the pool, if there are more); 2,000 of them are drawn, evenly taken. resolution:
    places along the longer side. threshold: a black line where anomalies begin. structures:
    draw the models of `detector.structures_` as well. Returns the axes.
    """
    check_detector("plot_heatmap", detector)
    check_integer("resolution", resolution, 2)
    _check_plane(detector)
    names = names_of(X, detector)
    points = training_points(detector) if X is None else np.asarray(X, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"plot_heatmap takes X (n, 2), got {points.shape}.")
    check_drawable("X", points)
    ax = axes(points, ax)
    across, up, scores = _scores(detector, points, resolution)
    low, high = span(scores)
    box = (across[0], across[-1], up[0], up[-1])
    image = ax.imshow(
        scores, cmap=SCORES, vmin=low, vmax=high, extent=box, origin="lower",
        interpolation="bilinear", aspect="auto", zorder=0,
    )  # fmt: skip
    cut = detector.threshold_
    if threshold and scores.min() < cut < scores.max():
        ax.contour(across, up, scores, levels=[cut], colors="black", linewidths=0.7, zorder=1)
    _dots(ax, points)
    if structures:
        _check_structures(detector)
        for each in detector.structures_:
            for line in outlines(each, points):
                ax.plot(*line.T, color="#F0E442", lw=1.2, zorder=3)
    ax.set_xlim(box[:2])
    ax.set_ylim(box[2:])
    frame(ax, title, names)
    if colorbar:
        bar = colour_bar(ax, image, scores)
        if threshold and low < cut < high:
            bar.ax.axhline(cut, color="black", lw=1.2)
    return ax


def training_points(detector: Any) -> Floats:
    """The points that the detector was fitted on, or those of its pool."""
    fitted = detector.fitted_
    points = fitted.forest.pool if fitted.pool_points is None else fitted.pool_points
    if not isinstance(points, np.ndarray):
        raise ValueError("this detector does not keep its training points as rows: pass X.")
    return np.asarray(points, np.float64)


def _scores(detector: Any, points: Floats, resolution: int) -> tuple[Floats, Floats, Floats]:
    """Places along x and along y, and the scores (y, x) there."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.where(high > low, high - low, max(1e-9, float(np.max(high - low))))
    low, high = low - _MARGIN * size, high + _MARGIN * size
    # As many places along each side as it is long, but at least a fifth.
    counts = np.maximum(resolution * (high - low) / np.max(high - low), resolution / 5)
    across, up = (np.linspace(low[k], high[k], max(2, round(counts[k]))) for k in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    with warnings.catch_warnings():
        # The columns of the grid are the detector's own, in its order.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        scores = detector.anomaly_score(grid)
    return across, up, scores.reshape(len(up), len(across))


def _dots(ax: Any, points: Floats) -> None:
    """Black with a white rim, which is seen on every colour."""
    few = points[np.unique(np.linspace(0, len(points) - 1, _DOTS).round().astype(int))]
    size = mark_size(len(few))
    ax.scatter(*few.T, s=size, c="black", edgecolors="white", linewidths=0.4, zorder=2)


def _check_plane(detector: Any) -> None:
    columns = getattr(detector, "n_features_in_", None)
    if columns != 2 or detector.forest_.metric.name == "precomputed":
        has = "objects or distances" if columns is None else f"{columns} columns"
        raise ValueError(
            f"plot_heatmap needs a detector fitted on 2 columns, this one was fitted on {has}. "
            "plot_scores(X, detector.anomaly_score(X)) draws points in space and matches, "
            "plot_preferences(detector, X, kind='map') any rows."
        )


def _check_structures(detector: Any) -> None:
    if not hasattr(type(detector), "structures_"):
        raise ValueError(
            f"structures=True needs a detector with models, {type(detector).__name__} has none."
        )
