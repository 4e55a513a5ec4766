"""Fitted windows as a value, and the scores of rows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._tensors import match_input_type, to_numpy
from ..engines import Backend
from ..fitted import FittedForest
from ..fitted.state import SigmaSource
from ..protocols import Bools, Floats, Ints
from ..structures.greedy import Structure
from .tiling import Tiling

# The weight of a window is the share of its rows that it explains to this power, halved for each
# size below the largest. A defect as large as a window is a structure of that window, so of two
# windows that explain their rows the larger one is to be trusted. Chosen on synthetic road maps.
_POWER, _NEXT_SIZE = 8, 0.5
# Never 0: a row that only windows without structure hold has a score too.
_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class Window:
    """One window, with a detector of its own."""

    size: int
    """the index of its tiling: 0 for the largest windows"""
    number: int
    """its number in the tiling"""
    n_rows: int
    """the number of training rows in it"""
    fitted: FittedForest
    explained: float
    """the share of its rows within three sigmas of its structures"""
    weight: float
    """how much it counts"""
    structure: Structure | None
    """the model with the most points; None if no band is denser than its surroundings"""
    significant: bool
    """whether chance does not explain the structure"""

    @property
    def empty_score(self) -> float:
        """The score of a row that prefers no model: its path length is 1."""
        return float(2.0 ** (-1 / self.fitted.forest.trees.normaliser))


def weight_of(explained: float, size: int, power: int = _POWER) -> float:
    """How much a window of this size counts."""
    return float(explained**power * _NEXT_SIZE**size + _LEAST_WEIGHT)


class Judged(NamedTuple):
    """What the windows that hold a row say about it."""

    depths: Floats
    """(n,) normalised depth, the mean over the windows"""
    far: Floats
    """(n,) the share of the windows in which the row is on no structure"""


@dataclass(frozen=True, eq=False)
class FittedWindows:
    """All windows of a fit."""

    coordinates: Ints
    """the columns that windows are cut from"""
    features: Ints
    """the columns that structures are in"""
    tilings: tuple[Tiling, ...]
    """from the largest windows to the smallest"""
    windows: tuple[Window, ...]
    """in order of size and number"""
    sigma: float
    """the noise in all windows; NaN if no structure was found"""
    sigma_source: SigmaSource
    key: int
    """of the random stream of the fit"""
    n_training: int
    n_skipped: int
    """occupied windows with too few rows for a detector, or without any model"""
    subset: Floats
    """the training rows, or the random 50,000 that represent them"""

    def held(self, X: Floats) -> Iterator[tuple[int, Window, Ints]]:
        """The windows that hold rows of X, with their indices and the rows, in order."""
        positions = X[:, self.coordinates]
        at = {(each.size, each.number): k for k, each in enumerate(self.windows)}
        for size, tiling in enumerate(self.tilings):
            pairs = list(tiling.covering(positions))
            rows = np.concatenate([each for each, _ in pairs])
            numbers = np.concatenate([each for _, each in pairs])
            order = np.lexsort((rows, numbers))
            rows, numbers = rows[order], numbers[order]
            found, starts = np.unique(numbers, return_index=True)
            for number, part in zip(found.tolist(), np.split(rows, starts[1:])):
                if (size, number) in at:
                    k = at[size, number]
                    yield k, self.windows[k], part

    def judged(self, X: Floats, backend: Backend) -> Judged:
        """Means over the windows that hold each row, weighted by `Window.weight`; all windows of
        one size together have the weight of one window."""
        n, sizes = len(X), len(self.tilings)
        sums = np.zeros((sizes, 4, n))
        held = [(k, rows) for k, _, rows in self.held(X)]
        parts = [(k, X[np.ix_(rows, self.features)]) for k, rows in held]
        forests = [window.fitted for window in self.windows]
        for (k, rows), scores in zip(held, backend.scores_in(self, forests, parts)):
            window = self.windows[k]
            far = scores >= window.empty_score * (1 - 1e-12)
            weight = window.weight
            depth, empty, weights, count = sums[window.size]
            depth[rows] -= weight * np.log2(scores)
            empty[rows] += weight * far
            weights[rows] += weight
            count[rows] += 1
        total = np.zeros((3, n))
        for part in sums:
            total += part[:3] / np.maximum(part[3], 1)
        # Rounded, so that rows that are equal in all windows have equal scores.
        return Judged(np.round(total[0] / total[2], 12), total[1] / total[2])

    def judge(self, X: Floats, backend: Backend) -> tuple[Floats, Bools]:
        """(n,) anomaly scores in (0, 1], and whether rows are far from the structures in most of
        the windows that hold them."""
        parts = backend.map_blocks(self.judged, X)
        depths = np.concatenate([part.depths for part in parts])
        return 2.0**-depths, np.concatenate([part.far for part in parts]) > 0.5

    def scores_by(self, engine: Backend, rows: Any) -> Any:
        """(n,) anomaly scores that an engine computes; of a tensor as a tensor."""
        return match_input_type(self.judge(to_numpy(rows), engine)[0], rows)

    def rows_to_score(self, X: Any) -> Any:
        """Validated X in the form that engines score."""
        return X

    def for_scoring(self) -> FittedWindows:
        """A copy without the data that only results about the training rows need."""
        windows = tuple(
            replace(each, fitted=each.fitted.for_scoring(), structure=None, n_rows=0)
            for each in self.windows
        )
        return replace(self, windows=windows, subset=self.subset[:0])
