"""Which models each point prefers most, and which models are nearly equal."""

from __future__ import annotations

import numpy as np

from .jit import jit

# Preferences that are compared with the smallest of the named ones at once.
_CHUNK = 16


@jit
def name_models(R, limit, scale, log_weight, starts, ends, skipped, value, best, values, counts):
    """counts[j] += 1 for each row that has model j among those of largest preference.

    Preferences are compared by log_weight - (r / scale)^2 / 2; only models with R <= limit count,
    and in row i not the models skipped[starts[i] : ends[i]]. Of equal preferences the first model
    is taken. value (m,), best and values (q,) are workspace. O(rows (m + entries q)), the m without
    branches.
    """
    m, q = R.shape[1], best.shape[0]
    for i in range(R.shape[0]):
        row = R[i]
        for e in range(starts[i], ends[i]):
            row[skipped[e]] = np.inf
        for j in range(m):
            z = row[j] / scale[j]
            named = log_weight[j] - 0.5 * z * z
            value[j] = named if row[j] <= limit[j] else -np.inf
        for e in range(q):
            values[e] = -np.inf
        for first in range(0, m, _CHUNK):
            last = first + _CHUNK if first + _CHUNK < m else m
            above = 0
            for j in range(first, last):
                above += value[j] > values[q - 1]
            if above == 0:
                continue
            for j in range(first, last):
                if value[j] > values[q - 1]:
                    at = q - 1
                    while at > 0 and values[at - 1] < value[j]:
                        values[at], best[at] = values[at - 1], best[at - 1]
                        at -= 1
                    values[at], best[at] = value[j], j
        for e in range(q):
            if values[e] > -np.inf:
                counts[best[e]] += 1


@jit
def merge_models(products, order, least, representative):
    """representative (m,): the first model in `order` whose similarity exceeds `least`, or the
    model itself.

    products (m, m): exact products of the preferences of the models; the similarity is Tanimoto's.
    O(m^2).
    """
    for j in range(representative.shape[0]):
        representative[j] = -1
    for e in range(order.shape[0]):
        j = order[e]
        if representative[j] >= 0:
            continue
        representative[j] = j
        for k in range(order.shape[0]):
            if representative[k] < 0:
                both = products[j, k]
                if both > least * (products[j, j] + products[k, k] - both):
                    representative[k] = j
