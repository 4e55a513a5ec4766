"""Points, matches and segments, by their scores, their truth or their structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..protocols import Floats
from ._common import (
    ANOMALOUS,
    COLOURS,
    GREY,
    NORMAL,
    SCORES,
    axes,
    checked,
    draw,
    frame,
    legend,
    pyplot,
)


def plot_scores(
    X: Any, scores: Any, ax: Any = None, *, title: str = "", colorbar: bool = True
) -> Any:
    """Rows of X coloured by anomaly score: high red, low blue, worst drawn last.

    X: 2 or 3 columns are points, 4 or 6 are lines from one end to the other: matches or
    segments. scores (n,), high = anomalous. The colours span the middle 96 % of the
    scores. Draws into `ax`, or a new figure, and returns the axes.
    """
    X, scores = checked("scores", X, scores)
    ax = axes(X, ax)
    order = np.argsort(scores, kind="stable")
    low, high = np.percentile(scores, [2, 98])
    drawn = draw(ax, X[order], c=scores[order], cmap=SCORES, vmin=low, vmax=high)
    frame(ax, title)
    if colorbar:
        space = {"shrink": 0.7, "pad": 0.1} if X.shape[1] in (3, 6) else {}
        ax.figure.colorbar(drawn, ax=ax, label="anomaly score", **space)
    return ax


def plot_truth(X: Any, y: Any, ax: Any = None, *, title: str = "") -> Any:
    """Rows of X by their true label: y > 0 in a structure, y = 0 anomalous."""
    X, y = checked("y", X, y)
    ax = axes(X, ax, (5, 4.5))
    for rows, colour, name in ((y == 0, ANOMALOUS, "anomalous"), (y > 0, NORMAL, "normal")):
        if rows.any():
            draw(ax, X[rows], c=colour, label=name)
    frame(ax, title)
    legend(ax, 2)
    return ax


def plot_structures(X: Any, structures: Sequence[Any], ax: Any = None, *, title: str = "") -> Any:
    """The structures of a fitted detector, each with its members in its own colour.

    X: the training data; structures: `detector.structures_`. What belongs to none is grey.
    A model is drawn as a line where its family knows how (`outline`) and X has all columns.
    """
    if hasattr(structures, "structures_"):
        raise ValueError("plot_structures takes a list of structures: pass detector.structures_.")
    full = np.asarray(X, np.float64)
    low, high = full.min(axis=0), full.max(axis=0)
    oriented = any("nx" in getattr(each.family, "row", "") for each in structures)
    # Normals are no places: only the points are drawn.
    X = full[:, :3] if oriented and full.ndim == 2 and full.shape[1] == 6 else full
    X, _ = checked("X", X, np.zeros(len(X)))
    ax = axes(X, ax)
    rest = np.ones(len(X), np.bool_)
    for each in structures:
        rest[each.members] = False
    if rest.any():
        draw(ax, X[rest], c=GREY, **({"s": 5} if X.shape[1] < 4 else {"alpha": 0.3}))
    for k, each in enumerate(structures):
        colour = COLOURS[k % len(COLOURS)]
        if len(each.members):
            draw(ax, X[each.members], c=colour)
        drawn = getattr(each.family, "n_features", None) in (None, full.shape[1])
        if drawn and hasattr(each.family, "outline"):
            for line in each.family.outline(each.params, low, high):
                ax.plot(*np.asarray(line)[:, : 3 if X.shape[1] == 3 else 2].T, color=colour, lw=0.8)
    frame(ax, title)
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
