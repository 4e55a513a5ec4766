"""The threshold among the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_integer
from ..protocols import Floats
from ..typing import RowsLike
from . import _common as common

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.detector import Detector

__all__ = ["plot_threshold"]


def plot_threshold(
    detector: Detector,
    X: RowsLike | None = None,
    ax: Axes | None = None,
    *,
    scores: ArrayLike | None = None,
    bins: int | None = None,
    title: str = "",
) -> Axes:
    """Draw a histogram of the scores with the threshold, and the rows flagged at any other.

    Blue rows are kept, orange rows are flagged, as in a report. The dashed line is the
    threshold; `detector.set_threshold(score)` moves it. The black curve, with the axis on the
    right, is the number of rows that a threshold there would flag. If the detector compares
    scores with those of null points (`null_scores_`), their histogram is outlined, scaled to the
    number of flagged rows.

    Parameters
    ----------
    detector : Detector
        A fitted detector.
    X : array-like of shape (n, d) or None, default=None
        The rows to score; by default the training rows.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    scores : array-like of shape (n,) or None, default=None
        `detector.anomaly_score(X)`, if it is known.
    bins : int or None, default=None
        The number of bars; None chooses it by the number of rows.
    title : str, default=""
        The title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes of the histogram.

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> from piforest.plots import plot_threshold
    >>> X = make_lines(3, random_state=0).data
    >>> plot_threshold(PreferenceIsolationForest("line", random_state=0).fit(X)).get_xlabel()
    'anomaly score'
    """
    common.check_detector("plot_threshold", detector)
    if scores is None:
        scores = detector.scores_ if X is None else detector.anomaly_score(X)
    values = common.validate_scores(scores, X)
    if bins is None:
        bins = int(np.clip(1.5 * np.sqrt(len(values)), 10, 80))
    check_integer("bins", bins, 2, "bins=None chooses by the number of rows.")
    axes: Axes = common.new_axes((6.4, 4.2)) if ax is None else ax
    common.check_2d(axes)
    threshold = float(detector.threshold_)
    flagged, null = values > threshold, _null_scores(detector)
    edges = _edges(np.concatenate([values, null, [threshold]]), threshold, bins)
    for rows, colour, name in (
        (~flagged, common.KEPT, "kept"),
        (flagged, common.FLAGGED, "flagged"),
    ):
        label = f"{name}: {rows.sum():,}"
        axes.hist(
            values[rows], list(edges), color=colour, edgecolor="white", linewidth=0.3, label=label
        )
    if len(null):
        weights = np.full(len(null), max(flagged.sum(), 0.05 * len(values)) / len(null))
        axes.hist(
            null, list(edges), weights=weights, histtype="step", color="#555555", linewidth=1.2,
            label="null points, scaled",
        )  # fmt: skip
    axes.axvline(threshold, color="black", lw=1.4, ls="--", label=f"threshold {threshold:.3f}")
    curve = _draw_flagged_counts(axes, values, threshold)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel("anomaly score")
    axes.set_ylabel("rows")
    axes.set_title(title, fontsize=10)
    axes.set_facecolor(common.BACKGROUND)
    axes.tick_params(labelsize=8)
    common.add_legend(axes, 3, [*axes.get_legend_handles_labels()[0], curve])
    return axes


def _null_scores(detector: Any) -> Floats:
    """Scores of null points; empty if the detector does not compare with them."""
    if not getattr(detector, "has_null_", False):
        return np.empty(0)
    null: Floats = detector.null_scores_
    return null


def _edges(values: Floats, threshold: float, bins: int) -> Floats:
    """Edges of bins, one of them the threshold, so that no bar is both kept and flagged."""
    low, high = float(values.min()), float(values.max())
    step = max(high - low, 0.02) / bins
    before, after = (int(np.ceil(way / step)) + 1 for way in (threshold - low, high - threshold))
    return np.asarray(threshold + step * np.arange(-before, after + 1), np.float64)


def _draw_flagged_counts(ax: Any, scores: Floats, threshold: float) -> Any:
    """Draw how many rows score above each threshold, on a second y axis; returns the curve."""
    other = ax.twinx()
    ordered = np.sort(scores)
    above = len(ordered) - np.searchsorted(ordered, ordered, side="right")
    low, high = ax.get_xlim()
    (curve,) = other.step(
        np.concatenate([[min(low, ordered[0])], ordered, [max(high, ordered[-1])]]),
        np.concatenate([[len(ordered)], above, [0]]),
        where="post", color="black", lw=1.2, label="flagged at each threshold",
    )  # fmt: skip
    now = int((scores > threshold).sum())
    other.plot([threshold], [now], "o", color="black", ms=6, mec="white", zorder=5)
    other.set_ylim(0, 1.05 * len(scores))
    other.set_ylabel("rows flagged")
    other.tick_params(labelsize=8)
    for each in (ax, other):
        each.yaxis.set_major_locator(common.pyplot().MaxNLocator(6, integer=True))
        each.yaxis.set_major_formatter("{x:,.0f}")
    return curve
