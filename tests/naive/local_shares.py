"""A mixture of structures with local shares, row by row."""

from __future__ import annotations

import math

import numpy as np


def density_on(r, sigma, size, c):
    """The density at a distance from a structure: 5 % of the rows have three times the noise."""
    return sum(
        share * (size / (math.sqrt(2 * math.pi) * s)) ** c * math.exp(-0.5 * (r / s) ** 2)
        for share, s in ((0.95, sigma), (0.05, 3 * sigma))
    )


def local_shares(P, X, n_neighbours=10, everywhere=2.0):
    """(n, k + 1) the mean probabilities of the nearest other rows, and of all rows as two more."""
    shares = np.empty_like(P)
    for i in range(len(X)):
        order = sorted(range(len(X)), key=lambda j: (np.sum((X[i] - X[j]) ** 2), j))
        near = [j for j in order if j != i][:n_neighbours]
        shares[i] = (P[near].sum(axis=0) + everywhere * P.mean(axis=0)) / (len(near) + everywhere)
    return shares


def posterior(R, sigmas, shares, size, c):
    """The probabilities (n, k + 1) and the logarithms of the densities (n,)."""
    P, density = np.empty_like(shares), np.empty(len(R))
    for i in range(len(R)):
        each = [1.0, *(density_on(r, s, size, c) for r, s in zip(R[i], sigmas))]
        weighted = shares[i] * each
        P[i], density[i] = weighted / weighted.sum(), math.log(weighted.sum())
    return P, density


def noise(R, sigmas, P, size, c, freedom):
    """(k,) the noise of structures, rows of the tail weighing a ninth."""
    found = np.empty(len(sigmas))
    for k, sigma in enumerate(sigmas):
        total = 0.0
        for r, p in zip(R[:, k], P[:, k]):
            if p < 1e-200:  # so far away that its density is 0
                continue
            peak = 0.95 * (size / (math.sqrt(2 * math.pi) * sigma)) ** c
            inner = peak * math.exp(-0.5 * (r / sigma) ** 2) / density_on(r, sigma, size, c)
            total += p * (inner + (1 - inner) / 9) * r**2
        found[k] = math.sqrt(total / max(c * P[:, k].sum() - freedom, 1.0))
    return found
