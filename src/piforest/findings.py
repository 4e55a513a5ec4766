"""Results derived from a fitted forest: training scores, null scores, the automatic threshold and
the structures. Each is computed on first use and cached."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import labels, thresholds
from ._random import SUBSET, Stream, subset
from ._validation import check_enough_rows, warn_user
from .bands import BandTable
from .engines import Backend
from .fitted import FittedForest
from .membership import sample_membership
from .protocols import Bools, Floats
from .structures import (
    REACH,
    BandCounts,
    Structure,
    find_structures,
    greedy_structures,
    members_of,
    relative_distances,
)

__all__ = ["Findings"]

Tables = Sequence[BandTable | None]


class Findings:
    """Cached results of a fitted forest. Each method takes the backend that computes them.

    Parameters
    ----------
    fitted : FittedForest
        The fitted forest.
    scores, subset_scores : ndarray or None
        Scores of all training rows and of the subset that represents them, if they are known.
    """

    def __init__(
        self,
        fitted: FittedForest,
        scores: Floats | None = None,
        subset_scores: Floats | None = None,
    ) -> None:
        self.fitted = fitted
        self._subset_scores = subset_scores
        self._scores = fitted.pool_scores if fitted.holds_all else scores
        self._null_scores: Floats | None = None
        self._threshold: float | None = None
        self._structures: list[Structure] | None = None

    def scores(self, backend: Backend) -> Floats:
        """(n,) scores of the training rows; not available for more than 50,000 rows."""
        if self._scores is None and self.fitted.n_training <= SUBSET:
            self._scores = self.subset_scores(backend)
        if self._scores is None:
            raise AttributeError(
                f"the scores of the {self.fitted.n_training} training rows are not kept, since "
                f"there are more than {SUBSET}; anomaly_score(X) and predict(X) compute them."
            )
        return self._scores

    def subset_scores(self, backend: Backend) -> Floats:
        """Scores of the training rows, or of the random 50,000 that represent them."""
        fitted = self.fitted
        if self._subset_scores is None:
            if self._scores is not None:
                self._subset_scores = self._scores[subset(Stream(fitted.key), fitted.n_training)]
            else:
                self._subset_scores = backend.scores(fitted, fitted.subset)
        return self._subset_scores

    @property
    def has_scores(self) -> bool:
        """Whether `scores` is available."""
        fitted = self.fitted
        return self._scores is not None or (
            fitted.n_training <= SUBSET
            and not (self._subset_scores is None and fitted.subset is None)
        )

    @property
    def known_scores(self) -> Floats | None:
        """(n,) scores of the training rows if they are known without computing."""
        return self._scores

    def null_scores(self, backend: Backend) -> Floats:
        """Scores of random points, ascending."""
        if self._null_scores is None:
            self._null_scores = np.sort(backend.scores(self.fitted, self._null_points()))
        return self._null_scores

    def automatic_threshold(self, backend: Backend, tables: Tables | None = None) -> float:
        """The threshold for the training rows; tables: their bands, if they are known."""
        if self._threshold is None:
            if self.fitted.has_null:
                self._threshold = self._vote_threshold(backend, self._band_counts(backend, tables))
            else:
                self._threshold = thresholds.otsu(self.subset_scores(backend))
        return self._threshold

    def held_out_threshold(self, backend: Backend, rows: Floats, scores: Floats) -> float:
        """The threshold for rows other than the training rows."""
        if not self.fitted.has_null:
            return thresholds.otsu(scores)
        check_enough_rows(len(rows))
        votes = self._votes(backend, self._band_counts(backend), rows, scores)
        return thresholds.best_f1_threshold(scores, votes)

    def structures(self, backend: Backend) -> list[Structure]:
        """The structures of the pool, with members from the training rows, or from the random
        50,000 that represent them."""
        if self._structures is None:
            self._structures = self._find_structures(backend)
        return self._structures

    def _find_structures(self, backend: Backend) -> list[Structure]:
        fitted, families = self.fitted, self._band_counts(backend)
        threshold = np.inf
        if fitted.has_null:
            if self._threshold is None:
                self._threshold = self._vote_threshold(backend, families)
            threshold = self._threshold
        stream = Stream(fitted.key).child("structures")
        found = find_structures(families, fitted.pool_scores <= threshold, stream)
        if fitted.holds_all:
            return found
        rows = subset(Stream(fitted.key), fitted.n_training)
        cells = members_of(fitted.subset, self.subset_scores(backend) <= threshold, found)
        return [each.with_members(rows[cells == k]) for k, each in enumerate(found)]

    def _vote_threshold(self, backend: Backend, families: list[BandCounts]) -> float:
        points, scores = self.fitted.points, self.fitted.pool_scores
        votes = self._votes(backend, families, points, scores)
        return thresholds.best_f1_threshold(scores, votes)

    def _votes(
        self, backend: Backend, families: list[BandCounts], points: Floats, scores: Floats
    ) -> Bools:
        """Which points are anomalous by the majority of three votes."""
        ceiling, pool = self.fitted.ceiling(), self.fitted.points
        found = greedy_structures(families, labels.NEAR)
        if not found:
            names = " or ".join(repr(bands.family.name) for bands in families)
            warn_user(
                f"no structure of family {names} is significant in {len(pool)} points; "
                "contamination='auto' is unreliable here, pass a share instead."
            )
        far, null_far = (
            np.all(relative_distances(rows, found) > labels.NEAR, axis=1)
            for rows in (points, self._null_points())
        )
        low, high = labels.box(pool)
        widest = max((each.half_width for each in found), default=0.0)
        if np.mean(null_far) < 0.5 and 2 * REACH * widest >= np.min(high - low):
            # One structure fills the box of the data, as a line along an axis does: random points
            # are then like normal points, and comparing with them is meaningless.
            return np.asarray(far)
        null = np.minimum(self.null_scores(backend), ceiling)
        return labels.votes(np.minimum(scores, ceiling), null, far, null_far)

    def _band_counts(self, backend: Backend, tables: Tables | None = None) -> list[BandCounts]:
        """The band counts of the pool, one for each family."""
        embedding, points = self.fitted.embedding, self.fitted.points
        if embedding is None:
            raise AttributeError("a forest without models has no bands.")
        counts = []
        for i, models in enumerate(embedding.models):
            table = None if tables is None else tables[i]
            if table is None:
                alone = embedding.membership if len(embedding.models) == 1 else None
                membership = sample_membership([models]) if alone is None else alone
                table = backend.band_table(points, models, membership)
            counts.append(BandCounts(points, models, table))
        return counts

    def _null_points(self) -> Floats:
        return labels.null_points(self.fitted.points, Stream(self.fitted.key).child("null"))
