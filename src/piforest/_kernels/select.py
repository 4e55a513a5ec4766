"""The k-th smallest of some values."""

from __future__ import annotations

import numpy as np

from .jit import jit

_ONE = np.uint64(1)


@jit
def select(values, k):
    """The k-th smallest value, 0 = smallest, moved to place k, none larger before it (Hoare).

    O(n) on average. Unsigned indices, see `sparse.products`; `i` and `j` are one more than
    the places they stand for, so that they do not fall below 0.
    """
    low, high = np.uint64(0), np.uint64(values.shape[0] - 1)
    k = np.uint64(k)
    while low < high:
        a, pivot, b = values[low], values[(low + high) >> _ONE], values[high]
        if a > b:
            a, b = b, a
        pivot = a if pivot < a else b if pivot > b else pivot
        i, j = low + _ONE, high + _ONE
        while i <= j:
            while values[i - _ONE] < pivot:
                i += _ONE
            while values[j - _ONE] > pivot:
                j -= _ONE
            if i <= j:
                values[i - _ONE], values[j - _ONE] = values[j - _ONE], values[i - _ONE]
                i += _ONE
                j -= _ONE
        if k + _ONE <= j:
            high = j - _ONE
        elif k + _ONE >= i:
            low = i - _ONE
        else:
            return values[k]
    return values[k]
