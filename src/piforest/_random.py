"""Random streams: one seed gives a named, numbered stream for every random decision.

A decision is a pure function of (seed, path): it does not depend on what was drawn before it, on
threads, or on global state. `piforest._kernels.random` is the same in compiled code.
"""

from __future__ import annotations

import hashlib
import numbers
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
M1 = np.uint64(0xBF58476D1CE4E5B9)
M2 = np.uint64(0x94D049BB133111EB)
_MASK = 2**64 - 1

# If there are more training rows, a random subset of this size represents them.
SUBSET = 50_000

_CHUNK = 8192
# From this ratio n / size on, drawing row numbers is faster than hashing all rows.
_SPARSE_RATIO = 8


def mix(key: Any, value: Any) -> NDArray[np.uint64]:
    """Number `value` of the SplitMix64 sequence seeded with `key`: 64 random bits, elementwise."""
    key = np.asarray(key, dtype=np.uint64)
    value = np.asarray(value, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.asarray(key + (value + np.uint64(1)) * GOLDEN)
        # In place: arrays of chunks stay in the cache.
        shifted = np.empty_like(z)
        for shift, factor in ((30, M1), (27, M2), (31, None)):
            np.right_shift(z, np.uint64(shift), out=shifted)
            np.bitwise_xor(z, shifted, out=z)
            if factor is not None:
                np.multiply(z, factor, out=z)
        return z


def _mix_numbers(key: int, value: int) -> int:
    """`mix` of two integers of at most 64 bits: a call of NumPy takes ten times as long."""
    z = (key + (value + 1) * int(GOLDEN)) & _MASK
    z = ((z ^ (z >> 30)) * int(M1)) & _MASK
    z = ((z ^ (z >> 27)) * int(M2)) & _MASK
    return z ^ (z >> 31)


def below(bits: Any, n: Any) -> NDArray[np.int64]:
    """Integers in [0, n) from 64 random bits each, elementwise."""
    bits = np.asarray(bits, dtype=np.uint64)
    unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(unit * np.asarray(n, np.float64)).astype(np.int64)


def choose(stream: Stream, n: int, size: int) -> NDArray[np.int64]:
    """`size` distinct integers below n, ascending: those with the smallest hashes.

    If n is above 50,000 and `size` is small, the first ones that are drawn: O(size), not O(n).
    """
    if size >= n:
        return np.arange(n)
    if n > SUBSET and n >= _SPARSE_RATIO * size:
        return _first_drawn(stream.key, n, size)
    # Hashes are uniform: a bound is known that `size` of them and few more nearly always satisfy.
    # Selecting among these is ten times faster than among all.
    bound = min(1.0, (size + 6 * np.sqrt(size) + 6) / n)
    rows, hashes = _below_bound(stream.key, n, np.uint64(bound * (2**64 - 2**11)))
    if len(rows) < size:
        rows, hashes = _below_bound(stream.key, n, np.uint64(2**64 - 1))
    # Different rows have different hashes.
    return np.asarray(rows[hashes <= np.partition(hashes, size - 1)[size - 1]])


def _first_drawn(key: int, n: int, size: int) -> NDArray[np.int64]:
    """The first `size` distinct integers of a random sequence below n, ascending."""
    draws = size
    while True:
        draws += draws // 4 + 8
        drawn, first = np.unique(below(mix(key, np.arange(draws)), n), return_index=True)
        if len(drawn) >= size:
            return np.asarray(drawn[first <= np.partition(first, size - 1)[size - 1]])


def _below_bound(
    key: int, n: int, bound: np.uint64
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The integers below n whose hashes are at most `bound`, and the hashes; in chunks that fit
    into the cache."""
    rows, hashes = [], []
    for start in range(0, n, _CHUNK):
        numbers = np.arange(start, min(start + _CHUNK, n))
        chunk = mix(key, numbers)
        kept = chunk <= bound
        rows.append(numbers[kept])
        hashes.append(chunk[kept])
    return np.concatenate(rows), np.concatenate(hashes)


def subset(stream: Stream, n: int) -> NDArray[np.int64]:
    """The rows that represent all n rows, ascending: all up to 50,000, else a random 50,000."""
    return np.arange(n) if n <= SUBSET else _kept_subset(stream.child("subset"), n)


@lru_cache(maxsize=1)
def _kept_subset(stream: Stream, n: int) -> NDArray[np.int64]:
    """The random rows of a fit, which asks for them three times."""
    rows = choose(stream, n, SUBSET)
    rows.setflags(write=False)
    return rows


@dataclass(frozen=True)
class Stream:
    """A source of random numbers, identified by its key."""

    key: int

    @classmethod
    def from_random_state(
        cls, random_state: int | np.random.RandomState | np.random.Generator | None
    ) -> Stream:
        """An int is the seed; None takes one from the system; a generator is drawn from.

        The global state of `numpy.random` is never read or changed.
        """
        if random_state is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        elif isinstance(random_state, np.random.RandomState):
            seed = int(random_state.randint(0, 2**31 - 1))
        elif isinstance(random_state, np.random.Generator):
            seed = int(random_state.integers(0, 2**63 - 1))
        elif isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
            seed = int(random_state) % 2**64
        else:
            raise ValueError(
                "random_state must be None, an integer, a numpy RandomState or Generator, "
                f"got {random_state!r}."
            )
        return cls(seed).child("piforest")

    def child(self, *path: int | str) -> Stream:
        """The stream of a name, a number, or a path of several."""
        key = int(self.key)
        for step in path:
            if isinstance(step, str):
                step = int.from_bytes(hashlib.blake2b(step.encode(), digest_size=8).digest(), "big")
            key = _mix_numbers(key, int(step))
        return Stream(key)

    def generator(self) -> np.random.Generator:
        """A NumPy generator, for drawing arrays outside the algorithm."""
        return np.random.Generator(np.random.Philox(key=self.key))
