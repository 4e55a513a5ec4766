"""Refit models to the points of their bands by weighted least squares.

The model of a minimal sample has the noise of a few points. For families that are linear in lifted
coordinates, the least-squares model of all points of a band follows from their second moments.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._kernels.moments import add_moments
from ._threads import in_threads, n_threads
from .families import Frame, extent, layout_of
from .membership import SampleMembership
from .models import ModelSet
from .protocols import Bools, Floats, ModelFamily
from .residuals import residual_blocks

# Points beyond this many scales have no weight.
_REACH = 2.5
# Models of a thread: sums of floats run over all rows, so threads divide the models.
_PART = 256


def can_refit(family: ModelFamily) -> bool:
    """Whether the models of the family are refitted to their bands."""
    declared = hasattr(family, "lift") and hasattr(family, "refit")
    return declared and getattr(family, "refits_bands", True)


def refit_models(models: ModelSet, X: Floats, membership: SampleMembership) -> ModelSet:
    """The least-squares models of the points in the bands, by biweights of their scales.

    The points of a model's own minimal sample have no weight. A model whose points determine none
    stays as it is.
    """
    params, valid = _refitted(models, X, membership)
    valid &= np.isfinite(params).all(axis=1)
    theta = np.asfortranarray(np.where(valid[:, None], params, models.params))
    return replace(models, params=theta)


def _refitted(models: ModelSet, X: Floats, membership: SampleMembership) -> tuple[Floats, Bools]:
    family, frame = models.family, normalisation(models.family, X)
    lifted = np.ascontiguousarray(family.lift(frame.normalised(X)))  # type: ignore[attr-defined]
    size = lifted.shape[1]
    S = np.zeros((len(models), size, size))
    limit, (starts, ends) = _REACH * models.scale, membership.of(X)

    def add(first: int) -> None:
        at = slice(first, first + _PART)
        bounds = None if models.bounds is None else models.bounds[at]
        part = replace(models, params=models.params[at], bounds=bounds)
        for rows, R in residual_blocks(X, [part], limit[at]):
            add_moments(
                R, limit[at], starts[rows], ends[rows], membership.columns, first, lifted[rows],
                S[at],
            )  # fmt: skip

    parts = [(first,) for first in range(0, len(models), _PART)]
    list(in_threads(add, parts, n_threads(), len(parts)))
    S += np.tril(S, -1).transpose(0, 2, 1)
    with np.errstate(all="ignore"):
        params, valid = family.refit(S, frame)  # type: ignore[attr-defined]
    return params, valid


def normalisation(family: ModelFamily, X: Floats) -> Frame:
    """Medians and sizes of the columns; one size for all columns, except for tables."""
    centre = np.median(X, axis=0)
    if layout_of(family).kind != "table":
        return Frame(centre, np.full(X.shape[1], extent(family, X)))
    spread = np.median(np.abs(X - centre), axis=0)
    spread = np.where(spread > 0, spread, np.std(X, axis=0))
    return Frame(centre, np.where(spread > 0, spread, 1.0))
