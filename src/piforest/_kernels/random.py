"""Stateless random numbers: a 64-bit hash for each (key, value).

`piforest._random` is the same in NumPy.
"""

from __future__ import annotations

import numpy as np

from .jit import jit

_ONE = np.uint64(1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@jit
def mix(key, value):
    """Number `value` of the SplitMix64 sequence seeded with `key`: 64 random bits."""
    z = np.uint64(key) + (np.uint64(value) + _ONE) * _GOLDEN
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@jit
def below(bits, n):
    """An integer in [0, n) from 64 random bits; 53 are used, so the bias is below n / 2**53."""
    return np.int64(np.float64(bits >> _S11) * 2.0**-53 * np.float64(n))


@jit
def sample_without_replacement(key, numbers, limits, taken, out):
    """Fill each row i of out (s, size) with distinct integers below limits[i], from
    (key, numbers[i]) alone.

    The j-th draw is uniform among the limit - j integers that are left; skipping the earlier
    draws in ascending order finds it. O(s size**2), size is tiny. taken (size,) is workspace.
    """
    for i in range(out.shape[0]):
        row_key = mix(key, numbers[i])
        for j in range(out.shape[1]):
            value = below(mix(row_key, j), limits[i] - j)
            position = 0
            while position < j and taken[position] <= value:
                value += 1
                position += 1
            for k in range(j, position, -1):
                taken[k] = taken[k - 1]
            taken[position] = value
            out[i, j] = value


@jit
def sample_smallest(key, n, hashes, out):
    """Fill each row i of out (s, size) with the integers j below n of the smallest hashes of
    (key, i n + j), ascending by hash. hashes (size,) is workspace. O(s n)."""
    size = out.shape[1]
    for i in range(out.shape[0]):
        for j in range(n):
            value = mix(key, i * n + j)
            if j >= size and value >= hashes[size - 1]:
                continue
            at = j if j < size else size - 1
            while at > 0 and hashes[at - 1] > value:
                hashes[at], out[i, at] = hashes[at - 1], out[i, at - 1]
                at -= 1
            hashes[at], out[i, at] = value, j
