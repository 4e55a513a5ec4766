"""Concentration: models of impure samples move to a structure in small steps.

A minimal sample of twenty points is hardly ever taken from one structure. Its model is refitted to
the share of the points that are nearest to it, again and again, as in the concentration steps of
least trimmed squares: the nearest points are more often from one structure than those before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..protocols import Floats, ModelFamily
from .drawing import ModelSet
from .refit import LARGE, Lifted, can_refit

_MAX_STEPS = 40
# A model that changes less does not move any more: the relative change of the radius of its points.
_STILL = 1e-4


def can_concentrate(family: ModelFamily, d: int) -> bool:
    """Whether models of the family in d columns come from samples so large that few are pure.

    Of 10,000 samples of six points, two are from a structure with a quarter of all points.
    """
    return can_refit(family) and family.sample_size(d) >= LARGE


def concentrate(models: ModelSet, X: Floats, share: float) -> ModelSet:
    """Models that were refitted again and again to the given share of the rows of X that are
    nearest to them, then to two thirds of it, by biweights of their residuals.

    A large share leads a model to a structure, a smaller one to the points of this structure alone.
    A model whose points determine none stays as it is.
    """
    lifted, params = Lifted.of(models.family, X), models.params.copy(order="F")
    for nearest in (share * len(X), share * len(X) * 2 / 3):
        _concentrate(lifted, X, max(1, int(nearest)), params)
    return replace(models, params=params)


def _concentrate(lifted: Lifted, X: Floats, nearest: int, params: Floats) -> None:
    """Refit the models (m, p), in place, to their nearest rows, until they hardly move."""
    radius, moving = np.full(len(params), np.inf), np.arange(len(params))
    starts = np.zeros(len(X), np.int64)
    for _ in range(_MAX_STEPS):
        R = lifted.family.residuals(X, params[moving])
        limit = np.partition(R, nearest - 1, axis=0)[nearest - 1]
        moves = np.abs(limit - radius[moving]) > _STILL * limit
        radius[moving] = limit
        moving, R, limit = moving[moves], R[:, moves], limit[moves]
        if not len(moving):
            break
        theta, valid = lifted.refit([(slice(None), R)], limit, (starts, starts, starts[:0]))
        params[moving[valid]] = theta[valid]
