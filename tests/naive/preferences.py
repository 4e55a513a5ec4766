"""Preferences, equation (1) of the paper, in fixed point."""

from __future__ import annotations

import numpy as np

PHI = {
    "gaussian": lambda r, sigma: np.exp(-(r**2) / (2 * sigma**2)),
    "paper": lambda r, sigma: np.exp(-(r**2) / sigma),
    "binary": lambda r, sigma: np.ones_like(r),
}


def preferences(R, sigma, kernel, weight=None):
    """(n, m) integers 0 .. 127; sigma and weight may be one for each model."""
    sigma = np.broadcast_to(sigma, R.shape[1])
    weight = np.ones(R.shape[1]) if weight is None else weight / weight.max()
    P = np.zeros(R.shape, np.int64)
    for i, j in np.ndindex(*R.shape):
        if R[i, j] <= 3 * sigma[j]:
            P[i, j] = int(np.floor(127 * weight[j] * PHI[kernel](R[i, j], sigma[j]) + 0.5))
    return P


def without_in_sample_preferences(P, X, samples):
    """No preference for a model of which an equal row was a sample."""
    P = P.copy()
    for i, j in np.ndindex(*P.shape):
        if any(np.array_equal(X[i], X[row]) for row in samples[j]):
            P[i, j] = 0
    return P
