"""Distances of points to models, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import cast

import numpy as np

from .._kernels.preferences import exclude_outside
from .._validation import check_distances, check_shape
from ..families import FAMILIES, Family
from ..families.scaled import ScaledFamily
from ..protocols import Floats, ModelFamily
from .drawing import ModelSet

# The size of a block's table: small enough for the cache, large enough that threads seldom wait
# for the interpreter lock.
_TABLE_BYTES = 2560 * 1024
_MAX_ROWS = 1024
# Rows of a block for custom families.
_CUSTOM_ROWS = 256


def block_rows(models: Sequence[ModelSet]) -> int:
    """The number of rows in a block for these models.

    A custom family always gets the same number: where its residuals go through BLAS, blocks of
    different sizes would be rounded differently. Built-in families do not depend on it.
    """
    if any(getattr(part.family, "slow_calls", False) for part in models):
        return _CUSTOM_ROWS
    m = sum(len(part.params) for part in models)
    return max(8, min(_MAX_ROWS, _TABLE_BYTES // (8 * m)))


def residual_blocks(
    X: Floats, models: Sequence[ModelSet], limits: Floats | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Residuals of X to all models, block by block: the slice of rows, and R (rows, m).

    limits (m,): residuals beyond these need not be right; those of bounded models take less time.
    """
    n, size = len(X), block_rows(models)
    sizes = [len(part.params) for part in models]
    limits = np.full(sum(sizes), np.inf) if limits is None else limits
    ends = list(accumulate(sizes))
    near = [limits[end - size : end] for end, size in zip(ends, sizes)]
    stable = all(is_built_in(part.family) for part in models)
    tables_of = [_residuals(part, X.shape[1], limit) for part, limit in zip(models, near)]
    for start in range(0, n, size):
        block = X[start : start + size]
        if len(block) < size and not stable:  # padded with copies of the last row
            block = X[np.minimum(np.arange(start, start + size), n - 1)]
        tables = [table(block) for table in tables_of]
        R = tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1)
        rows = slice(start, min(start + size, n))
        yield rows, R[: rows.stop - start]


def is_built_in(family: ModelFamily) -> bool:
    """Whether the residuals of one row and one model do not depend on those computed with them."""
    return _is_registered(type(family.base if isinstance(family, ScaledFamily) else family))


@lru_cache(maxsize=64)
def _is_registered(kind: type) -> bool:
    return f"{kind.__module__}:{kind.__qualname__}" in FAMILIES.entries.values()


def _residuals(models: ModelSet, d: int, limit: Floats) -> Callable[[Floats], Floats]:
    """The residuals of blocks of rows of d columns, infinite for points within the limit outside
    the bounds of a model."""
    bounds, distances = models.bounds, _distances(models, d)
    if bounds is None:
        return distances
    coordinates = cast(Family, models.family).coordinates_to(models.params, d)

    def bounded(block: Floats) -> Floats:
        R, U = distances(block), coordinates(block)
        per_axis = round(bounds.cells.shape[1] ** (1 / len(U)))
        exclude_outside(R, limit, U[0], U[-1], bounds.low, bounds.size, per_axis, bounds.cells)
        return R

    return bounded


def _distances(models: ModelSet, d: int) -> Callable[[Floats], Floats]:
    """Checked, since compiled code that reads beyond an array would crash.

    Those of built-in families are not checked again: the tests check them, and one more pass over
    all residuals takes a twelfth of the time.
    """
    family = models.family
    if is_built_in(family):
        return cast(Family, family).residuals_to(models.params, d)
    source = f"residuals of family {family.name!r}"

    def checked(block: Floats) -> Floats:
        R = family.residuals(block, models.params)
        R = check_shape(source, R, (len(block), len(models))).astype(
            np.float64, order="C", copy=False
        )
        check_distances(source, R)
        return np.array(R)

    return checked
