"""Pixels of a map that lie on a smooth surface up to rounding, and so cannot be off it.

A detector compares points with the noise of their surface. Without noise, rounding is all that is
left: some pixel is always the farthest from the surface, by the last bit of its value.
"""

from __future__ import annotations

import numpy as np

from .bands.resolution import step_of
from .protocols import Bools, Floats

# Rounding errors of values and of the fit, in units of the last place of the largest value.
_ULPS = 64
# A rounded value is up to half a step off its surface; the fit to rounded values is off as well.
_OF_STEP = 0.75
# Pixels that are farther than this many times the limit are something else; of the others, this
# share is within it. Noise with a standard deviation of half a step has a quarter beyond it.
_NEAR, _SHARE = 4.0, 0.98
# A tile has at least this side.
_MIN_SIDE = 12
_ROUNDS = 12
_TERMS = 6


def on_exact_surface(values: Floats, side: int) -> Bools:
    """(h, w) whether all tiles that a pixel is in are exact, with the pixel on their surface.

    values (h, w), NaN where they are missing. Tiles have this side and overlap by half. A tile is
    exact if most of its pixels are on one quadratic surface, up to the rounding of floats or up to
    the step of the map.
    """
    side, known = max(side, _MIN_SIDE), values[~np.isnan(values)]
    ulps = _ULPS * float(np.finfo(float).eps * np.max(np.abs(known), initial=0.0))
    step = step_of(known) if len(known) else 0.0
    on = np.ones(values.shape, bool)
    for rows in _tiles(values.shape[0], side):
        for columns in _tiles(values.shape[1], side):
            r = _residuals(values[rows, columns])
            exact = (limit for limit in (ulps, _OF_STEP * step) if _is_exact(r, limit))
            on[rows, columns] &= r <= next(exact, -1.0)
    return on


def _is_exact(r: Floats, limit: float) -> bool:
    """Whether most of the residuals of a tile are within a limit, and none just beyond it."""
    known = r[~np.isnan(r)]
    within = int(np.sum(known <= limit))
    near = int(np.sum(known <= _NEAR * limit))
    return len(known) > 2 * _TERMS and within > len(known) / 2 and within >= _SHARE * near


def _tiles(length: int, side: int) -> list[slice]:
    """Slices of this length that overlap by half; the last one ends with the map."""
    side = min(side, length)
    starts = [*range(0, length - side, max(1, side // 2)), length - side]
    return [slice(start, start + side) for start in starts]


def _residuals(tile: Floats) -> Floats:
    """The distances of the pixels from a quadratic surface, which a minority of other pixels hardly
    moves: least squares, with smaller weights for pixels that are farther than most."""
    v, u = np.nonzero(~np.isnan(tile))
    r = np.full(tile.shape, np.nan)
    if len(v) <= 2 * _TERMS:
        return r
    y, x = (2 * each / max(n - 1, 1) - 1 for each, n in zip((v, u), tile.shape))
    A = np.column_stack([np.ones(len(x)), x, y, x * x, x * y, y * y])
    z = tile[v, u]
    centre = float(np.median(z))
    weights = np.ones(len(z))
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)[:, None]
        found, *_ = np.linalg.lstsq(A * root, (z - centre) * root[:, 0], rcond=None)
        errors = np.abs(z - centre - A @ found)
        scale = float(np.median(errors))
        # Beyond twice the median, pixels count less and less.
        far = np.maximum(errors / max(2 * scale, 1e-300), 1.0)
        weights = 1 / np.minimum(far, 1e12) ** 2
    r[v, u] = errors
    return r
