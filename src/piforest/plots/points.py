"""Points, matches and segments, by their scores or by the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..protocols import Floats
from ._common import (
    ANOMALOUS,
    NORMAL,
    SCORES,
    axes,
    checked,
    colour_bar,
    draw,
    frame,
    legend,
    names_of,
    pyplot,
    span,
)


def plot_scores(
    X: Any, scores: Any, ax: Any = None, *, title: str = "", colorbar: bool = True
) -> Any:
    """Rows of X coloured by anomaly score: high red, low blue, worst drawn last.

    X: 2 or 3 columns are points, 4 or 6 are lines from one end to the other: matches or
    segments; the columns of a data frame name the axes. scores (n,), high = anomalous.
    The colours span the middle 96 % of the scores. Draws into `ax`, or a new figure, and
    returns the axes.
    """
    names = names_of(X)
    X, scores = checked("scores", X, scores)
    scores = scores.astype(np.float64)
    ax = axes(X, ax)
    order = np.argsort(scores, kind="stable")
    low, high = span(scores)
    drawn = draw(ax, X[order], c=scores[order], cmap=SCORES, vmin=low, vmax=high)
    frame(ax, title, names)
    if colorbar:
        colour_bar(ax, drawn, scores)
    return ax


def plot_truth(X: Any, y: Any, ax: Any = None, *, title: str = "") -> Any:
    """Rows of X by their true label: y > 0 in a structure, y = 0 anomalous.

    In the paper's colours: normal is orange, anomalous is blue. Returns the axes.
    """
    names = names_of(X)
    X, y = checked("y", X, y)
    ax = axes(X, ax, (5, 4.5))
    for rows, colour, name in ((y == 0, ANOMALOUS, "anomalous"), (y > 0, NORMAL, "normal")):
        if rows.any():
            draw(ax, X[rows], len(X), c=colour, label=name)
    frame(ax, title, names)
    legend(ax, 2)
    return ax


def plot_comparison(
    X: Any, y: Any, methods: Mapping[str, Floats], aucs: Mapping[str, float]
) -> Any:
    """The truth and each method's scores side by side, as in the paper's five panels.

    Each panel spans its own range of scores, since the methods share no unit.
    Returns the figure.
    """
    plt = pyplot()
    if not methods:
        raise ValueError("methods must hold at least one name and its scores, got none.")
    columns = len(methods) + 1
    across, up = np.ptp(np.asarray(X, np.float64), axis=0)
    height = 1.3 + 2.7 * min(2.0, up / across if across > 0 else 1.0)
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
