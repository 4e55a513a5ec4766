"""From scores to labels without a share to guess: what would a point of no structure score?

Points drawn at random go through the same trees. Compared with them, every score
has a p-value, the p-values tell how many anomalies there are, and that tells where
to cut. Then the cut moves to a valley of the scores, and the structures have a vote.
"""

from __future__ import annotations

import numpy as np

from ._random import Stream
from .protocols import Bools, Floats
from .thresholds import midway

NULL_POINTS = 250
_BOX = (1, 99)  # per cent: a far point must not blow up the box
_SURELY_RANDOM = 0.3  # above this p-value there are next to no normal points
_RARELY_RANDOM = (0.02, 0.1)
_BANDWIDTH = 0.5
_FEW = 10
_FEW_NEAR = 5
_MINORITY = 0.3
_LEAST_COVER = 0.05
_MOSTLY = 0.5
# A point within so many half-widths of a structure belongs to it.
NEAR = 2.0


def box(X: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest corner of the box that holds 98 % of each column of X."""
    low, high = np.percentile(X, _BOX, axis=0)
    return low, high


def null_points(X: Floats, stream: Stream) -> Floats:
    """(NULL_POINTS, d) uniform points of the box of X."""
    return np.asarray(stream.generator().uniform(*box(X), (NULL_POINTS, X.shape[1])))


def p_values(scores: Floats, null: Floats) -> Floats:
    """(1 + how many null scores are at most the score) / (1 + how many there are)."""
    return np.asarray((1 + np.searchsorted(np.sort(null), scores, side="right")) / (1 + len(null)))


def anomaly_rate(p: Floats) -> float:
    """Storey's estimate of the share of points that are like random ones."""
    return min(1.0, float(np.mean(p > _SURELY_RANDOM)) / (1 - _SURELY_RANDOM))


def best_cut(p: Floats) -> float:
    """The p-value above which points are flagged, for the best expected F1.

    If a share r of the points is random, flagging p > q finds r (1 - q) of them. 1 where
    there are none to find.
    """
    rate = anomaly_rate(p)
    if rate * len(p) < 0.5:
        return 1.0
    q = np.concatenate([[0.0], np.sort(p)])
    flagged = 1 - np.searchsorted(np.sort(p), q, side="right") / len(p)
    return float(q[np.argmax(2 * rate * (1 - q) / (flagged + rate))])


def into_valley(depths: Floats, cut: float, farthest: float) -> float:
    """The cut moved to where the density of the depths is least.

    depths (n,): flagged are those below `cut`. Where the density falls beyond the cut, it
    moves to the first valley, so that anomalies near a structure are not split. Where the
    density rises, the cut stays; but if the peak lies before `farthest`, it is one of
    anomalies still, and the cut moves to the valley behind it.
    """
    spread = np.subtract(*np.percentile(depths, [75, 25])) / 1.349
    spread = min(depths.std(), spread) if spread > 0 else depths.std()
    width = _BANDWIDTH * 0.9 * spread * len(depths) ** -0.2
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
    """A kernel estimate, up to a factor, from a fine histogram: O(n + grid)."""
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

    The cut of best expected F1, moved into a valley; a p-value above twice the share of
    random points that lie near a structure (0.02 to 0.1); and `far`, whether the point lies
    near none of the structures. `null_far` is the same of the random points. Where the
    first vote flags fewer than ten points, there is no density to speak of, and what it
    flags must be far too; and so must all where anomalies are a minority and more of them
    would lie near a structure than random points do.
    """
    covered = float(np.mean(~null_far))
    p = p_values(scores, null)
    flagged = p > best_cut(p)
    if flagged.sum() < _FEW:
        return np.asarray(flagged & far)
    depths, null_depths = -np.log2(scores), -np.log2(null)
    if not flagged.all():
        cut = midway(float(depths[flagged].max()), float(depths[~flagged].min()))
        deeper = min(1.0, max(_LEAST_COVER, 2 * covered))
        farthest = float(np.quantile(null_depths, 1 - deeper))
        flagged = depths < into_valley(depths, cut, farthest)
    least, most = _RARELY_RANDOM
    # Where most points are far, structures may be missing, and more be covered than is known.
    rare = most if far.mean() > _MOSTLY else min(max(least, 2 * covered), most)
    like_random = p > rare
    anomalous = np.asarray(flagged.astype(int) + far + like_random >= 2)
    # Where many are anomalous, random structures are found among them.
    if anomalous.mean() < _MINORITY and _too_many_near(anomalous, far, covered):
        return anomalous & far
    return anomalous


def _too_many_near(anomalous: Bools, far: Bools, covered: float) -> bool:
    """Do more of these points lie near a structure than random ones would? Then a structure is
    so small that its own points look random, and the others do not decide."""
    expected = covered / max(1 - covered, 1e-9) * np.sum(anomalous & far)
    return bool(np.sum(anomalous & ~far) > expected + 3 * np.sqrt(expected) + _FEW_NEAR)
