"""How wide and how telling each model is, and which models are structures."""

from __future__ import annotations

import numpy as np


def bands(R, own, widths, k, codimension):
    """sigma, and for each model its most striking width, the ratio there, and the gain."""
    found, ratios = [], np.zeros((R.shape[1], len(widths)))
    for j in range(R.shape[1]):
        inside = [int(np.sum(~own[:, j] & (R[:, j] <= w))) for w in widths]
        for b, w in enumerate(widths):
            expected = inside[0] * (w / widths[0]) ** codimension + 0.001
            if inside[b] > expected:
                ratios[j, b] = inside[b] * np.log(inside[b] / expected) - (inside[b] - expected)
        best = int(np.argmax(ratios[j]))
        found.append(
            (widths[best], ratios[j, best], ratios[j, best] / max(k + 1, k + inside[best]))
        )
    top = max(1, round(0.02 * R.shape[1]))
    heights = [np.mean(np.sort(ratios[:, b])[-top:]) for b in range(len(widths))]
    return (widths[int(np.argmax(heights))] / 2, *np.array(found).T)


def greedy(R, own, widths, codimension, reach, least):
    """(model, width, log ratio), most striking first, each without the points of those before."""
    active = np.ones(len(R), bool)
    found = []
    while True:
        best = (least, None, None)
        for j in range(R.shape[1]):
            votes = active & ~own[:, j]
            for w in widths:
                inside = np.sum(votes & (R[:, j] <= w))
                wide = np.sum(votes & (R[:, j] <= widths[0]))
                expected = wide * (w / widths[0]) ** codimension + 0.001
                if inside > expected:
                    ratio = inside * np.log(inside / expected) - (inside - expected)
                    if ratio > best[0]:
                        best = (ratio, j, w)
        ratio, j, w = best
        if j is None:
            return found
        found.append((j, w, ratio))
        active &= R[:, j] > reach * w
