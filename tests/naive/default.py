"""The default detector, which goes past the paper, from points to scores; see docs/accuracy.md."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from piforest._random import Stream

from .bands import bands
from .forest import pi_forest, scores, smallest_words
from .metrics import table
from .preferences import preferences
from .samplers import mixed_samples


def default_detector(X, family, codimension, sigma, m, t, psi, b, pool_size, seed):
    """Path lengths (n, t) and scores (n,). `family` is one of `paper.py`; sigma may be "auto"."""
    stream = Stream.from_random_state(seed)
    embedding = Stream.from_random_state(stream.child("embedding").key)
    theta, samples = sample_models(X, family, m, embedding.child("models"))
    R = np.array([[family.deviation(x, model) for model in theta] for x in X])
    own = np.array([[(X[sample] == x).all(axis=1).any() for sample in samples] for x in X])
    estimate, width, ratio, gain = bands(R, own, widths(X), family.size, codimension)
    P = preferences(R, scales(sigma, estimate, width, ratio), "gaussian", gain**0.75)
    P[own] = 0
    pool = smallest_words(stream.child("pool").key, len(X), pool_size)
    D = table("tanimoto", P, P[pool])
    forest = pi_forest(D[pool], stream.child("trees"), t, psi, b)
    return scores(D, ~P.any(axis=1), forest, psi, b, soft=True)


def sample_models(X, family, m, stream):
    """m models and their samples; where some are degenerate, a round of more samples follows."""
    found, rounds = [], 0
    while len(found) < m:
        wanted = (m - len(found)) * min(2**rounds, 16)
        drawn = mixed_samples(stream.child(rounds), X, family.size, wanted)
        solved = [(family.solve(X[sample]), sample) for sample in drawn]
        found += [(theta, sample) for theta, sample in solved if theta is not None]
        rounds += 1
    return zip(*found[:m])


def widths(X):
    """15 half-widths, from the median distance of two points; for at most 500 of them."""
    d = X.shape[1]
    extent = np.median(pdist(X)) / np.sqrt(2 * d) * (1 + 0.39 * d**-1.5)
    return extent * 0.36 * 2.0 ** (-np.arange(15) / 2)


def scales(sigma, estimate, width, ratio):
    """The kernel's sigma for each model, between the model's own and that of the data."""
    if sigma == "auto":
        own = np.where(ratio > 0, width / 2, estimate)
        return own**0.9 * (4 * estimate / 3) ** 0.1
    return np.sqrt(sigma * np.where(ratio > 0, width / 2, sigma))
