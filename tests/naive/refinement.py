"""Refit, selection and bounds of models, one model and one point at a time."""

from __future__ import annotations

import numpy as np


def moments(R, limit, own, lifted):
    """Sums of weighted products of lifted coordinates, (m, L, L), with biweights."""
    sums = []
    for j in range(R.shape[1]):
        S = np.zeros((lifted.shape[1], lifted.shape[1]))
        for i in range(R.shape[0]):
            if R[i, j] < limit[j] and not own[i, j]:
                S += (1 - (R[i, j] / limit[j]) ** 2) ** 2 * np.outer(lifted[i], lifted[i])
        sums.append(S)
    return np.array(sums)


def name_counts(R, own, scale, weight, q):
    """How many rows have each model among the q that they prefer most; the first of equal ones."""
    counts = np.zeros(R.shape[1], int)
    for i in range(R.shape[0]):
        near = [j for j in range(R.shape[1]) if R[i, j] <= 3 * scale[j] and not own[i, j]]
        value = {
            j: np.log(weight[j]) - (R[i, j] / scale[j]) ** 2 / 2 for j in near if weight[j] > 0
        }
        for j in sorted(value, key=lambda j: (-value[j], j))[:q]:
            counts[j] += 1
    return counts


def merge(P, counts, least):
    """The representative of each model, by Tanimoto similarities of the columns of P (n, m)."""
    importance = counts * (P**2).sum(axis=0)
    representative = np.full(P.shape[1], -1)
    for j in np.argsort(-importance, kind="stable"):
        if representative[j] >= 0:
            continue
        representative[j] = j
        for k in range(P.shape[1]):
            both = P[:, j] @ P[:, k]
            union = P[:, j] @ P[:, j] + P[:, k] @ P[:, k] - both
            if representative[k] < 0 and both > least * union:
                representative[k] = j
    return representative


def evidence(k, K, share):
    """The log-likelihood ratio of k of K points in a part with a share of the background."""
    E = K * share
    if not (k > E and 0 < share < 1):
        return 0.0
    return k * np.log(k / E) + ((K - k) * np.log((K - k) / (K - E)) if k < K else 0.0)


def crowded_interval(counts, shares, wraps):
    """The first cell and the length of the interval of cells with the most evidence."""
    b, best = len(counts), (0.0, 0, 0)
    for first in range(b):
        for length in range(1, b):
            if first + length > b and not wraps:
                break
            cells = [(first + at) % b for at in range(length)]
            value = evidence(counts[cells].sum(), counts.sum(), shares[cells].sum() / shares.sum())
            if value > best[0] + 1e-12:
                best = value, first, length
    return best


def crowded_rectangle(counts, shares):
    """The rows and columns of the rectangle of cells with the most evidence."""
    b, best = len(counts), (0.0, 0, 0, 0, 0)
    for top in range(b):
        for bottom in range(top + 1, b + 1):
            for left in range(b):
                for right in range(left + 1, b + 1):
                    part = np.s_[top:bottom, left:right]
                    share = shares[part].sum() / shares.sum()
                    value = evidence(counts[part].sum(), counts.sum(), share)
                    if value > best[0] + 1e-12:
                        best = value, top, bottom - top, left, right - left
    return best


def least_squares(X, weights):
    """Slopes and intercept of the last column on the others."""
    A, root = np.column_stack([X[:, :-1], np.ones(len(X))]), np.sqrt(weights)
    return np.linalg.lstsq(A * root[:, None], X[:, -1] * root, rcond=None)[0]


def concentrate(law, X, share):
    """The law after steps to its nearest rows, until their radius changes by less than 1/10,000."""
    for nearest in (int(share * len(X)), int(share * len(X) * 2 / 3)):
        radius = np.inf
        for _ in range(40):
            r = np.array([abs(row[-1] - row[:-1] @ law[:-1] - law[-1]) for row in X])
            before, radius = radius, np.sort(r)[nearest - 1]
            if abs(radius - before) <= 1e-4 * radius:
                break
            law = least_squares(X, np.where(r < radius, (1 - (r / radius) ** 2) ** 2, 0.0))
    return law
