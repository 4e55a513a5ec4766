"""Is a structure denser than what is beside it, on both sides?

Bands are compared with wider ones, or with rows of independent columns. A cloud without structure
differs from both where it has an edge or is no box: a band along the edge of a filled square has
twice as many points as wider bands let expect, and a circle through a filled disc has more than
independent columns do. But the density of such a cloud is as large beside the band.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream
from ..families import layout_of, side_of
from ..families.scaled import column_units
from ..protocols import Bools, Floats, ModelFamily
from .greedy import Structure

# A structure is denser by this factor within a quarter of a half-width than somewhere on either
# side. Half-widths are 1.2 to 2.5 sigmas: the nearest distances may be within the noise, and the
# farthest ones within other structures.
_DENSER = 2.0
_CORE, _BESIDE = 0.25, ((0.75, 1.5), (1.25, 2.5), (2.0, 4.0))
# Uniform points that measure how much of the box of the data is how far away. Fewer than fifty
# of them measure nothing.
_UNIFORM, _ENOUGH = 4096, 50
# Structures with half-widths above this share of the box have few surroundings among the points,
# and their half-widths are two sigmas, so that they are compared with what is next to them.
_WIDE = 0.1
# The box holds 98 % of each column, and what is beyond narrow structures at its ends.
_BOX = (1.0, 99.0)
_MOST_DIRECTIONS = 2
# Points within this many half-widths of another structure, and nearer to it, belong to that one.
_OTHERS = 2.0


def stand_out(X: Floats, structures: Sequence[Structure], stream: Stream) -> Bools:
    """(s,) which structures of the points X are denser than what is beside them.

    Only curves and surfaces among points are looked at; all others stand out. In more directions
    than two across a structure, few points are near its middle.
    """
    d = X.shape[1]
    if not structures or not all(_has_sides(each.family, d) for each in structures):
        return np.ones(len(structures), np.bool_)
    box, R = np.percentile(X, _BOX, axis=0), _relative(X, structures)
    shares = stream.generator().random((_UNIFORM, X.shape[1]))
    found = []
    for k, each in enumerate(structures):
        units = column_units(each.family, d)
        wide = bool(each.half_width > _WIDE * np.max((box[1] - box[0]) / units))
        margin = 0.0 if wide else _BESIDE[-1][1] * each.half_width * units
        low, high = box[0] - margin, box[1] + margin
        inside = _in_box(X, low, high)
        uniform = _uniform_near(each, low, high, shares)
        r = _sides(X[inside], R[:, inside], each, k)
        r0 = _sides(uniform, _relative(uniform, structures), each, k)
        found.append(_is_ridge(r, r0, each.family.codimension(d), wide))
    return np.array(found)


def standing_out(X: Floats, structures: Sequence[Structure], stream: Stream) -> list[Structure]:
    """The structures that `stand_out`."""
    dense = stand_out(X, structures, stream.child("beside"))
    return [each for each, seen in zip(structures, dense) if seen]


def _has_sides(family: ModelFamily, d: int) -> bool:
    return layout_of(family).kind == "points" and family.codimension(d) <= _MOST_DIRECTIONS


def _in_box(X: Floats, low: Floats, high: Floats) -> Bools:
    """(n,) which points are in a box; column by column, which is faster than a reduction."""
    inside = np.ones(len(X), np.bool_)
    for column, start, end in zip(X.T, low, high):
        inside &= (start <= column) & (end >= column)
    return inside


def _uniform_near(structure: Structure, low: Floats, high: Floats, shares: Floats) -> Floats:
    """Uniform points in the smallest box that contains the surroundings of a structure; shares:
    their coordinates between 0 and 1."""
    uniform = low + (high - low) * shares
    near = uniform[structure.residuals(uniform) <= _BESIDE[-1][1] * structure.half_width]
    if not len(near):
        return uniform
    margin = (high - low) / len(shares) ** (1 / shares.shape[1])
    start = np.maximum(near.min(axis=0) - margin, low)
    end = np.minimum(near.max(axis=0) + margin, high)
    return np.asarray(start + (end - start) * shares)


def _relative(X: Floats, structures: Sequence[Structure]) -> Floats:
    """(s, n) the distances in half-widths."""
    R = np.empty((len(structures), len(X)))
    for family in {id(each.family): each.family for each in structures}.values():
        own = [k for k, each in enumerate(structures) if each.family is family]
        params = np.array([structures[k].params for k in own])
        R[own] = (family.residuals(X, params) / [structures[k].half_width for k in own]).T
    return R


def _sides(X: Floats, R: Floats, structure: Structure, k: int) -> Floats:
    """The distances, in half-widths, of the points that belong to no structure but number k;
    negative on one side where it has two. R (s, n): of all points and structures."""
    nearest = np.delete(R, k, axis=0).min(axis=0, initial=np.inf)
    left = (nearest > _OTHERS) | (nearest > R[k])
    return np.asarray(R[k, left] * side_of(structure.family, X[left], structure.params))


def _is_ridge(r: Floats, r0: Floats, codimension: int, wide: bool) -> bool:
    """Whether points at signed distances r, in half-widths, are denser at 0 than beside it on both
    sides; r0: of uniform points."""
    sides = (1, -1) if (r < 0).any() or (r0 < 0).any() else (1,)
    return all(
        _is_denser(sign * r, sign * r0, codimension, len(sides), wide=wide) for sign in sides
    )


def _is_denser(r: Floats, r0: Floats, codimension: int, n_sides: int, *, wide: bool) -> bool:
    """Whether the points at distances 0 are denser than those at some positive distance, up to a
    standard error, if there is room at any; if `wide`, than at the smallest one with room."""
    core, volume = (int(np.sum(np.abs(each) <= _CORE)) for each in (r, r0))
    ratios = []
    for near, far in _BESIDE:
        points, room = (int(np.sum((each > near) & (each <= far))) for each in (r, r0))
        if room >= _ENOUGH:
            larger = room / max(volume, 1)
        elif volume < _ENOUGH:  # a narrow structure, whose ends do not matter
            larger = (far**codimension - near**codimension) / (n_sides * _CORE**codimension)
        else:
            continue
        error = np.sqrt(1 / max(core, 1) + 1 / max(points, 1))
        ratios.append(core * larger / max(points, 1) * (1 + error))
    return not ratios or (ratios[0] if wide else max(ratios)) >= _DENSER
