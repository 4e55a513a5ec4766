"""How wide and how telling each model is, and which models are structures."""

from __future__ import annotations

import numpy as np


def bands(R, own, widths, k, codimension, *, null=None, n_wide=0, floors=None):
    """sigma, and for each model its most striking width, the ratio there, and the gain.

    null (N, m): residuals of null rows, with which the first n_wide widths are compared, as shares
    if these are all widths; or, with n_wide = 0, all of them, besides the widest band. floors (m,):
    no band is narrower.
    """
    found, ratios = [], np.zeros((R.shape[1], len(widths)))
    for j in range(R.shape[1]):
        inside = [int(np.sum(~own[:, j] & (R[:, j] <= w))) for w in widths]
        first = max(n_wide - 1, 0)
        for b, w in enumerate(widths):
            null_inside = 0 if null is None else int(np.sum(null[:, j] <= w))
            if n_wide == len(widths):
                ratios[j, b] = _two_shares(inside[b], len(R), null_inside, len(null))
            elif b < n_wide:
                ratios[j, b] = _two_counts(inside[b], len(R), null_inside, len(null))
            else:
                expected = inside[first] * (w / widths[first]) ** codimension + 0.001
                if inside[b] > expected:
                    ratios[j, b] = inside[b] * np.log(inside[b] / expected) - inside[b] + expected
                if null is not None and n_wide == 0:
                    against = _two_counts(inside[b], len(R), null_inside, len(null))
                    ratios[j, b] = min(ratios[j, b], against)
            if floors is not None and b > 0 and w < floors[j]:
                ratios[j, b] = 0.0
        best = int(np.argmax(ratios[j]))
        found.append(
            (widths[best], ratios[j, best], ratios[j, best] / max(k + 1, k + inside[best]))
        )
    top = max(1, round(0.02 * R.shape[1]))
    heights = [np.mean(np.sort(ratios[:, b])[-top:]) for b in range(len(widths))]
    return (widths[int(np.argmax(heights))] / 2, *np.array(found).T)


def _two_counts(k, n, j, n_null):
    """Poisson counts k of n and j of n_null: the log likelihood of two rates over that of one."""
    if k / n <= j / n_null:
        return 0.0
    rate = (k + j) / (n + n_null)
    return k * np.log(k / (n * rate)) + (j * np.log(j / (n_null * rate)) if j else 0.0)


def _two_shares(k, n, j, n_null):
    """Binomial counts k of n and j of n_null: the log likelihood of two rates over that of one."""
    if k / n <= j / n_null:
        return 0.0

    def log_likelihood(p, hits, of):
        return sum(c * np.log(q) for c, q in ((hits, p), (of - hits, 1 - p)) if c)

    apart = log_likelihood(k / n, k, n) + log_likelihood(j / n_null, j, n_null)
    return apart - log_likelihood((k + j) / (n + n_null), k + j, n + n_null)


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
