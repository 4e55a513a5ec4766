"""A map of a table of distances: multidimensional scaling."""

from __future__ import annotations

import numpy as np

from ..protocols import Floats

_STEPS = 150
_SLOWEST = 1e-4


def mds(D: Floats) -> Floats:
    """(n, 2) places whose distances are as near to D (n, n) as steps downhill bring them.

    Begins with Torgerson's solution and goes on with de Leeuw's majorisation (SMACOF), which
    lowers the sum of squared errors at every step. No chance is involved.
    """
    places, last = torgerson(D), np.inf
    n = len(D)
    for _ in range(_STEPS):
        now = _apart(places)
        stress = float(np.sum((now - D) ** 2))
        if not stress < (1 - _SLOWEST) * last:
            break
        last = stress
        ratio = np.divide(D, now, out=np.zeros_like(D), where=now > 0)
        places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / n
    return places


def torgerson(D: Floats) -> Floats:
    """(n, 2) the two directions in which points with distances D extend farthest."""
    squares = D**2
    rows = squares.mean(axis=0)
    B = -(squares - rows - rows[:, None] + rows.mean()) / 2
    values, vectors = np.linalg.eigh((B + B.T) / 2)
    places = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    # The sign of an eigenvector means nothing: the largest entry is positive.
    ends = places[np.abs(places).argmax(axis=0), [0, 1]]
    return np.asarray(places * np.where(ends < 0, -1, 1))


def _apart(places: Floats) -> Floats:
    """(n, n) distances."""
    squares = np.sum(places**2, axis=1)
    apart = squares + squares[:, None] - 2 * places @ places.T
    return np.asarray(np.sqrt(np.maximum(apart, 0)))
