"""Refit models to the points of their bands by weighted least squares.

The model of a minimal sample has the noise of a few points. For families that are linear in lifted
coordinates, the least-squares model of all points of a band follows from their second moments.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._kernels.moments import add_moments
from .._threads import in_parts
from ..families import Frame, extent, layout_of
from ..families.scaled import column_units
from ..protocols import Bools, Floats, Ints, ModelFamily
from .drawing import ModelSet
from .membership import SampleMembership
from .residuals import is_built_in, residual_blocks

# Points beyond this many scales have no weight.
_REACH = 2.5
# Minimal samples of this many points are large, and a fit then needs this many rows for each of
# them. A fit to fewer is by chance near the rows that it was fitted to, but not near others.
LARGE, ROWS_EACH = 6, 5
# Models of a thread: sums of floats run over all rows, so threads divide the models. As many in any
# case for custom families, whose last bits may depend on the number.
_PART, _FEWEST = 128, 16


def can_refit(family: ModelFamily) -> bool:
    """Whether the models of the family are refitted to their bands."""
    declared = hasattr(family, "lift") and hasattr(family, "refit")
    return declared and getattr(family, "refits_bands", True)


def refit_models(
    models: ModelSet, X: Floats, membership: SampleMembership, among: Bools | None = None
) -> ModelSet:
    """The least-squares models of the points in the bands, by biweights of their scales.

    The points of a model's own minimal sample have no weight. A model whose points determine none,
    or are too few, stays as it is. among: which models to refit, all by default.
    """
    size, limit = models.samples.shape[1], _REACH * models.scale
    lifted, (starts, ends) = Lifted.of(models.family, X), membership.of(X)
    S, counts = lifted.no_moments(len(models)), np.zeros(len(models), np.int64)

    def add(at: slice) -> None:
        bounds = None if models.bounds is None else models.bounds[at]
        part = replace(models, params=models.params[at], bounds=bounds)
        workspace = _workspace(len(part))
        for rows, R in residual_blocks(X, [part], limit[at]):
            if size >= LARGE:
                counts[at] += np.sum(limit[at] > R, axis=0)
            add_moments(
                R, limit[at], starts[rows], ends[rows], membership.columns, at.start,
                lifted.rows[rows], *workspace, S[at],
            )  # fmt: skip

    in_parts(add, len(models), _PART, _FEWEST if is_built_in(models.family) else _PART)
    theta, valid = lifted.solved(S)
    valid &= (size < LARGE) | (counts >= ROWS_EACH * size)
    if among is not None:
        valid &= among
    return replace(models, params=np.asfortranarray(np.where(valid[:, None], theta, models.params)))


class Lifted(NamedTuple):
    """Rows in the coordinates in which the models of a family are linear."""

    family: Any
    frame: Frame
    rows: Floats
    """(n, L)"""

    @classmethod
    def of(cls, family: Any, X: Floats) -> Lifted:
        frame = normalisation(family, X)
        return cls(family, frame, np.ascontiguousarray(family.lift(frame.normalised(X))))

    @classmethod
    def if_linear(cls, family: Any, X: Floats) -> Lifted | None:
        """None if the models of the family are not linear in any coordinates, or the rows have no
        extent."""
        if not (hasattr(family, "lift") and hasattr(family, "refit")):
            return None
        lifted = cls.of(family, X)
        return lifted if (lifted.frame.scale > 0).all() else None

    def take(self, rows: Ints) -> Lifted:
        """The same for some of the rows."""
        return self._replace(rows=self.rows[rows])

    def refit(
        self,
        blocks: Iterable[tuple[slice, Floats]],
        limit: Floats,
        skipped: tuple[Ints, Ints, Ints],
    ) -> tuple[Floats, Bools]:
        """The least-squares models (m, p) of the rows within the limits (m,), and a mask of the
        valid ones.

        blocks: slices of the rows and their residuals (rows, m), which are overwritten. skipped:
        starts and ends (n,) of the models that each row has no weight for, and these models.
        """
        S, (starts, ends, models) = self.no_moments(len(limit)), skipped
        workspace = _workspace(len(limit))
        for rows, R in blocks:
            add_moments(
                R, limit, starts[rows], ends[rows], models, 0, self.rows[rows], *workspace, S
            )
        return self.solved(S)

    def no_moments(self, m: int) -> Floats:
        """(m, L, L) sums of products, before any row is added."""
        return np.zeros((m, self.rows.shape[1], self.rows.shape[1]))

    def solved(self, S: Floats) -> tuple[Floats, Bools]:
        """The models of sums of products, of which the lower triangles are set."""
        S += np.tril(S, -1).transpose(0, 2, 1)
        with np.errstate(all="ignore"):
            params, valid = self.family.refit(S, self.frame)
        return params, valid & np.isfinite(params).all(axis=1)


def _workspace(m: int) -> tuple[Any, Any, Ints]:
    """Of `add_moments` for m models."""
    near = np.zeros(-(-m // 8) * 8, np.uint8)
    return near, near.view(np.uint64), np.empty(m + 8, np.int64)


def normalisation(family: ModelFamily, X: Floats) -> Frame:
    """Medians and sizes of the columns; one size for all columns, except for tables."""
    centre = np.median(X, axis=0)
    if layout_of(family).kind != "table":
        return Frame(centre, extent(family, X) * column_units(family, X.shape[1]))
    spread = np.median(np.abs(X - centre), axis=0)
    spread = np.where(spread > 0, spread, np.std(X, axis=0))
    return Frame(centre, np.where(spread > 0, spread, 1.0))


def weighted_model(lifted: Lifted, weights: Floats) -> Floats | None:
    """(p,) the least-squares model of rows with these weights (n,); None if they determine none."""
    # Not BLAS, whose sums may depend on the number of threads.
    S = np.einsum("ni,nj->ij", lifted.rows * weights[:, None], lifted.rows)
    with np.errstate(all="ignore"):
        theta, valid = lifted.family.refit(S[None], lifted.frame)
    return np.asarray(theta[0]) if valid.all() and np.isfinite(theta).all() else None
