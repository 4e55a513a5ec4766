"""Where the cut lies, and what moves with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_integer
from ..protocols import Floats
from ._common import ANOMALOUS, NORMAL, PAPER, check_detector, check_drawable, check_flat, pyplot


def plot_threshold(
    detector: Any, X: Any = None, ax: Any = None, *, bins: int = 60, title: str = ""
) -> Any:
    """Histogram of the scores with the threshold, and how many it would flag elsewhere.

    X: the rows to score, by default the training points. Orange is kept, blue is flagged.
    The black curve belongs to the axis on the right: the number of rows that a threshold
    there would flag. Where the detector compares with random points (`null_scores_`), they
    are outlined, scaled to as many as are flagged. `detector.set_threshold(score)` moves
    the cut. Returns the axes of the histogram.
    """
    check_detector("plot_threshold", detector)
    check_integer("bins", bins, 2)
    scores = detector.scores_ if X is None else detector.anomaly_score(X)
    check_drawable("X", scores)
    if ax is None:
        ax = pyplot().subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    check_flat(ax)
    cut = -float(detector.offset_)
    flagged = scores > cut
    null = _null(detector)
    edges = _edges(np.concatenate([scores, null, [cut]]), cut, bins)
    for rows, colour, name in ((~flagged, NORMAL, "kept"), (flagged, ANOMALOUS, "flagged")):
        label = f"{name}, {rows.sum():,}"
        ax.hist(scores[rows], edges, color=colour, edgecolor="white", linewidth=0.3, label=label)
    if len(null):
        weights = np.full(len(null), max(flagged.sum(), 0.05 * len(scores)) / len(null))
        ax.hist(
            null, edges, weights=weights, histtype="step", color="#555555", linewidth=1.2,
            label="random points, scaled",
        )  # fmt: skip
    ax.axvline(cut, color="#D55E00", lw=1.8, label=f"threshold {cut:.3f}")
    moving = _flagged_curve(ax, scores, cut)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel("anomaly score")
    ax.set_ylabel("rows")
    ax.set_title(title, fontsize=10)
    ax.set_facecolor(PAPER)
    ax.tick_params(labelsize=8)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        [*handles, moving], [*labels, "flagged by a threshold there"], loc="upper center",
        bbox_to_anchor=(0.5, 0), borderaxespad=3.4, ncols=3, frameon=False, fontsize=8,
    )  # fmt: skip
    return ax


def _null(detector: Any) -> Floats:
    """Scores of random points, none where the detector does not compare with them."""
    if not getattr(detector, "_has_null", False):
        return np.empty(0)
    return np.asarray(detector.null_scores_)


def _edges(values: Floats, cut: float, bins: int) -> Floats:
    """Edges of bins, one of them the cut, so that no bar is both kept and flagged."""
    low, high = float(values.min()), float(values.max())
    step = max(high - low, 0.02) / bins
    before, after = (int(np.ceil(way / step)) + 1 for way in (cut - low, high - cut))
    return cut + step * np.arange(-before, after + 1)


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
    other.plot([cut], [now], "o", color="#D55E00", ms=6, mec="white", zorder=5)
    other.set_ylim(0, 1.05 * len(scores))
    other.set_ylabel("rows flagged")
    other.tick_params(labelsize=8)
    other.yaxis.set_major_locator(pyplot().MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(pyplot().MaxNLocator(6, integer=True))
    return curve
