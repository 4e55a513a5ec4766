"""Robust linear regression: least trimmed squares, to compare with."""

from __future__ import annotations

import numpy as np

from ...protocols import Floats

_STARTS, _STEPS, _SHARE = 200, 20, 0.75
# The median of |z| for a standard normal z.
_MAD = 0.6745


def robust_residuals(X: Floats, seed: int = 0) -> tuple[Floats, float]:
    """Residuals of the last column about a law of the others, and their robust scale.

    Least trimmed squares over three quarters of the rows: random minimal samples, concentration
    steps, then least squares over the rows within 2.5 sigmas. The scale is the median absolute
    residual divided by .6745.
    """
    A = np.column_stack([X[:, :-1], np.ones(len(X))])
    A = A / np.abs(A).max(axis=0)
    b, rng, kept = X[:, -1], np.random.default_rng(seed), int(_SHARE * len(X))
    best, least = np.zeros(len(X)), np.inf
    for _ in range(_STARTS):
        rows = rng.choice(len(X), A.shape[1] + 1, replace=False)
        for _ in range(_STEPS):
            r = b - A @ np.linalg.lstsq(A[rows], b[rows], rcond=None)[0]
            nearest = np.sort(np.argpartition(np.abs(r), kept - 1)[:kept])
            if np.array_equal(nearest, rows):
                break
            rows = nearest
        loss = float(np.sum(r[rows] ** 2))
        if loss < least:
            best, least = r, loss
    inside = np.abs(best) <= 2.5 * _scale(best)
    r = b - A @ np.linalg.lstsq(A[inside], b[inside], rcond=None)[0]
    return np.abs(r), _scale(r)


def _scale(residuals: Floats) -> float:
    return float(np.median(np.abs(residuals)) / _MAD)
