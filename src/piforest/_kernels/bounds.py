"""The cells of a model's chart in which its points are crowded."""

from __future__ import annotations

import math

import numpy as np

from .jit import inlined, jit

# Typed, because a function is compiled for every literal argument.
_NONE = np.int64(0)


@inlined
def _evidence(k, K, share):
    """The log-likelihood ratio of k of K points in a part with this share of the background."""
    E = K * share
    if k <= E or share <= 0.0 or share >= 1.0:
        return 0.0
    ratio = k * math.log(k / E)
    if k < K:
        ratio += (K - k) * math.log((K - k) / (K - E))
    return ratio


@inlined
def _may_exceed(k, K, share, best):
    """Whether the log-likelihood ratio may exceed `best`: it is at most Pearson's chi-square,
    which needs no logarithm."""
    E = K * share
    excess = k - E
    return excess > 0.0 and excess * excess * K > 0.999 * best * E * (K - E)


@inlined
def _is_hopeless(k, K, share, total, best):
    """Whether `_may_exceed` is False for share / total, without a division; it may be False for
    other reasons."""
    excess = k * total - K * share
    return excess <= 0.0 or excess * excess < 0.998 * best * share * K * (total - share)


@jit
def crowded_interval(counts, shares, kept, wraps, out):
    """The interval of cells with the largest log-likelihood ratio among cells that are not kept.

    counts, shares, kept (b,). out (4,): first cell, number of cells, ratio, points in it.
    wraps: whether the last cell is followed by the first. O(b^2).
    """
    b = counts.shape[0]
    K, total = 0.0, 0.0
    for c in range(b):
        if not kept[c]:
            K += counts[c]
            total += shares[c]
    out[2] = best = 0.0
    for first in range(b):
        # Without an empty cell at its ends, an interval has more evidence.
        if counts[first] == 0.0:
            continue
        k, share = 0.0, 0.0
        for length in range(1, b):
            c = first + length - 1
            if c >= b:
                if not wraps:
                    break
                c -= b
            if kept[c]:
                break
            k += counts[c]
            share += shares[c]
            if counts[c] == 0.0 or _is_hopeless(k, K, share, total, best):
                continue
            if _may_exceed(k, K, share / total, best):
                ratio = _evidence(k, K, share / total)
                if ratio > best:
                    best = ratio
                    out[0], out[1], out[2], out[3] = first, length, ratio, k


@jit
def keep_intervals(counts, shares, models, wraps, least, pieces, core, out, cells):
    """Set the cells (m, b) of the crowded intervals of these models, with a margin.

    At most `pieces` intervals with at least this ratio; core (b,) and out (4,) are workspace.
    """
    b = counts.shape[1]
    for j in models:
        for c in range(b):
            core[c] = False
        for _ in range(pieces):
            crowded_interval(counts[j], shares[j], core, wraps, out)
            if out[2] < least:
                break
            first, last = int(out[0]), int(out[0] + out[1])
            # A new point may lie beyond the last one seen, by about the distance between points.
            margin = 1 + int(2 * out[1] / out[3])
            for c in range(first, last):
                core[c % b] = True
            for c in range(first - margin, last + margin):
                if wraps or (c >= 0 and c < b):
                    cells[j, c % b] = True


@jit
def crowded_rectangle(counts, shares, sums, share_sums, out):
    """The rectangle of cells with the largest log-likelihood ratio.

    counts, shares (b, b); sums and share_sums (b + 1, b + 1) are workspace. out (6,): the two first
    cells, the two numbers of cells, the ratio, the points in it. O(b^4).
    """
    b = counts.shape[0]
    for r in range(b + 1):
        for c in range(b + 1):
            if r == 0 or c == 0:
                sums[r, c], share_sums[r, c] = 0.0, 0.0
            else:
                sums[r, c] = (
                    counts[r - 1, c - 1] + sums[r - 1, c] + sums[r, c - 1] - sums[r - 1, c - 1]
                )
                share_sums[r, c] = (
                    shares[r - 1, c - 1]
                    + share_sums[r - 1, c]
                    + share_sums[r, c - 1]
                    - share_sums[r - 1, c - 1]
                )
    K, total = sums[b, b], share_sums[b, b]
    out[4] = 0.0
    for top in range(b):
        for bottom in range(top + 1, b + 1):
            for left in range(b):
                for right in range(left + 1, b + 1):
                    k = sums[bottom, right] - sums[top, right]
                    k += sums[top, left] - sums[bottom, left]
                    share = share_sums[bottom, right] - share_sums[top, right]
                    share += share_sums[top, left] - share_sums[bottom, left]
                    if not _may_exceed(k, K, share / total, out[4]):
                        continue
                    ratio = _evidence(k, K, share / total)
                    if ratio > out[4]:
                        out[0], out[1], out[2], out[3] = top, left, bottom - top, right - left
                        out[4], out[5] = ratio, k


@jit
def count_cells(R, limit, U, V, low, size, b, cell, counts):
    """counts (m, b) or (m, b b) += 1 for the cell of each point with R <= limit.

    low, size (2, m). cell (m,), int32, is workspace: first the cells of all models, by vectors.
    """
    two = counts.shape[1] > b
    for i in range(R.shape[0]):
        _cells_of_row(U[i], low[0], size[0], b, _NONE, cell)
        if two:
            _cells_of_row(V[i], low[1], size[1], b, b, cell)
        row = R[i]
        for j in range(row.shape[0]):
            counts[j, np.uint64(cell[j])] += 1.0 if row[j] <= limit[j] else 0.0


@jit
def _cells_of_row(u, low, size, b, times, cell):
    """cell (m,) = times cell + `cell_of` of each of u (m,)."""
    last = float(b - 1)
    for j in range(u.shape[0]):
        t = (u[j] - low[j]) / size[j] * b
        t = t if t >= 1.0 else 0.0
        t = t if t < b else last
        cell[j] = np.int32(times) * cell[j] + np.int32(t)


@jit
def chart_ranges(R, limit, U, low, high):
    """The range (m,) of the coordinates of points with R <= limit; low and high are updated."""
    for i in range(R.shape[0]):
        for j in range(R.shape[1]):
            if R[i, j] <= limit[j]:
                u = U[i, j]
                if u < low[j]:
                    low[j] = u
                if u > high[j]:
                    high[j] = u
