"""How sure: p-values and probabilities of scores, from the scores of the training rows.

A training row has no preference for the models that were computed from it, so that its score is
like that of a new row. The distance of a row to its structure says how likely it is normal, without
the score: beside a structure rows are as rare as anywhere, and close to it they are mostly its own.
With this weight, training rows show how normal rows score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.stats import chi
from sklearn.isotonic import IsotonicRegression

from ..protocols import Floats
from ..structures.assignment import nearest_structures
from ..structures.greedy import Structure
from .thresholds import midway

# Shells about a structure, in sigmas: rows beyond the last one are not of the structure, and those
# up to twice as far show how dense the others are.
_SHELLS = (0.0, 1.0, 2.0, 3.0, 4.0, 4.5)
# Beyond so many sigmas, a structure has at most this many times the rows that Gaussian noise has:
# sigma is an estimate, and noise has longer tails.
_TAIL, _MOST_IN_TAIL = 3.0, 3.0


def normal_weights(X: Floats, structures: Sequence[Structure]) -> Floats:
    """(n,) the probability that each row belongs to its nearest structure, given the distance.

    In each shell it is the share of rows in excess of the density beside the structure, it does not
    increase with the distance, and beyond three sigmas it is limited by the number of rows that the
    noise explains. 1 for all rows if there are no structures.
    """
    if not structures:
        return np.ones(len(X))
    nearest, sigmas = nearest_structures(X, structures)
    weights = np.zeros(len(X))
    for k, each in enumerate(structures):
        rows = np.flatnonzero(nearest == k)
        codimension = each.family.codimension(X.shape[1])
        weights[rows] = _shell_weights(sigmas[rows], codimension)
    return weights


def _shell_weights(sigmas: Floats, codimension: int) -> Floats:
    """The weights of rows at these distances from one structure."""
    volumes = np.array(_SHELLS) ** codimension
    last = _SHELLS[-1]
    beside = np.sum((sigmas > last) & (sigmas <= 2 * last))
    density = beside / ((2 * last) ** codimension - last**codimension)
    weights, most = np.zeros(len(sigmas)), 1.0
    shells = np.searchsorted(_SHELLS[1:], sigmas, side="left")
    noise = chi(codimension).cdf(_SHELLS)
    core = noise[_SHELLS.index(_TAIL)]
    for shell, volume in enumerate(np.diff(volumes)):
        inside = shells == shell
        count = int(inside.sum())
        if count:
            most = min(most, max(0.0, 1 - density * volume / count))
        if count and _SHELLS[shell] >= _TAIL:
            expected = weights[sigmas <= _TAIL].sum() * (noise[shell + 1] - noise[shell]) / core
            most = min(most, _MOST_IN_TAIL * expected / count)
        weights[inside] = most
    return weights


@dataclass(frozen=True)
class Calibration:
    """The scores of normal rows, and the probability of an anomaly by score."""

    ordered: Floats
    """(n,) the scores of the training rows, or of those that represent them, ascending"""
    below: Floats
    """(n + 1,) the sum of the weights of the first scores"""
    knots: Floats
    """(k,) scores, ascending"""
    probabilities: Floats
    """(k,) the probability of an anomaly at each knot; not decreasing"""

    @classmethod
    def of(cls, X: Floats, scores: Floats, structures: Sequence[Structure]) -> Self:
        """From rows, their scores and the structures."""
        weights = normal_weights(X, structures)
        order = np.argsort(scores, kind="stable")
        fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, 1 - weights)
        # No finite number of rows shows that something is certain.
        least = 1 / (len(scores) + 2)
        return cls(
            scores[order],
            np.concatenate([[0.0], np.cumsum(weights[order])]),
            np.asarray(fitted.X_thresholds_, float),
            np.clip(np.asarray(fitted.y_thresholds_, float), least, 1 - least),
        )

    @property
    def weight(self) -> float:
        """The weight of all rows: as many normal ones stand behind a p-value."""
        return float(self.below[-1])

    def p_values(self, scores: Floats) -> Floats:
        """(1 + the weight of the rows that score at least as high) / (1 + the weight of all)."""
        lower = self.below[np.searchsorted(self.ordered, scores, side="left")]
        total = self.below[-1]
        return np.asarray((1 + np.maximum(total - lower, 0.0)) / (1 + total))

    def probability(self, scores: Floats) -> Floats:
        """The probability of an anomaly, interpolated between the knots."""
        return np.asarray(np.interp(scores, self.knots, self.probabilities))

    def threshold(self, rate: float) -> float:
        """The threshold on the score that the procedure of Benjamini and Hochberg gives for the
        training rows: among the flagged ones, the expected share of normal ones is at most `rate`.
        """
        n = len(self.ordered)
        # Of scores in descending order: ties are flagged together.
        scores = self.ordered[::-1]
        ends = np.append(scores[1:] < scores[:-1], True)
        p = self.p_values(scores)
        passing = np.flatnonzero(ends & (p <= rate * np.arange(1, n + 1) / n))
        if not len(passing):
            return float(scores[0])
        last = int(passing[-1])
        if last == n - 1:
            return float(np.nextafter(scores[-1], -np.inf))
        return midway(float(scores[last + 1]), float(scores[last]))
