"""One seed, and from it a named, numbered stream for every random decision.

A decision is a pure function of (seed, path): it does not depend on what was
drawn before it, on threads, or on global state. `piforest._kernels.random` is
the compiled twin.
"""

from __future__ import annotations

import hashlib
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)


def mix(key: Any, value: Any) -> NDArray[np.uint64]:
    """SplitMix64's word number `value` of the sequence seeded by `key`, elementwise."""
    key = np.asarray(key, dtype=np.uint64)
    value = np.asarray(value, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = key + (value + np.uint64(1)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _M1
        z = (z ^ (z >> np.uint64(27))) * _M2
        return np.asarray(z ^ (z >> np.uint64(31)))


def below(word: Any, n: Any) -> NDArray[np.int64]:
    """Integers in [0, n) from words, elementwise."""
    word = np.asarray(word, dtype=np.uint64)
    unit = (word >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(unit * np.asarray(n, np.float64)).astype(np.int64)


# So many words are held at once; more than these fall out of the processor's cache.
_WORDS = 2**18


def choose(stream: Stream, n: int, size: int) -> NDArray[np.int64]:
    """`size` distinct integers below n, ascending: those with the smallest words. O(n) time,
    O(size) memory."""
    if size >= n:
        return np.arange(n)
    chosen, words = np.empty(0, np.int64), np.empty(0, np.uint64)
    bound = np.uint64(2**64 - 1)
    for start in range(0, n, _WORDS):
        rows = np.arange(start, min(start + _WORDS, n))
        more = mix(stream.key, rows)
        small = more <= bound
        chosen, words = np.append(chosen, rows[small]), np.append(words, more[small])
        if len(words) > size:
            # No two words are equal, since `mix` is one to one.
            kept = np.argpartition(words, size - 1)[:size]
            chosen, words = chosen[kept], words[kept]
            bound = words.max()
    return np.sort(chosen)


# Beyond so many rows, what is measured on all of them is measured on as many.
SUBSET = 50_000


def subset(stream: Stream, n: int) -> NDArray[np.int64]:
    """The rows that stand for all n of them, ascending: all up to 50,000, else a random 50,000."""
    return choose(stream.child("subset"), n, SUBSET)


@dataclass(frozen=True)
class Stream:
    """A key, and from it children and NumPy generators."""

    key: int

    @classmethod
    def from_random_state(cls, random_state: Any) -> Stream:
        """An int is the seed itself; None asks the system; a generator is drawn from.

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
        key = self.key
        for step in path:
            if isinstance(step, str):
                step = int.from_bytes(hashlib.blake2b(step.encode(), digest_size=8).digest(), "big")
            key = int(mix(key, step))
        return Stream(key)

    def generator(self) -> np.random.Generator:
        """A NumPy generator, for drawing whole arrays outside the algorithm."""
        return np.random.Generator(np.random.Philox(key=self.key))
