"""Points whose errors go along with those of their neighbours count less than others.

The surface of a depth camera has bumps: errors are smooth over millimetres or centimetres. Each
flank of a bump is a plane with hundreds of points, and with far more evidence than chance gives if
these were independent. The search is then repeated with fewer points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from .._random import Stream, choose
from ..families import layout_of
from ..families.scaled import scaled_rows
from ..protocols import Bools, Floats
from .greedy import BandCounts, Structure, members_of

# Points at which residuals are compared with those of neighbours, and the most neighbours.
_SOME, _MOST = 300, 512
# Residuals of neighbours go along with each other if their correlation is above this.
_CORRELATED = 0.1
# Patches of fewer points are noise: independent errors give 1 to 1.7. Planes along the flanks of
# bumps have smaller patches than the bumps, since they follow them.
_PATCH = 2.5
# At least this many points are left: with fewer, small faces are no longer significant.
_LEAST = 500


def independent_rows(
    families: Sequence[BandCounts], normal: Bools, found: Sequence[Structure], stream: Stream
) -> Bools | None:
    """(n,) so many random rows of the `normal` ones as have independent errors; None if all have,
    or if the bands were chosen for much noise, which no bump fills."""
    X, kind = families[0].X, layout_of(families[0].family).kind
    wide = any(bands.ladder.grid.n_wide for bands in families)
    if kind not in ("points", "oriented points") or wide or not found:
        return None
    cells = members_of(X, normal, list(found))
    places = scaled_rows(families[0].family, X)
    sizes = [
        patch_size(places[cells == k], each.residuals(X[cells == k]), stream.child(k))
        for k, each in enumerate(found)
    ]
    # The patch of the structure that the median point belongs to.
    counts, order = np.bincount(cells[cells >= 0], minlength=len(sizes)), np.argsort(sizes)
    below = np.cumsum(counts[order])
    patch = sizes[order[int(np.searchsorted(below, below[-1] / 2))]]
    rows = np.flatnonzero(normal)
    size = max(_LEAST, round(len(rows) / patch))
    if patch < _PATCH or size >= len(rows):
        return None
    some = np.zeros(len(X), np.bool_)
    some[rows[choose(stream.child("rows"), len(rows), size)]] = True
    return some


def patch_size(places: Floats, residuals: Floats, stream: Stream) -> float:
    """The number of points that have the error of one: 1, and the sum of the correlations of the
    residual of a point with those of its neighbours, from the nearest to the first octave that is
    not correlated. At most a quarter of the points are neighbours. O(n log n)."""
    n = len(places)
    most = min(_MOST, n // 4)
    spread = residuals.std() if n else 0.0
    if most < 1 or not spread > 0:
        return 1.0
    some = choose(stream, n, min(n, _SOME))
    near = cKDTree(places).query(places[some], most + 1)[1][:, 1:]
    relative = (residuals - residuals.mean()) / spread
    products = relative[some][:, None] * relative[near]
    size, first = 1.0, 0
    while first < most:
        last = min(max(1, 2 * first), most)
        correlation = float(products[:, first:last].mean())
        if correlation < _CORRELATED:
            break
        size += correlation * (last - first)
        first = last
    return size
