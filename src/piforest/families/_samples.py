"""Properties of minimal samples."""

from __future__ import annotations

import numpy as np

from ..protocols import Bools, Floats, ModelFamily

# Families whose minimal samples have more coordinates than their models have parameters.
_FREEDOM = {"rigid": 6, "similarity3d": 7, "rotation": 3, "fundamental": 7}


def freedom(family: ModelFamily, d: int) -> int:
    """The number of parameters of a model: each point of a minimal sample fixes as many as the
    codimension."""
    return _FREEDOM.get(family.name, family.sample_size(d) * family.codimension(d))


def has_repeats(samples: Floats) -> Bools:
    """Whether each of the samples (s, k, d) contains a row twice: (s,). O(s k**2 d)."""
    found = np.zeros(len(samples), np.bool_)
    for apart in range(1, samples.shape[1]):
        same = (samples[:, apart:] == samples[:, :-apart]).all(axis=2)
        found |= same.any(axis=1)
    return found


def area(p: Floats, a: int, b: int, c: int) -> Floats:
    """Twice the signed area of a triangle of each sample (s, k, 2); exactly 0 if two of its points
    coincide."""
    u, v = p[:, b] - p[:, a], p[:, c] - p[:, a]
    return np.asarray(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
