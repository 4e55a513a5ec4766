"""Labels from scores, point by point: the density of the depths, its valleys, and the votes."""

from __future__ import annotations

from math import ceil, floor

import numpy as np


def density(depths, grid, width):
    """A sum of Gaussians cut off at five widths, of depths rounded to the middle of bins of an
    eighth of the width, and interpolated between the middles."""
    step, start = width / 8, grid[0] - 5 * width
    end = ceil((grid[-1] - start) / step) + 41
    own = np.floor((depths - start) / step)
    own = own[(own >= 0) & (own < end)]

    def at(b):
        near = own[abs(own - b) <= 40]
        return np.exp(-(((near - b) / 8) ** 2) / 2).sum()

    values, known = [], {}
    for place in grid:
        left = floor((place - start) / step - 0.5)
        for b in (left, left + 1):
            known.setdefault(b, at(b))
        share = (place - start) / step - 0.5 - left
        values.append((1 - share) * known[left] + share * known[left + 1])
    return np.array(values)


def spread(values):
    """The smaller of the standard deviation and the one of a normal distribution with the same
    quartiles; the former if the quartiles are equal."""
    low, high = np.percentile(values, [25, 75])
    return min(values.std(), (high - low) / 1.349) if high > low else values.std()


def valley(depths, cut, farthest):
    """The first minimum from the cut on; the cut if the density rises there, except up to a peak
    before `farthest`."""
    width = 0.5 * 0.9 * spread(depths) / len(depths) ** 0.2
    if width <= 0:
        return cut
    grid = np.arange(cut, depths.max() + width, width / 4)
    if len(grid) < 3:
        return cut
    slopes = np.diff(density(depths, grid, width))
    k = 0
    if slopes[0] > 0:
        while k < len(slopes) and slopes[k] >= 0:
            k += 1
        if k == len(slopes) or grid[k] > farthest:
            return cut
    while k < len(slopes) and slopes[k] <= 0:
        k += 1
    return cut if k == len(slopes) else grid[k]


def deep_valley(scores, threshold):
    """The threshold at the first minimum beyond it that is at most 3 % of the peak before it; not
    if the density exceeds half of that peak on the way."""
    depths, cut = -np.log2(scores), -np.log2(threshold)
    peak = depths[depths < cut]
    width = 1.5 * 0.9 * spread(peak) / len(peak) ** 0.2
    if width <= 0:
        return threshold
    below = np.arange(max(peak.min(), cut - 200 * width), cut, width / 4)
    above = np.arange(cut, min(depths.max(), cut + 200 * width) + width, width / 4)
    values = density(depths, np.concatenate([below, above]), width)
    highest, values = max(values[: len(below)], default=0.0), values[len(below) :]
    for k in range(len(above) - 1):
        if values[k] <= 0.03 * highest and values[k + 1] > values[k]:
            return 2.0 ** -above[k]
        if values[k] > highest / 2:
            break
    return threshold


def votes(scores, null, far, null_far, best_cut, move):
    """best_cut and move: functions that are compared with slow ones elsewhere."""
    n, covered = len(scores), sum(not each for each in null_far) / len(null_far)
    p = [(1 + sum(other <= score for other in null)) / (1 + len(null)) for score in scores]
    cut = best_cut(np.array(p))
    first = np.array([each > cut for each in p])
    if first.sum() < 10:
        return first & far
    depths = -np.log2(scores)
    if not first.all():
        middle = (depths[first].max() + depths[~first].min()) / 2
        share = min(1.0, max(0.05, 2 * covered))
        first = depths < move(depths, middle, np.quantile(-np.log2(null), 1 - share))
    limit = 0.1 if sum(far) / n > 0.5 else min(0.1, max(0.02, 2 * covered))
    voted = np.array([sum((first[i], far[i], p[i] > limit)) >= 2 for i in range(n)])
    beyond = sum(voted & far)
    expected = beyond * covered / max(1 - covered, 1e-9)
    too_many = sum(voted & ~far) > expected + 3 * expected**0.5 + 5
    return voted & far if sum(voted) / n < 0.3 and too_many else voted


def best_f1(scores, anomalous):
    """The best F1 score of any threshold."""
    cuts = [*scores, min(scores) - 1]
    return max(f1(scores > cut, anomalous) for cut in cuts)


def f1(flagged, anomalous):
    both = sum(flagged) + sum(anomalous)
    return 2 * sum(flagged & anomalous) / both if both else 1.0
