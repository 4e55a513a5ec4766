"""Which structure each row belongs to, and how far from it the row lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..protocols import Bools, Floats, Ints
from .greedy import REACH, Structure, relative_distances

# Rows whose distances to all structures are in memory at once.
_BLOCK = 65_536


class Assignment(NamedTuple):
    """The structure of each row."""

    labels: Ints
    """(n,) the number of the structure, -1 for none"""
    distances: Floats
    """(n,) the distance to the nearest structure in its sigmas, also of rows without a structure;
    infinite if there is none"""
    pieces: Ints | None = None
    """(n,) the number of the connected piece, -1 for none, if it was asked for"""


def structures_to_assign(detector: Any) -> list[Structure] | None:
    """The structures of a detector that its rows can belong to; None if it has none.

    Those of windows end with their windows, so that rows elsewhere do not belong to them.
    """
    return None if hasattr(detector, "windows_") else getattr(detector, "structures_", None)


def assign_rows(X: Floats, normal: Bools, structures: Sequence[Structure]) -> Assignment:
    """The structure of each row of X.

    A row belongs to the structure that is nearest in half-widths, if it is `normal` and within
    three half-widths.
    """
    nearest, sigmas = nearest_structures(X, structures)
    reach = np.array([REACH * each.half_width / each.sigma for each in structures] or [0.0])
    # -1, where there is no structure, takes the last one, at an infinite distance.
    return Assignment(np.where(normal & (sigmas <= reach[nearest]), nearest, -1), sigmas)


def nearest_structures(X: Floats, structures: Sequence[Structure]) -> tuple[Ints, Floats]:
    """(n,) the structure that is nearest in half-widths, -1 if there is none, and the distance to
    it in its sigmas."""
    labels, distances = np.full(len(X), -1, np.int64), np.full(len(X), np.inf)
    found = list(structures)
    in_sigmas = np.array([each.half_width / each.sigma for each in found])
    for start in range(0, len(X) if found else 0, _BLOCK):
        part = slice(start, start + _BLOCK)
        relative = relative_distances(X[part], found)
        nearest = np.argmin(relative, axis=1)
        labels[part] = nearest
        distances[part] = relative[np.arange(len(nearest)), nearest] * in_sigmas[nearest]
    return labels, distances
