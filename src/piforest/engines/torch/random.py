"""`piforest._random.mix` and `below` for tensors: the same bits as signed integers."""

from __future__ import annotations

from typing import Any

import torch

from ..._random import GOLDEN, M1, M2

_SIGN_BIT = -(2**63)


def signed(bits: Any) -> int:
    """An unsigned 64-bit integer as the signed integer with the same bits."""
    value = int(bits) % 2**64
    return value - 2**64 if value >= 2**63 else value


_GOLDEN, _M1, _M2 = signed(GOLDEN), signed(M1), signed(M2)


def mix(key: Any, value: Any) -> Any:
    """Number `value` of the SplitMix64 sequence seeded with `key`; one is an int64 tensor."""
    step = signed((value + 1) * _GOLDEN) if isinstance(value, int) else (value + 1) * _GOLDEN
    z = key + step
    z = (z ^ _shift_right(z, 30)) * _M1
    z = (z ^ _shift_right(z, 27)) * _M2
    return z ^ _shift_right(z, 31)


def _shift_right(z: Any, by: int) -> Any:
    """z >> by for unsigned integers."""
    return (z >> by) & ((1 << (64 - by)) - 1)


def unsigned_order(bits: Any) -> Any:
    """Signed integers in the order of the unsigned integers with these bits."""
    return bits ^ _SIGN_BIT


def below(bits: Any, n: Any) -> Any:
    """Integers in [0, n) from 64 random bits each, elementwise."""
    return (_shift_right(bits, 11).to(torch.float64) * 2.0**-53 * n).to(torch.int64)
