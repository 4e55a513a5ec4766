"""Pictures. Matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .protocols import Floats

# Okabe and Ito's orange and blue, as in the paper, safe for the colour-blind.
NORMAL, ANOMALOUS = "#E69F00", "#0072B2"
SCORES = "coolwarm"


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'piforest[plots]'") from error
    return plt


def plot_scores(
    X: Any, scores: Any, ax: Any = None, *, title: str = "", colorbar: bool = True
) -> Any:
    """Points in the plane, coloured by anomaly score: high red, low blue, worst drawn last.

    X (n, 2); scores (n,), high = anomalous. The colours span the middle 96 % of
    the scores. Draws into `ax`, or a new figure, and returns the axes.
    """
    plt = _pyplot()
    X, scores = _in_the_plane("scores", X, scores)
    if ax is None:
        ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")[1]
    order = np.argsort(scores, kind="stable")
    low, high = np.percentile(scores, [2, 98])
    drawn = ax.scatter(
        *X[order].T, c=scores[order], s=9, cmap=SCORES, vmin=low, vmax=high, linewidths=0
    )
    _frame(ax, title)
    if colorbar:
        ax.figure.colorbar(drawn, ax=ax, label="anomaly score")
    return ax


def plot_truth(X: Any, y: Any, ax: Any = None, *, title: str = "") -> Any:
    """Points in the plane by their true label: y > 0 in a structure, y = 0 anomalous."""
    plt = _pyplot()
    X, y = _in_the_plane("y", X, y)
    if ax is None:
        ax = plt.subplots(figsize=(5, 4.5), layout="constrained")[1]
    ax.scatter(*X[y == 0].T, s=9, c=ANOMALOUS, linewidths=0, label="anomalous")
    ax.scatter(*X[y > 0].T, s=9, c=NORMAL, linewidths=0, label="normal")
    _frame(ax, title)
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, markerscale=2,
        fontsize=9, handletextpad=0.1,
    )  # fmt: skip
    return ax


def plot_comparison(
    X: Any, y: Any, methods: Mapping[str, Floats], aucs: Mapping[str, float]
) -> Any:
    """The truth and each method's scores side by side, as in the paper's five panels.

    Each panel spans its own range of scores, since the methods share no unit.
    Returns the figure.
    """
    plt = _pyplot()
    if not methods:
        raise ValueError("methods must hold at least one name and its scores, got none.")
    columns = len(methods) + 1
    figure, axes = plt.subplots(
        1, columns, figsize=(3.0 * columns, 4.0), layout="constrained", sharex=True, sharey=True
    )
    plot_truth(X, y, axes[0], title="input")
    for ax, (name, scores) in zip(axes[1:], methods.items()):
        plot_scores(X, scores, ax, title=f"{name}\nAUC {aucs[name]:.3f}", colorbar=False)
    bar = figure.colorbar(axes[-1].collections[0], ax=axes, pad=0.01, aspect=30, shrink=0.8)
    bar.set_ticks(bar.mappable.get_clim(), labels=["low", "high"])
    bar.set_label("anomaly score", labelpad=-12)
    return figure


def _in_the_plane(name: str, X: Any, values: Any) -> tuple[Floats, Any]:
    X, values = np.asarray(X, np.float64), np.asarray(values)
    if X.ndim != 2 or X.shape[1] != 2 or values.shape != (len(X),):
        raise ValueError(
            f"the picture takes X (n, 2) and {name} (n,), got {X.shape} and {values.shape}."
        )
    return X, values


def _frame(ax: Any, title: str) -> None:
    ax.set_aspect("equal")
    ax.set_facecolor("#f7f7f7")
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    ax.label_outer()
    ax.tick_params(labelsize=8)
