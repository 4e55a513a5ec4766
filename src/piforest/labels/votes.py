"""Automatic labels: compare the scores with those of random points, which follow no structure.

The scores of random points in the same trees give a p-value for every score. The p-values give an
estimate of the number of anomalies, and this a cut. The cut then moves to a minimum of the density
of the scores, and the distances to the structures contribute a vote.
"""

from __future__ import annotations

import numpy as np

from .._random import Stream
from ..families import layout_of, null_rows
from ..protocols import Bools, Floats, ModelFamily
from .thresholds import best_f1_threshold, midway

NULL_POINTS = 250
_BOX = (1, 99)  # percentiles, so that far points do not enlarge the box
_STOREY_LAMBDA = 0.3  # hardly any normal point has a larger p-value
_P_VALUE_LIMITS = (0.02, 0.1)
_BANDWIDTH = 0.5  # in units of Silverman's rule
_MIN_FLAGGED = 10  # fewer points are too few for a density
_NEAR_SLACK = 5
_MINORITY = 0.3
_MIN_COVERED = 0.05
_MAJORITY = 0.5
# Where most points are far beyond all structures, this share of them must have votes: of uniform
# false matches 74 % or more have, of circles beside lines 60 %.
_MOSTLY_VOTED = 2 / 3
# Points within this many half-widths of a structure do not count for the next.
NEAR = 2.0
# Points beyond all structures are added to the votes if these are less than this share of both,
# and if they are at least 8 points and 0.5 % of all: the tail of a structure is shorter.
_SILENT, _ADDED, _ADDED_SHARE = 0.65, 8, 0.005
# A threshold that agrees with the votes less than this, as F1, is none.
_AGREEMENT = 0.3
# A deep valley has at most this share of the density at the peak of the anomalies. It is sought
# where random points are hardly ever on a structure, for at least this many anomalies.
_DEEP, _RARELY, _MIN_PEAK = 0.03, 0.05, 20
_DEEP_BANDWIDTH = 1.5
# The threshold if there is no structure: no score is above it.
NOTHING_FLAGGED = 1.0


def box(X: Floats) -> tuple[Floats, Floats]:
    """The lower and the upper corner of the box that contains 98 % of each column of X."""
    low, high = np.percentile(X, _BOX, axis=0)
    return low, high


def null_points(X: Floats, family: ModelFamily, stream: Stream) -> Floats:
    """(NULL_POINTS, d) rows without structure.

    Segments are those of X, each rotated by a random angle: what matters is their length. Other
    rows are drawn uniformly from the box of X.
    """
    if layout_of(family).kind == "segments":
        return null_rows(family, X, NULL_POINTS, stream)
    return np.asarray(stream.generator().uniform(*box(X), (NULL_POINTS, X.shape[1])))


def chance_p_values(scores: Floats, null: Floats) -> Floats:
    """(1 + the number of null scores that are at most the score) / (1 + the number of them)."""
    return np.asarray((1 + np.searchsorted(np.sort(null), scores, side="right")) / (1 + len(null)))


def anomaly_rate(p: Floats) -> float:
    """Storey's estimate of the share of random points."""
    return min(1.0, float(np.mean(p > _STOREY_LAMBDA)) / (1 - _STOREY_LAMBDA))


def best_cut(p: Floats) -> float:
    """The p-value above which points are flagged, for the best expected F1 score.

    If a share r of the points is random, flagging p > q finds the share r (1 - q) of all points.
    1 if there are no random points.
    """
    rate = anomaly_rate(p)
    if rate * len(p) < 0.5:
        return 1.0
    q = np.concatenate([[0.0], np.sort(p)])
    flagged = 1 - np.searchsorted(np.sort(p), q, side="right") / len(p)
    return float(q[np.argmax(2 * rate * (1 - q) / (flagged + rate))])


def move_to_valley(depths: Floats, cut: float, farthest: float) -> float:
    """The cut, moved up to a local minimum of the density of the depths.

    depths (n,): those below `cut` are flagged. If the density falls at the cut, the cut moves to
    the first minimum, so that anomalies near a structure are not split. If the density rises, the
    cut stays, unless the next peak is before `farthest`: then it is a peak of anomalies, and the
    cut moves to the minimum after it.
    """
    sigma = np.subtract(*np.percentile(depths, [75, 25])) / 1.349
    sigma = min(depths.std(), sigma) if sigma > 0 else depths.std()
    width = _BANDWIDTH * 0.9 * sigma * len(depths) ** -0.2
    if not width > 0:
        return cut
    grid = np.arange(cut, depths.max() + width, width / 4)
    if len(grid) < 3:
        return cut
    slopes = np.diff(_density(depths, grid, width))
    first = 0
    if slopes[0] > 0:
        falls = np.flatnonzero(slopes < 0)
        if not len(falls) or grid[falls[0]] > farthest:
            return cut
        first = int(falls[0])
    rises = np.flatnonzero(slopes[first:] > 0)
    return float(grid[first + rises[0]]) if len(rises) else cut


def _density(depths: Floats, grid: Floats, width: float) -> Floats:
    """A kernel density estimate, up to a factor, from a fine histogram. O(n + grid)."""
    step = width / 8
    first = grid[0] - 5 * width
    bins = np.floor((depths - first) / step).astype(np.int64)
    length = int(np.ceil((grid[-1] - first) / step)) + 41
    counts = np.bincount(bins[(bins >= 0) & (bins < length)], minlength=length).astype(float)
    kernel = np.exp(-0.5 * (np.arange(-40, 41) / 8) ** 2)
    smooth = np.convolve(counts, kernel, mode="same")
    return np.asarray(np.interp(grid, first + (np.arange(length) + 0.5) * step, smooth))


