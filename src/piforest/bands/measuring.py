"""How the bands of one family are measured: rounding, half-widths, and null rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._random import Stream
from ..protocols import Floats, ModelFamily
from .ladder import Grid, Ladder, ladder_of, narrow_grid
from .resolution import Resolution, is_grid_of_levels


@dataclass(frozen=True, eq=False)
class Measuring:
    """What is needed to measure the bands of one family again, on some of the rows."""

    resolution: Resolution
    grid: Grid

    @classmethod
    def plain(cls, family: ModelFamily, X: Floats) -> Measuring:
        """For rows that are not rounded, with the usual half-widths."""
        return cls(Resolution(np.zeros(X.shape[1]), 0), narrow_grid(family, X))

    def ladder(self, family: ModelFamily, X: Floats, dithered: Floats) -> Ladder:
        """The ladder for the rows X, which are also given with dither."""
        effect = self.resolution.effect(family, X, dithered)
        stream = Stream(self.resolution.key).child("null")
        levels = is_grid_of_levels(family, X)
        return ladder_of(family, dithered, self.grid, stream, effect, levels=levels)
