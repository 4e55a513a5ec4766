"""Which models each point prefers most, and which models are nearly equal."""

from __future__ import annotations

import numpy as np

from .jit import jit

# Preferences that are compared with the smallest of the named ones at once.
_CHUNK = 16
# Above the rounding errors of logarithms of preferences.
_SLACK = 1e-9


@jit
def name_models(
    R, rows, models, limit, scale, log_weight, starts, ends, skipped, position, first, value, best,
    values,
):  # fmt: skip
    """best, values (n, q): the models of largest preference so far, and their preferences; updated
    with those of R (rows, m) of the rows and models with these numbers.

    Preferences are compared by log_weight - (r / scale)^2 / 2; only models with R <= limit count,
    and in row i not the models skipped[starts[i] : ends[i]]. The columns of R are those from
    number `first` on in an order that `position` gives. Of equal preferences the model of the
    smaller number is taken. value (m,) is workspace. O(rows (m + entries q)), the m without
    branches.
    """
    m, q = R.shape[1], best.shape[1]
    for j in range(m):
        value[j] = 2.0 * scale[j] * scale[j]
    for e in range(R.shape[0]):
        i, row = rows[e], R[e]
        for s in range(starts[i], ends[i]):
            at = position[skipped[s]] - first
            if at >= 0 and at < m:
                row[at] = np.inf
        for left in range(0, m, _CHUNK):
            # Slices, since an index that is a sum may be negative, for all the compiler knows.
            r, far = row[left : left + _CHUNK], limit[left : left + _CHUNK]
            logs, twice = log_weight[left : left + _CHUNK], value[left : left + _CHUNK]
            # Without the division first, whose result is compared exactly where it may matter.
            least = values[i, q - 1] - _SLACK
            above = 0
            for j in range(r.shape[0]):
                above += (r[j] <= far[j]) & (r[j] * r[j] <= (logs[j] - least) * twice[j])
            if above == 0:
                continue
            for j in range(left, left + r.shape[0]):
                if not row[j] <= limit[j]:
                    continue
                z = row[j] / scale[j]
                named = log_weight[j] - 0.5 * z * z
                if named == -np.inf or named < values[i, q - 1]:
                    continue
                if named == values[i, q - 1] and models[j] > best[i, q - 1]:
                    continue
                at = q - 1
                while at > 0 and (
                    values[i, at - 1] < named
                    or (values[i, at - 1] == named and best[i, at - 1] > models[j])
                ):
                    values[i, at], best[i, at] = values[i, at - 1], best[i, at - 1]
                    at -= 1
                values[i, at], best[i, at] = named, models[j]


@jit
def add_products(indptr, columns, values, products):
    """products (m, m) += v v' for each sparse row v, whose columns ascend, and products is
    symmetric. O(m^2 + entries of a row squared)."""
    for i in range(indptr.shape[0] - 1):
        for a in range(indptr[i], indptr[i + 1]):
            out, value = products[columns[a]], values[a]
            for b in range(indptr[i], a + 1):
                out[columns[b]] += value * values[b]
    for j in range(products.shape[0]):
        for k in range(j):
            products[k, j] = products[j, k]


@jit
def merge_models(products, squares, order, least, representative):
    """representative (m,): the first model in `order` whose similarity exceeds `least`, or the
    model itself; -1 for models that are similar to none in `order`.

    products (k, m): exact products of the preferences of the models in `order` with those of all,
    squares (m,): with themselves; the similarity is Tanimoto's. O(k m).
    """
    for j in range(representative.shape[0]):
        representative[j] = -1
    for e in range(order.shape[0]):
        j = order[e]
        if representative[j] >= 0:
            continue
        representative[j] = j
        # All of them, without branches: which one comes first does not matter here.
        row, square = products[j], squares[j]
        for k in range(representative.shape[0]):
            same = row[k] > least * (square + squares[k] - row[k])
            representative[k] = j if same and representative[k] < 0 else representative[k]
