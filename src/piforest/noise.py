"""The noise of a structure from the residuals of its points."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from .protocols import Floats

# A point is in the core within this many sigmas.
_CORE = 3.0


def robust_sigma(r: Floats, start: float, codimension: int) -> float:
    """The standard deviation of residuals of a structure, among residuals of other points.

    It follows from the median of the residuals of the core: those up to `start`, then once more
    those within three sigmas. `start` / 2 without any.
    """
    # The median of the length of a Gaussian vector with as many components as the codimension.
    median = np.sqrt(2 * gammaincinv(codimension / 2, 0.5))
    sigma = start / 2
    for core in (start, None):
        inner = r[r <= (_CORE * sigma if core is None else core)]
        sigma = float(np.median(inner) / median) if len(inner) else sigma
    return sigma