def votes(scores: Floats, null: Floats, far: Bools, null_far: Bools) -> Bools:
    """Which points are anomalous by at least two of three votes.

    1. The score is beyond the cut of best expected F1 score, moved to a minimum of the density.
    2. The p-value is above twice the share of random points near a structure (0.02 to 0.1).
    3. The point is `far` from all structures; `null_far` is the same for the random points.

    If the first vote flags fewer than ten points, which are too few for a density, the flagged
    points that are far are anomalous. If anomalies are a minority, and more of them are near a
    structure than random points would be, only those that are far are anomalous.
    """
    covered = float(np.mean(~null_far))
    p = chance_p_values(scores, null)
    flagged = p > best_cut(p)
    if flagged.sum() < _MIN_FLAGGED:
        return np.asarray(flagged & far)
    depths, null_depths = -np.log2(scores), -np.log2(null)
    if not flagged.all():
        cut = midway(float(depths[flagged].max()), float(depths[~flagged].min()))
        deeper = min(1.0, max(_MIN_COVERED, 2 * covered))
        farthest = float(np.quantile(null_depths, 1 - deeper))
        flagged = depths < move_to_valley(depths, cut, farthest)
    low, high = _P_VALUE_LIMITS
    # If most points are far, structures may be missing, and `covered` may be too small.
    limit = high if far.mean() > _MAJORITY else min(max(low, 2 * covered), high)
    like_random = p > limit
    anomalous = np.asarray(flagged.astype(int) + far + like_random >= 2)
    # Many anomalies form random structures, so that being near one is no evidence.
    if anomalous.mean() < _MINORITY and _too_many_near(anomalous, far, covered):
        return anomalous & far
    return anomalous


def _too_many_near(anomalous: Bools, far: Bools, covered: float) -> bool:
    """Whether more of these points are near a structure than random points would be. Then a
    structure is so small that the scores of its points look random."""
    expected = covered / max(1 - covered, 1e-9) * np.sum(anomalous & far)
    return bool(np.sum(anomalous & ~far) > expected + 3 * np.sqrt(expected) + _NEAR_SLACK)


def with_missed(voted: Bools, beyond: Bools) -> Bools:
    """The votes, with the points beyond all structures added where the votes miss many of them.

    Anomalies that are near a structure or close together score lower than random points, so that
    few or none of them get votes.
    """
    both = voted | beyond
    added = np.sum(both & ~voted)
    missed = added >= max(_ADDED, _ADDED_SHARE * len(voted)) and voted.sum() < _SILENT * both.sum()
    # If most points are beyond all structures, structures are missing.
    return both if missed and beyond.mean() <= _MAJORITY else voted


def with_gross(anomalous: Bools, gross: Bools) -> Bools:
    """The anomalous rows, with those that are far beyond all structures: no noise explains them,
    however low they score, as rows that follow models of chance do.

    If these are most rows, they may follow structures that are not known. Then they count if two
    thirds of them are anomalous already: rows of a structure score lower than random points do.
    """
    known = gross.mean() <= _MAJORITY or np.mean(anomalous[gross]) > _MOSTLY_VOTED
    return anomalous | gross if known else anomalous


def score_threshold(scores: Floats, anomalous: Bools, ceiling: float, covered: float) -> float:
    """The threshold on the scores that agrees best with the labels; above all scores if none does.

    covered: the share of random points on a structure. If it is small, the threshold moves to a
    deep valley of the density.
    """
    threshold = best_f1_threshold(scores, anomalous)
    flagged = scores > threshold
    if agreement(flagged, anomalous) < _AGREEMENT:
        return NOTHING_FLAGGED
    if covered > _RARELY or not _MIN_PEAK <= flagged.sum() < len(scores) or threshold >= ceiling:
        return threshold
    return _deep_valley(np.minimum(scores, ceiling), threshold)


def agreement(flagged: Bools, anomalous: Bools) -> float:
    """The F1 score of the flagged points against the anomalous ones; 1 if there are neither."""
    both = int(flagged.sum() + anomalous.sum())
    return float(2 * np.sum(flagged & anomalous) / both) if both else 1.0


def _deep_valley(scores: Floats, threshold: float) -> float:
    """The threshold, moved towards normal scores to the first minimum of the density that is deep
    compared with the peak of the anomalies; unmoved if the density rises before."""
    depths, cut = -np.log2(scores), -np.log2(threshold)
    peak = depths[depths < cut]
    sigma = np.subtract(*np.percentile(peak, [75, 25])) / 1.349
    width = _DEEP_BANDWIDTH * 0.9 * (min(peak.std(), sigma) or peak.std()) * len(peak) ** -0.2
    if not width > 0:
        return threshold
    below = np.arange(max(peak.min(), cut - 200 * width), cut, width / 4)
    above = np.arange(cut, min(depths.max(), cut + 200 * width) + width, width / 4)
    density = _density(depths, np.concatenate([below, above]), width)
    highest, density = density[: len(below)].max(initial=0.0), density[len(below) :]
    rising = np.diff(density) > 0
    minima = np.flatnonzero(rising & (density[:-1] <= _DEEP * highest))
    if not len(minima) or (density[: minima[0]] > highest / 2).any():
        return threshold
    return float(2.0 ** -above[minima[0]])
