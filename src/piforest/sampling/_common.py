"""The base class of the samplers, and functions that several of them use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels import random as compiled
from .._random import Stream
from .._validation import check_shape, is_real
from ..protocols import Floats, Ints

_USED_BY = {"quality": "weighted", "groups": "grouped"}


@dataclass(frozen=True)
class BaseSampler:
    """Base class of the built-in samplers: rejects arguments that are not in `needs`."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()

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
        """Row indices (n_samples, size), see `piforest.protocols.Sampler`."""
        given = {"quality": quality, "groups": groups}
        for argument, value in given.items():
            if value is not None and argument not in self.needs:
                raise ValueError(
                    f"sampler {self.name!r} does not use {argument}; leave it out, or pass a "
                    f"sampler that does, such as {_USED_BY[argument]!r}."
                )
        return self._draw(X, size, n_samples, stream, *(given[name] for name in self.needs))

    def _draw(self, X: Floats, size: int, n_samples: int, stream: Stream, *needs: Any) -> Ints:
        raise NotImplementedError


def uniform(stream: Stream, n: int, size: int, n_samples: int) -> Ints:
    """Uniform samples (n_samples, size): all sets of points are equally likely."""
    return without_replacement(stream, np.arange(n_samples), np.full(n_samples, n), size)


def without_replacement(stream: Stream, numbers: Ints, limits: Ints, size: int) -> Ints:
    """Rows (s, size) of distinct integers below limits[i], from (stream, numbers[i]) alone."""
    out, taken = np.empty((len(numbers), size), np.int64), np.empty(size, np.int64)
    compiled.sample_without_replacement(np.uint64(stream.key), numbers, limits, taken, out)
    return out


def non_uniform(share: float, n_samples: int) -> Ints:
    """The numbers of the samples that are not uniform: evenly spaced, the first among them."""
    steps = np.ceil(np.arange(n_samples + 1) * share)
    return np.flatnonzero(np.diff(steps) > 0)


def check_share_of_samples(parameter: str, value: Any) -> float:
    if not is_real(value) or not 0 < float(value) <= 1:
        raise ValueError(
            f"{parameter} of the samples must be in (0, 1], got {value!r}. For half of them write "
            "0.5; for none use sampler='uniform'."
        )
    return float(value)


def check_quality(sampler: str, quality: Any, n: int, size: int) -> Floats:
    """The quality (n,): finite, not negative, and above 0 for at least `size` points."""
    if quality is None:
        raise ValueError(
            f"sampler {sampler!r} needs the quality of each point: pass it to fit, "
            "fit(X, quality=...), numbers of at least 0, high for points to trust."
        )
    quality = check_shape("quality", quality, (n,)).astype(np.float64, copy=False)
    bad = np.flatnonzero(~(np.isfinite(quality) & (quality >= 0)))
    if len(bad):
        raise ValueError(
            f"quality must be finite numbers of at least 0, got {float(quality[bad[0]])!r} for "
            f"row {bad[0]}. Where low is good, as in ratios of distances, pass 1 - ratio."
        )
    positive = int(np.sum(quality > 0))
    if positive < size:
        raise ValueError(
            f"quality must be above 0 for at least {size} points, as many as a minimal sample "
            f"has; it is for {positive} of {n}, and sampler {sampler!r} draws no others. Give "
            "more points a small quality, or use sampler='uniform'."
        )
    return np.asarray(quality)


def check_groups(sampler: str, groups: Any, n: int, size: int) -> tuple[Ints, Ints]:
    """The group of each point, numbered from 0, and the size of each group; check that one has at
    least `size` points."""
    if groups is None:
        raise ValueError(
            f"sampler {sampler!r} needs the group of each point: pass it to fit, "
            "fit(X, groups=...), a number or name for each row."
        )
    values = check_shape("groups", groups, (n,))
    _, group_of, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if sizes.max() < size:
        raise ValueError(
            f"groups must have one group of at least {size} points, as many as a minimal sample "
            f"has; the largest of {len(sizes)} has {sizes.max()}. Merge groups, or use "
            "sampler='uniform'."
        )
    return group_of, sizes
