"""A bound that so many of some values are at most."""

from __future__ import annotations

import numpy as np

from .jit import jit

_ONE = np.uint64(1)
_GUESSES = 24


@jit
def bound(values, bits, k, high, upto):
    """A number that k of the values are at most; with ties, the k-th smallest value.

    The values are not negative, and `upto` >= k of them are at most `high`. A guess is checked
    by counting, which takes no branch: the next by interpolation or halfway. Ties may not let
    this end, and neither may values of many magnitudes; then bisection of the bits, whose order
    is that of the values. bits (n,) is the same memory as unsigned integers. O(n), at most 88
    times.
    """
    low, below = values.dtype.type(0), 0
    for guess in range(_GUESSES):
        share = (k - below) / (upto - below + 1) if guess % 2 == 0 else 0.5
        at = low + values.dtype.type(share * np.float64(high - low))
        count = 0
        for c in range(values.shape[0]):
            count += values[c] <= at
        if count == k:
            return at
        if count < k:
            low, below = at, count
        else:
            high, upto = at, count
    first, last = np.uint64(0), ~np.uint64(0)
    while first < last:
        middle = first + ((last - first) >> _ONE)
        count = 0
        for c in range(bits.shape[0]):
            count += bits[c] <= middle
        first = first if count >= k else middle + _ONE
        last = middle if count >= k else last
    c = 0
    while bits[c] != first:
        c += 1
    return values[c]
