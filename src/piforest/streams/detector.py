"""A stream as one value: its window, models, trees, structures and threshold."""

from __future__ import annotations

import numpy as np

from .._random import Stream, choose
from .._validation import NoModels
from ..labels import thresholds
from ..models.drawing import ModelSet
from ..protocols import Floats, Ints
from .cells import Cells
from .drift import Tracker, structures_of
from .reservoir import renew
from .settings import StreamSettings
from .threshold import window_threshold
from .window import Window

# The rows of the window that models are measured on and trees are grown from, at most.
POOL = 1024
# A window has this many renewals.
_RENEWALS = 10
# Fewer rows than this, or than five minimal samples, are too few for models.
_LEAST_ROWS, _LEAST_SAMPLES = 20, 5


class StreamDetector:
    """Scores rows, then learns them; a renewal follows every tenth of the window.

    All that is random depends on the key and on the number of rows seen, so that blocks and single
    rows give the same bits.
    """

    def __init__(self, settings: StreamSettings, n_columns: int, key: int) -> None:
        self.settings, self.key = settings, key
        self.window = Window(settings.window, n_columns)
        self.models: ModelSet | None = None
        self.cells: Cells | None = None
        self.renewed_at = 0
        """the number of rows that the stream had at the last renewal"""
        self.sigma = self.threshold = np.nan
        self.tracker = Tracker()

    @property
    def step(self) -> int:
        """Rows between two renewals."""
        return max(1, self.settings.window // _RENEWALS)

    @property
    def least_rows(self) -> int:
        """The number of rows that models need."""
        size = self.settings.reservoir.family.sample_size(self.window.X.shape[1])
        return max(_LEAST_ROWS, _LEAST_SAMPLES * size)

    def pass_rows(self, X: Floats) -> tuple[Floats, Floats]:
        """Score and learn rows; return their scores, and the threshold for each. Both are NaN
        until the first renewal."""
        scores, limits = np.empty((2, len(X)))
        start = 0
        while start < len(X):
            n_seen = self.window.n_seen
            part = slice(start, start + self.step - n_seen % self.step)
            rows = X[part]
            if self.cells is None:
                scores[part] = np.nan
            else:
                numbers = np.arange(n_seen, n_seen + len(rows))
                scores[part] = self.cells.scores(rows, numbers, self.window.capacity)
            limits[part] = self.threshold
            self.window.append(rows, scores[part])
            start += len(rows)
            if self.window.n_seen % self.step == 0:
                self.renew()
        return scores, limits

    def forget(self, n: int) -> None:
        """Drop the n oldest rows. If too few remain, the models go with them."""
        forgotten = self.window.forget(n)
        if self.window.length < self.least_rows:
            self.models = self.cells = None
            self.sigma = self.threshold = np.nan
        elif self.cells is not None:
            self.cells.forget(forgotten)

    def renew(self) -> None:
        """Renew the models, the trees and the threshold, if the window has enough rows."""
        window, settings = self.window, self.settings
        if window.length < self.least_rows:
            return
        stream = Stream(self.key).child("renewal", window.n_seen)
        numbers = window.numbers[choose(stream.child("pool"), window.length, POOL)]
        X = window.X[window.places(numbers)]
        try:
            renewal = renew(
                self.models, X, numbers, settings.reservoir, stream, window.n_seen // self.step,
                Stream(self.key).child("dither"),
            )  # fmt: skip
        except NoModels:
            # All rows may be equal for a while. What was known before stays.
            return
        self.models, self.sigma, self.renewed_at = renewal.models, renewal.sigma, window.n_seen
        self.cells = self.grown(self.models, X, numbers)
        found = structures_of(renewal, X, numbers)
        quiet = window.n_seen <= window.capacity
        self.tracker.update(found, renewal.X, window.n_seen, quiet)
        self._score_first_rows()
        at = window.places(numbers)
        if settings.contamination is not None:
            known = window.scores[window.places(window.numbers)]
            self.threshold = thresholds.share(known, settings.contamination)
        else:
            self.threshold = window_threshold(
                X, window.scores[at], self.cells, found, settings.reservoir.family,
                stream.child("random points"),
            )  # fmt: skip

    def grown(self, models: ModelSet, X: Floats, numbers: Ints) -> Cells:
        """The trees of the last renewal, from its models and its pool."""
        stream = Stream(self.key).child("renewal", self.renewed_at, "trees")
        return Cells(models, X, numbers, self.settings.n_trees, self.settings.max_samples, stream)

    def _score_first_rows(self) -> None:
        """Rows that came before there were models get their scores now, for the threshold."""
        window = self.window
        at = window.places(window.numbers)
        unknown = at[np.isnan(window.scores[at])]
        if len(unknown) and self.cells is not None:
            window.scores[unknown] = self.cells.scores(window.X[unknown])
