"""The noise of a structure from the residuals of its points."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from ..protocols import Floats

# A point is in the core within this many sigmas.
CORE = 3.0


def robust_sigma(r: Floats, start: float, codimension: int) -> float:
    """The standard deviation of residuals of a structure, among residuals of other points.

    It follows from the median of the residuals of the core: those up to `start`, then once more
    those within three sigmas. `start` / 2 without any.
    """
    median, sigma, far = median_length(codimension), start / 2, in_sigmas(CORE, codimension)
    for core in (start, None):
        inner = r[r <= (far * sigma if core is None else core)]
        sigma = float(np.median(inner) / median) if len(inner) else sigma
    return sigma


def in_sigmas(distance: float, codimension: int) -> float:
    """A distance from a structure of codimension 1 or 2, in its sigmas, as the distance from one of
    the given codimension: with many columns, all points are far from it."""
    return distance + max(0.0, median_length(codimension) - median_length(2))


def median_length(c: int) -> float:
    """The median of the length of a Gaussian vector with c components."""
    return float(np.sqrt(2 * gammaincinv(c / 2, 0.5)))
