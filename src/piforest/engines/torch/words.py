"""`piforest._random.mix` and `below` for tensors: the same bits in signed integers."""

from __future__ import annotations

from typing import Any

import torch

from ..._random import GOLDEN, M1, M2

_LEAST = -(2**63)


def signed(word: Any) -> int:
    """A 64-bit word as the signed integer of the same bits."""
    value = int(word) % 2**64
    return value - 2**64 if value >= 2**63 else value


_GOLDEN, _M1, _M2 = signed(GOLDEN), signed(M1), signed(M2)


def mix(key: Any, value: Any) -> Any:
    """Word number `value` of the sequence seeded by `key`; one of them a tensor of int64."""
    step = signed((value + 1) * _GOLDEN) if isinstance(value, int) else (value + 1) * _GOLDEN
    z = key + step
    z = (z ^ _shifted(z, 30)) * _M1
    z = (z ^ _shifted(z, 27)) * _M2
    return z ^ _shifted(z, 31)


def _shifted(z: Any, by: int) -> Any:
    """z >> by without the sign."""
    return (z >> by) & ((1 << (64 - by)) - 1)


def ordered(words: Any) -> Any:
    """Signed integers in the order of the words."""
    return words ^ _LEAST


def below(word: Any, n: Any) -> Any:
    """Integers in [0, n) from words, elementwise."""
    return (_shifted(word, 11).to(torch.float64) * 2.0**-53 * n).to(torch.int64)
