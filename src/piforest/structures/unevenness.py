"""Noise that grows or shrinks along the prediction of a law, as that of sums of money does.

Beside one sigma for all rows, most rows with a large prediction look like anomalies. The noise is
therefore measured in parts of the rows, in the order of their predictions. Its trend counts as far
as it is certain: a limit of its significance alone would give all or nothing to laws that differ by
no more than those of two seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import theilslopes

from ..bands.noise import robust_sigma
from ..protocols import Floats
from .description import Structure
from .laws import target_of

# Parts of the rows, and the least number of rows in each.
_PARTS, _LEAST = 8, 8
_ORDER = np.arange(_PARTS) - (_PARTS - 1) / 2
# A slope of this many standard errors counts as 0, and more of a larger one: three quarters of one
# that is twice as certain (the estimate of James and Stein).
_CERTAIN = 2.0
# The standard error of the logarithm of a median distance, for one Gaussian row.
_ERROR = 1.17
# Noise that changes by less than these factors from the first part to the last does not matter:
# that of all rows as far as it is certain, and that of the rows which the law holds.
_MUCH, _MUCH_INSIDE = 1.5, 1.5
# The law holds at least this share of the rows, within this many sigmas: what lies about a law of
# few rows is no noise of it.
_HELD, _REACH = 0.5, 4.0
# Noise of a part is at least this share of sigma: that of exact values has no logarithm.
_LEAST_NOISE = 1e-3


@dataclass(frozen=True, eq=False)
class UnevenNoise:
    """The noise of a law along its prediction."""

    structure: Structure
    predictions: Floats
    """(8,) the medians of the parts, ascending"""
    factors: Floats
    """(8,) the noise there in units of sigma, on a trend that single parts cannot bend"""

    @property
    def growth(self) -> float:
        """The noise of the last part in units of that of the first."""
        return float(self.factors[-1] / self.factors[0])

    def at(self, X: Floats) -> Floats:
        """(n,) the noise at the predictions of the rows X in units of sigma, at least 1: where it
        is smaller than sigma, a row is no anomaly for that."""
        family: Any = self.structure.family
        predicted = family.predicted(X, self.structure.params)
        return np.asarray(np.maximum(np.interp(predicted, self.predictions, self.factors), 1.0))


def uneven_noise(X: Floats, structure: Structure) -> UnevenNoise | None:
    """The noise of a law of a table along its prediction, among the rows X that belong to it or to
    nothing else; None if it is even, or if there are too few rows."""
    family: Any = structure.family
    if target_of(family) is None or not hasattr(family, "predicted") or len(X) < _PARTS * _LEAST:
        return None
    predicted, r = family.predicted(X, structure.params), structure.residuals(X)
    held = r <= _REACH * structure.sigma
    if np.mean(held) < _HELD or np.sum(held) < _PARTS * _LEAST:
        return None
    medians, logs = _noise_of_parts(predicted, r, structure.sigma)
    slope, middle = _certain_slope(logs, len(X))
    if abs(slope) * (_PARTS - 1) < np.log(_MUCH):
        return None
    # Also among the rows that the law holds: a heap of others at an end is no noise.
    _, inner = _noise_of_parts(predicted[held], r[held], structure.sigma)
    if np.sign(slope) * theilslopes(inner, _ORDER)[0] * (_PARTS - 1) < np.log(_MUCH_INSIDE):
        return None
    return UnevenNoise(structure, medians, np.exp(middle + slope * _ORDER))


def _certain_slope(logs: Floats, n: int) -> tuple[float, float]:
    """The slope of the logarithms (8,) of the noise of n rows along the parts, less what may be
    chance, and their level in the middle; single parts cannot bend it."""
    slope, middle = theilslopes(logs, _ORDER)[:2]
    error = _ERROR / np.sqrt(n / _PARTS * np.sum(_ORDER**2))
    certain = 1 - (_CERTAIN * error / slope) ** 2 if slope else 0.0
    return float(slope * max(certain, 0.0)), float(middle)


def _noise_of_parts(predicted: Floats, r: Floats, sigma: float) -> tuple[Floats, Floats]:
    """(8,) the median prediction of each part of the rows, and the logarithm of their noise in
    units of sigma; r: the residuals."""
    parts = np.array_split(np.argsort(predicted, kind="stable"), _PARTS)
    noise = np.array([robust_sigma(r[rows], float(r[rows].max()), 1) for rows in parts])
    medians = np.array([np.median(predicted[rows]) for rows in parts])
    return medians, np.log(np.maximum(noise / sigma, _LEAST_NOISE))
