"""Where the cut lies, and what moves with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_integer
from ..protocols import Floats
from ._common import (
    FLAGGED,
    KEPT,
    PAPER,
    check_detector,
    check_flat,
    known_scores,
    legend,
    new_axes,
    pyplot,
)


def plot_threshold(
    detector: Any,
    X: Any = None,
    ax: Any = None,
    *,
    scores: Any = None,
    bins: int | None = None,
    title: str = "",
) -> Any:
    """Histogram of the scores with the threshold, and how many it would flag elsewhere.

    X: the rows to score, by default the training points; scores (n,): `anomaly_score(X)`
    where it is known already. Blue is kept and orange is flagged, as in a report; the
    dashed line is the threshold. The black curve belongs to the axis on the right: the
    number of rows that a threshold there would flag. Where the detector compares with
    random points (`null_scores_`), they are outlined, scaled to as many as are flagged.
    `detector.set_threshold(score)` moves the cut. bins: how many bars; None chooses.
    Returns the axes of the histogram.
    """
    check_detector("plot_threshold", detector)
    if scores is None:
        scores = detector.scores_ if X is None else detector.anomaly_score(X)
    scores = known_scores(scores, X)
    if bins is None:
        bins = int(np.clip(1.5 * np.sqrt(len(scores)), 10, 80))
    check_integer("bins", bins, 2, "bins=None chooses by the number of rows.")
    if ax is None:
        ax = new_axes((6.4, 4.2))
    check_flat(ax)
    cut = float(detector.threshold_)
    flagged = scores > cut
    null = _null(detector)
    edges = _edges(np.concatenate([scores, null, [cut]]), cut, bins)
    for rows, colour, name in ((~flagged, KEPT, "kept"), (flagged, FLAGGED, "flagged")):
        label = f"{name}: {rows.sum():,}"
        ax.hist(scores[rows], edges, color=colour, edgecolor="white", linewidth=0.3, label=label)
    if len(null):
        weights = np.full(len(null), max(flagged.sum(), 0.05 * len(scores)) / len(null))
        ax.hist(
            null, edges, weights=weights, histtype="step", color="#555555", linewidth=1.2,
            label="random points, scaled",
        )  # fmt: skip
    ax.axvline(cut, color="black", lw=1.4, ls="--", label=f"threshold {cut:.3f}")
    moving = _flagged_curve(ax, scores, cut)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel("anomaly score")
    ax.set_ylabel("rows")
    ax.set_title(title, fontsize=10)
    ax.set_facecolor(PAPER)
    ax.tick_params(labelsize=8)
    moving.set_label("flagged at each threshold")
    legend(ax, 3, [*ax.get_legend_handles_labels()[0], moving])
    return ax


def _null(detector: Any) -> Floats:
    """Scores of random points, none where the detector does not compare with them."""
    if not getattr(detector, "has_null_", False):
        return np.empty(0)
    null: Floats = detector.null_scores_
    return null


def _edges(values: Floats, cut: float, bins: int) -> Floats:
    """Edges of bins, one of them the cut, so that no bar is both kept and flagged."""
    low, high = float(values.min()), float(values.max())
    step = max(high - low, 0.02) / bins
    before, after = (int(np.ceil(way / step)) + 1 for way in (cut - low, high - cut))
    return np.asarray(cut + step * np.arange(-before, after + 1), np.float64)


def _flagged_curve(ax: Any, scores: Floats, cut: float) -> Any:
    """How many score above each place, on an axis of its own; returns the curve."""
    other = ax.twinx()
    ordered = np.sort(scores)
    above = len(ordered) - np.searchsorted(ordered, ordered, side="right")
    low, high = ax.get_xlim()
    (curve,) = other.step(
        np.concatenate([[min(low, ordered[0])], ordered, [max(high, ordered[-1])]]),
        np.concatenate([[len(ordered)], above, [0]]),
        where="post", color="black", lw=1.2,
    )  # fmt: skip
    now = int((scores > cut).sum())
    other.plot([cut], [now], "o", color="black", ms=6, mec="white", zorder=5)
    other.set_ylim(0, 1.05 * len(scores))
    other.set_ylabel("rows flagged")
    other.tick_params(labelsize=8)
    for each in (ax, other):
        each.yaxis.set_major_locator(pyplot().MaxNLocator(6, integer=True))
        each.yaxis.set_major_formatter("{x:,.0f}")
    return curve
