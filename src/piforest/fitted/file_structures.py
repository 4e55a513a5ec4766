"""The structures of a fitted model in its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._validation import LARGEST
from ..io.archive import Arrays
from ..models.drawing import ModelSet
from ..protocols import Floats, Ints
from ..structures.greedy import MAX_STRUCTURES, Structure


@dataclass(frozen=True)
class StoredStructures:
    """The structures of the training rows, without names and extents, which follow from these."""

    found: list[Structure]
    """`structures_`"""
    greedy: list[Structure]
    """those that the automatic threshold rests on, without members"""


def pack_structures(stored: StoredStructures, models: Sequence[ModelSet], arrays: Arrays) -> None:
    """Add the arrays of structures, whose families are those of the models."""
    families = [id(part.family) for part in models]
    for prefix, structures in (("structures", stored.found), ("greedy", stored.greedy)):
        numbers = np.array([families.index(id(each.family)) for each in structures], np.int64)
        arrays[f"{prefix}.family"] = numbers
        for i, part in enumerate(models):
            own = [each.params for each, number in zip(structures, numbers) if number == i]
            shape = (len(own), part.params.shape[1])
            arrays[f"{prefix}.{i}.params"] = np.array(own, np.float64).reshape(shape)
        arrays[f"{prefix}.values"] = np.array(
            [(each.half_width, each.sigma, each.log_ratio) for each in structures], np.float64
        ).reshape(-1, 3)
    members = [each.members for each in stored.found]
    arrays["structures.starts"] = np.cumsum([0, *map(len, members)], dtype=np.int64)
    arrays["structures.members"] = np.concatenate([np.empty(0, np.int64), *members])


def unpack_structures(
    arrays: Arrays, models: Sequence[ModelSet], numbers: Ints
) -> StoredStructures:
    """Check and unpack; numbers, ascending: the training rows that may be members.

    Raises
    ------
    ValueError
        If a value is not what `pack_structures` writes.
    """
    found, greedy = (
        _without_members(prefix, arrays, models) for prefix in ("structures", "greedy")
    )
    starts, members = arrays["structures.starts"], arrays["structures.members"]
    fits = (
        starts.dtype == members.dtype == np.int64
        and starts.shape == (len(found) + 1,)
        and members.ndim == 1
        and starts[0] == 0
        and starts[-1] == len(members)
        and bool((starts[1:] >= starts[:-1]).all())
        and _are_rows(members, numbers)
    )
    _require(fits)
    parts = np.split(members, starts[1:-1]) if len(found) else []
    _require(all(bool((part[1:] > part[:-1]).all()) for part in parts))
    return StoredStructures([each.with_members(m) for each, m in zip(found, parts)], greedy)


def _without_members(prefix: str, arrays: Arrays, models: Sequence[ModelSet]) -> list[Structure]:
    family, values = arrays[f"{prefix}.family"], arrays[f"{prefix}.values"]
    params = [arrays[f"{prefix}.{i}.params"] for i in range(len(models))]
    _require(
        family.dtype == np.int64
        and family.ndim == 1
        and len(family) <= MAX_STRUCTURES
        and bool(((family >= 0) & (family < len(models))).all())
        and values.dtype == np.float64
        and values.shape == (len(family), 3)
        and bool((np.abs(values) <= LARGEST).all() and (values[:, :2] > 0).all())
    )
    for i, part in enumerate(params):
        # Parameters may have any size: those of an ellipse are inverse squares of lengths.
        shape = (int(np.sum(family == i)), models[i].params.shape[1])
        fits = part.dtype == np.float64 and part.shape == shape
        _require(fits and bool(np.isfinite(part).all()))
    at = [0] * len(models)
    found = []
    for i, (half_width, sigma, log_ratio) in zip(family.tolist(), values.tolist()):
        none = np.empty(0, np.int64)
        theta: Floats = params[i][at[i]]
        found.append(Structure(models[i].family, theta, half_width, log_ratio, none, sigma))
        at[i] += 1
    return found


def _are_rows(members: Ints, numbers: Ints) -> bool:
    """Whether the members are some of the rows with these numbers, each at most once."""
    at = np.minimum(np.searchsorted(numbers, members), len(numbers) - 1)
    return bool((numbers[at] == members).all()) and len(np.unique(members)) == len(members)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("its structures do not fit the rest")
