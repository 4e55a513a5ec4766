"""Structures of several kinds: which family is each structure of the best description?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream
from ..protocols import Floats, ModelFamily
from .description import Described, Description, added, best_description
from .search import fit_members

# A second family must add this share of evidence before its structures are looked at.
_ADDS = 0.08
# More kinds than this are not told apart.
_MOST = 3
# Each kind explains at least this share of the rows that all explain.
_EACH_KIND = 0.12
# A cheaper family may have less evidence for one structure by this many nats, the error of the fit,
# and by this share: real walls and floors are not flat up to the noise.
_TOLERANCE, _RELATIVE_TOLERANCE = 2.0, 0.05


def by_kind(
    best: int,
    families: dict[int, ModelFamily],
    single: dict[int, Description],
    found: dict[int, list[Described]],
    X: Floats,
    null: Floats,
    stream: Stream,
) -> tuple[tuple[int, ...], Description]:
    """The families of the structures in the best description, and that description.

    A family with more parameters also fits the structures of a simpler one: circles through the
    points of a line. So each structure is fitted by all families, and the cheapest that fits it as
    well says its kind.
    """
    base = _with_second(best, families, single, found)
    mixed, chosen = _described(base, families, X, null, stream)
    while len(chosen) > 2:
        main = {k: families[k] for k in chosen[: min(_MOST, len(chosen) - 1)]}
        if len(chosen) <= _MOST and _needs_all(mixed, main, found):
            break
        mixed, chosen = _described(base, main, X, null, stream)
    if chosen == [best]:
        return (best,), single[best]
    return tuple(chosen), mixed


def _needs_all(
    mixed: Description, main: dict[int, ModelFamily], found: dict[int, list[Described]]
) -> bool:
    """Whether a description is clearly better than one without its last kind, whose structures
    those of the main kinds may hold: a few cylinders also hold a sphere."""
    own = [each for each in mixed.structures if any(each.family is one for one in main.values())]
    fewer = best_description([*own, *(each for k in main for each in found[k])])
    return mixed.evidence > fewer.evidence * (1 + _ADDS)


def _described(
    base: Description, families: dict[int, ModelFamily], X: Floats, null: Floats, stream: Stream
) -> tuple[Description, list[int]]:
    """The description with each structure of its own kind, and the kinds that explain enough, the
    one with the largest share first."""
    numbers = {id(family): number for number, family in families.items()}
    structures = base.structures
    mixed = best_description([
        _kind(each, [*structures[:k], *structures[k + 1 :]], families, X, null, stream.child(k))
        for k, each in enumerate(structures)
    ])  # fmt: skip
    shares = dict.fromkeys(families, 0.0)
    for each, share in zip(mixed.structures, mixed.shares):
        if id(each.family) in numbers:
            shares[numbers[id(each.family)]] += share
    chosen = [k for k in families if shares[k] >= _EACH_KIND * mixed.explained]
    return mixed, sorted(chosen, key=lambda k: -shares[k])


def _with_second(
    best: int,
    families: dict[int, ModelFamily],
    single: dict[int, Description],
    found: dict[int, list[Described]],
) -> Description:
    """The description by the best family, or by it and another one if that is clearly better."""
    chosen, value = single[best], single[best].evidence * (1 + _ADDS)
    for other in families:
        if other != best and found[other]:
            both = best_description([*single[best].structures, *found[other]])
            if both.evidence > value:
                chosen, value = both, both.evidence
    return chosen


def _kind(
    structure: Described,
    others: Sequence[Described],
    families: dict[int, ModelFamily],
    X: Floats,
    null: Floats,
    stream: Stream,
) -> Described:
    """The structure as one of the cheapest family that fits it as well beside the others: a wide
    band around all of them may have as much evidence alone."""
    fits = [structure] if any(structure.family is each for each in families.values()) else []
    for number, family in families.items():
        if family is not structure.family:
            fits += fit_members(family, structure, X, null, stream.child(number))
    if not fits:
        return structure
    values = added(fits, others) - np.array([each.cost for each in fits])
    best = values.max()
    good = np.flatnonzero(values >= best - _TOLERANCE - _RELATIVE_TOLERANCE * abs(best))
    return fits[min(good, key=lambda k: (fits[k].cost, -values[k]))]
