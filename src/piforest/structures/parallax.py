"""Matches on no plane that agree with one epipolar geometry: points off the planes, not mistakes.

A plane and two points off it determine the epipolar geometry: the line from where the plane would
take a point to where it is passes through the epipole, for all points of a rigid scene.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._random import Stream
from ..families import layout_of
from ..models.membership import first_occurrences
from ..protocols import Floats, Ints, ModelFamily
from .greedy import REACH, Structure, relative_distances

# Pairs of matches that are tried, for each of so many planes with the most matches.
_PAIRS, _PLANES = 500, 3
# Matches agree within this many half-widths, three sigmas.
_NEAR = 1.5
# Chance gives as many in one data set of a thousand; and they are at least so many, this share of
# the matches on no plane, and this many times as many as by chance.
_CHANCE, _LEAST, _SHARE, _TIMES = 1e-3, 15, 0.2, 2.0


class Parallax(NamedTuple):
    """Matches off all planes."""

    agree: int
    """with one epipolar geometry"""
    total: int


def parallax_of(X: Floats, structures: Sequence[Structure], stream: Stream) -> Parallax | None:
    """Whether more of the matches X on none of the maps agree with one epipolar geometry than by
    chance; None if not."""
    maps = [each for each in structures if is_map(each.family)]
    if not maps or X.shape[1] != 4:
        return None
    off = np.all(relative_distances(X, maps) > REACH, axis=1)
    rows = X[first_occurrences(X, layout_of(maps[0].family).views, off)]
    largest = sorted(maps, key=lambda each: -each.support)[:_PLANES]
    found = [_agreeing(each, rows, stream.child(k)) for k, each in enumerate(largest)]
    best, expected = max(found, default=(0, 0.0), key=lambda each: _log_ratio(*each))
    level = np.log(len(largest) * _PAIRS / _CHANCE)
    enough = max(_LEAST, _SHARE * len(rows), _TIMES * expected)
    if best < enough or _log_ratio(best, expected) <= level:
        return None
    return Parallax(best, len(rows))


def is_map(family: ModelFamily) -> bool:
    """Whether a family maps points of one image to points of another."""
    kind = layout_of(family).kind
    return kind == "matches" and family.codimension(4) == 2 and hasattr(family, "matrices")


def _agreeing(structure: Structure, rows: Floats, stream: Stream) -> tuple[int, float]:
    """How many matches agree with the best epipole, and how many would by chance."""
    family: Any = structure.family
    near = _NEAR * structure.half_width
    there = np.column_stack([rows[:, :2], np.ones(len(rows))])
    there = there @ family.matrices(structure.params[None])[0].T
    front = there[:, 2] > 0
    mapped, points = there[front, :2] / there[front, 2:], rows[front, 2:]
    if len(points) < _LEAST:
        return 0, 0.0
    # Epipoles may be far away: lines in coordinates about the matches, of their size.
    centre = points.mean(axis=0)
    size = float(np.sqrt(np.mean((points - centre) ** 2))) or 1.0
    y, x = (np.column_stack([(each - centre) / size, np.ones(len(points))])
            for each in (mapped, points))  # fmt: skip
    lines = np.cross(x, y)
    pairs = _pairs(len(points), stream)
    epipoles = np.cross(lines[pairs[:, 0]], lines[pairs[:, 1]])
    inside = _distances(epipoles, x, y) * size <= near
    best = np.flatnonzero(inside[:, int(np.argmax(inside.sum(axis=0)))])
    # Least squares of the lines that pass near it.
    unit = lines[best] / np.linalg.norm(lines[best], axis=1, keepdims=True)
    epipole = np.linalg.svd(unit)[2][-1:]
    refitted = _distances(epipole, x, y)[:, 0] * size <= near
    # Matches in any direction from where the plane would take them, as far from there.
    ratio = near / np.maximum(np.linalg.norm(points - mapped, axis=1), near)
    expected = float(np.sum(2 / np.pi * np.arcsin(ratio)))
    return max(len(best), int(refitted.sum())), expected


def _pairs(n: int, stream: Stream) -> Ints:
    """(p, 2) random pairs of different numbers below n."""
    rng = stream.generator()
    first = rng.integers(n, size=_PAIRS)
    return np.column_stack([first, (first + rng.integers(1, n, size=_PAIRS)) % n])


def _distances(epipoles: Floats, x: Floats, y: Floats) -> Floats:
    """(n, e) the distances of the points x from the lines through the points y and the epipoles."""
    lines = np.cross(y[:, None], epipoles[None])
    lengths = np.linalg.norm(lines[:, :, :2], axis=2)
    return np.asarray(np.abs(np.sum(lines * x[:, None], axis=2)) / np.maximum(lengths, 1e-300))


def _log_ratio(n: int, expected: float) -> float:
    """The log-likelihood ratio of a Poisson count; two of the matches determine the epipole."""
    n -= 2
    return float(n * np.log(n / expected) - (n - expected)) if n > expected > 0 else 0.0
