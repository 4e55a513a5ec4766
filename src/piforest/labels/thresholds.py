"""Thresholds on anomaly scores: rows with larger scores are anomalies."""

from __future__ import annotations

import numpy as np

from ..protocols import Bools, Floats


def otsu(scores: Floats) -> float:
    """Otsu's threshold: it minimises the variance within the two classes.

    It lies midway between two different adjacent scores. If all scores are equal, it is that
    score, and no score is above it.
    """
    ordered = np.sort(scores)
    below = np.arange(1, len(ordered))
    above = len(ordered) - below
    # Centred first, so that the sums stay accurate for scores that are close together.
    sums = np.cumsum(ordered - ordered.mean())
    gap = sums[:-1] / below - (sums[-1] - sums[:-1]) / above
    between = np.where(ordered[1:] > ordered[:-1], below * above * gap**2, -1.0)
    if not (between >= 0).any():
        return float(ordered[-1])
    at = int(np.argmax(between))
    return midway(ordered[at], ordered[at + 1])


def share(scores: Floats, contamination: float) -> float:
    """The threshold with at most contamination * n scores above it.

    It lies midway between two different adjacent scores. If more scores than that are tied at the
    top, all of them are above it. If all scores are equal, or contamination * n is below 1, no
    score is above it.
    """
    ordered = np.sort(scores)
    n = len(ordered)
    allowed = int(np.floor(contamination * n + 1e-9))
    steps = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    if allowed == 0 or len(steps) == 0:
        return float(ordered[-1])
    fitting = steps[steps >= n - allowed]
    at = int(fitting[0] if len(fitting) else steps[-1])
    return midway(ordered[at - 1], ordered[at])


def best_f1_threshold(scores: Floats, anomalous: Bools) -> float:
    """The threshold on the scores with the best F1 score against the given labels."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    hits = np.cumsum(anomalous[order])
    total = hits[-1]
    if total == 0:
        return float(ranked[0])
    # Thresholds between different scores, and one below them all.
    ends = np.append(np.flatnonzero(ranked[1:] < ranked[:-1]), len(ranked) - 1)
    f1 = 2 * hits[ends] / (ends + 1 + total)
    at = int(ends[np.argmax(f1)])
    if at == len(ranked) - 1:
        return float(np.nextafter(ranked[-1], -np.inf))
    return midway(float(ranked[at + 1]), float(ranked[at]))


def midway(low: float, high: float) -> float:
    """A number t with low <= t < high, in the middle if floats allow it."""
    middle = float(low + (high - low) / 2)
    return middle if middle < high else float(low)
