"""Rows coloured by their anomaly scores or by their true labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Floats
from ..typing import RowsLike
from . import _common as common

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_comparison", "plot_scores", "plot_truth"]


def plot_scores(
    X: RowsLike,
    scores: ArrayLike,
    ax: Axes | None = None,
    *,
    threshold: float | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    colorbar: bool = True,
) -> Axes:
    """Draw rows coloured by anomaly score: high red, low blue, the highest on top.

    Parameters
    ----------
    X : array-like of shape (n, d)
        2 or 3 columns are points; 4 or 6 are lines between two points, such as matches or
        segments.
    scores : array-like of shape (n,)
        Anomaly scores, high = anomalous.
    ax : matplotlib Axes or None, default=None
        Where to draw, 3D if d is 3 or 6; None makes a new figure.
    threshold : float or None, default=None
        Colour scores blue below the threshold and red above it; in 3D, draw the points above
        it over the others. None spreads the colours over the middle 96 % of the scores.
    labels : sequence of str or None, default=None
        Labels of the axes; by default the columns of a data frame, or x, y and z.
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
    >>> from piforest.plots import plot_scores
    >>> X = make_lines(3, random_state=0).data
    >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    >>> ax = plot_scores(X, detector.scores_, threshold=detector.threshold_)
    """
    names = common.column_names(X) if labels is None else labels
    rows, values = common.validate_rows("scores", X, scores)
    values = values.astype(np.float64)
    axes: Axes = common.axes_for(rows, ax)
    order = np.argsort(values, kind="stable")
    colours = common.score_colours(values, threshold)
    drawn = common.draw_rows(axes, rows[order], c=values[order], **colours)
    if threshold is not None and rows.shape[1] == 3:
        _draw_flagged(axes, drawn, rows, values, threshold, colours)
    common.finish_axes(axes, title, names)
    if colorbar:
        common.add_colour_bar(axes, drawn, values, threshold)
    return axes


def _draw_flagged(
    ax: Any, drawn: Any, X: Floats, scores: Floats, threshold: float, colours: Any
) -> None:
    """Draw flagged points again above the others: surfaces would hide them."""
    ax.computed_zorder = False
    size, flagged = drawn.get_sizes()[0], scores > threshold
    drawn.set(alpha=0.85, sizes=[0.9 * size])
    style = {"s": 1.8 * size, "linewidths": 0, "depthshade": False, "zorder": 5}
    ax.scatter(*X[flagged].T, c=scores[flagged], **style, **colours)


def plot_truth(
    X: RowsLike,
    y: ArrayLike,
    ax: Axes | None = None,
    *,
    title: str = "",
    legend: bool = True,
) -> Axes:
    """Draw rows by their true labels, in the colours of the paper.

    Parameters
    ----------
    X : array-like of shape (n, d)
        2 or 3 columns are points; 4 or 6 are lines between two points.
    y : array-like of shape (n,)
        0 for anomalies (blue), positive for points of a structure (orange).
    ax : matplotlib Axes or None, default=None
        Where to draw, 3D if d is 3 or 6; None makes a new figure.
    title : str, default=""
        The title of the axes.
    legend : bool, default=True
        Add a legend.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from piforest.datasets import make_lines
    >>> from piforest.plots import plot_truth
    >>> X, y = make_lines(3, random_state=0, return_X_y=True)
    >>> plot_truth(X, y).get_xlabel()
    'x'
    """
    names = common.column_names(X)
    rows, labels = common.validate_rows("y", X, y)
    axes: Axes = common.axes_for(rows, ax, (5, 4.5))
    for chosen, colour, name in (
        (labels == 0, common.ANOMALOUS, "anomalous"),
        (labels > 0, common.NORMAL, "normal"),
    ):
        if chosen.any():
            common.draw_rows(axes, rows[chosen], len(rows), c=colour, label=name)
    common.finish_axes(axes, title, names)
    if legend:
        common.add_legend(axes, 2)
    return axes


def plot_comparison(
    X: RowsLike,
    y: ArrayLike,
    methods: Mapping[str, ArrayLike],
    aucs: Mapping[str, float],
) -> Figure:
    """Draw the true labels and the scores of several methods side by side.

    The colours of each panel span the scores of its method, since methods share no unit.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        The points.
    y : array-like of shape (n,)
        0 for anomalies, positive for points of a structure.
    methods : mapping of str to array-like of shape (n,)
        The anomaly scores of each method, by its name.
    aucs : mapping of str to float
        The area under the ROC curve of each method, for the titles.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from piforest.datasets import make_lines
    >>> from piforest.plots import plot_comparison
    >>> X, y = make_lines(3, random_state=0, return_X_y=True)
    >>> len(plot_comparison(X, y, {"height": X[:, 1]}, {"height": 0.5}).axes)
    3
    """
    plt = common.pyplot()
    if not methods:
        raise ValueError("methods must hold the scores of at least one method, got none.")
    columns = len(methods) + 1
    across, up = np.ptp(np.asarray(X, np.float64), axis=0)
    height = 1.3 + 2.7 * min(2.0, up / across if across > 0 else 1.0)
    figure: Figure
    figure, axes = plt.subplots(
        1, columns, figsize=(3.0 * columns, height), layout="constrained", sharex=True, sharey=True
    )
    plot_truth(X, y, axes[0], title="input")
    for ax, (name, scores) in zip(axes[1:], methods.items()):
        plot_scores(X, scores, ax, title=f"{name}\nAUC {aucs[name]:.3f}", colorbar=False)
    bar = figure.colorbar(axes[-1].collections[0], ax=axes, pad=0.01, aspect=25, shrink=0.7)
    bar.set_ticks(bar.mappable.get_clim(), labels=["low", "high"])
    bar.set_label("anomaly score", labelpad=-12)
    return figure
