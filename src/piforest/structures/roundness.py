"""Is a structure only the shape of the cloud of points?

A cloud without structure that is longer than wide is denser in a wide band along it than beside
the band, as a line with much noise is. The two are told apart by making the cloud round: lines and
planes stay lines and planes, and what made the cloud longer than wide is gone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from .._random import Stream, choose
from .._validation import NoModels
from ..bands.evidence import full_band_table
from ..bands.ladder import WIDE_WIDTHS, Grid, ladder_of, narrow_grid
from ..families import extent, layout_of
from ..families.scaled import column_units, unscaled
from ..models.drawing import ModelSet, draw_models
from ..models.membership import sample_membership
from ..protocols import Floats, ModelFamily
from ..sampling import resolve_sampler
from .greedy import BandCounts, Structure, greedy_structures

# Bands with a half-width below this share of the spread of the points are no shape of a cloud.
# Affine maps map lines and planes to themselves, and the others to others of their kind, nearly.
_NARROW = {
    "line": 0.1,
    "plane": 0.1,
    "hyperplane": 0.1,
    "subspace": 0.1,
    "circle": 0.3,
    "ellipse": 0.3,
    "parabola": 0.3,
    "sphere": 0.3,
    "cylinder": 0.3,
}
# Clouds that are longer than wide by more than this factor have a structure: one line with a noise
# of 0.3 of its half-length has a factor of 1.9, or 1.7 with a tenth of anomalies in its square.
_LONG = 1.65
# Clouds that are round up to this factor need not be made round.
_ROUND = 1.1
_ROWS, _MODELS = 1000, 1000


def is_shape_of_cloud(
    X: Floats, structures: Sequence[Structure], reach: float, stream: Stream
) -> bool:
    """Whether the structures of the rows X disappear when the cloud is made round.

    reach: half-widths within which points belong to a structure.
    """
    families = {id(each.family): each.family for each in structures}
    if not families or not all(_has_limit(each) for each in families.values()):
        return False
    points = X / column_units(structures[0].family, X.shape[1])
    centred = points - np.median(points, axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred / len(points))
    spread = np.sqrt(np.maximum(spread[::-1], 0.0))
    if not _is_in_doubt(spread, structures, X.shape[1]):
        return False
    round_cloud = centred @ axes[:, ::-1] / spread
    some = round_cloud[choose(stream.child("rows"), len(X), _ROWS)]
    return not any(
        _finds(unscaled(family), some, reach, stream.child(number))
        for number, family in enumerate(families.values())
    )


def _has_limit(family: ModelFamily) -> bool:
    return layout_of(family).kind == "points" and unscaled(family).name in _NARROW


def _is_in_doubt(spread: Floats, structures: Sequence[Structure], d: int) -> bool:
    """Whether the cloud is longer than wide, but not by much, and all bands are wide; spread (d,):
    of the points along the axes of the cloud, descending."""
    if not spread[-1] > 0:
        return False
    # A plane in space is as thin as the third axis, compared with the second one.
    along = min(d - each.family.codimension(d) for each in structures)
    longer = spread[along - 1] / spread[along]
    wide = all(
        each.half_width > _NARROW[unscaled(each.family).name] * spread[-1] for each in structures
    )
    return bool(longer < _LONG and spread[0] > _ROUND * spread[-1] and wide)


def _finds(family: ModelFamily, X: Floats, reach: float, stream: Stream) -> bool:
    """Whether random models of the family show a structure in the rows X, with narrow bands or with
    bands of any width."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            models, _ = draw_models(
                X, family, resolve_sampler("mixed"), _MODELS, stream.child("models")
            )
        except NoModels:
            return False
    widths = extent(family, X) * WIDE_WIDTHS
    grids = (narrow_grid(family, X), Grid(np.asarray(widths), len(widths)))
    return any(_finds_with(grid, models, X, reach, stream.child("null")) for grid in grids)


def _finds_with(grid: Grid, models: ModelSet, X: Floats, reach: float, stream: Stream) -> bool:
    ladder = ladder_of(models.family, X, grid, stream)
    table = full_band_table(X, models, sample_membership([models]), ladder)
    return bool(greedy_structures([BandCounts(X, models, table)], reach))
