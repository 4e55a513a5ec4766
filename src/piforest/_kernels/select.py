"""Selection of the k smallest values, without sorting."""

from __future__ import annotations

import numpy as np

from .jit import jit

_ONE = np.uint64(1)
_GUESSES = 24


@jit
def selection_bound(values, bits, k, high, n_high):
    """A bound that exactly k values do not exceed; with ties, the k-th smallest value.

    The values are not negative, and n_high >= k of them are at most `high`. Each guess, by
    interpolation or, each fourth, by bisection, is checked by counting, which needs no branch.
    Ties, or values of many magnitudes, may prevent success; then the bits, which have the same
    order as the values, are bisected. bits (n,) is the memory of the values viewed as unsigned
    integers. At most 88 passes of O(n).
    """
    low, n_low = values.dtype.type(0), 0
    for guess in range(_GUESSES):
        share = (k - n_low) / (n_high - n_low + 1) if guess % 4 != 3 else 0.5
        middle = low + values.dtype.type(share * np.float64(high - low))
        count = 0
        for c in range(values.shape[0]):
            count += values[c] <= middle
        if count == k:
            return middle
        if count < k:
            low, n_low = middle, count
        else:
            high, n_high = middle, count
    first, last = np.uint64(0), ~np.uint64(0)
    while first < last:
        half = first + ((last - first) >> _ONE)
        count = 0
        for c in range(bits.shape[0]):
            count += bits[c] <= half
        first = first if count >= k else half + _ONE
        last = half if count >= k else last
    c = 0
    while bits[c] != first:
        c += 1
    return values[c]
