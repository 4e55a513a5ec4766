"""Which models each point prefers most, and which models are nearly equal."""

from __future__ import annotations

import numpy as np

from .jit import jit


@jit
def name_models(R, limit, scale, log_weight, starts, ends, skipped, best, values, counts):
    """counts[j] += 1 for each row that has model j among those of largest preference.

    Preferences are compared by log_weight - (r / scale)^2 / 2; only models with R <= limit count,
    and in row i not the models skipped[starts[i] : ends[i]]. Of equal preferences the first model
    is taken. best and values (q,) are workspace. O(rows (m + entries q)).
    """
    q = best.shape[0]
    for i in range(R.shape[0]):
        row, n = R[i], 0
        for e in range(starts[i], ends[i]):
            row[skipped[e]] = np.inf
        for j in range(row.shape[0]):
            if row[j] <= limit[j]:
                z = row[j] / scale[j]
                value = log_weight[j] - 0.5 * z * z
                if n < q or value > values[q - 1]:
                    at = n if n < q else q - 1
                    while at > 0 and values[at - 1] < value:
                        values[at], best[at] = values[at - 1], best[at - 1]
                        at -= 1
                    values[at], best[at] = value, j
                    n = n + 1 if n < q else q
        for e in range(n):
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
