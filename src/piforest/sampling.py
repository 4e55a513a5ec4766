"""Samplers: which points make a minimal sample.

>>> from piforest.sampling import list_samplers
>>> list_samplers()
['uniform']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._kernels.random import distinct
from ._random import Stream
from ._registry import Registry
from .protocols import Floats, Ints, Sampler

SAMPLERS = Registry("sampler", {"uniform": "piforest.sampling:UniformSampler"})


def list_samplers() -> list[str]:
    """The names that `sampler=` takes."""
    return SAMPLERS.names()


def get_sampler(name: str, **options: Any) -> Sampler:
    """A sampler by its name, with its own options."""
    sampler: Sampler = SAMPLERS.get(name, **options)
    return sampler


def resolve_sampler(sampler: Any) -> Sampler:
    """A name, or an object with a `draw` method."""
    if isinstance(sampler, str):
        return get_sampler(sampler)
    draws = callable(getattr(sampler, "draw", None)) and hasattr(sampler, "name")
    if isinstance(sampler, type) or not draws:
        raise ValueError(
            f"sampler must be one of {list_samplers()} or an object with the members of "
            f"piforest.protocols.Sampler, got {sampler!r}."
        )
    return sampler  # type: ignore[no-any-return]


@dataclass(frozen=True)
class UniformSampler:
    """Every set of points is as likely as any other. O(s k**2), whatever n is."""

    name: ClassVar[str] = "uniform"

    def draw(
        self,
        X: Floats,
        size: int,
        n_samples: int,
        stream: Stream,
        *,
        quality: Floats | None = None,
        groups: Ints | None = None,
    ) -> Ints:
        for given, value in (("quality", quality), ("groups", groups)):
            if value is not None:
                raise ValueError(
                    f"sampler 'uniform' does not use {given}; leave it out, or pass a sampler "
                    "that does."
                )
        out = np.empty((n_samples, size), np.int64)
        distinct(np.uint64(stream.key), len(X), size, out)
        return out
