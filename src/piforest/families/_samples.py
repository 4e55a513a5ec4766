"""What families that know nothing about their points can still tell of a sample."""

from __future__ import annotations

import numpy as np

from ..protocols import Bools, Floats


def has_repeats(samples: Floats) -> Bools:
    """(s, k, d) to (s,): does a row stand twice in a sample? O(s k**2 d)."""
    found = np.zeros(len(samples), np.bool_)
    for apart in range(1, samples.shape[1]):
        same = (samples[:, apart:] == samples[:, :-apart]).all(axis=2)
        found |= same.any(axis=1)
    return found
