"""Multidimensional scaling of a table of distances."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..protocols import Floats

_ITERATIONS = 100
_TOLERANCE = 3e-4


def mds(D: Floats) -> Floats:
    """(n, 2) coordinates whose distances approximate D (n, n), without random numbers.

    Starts from Torgerson's solution and iterates de Leeuw's majorisation (SMACOF), which lowers
    the sum of squared errors in every iteration.
    """
    places, last = torgerson(D), np.inf
    n = len(D)
    for _ in range(_ITERATIONS):
        now = _distances(places)
        stress = float(np.sum((now - D) ** 2))
        if not stress < (1 - _TOLERANCE) * last:
            break
        last = stress
        ratio = np.divide(D, now, out=np.zeros_like(D), where=now > 0)
        places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / n
    return places


def torgerson(D: Floats) -> Floats:
    """(n, 2) classical scaling: the two principal coordinates of points with distances D."""
    squares = D**2
    rows = squares.mean(axis=0)
    B = -(squares - rows - rows[:, None] + rows.mean()) / 2
    last = [len(D) - 2, len(D) - 1]
    values, vectors = scipy.linalg.eigh((B + B.T) / 2, subset_by_index=last)
    places = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0))
    # The sign of an eigenvector is arbitrary: make its largest entry positive.
    ends = places[np.abs(places).argmax(axis=0), [0, 1]]
    return np.asarray(places * np.where(ends < 0, -1, 1))


def _distances(places: Floats) -> Floats:
    """(n, n) Euclidean distances."""
    squares = np.sum(places**2, axis=1)
    apart = squares + squares[:, None] - 2 * places @ places.T
    return np.asarray(np.sqrt(np.maximum(apart, 0)))
