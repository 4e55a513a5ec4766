"""Results derived from a fitted forest: training scores, null scores, the automatic threshold and
the structures. Each is computed on first use and cached."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._random import SUBSET, Stream, subset
from ._validation import check_enough_rows
from .bands.evidence import BandTable, strongly_disagrees
from .bands.ladder import is_noisy
from .diagnosis import Finding, diagnose
from .engines import Backend
from .families.scaled import column_units
from .fitted import FittedForest
from .fitted.file_structures import StoredStructures
from .labels import thresholds
from .labels import votes as labels
from .labels.calibration import Calibration
from .models.membership import sample_membership
from .protocols import Bools, Floats, Ints, ModelFamily
from .structures.assignment import Assignment, assign_rows
from .structures.boundaries import Boundaries, own_null_rows
from .structures.dependence import independent_rows
from .structures.description import column_names
from .structures.greedy import REACH, BandCounts, Structure
from .structures.laws import depends_much, law_structures
from .structures.parallax import parallax_of
from .structures.pieces import Pieces, find_pieces
from .structures.ridges import stand_out
from .structures.roundness import is_shape_of_cloud
from .structures.search import find_structures
from .structures.unevenness import UnevenNoise
from .units import hide_structures

__all__ = ["Findings"]

# A threshold that flags this many rows more than twice the anomalous ones does not separate them.
_SLACK = 5
# Structures that this share of the rows is beyond are no rule that the others break, if their bands
# are as wide as the data, as those of a trend of most rows, or if the columns of the others are
# related, too.
_MOST = 0.5

Tables = Sequence[BandTable | None]


class Findings:
    """Cached results of a fitted forest. Each method takes the backend that computes them.

    Parameters
    ----------
    fitted : FittedForest
        The fitted forest.
    scores, subset_scores : ndarray or None
        Scores of all training rows and of the subset that represents them, if they are known.
    names : sequence of str or None
        The names of the columns, which the structures are described by.
    known : StoredStructures or None
        The structures, if they are known from a file.
    """

    def __init__(
        self,
        fitted: FittedForest,
        scores: Floats | None = None,
        subset_scores: Floats | None = None,
        names: Sequence[str] | None = None,
        known: StoredStructures | None = None,
    ) -> None:
        self.fitted = fitted
        self._names = None if names is None else tuple(str(name) for name in names)
        self._subset_scores = subset_scores
        self._scores = fitted.pool_scores if fitted.holds_all else scores
        self._null_scores: Floats | None = None
        self._threshold: float | None = None
        self._greedy: list[Structure] | None = None if known is None else known.greedy
        self._known = None if known is None else known.found
        self._structures: list[Structure] | None = None
        self.better_family: list[Finding] | None = None
        """set on first use by the detector"""
        self._agreement = 1.0
        self._too_many = 0.0
        self._uneven: list[UnevenNoise] = []
        self._diagnosis: list[Finding] | None = None
        self._calibration: Calibration | None = None
        self._pieces: Pieces | None = None

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
                fitted = self.fitted
                self._threshold = self._vote_threshold(
                    backend, fitted.points, fitted.pool_scores, tables
                )
            else:
                self._threshold = thresholds.otsu(self.subset_scores(backend))
        return self._threshold

    def rated_threshold(self, backend: Backend, rate: float, tables: Tables | None = None) -> float:
        """The threshold at which the expected share of normal rows among the flagged training rows
        is at most `rate`."""
        if not self.fitted.has_null:
            raise ValueError(
                "false_alarm_rate needs in_sample_preferences=False and one of the metrics "
                "tanimoto, jaccard, ruzicka and cosine: the training rows of others vote for "
                "themselves, so that their scores have no p-values. Give contamination."
            )
        if not self.found_structure(backend, tables) or self.units_hide_structures(backend):
            return labels.NOTHING_FLAGGED
        return self.calibration(backend).threshold(rate)

    def held_out_threshold(self, backend: Backend, rows: Floats, scores: Floats) -> float:
        """The threshold for rows other than the training rows."""
        if not self.fitted.has_null:
            return thresholds.otsu(scores)
        check_enough_rows(len(rows))
        return self._vote_threshold(backend, rows, scores)

    def expect_no_structure(self) -> None:
        """Take it as known that no structure is in the data."""
        self._greedy, self._structures = [], []

    def found_structure(self, backend: Backend, tables: Tables | None = None) -> bool:
        """Whether any structure is significant in the pool."""
        if self._greedy is None:
            families = self._band_counts(backend, tables)
            found, stream = law_structures(families, labels.NEAR), Stream(self.fitted.key)
            dense = stand_out(families[0].X, found, stream.child("beside"))
            self._greedy = [each for each, seen in zip(found, dense) if seen]
            stream = stream.child("round")
            if is_shape_of_cloud(families[0].X, self._greedy, labels.NEAR, stream):
                self.expect_no_structure()
        return bool(self._greedy)

    def units_hide_structures(self, backend: Backend, tables: Tables | None = None) -> bool:
        """Whether columns seem to have different units, so that structures cannot be seen."""
        if self.fitted.embedding is None or not self.found_structure(backend, tables):
            return False
        families = [models.family for models in self.fitted.embedding.models]
        return hide_structures(families, self.fitted.points, self._greedy or [])

    def diagnosis(self, backend: Backend, steps: Floats | None) -> list[Finding]:
        """What to know about the data and the result; steps: of the columns."""
        if self._diagnosis is None:
            self._diagnosis = diagnose(
                self.fitted,
                self.structures(backend),
                found=self.found_structure(backend),
                names=self._names,
                steps=steps,
                disagreement=self._disagreement(backend),
                agreement=self._agreement,
                beyond=self.share_beyond(backend),
                uneven=self._uneven,
                parallax=parallax_of(
                    self.fitted.points,
                    self.structures(backend),
                    Stream(self.fitted.key).child("parallax"),
                ),
            )
        return list(self._diagnosis)

    def structures(self, backend: Backend) -> list[Structure]:
        """The structures of the pool, with members from the training rows, or from the random
        50,000 that represent them."""
        if self._structures is None and self._known is not None:
            self._structures = self._described(self._known)
        if self._structures is None and not self.found_structure(backend) and self.fitted.has_null:
            self._structures = []  # what a longer search finds is not significant either
        if self._structures is None:
            self._structures = self._described(self._find_structures(backend))
        return self._structures

    def to_store(self, backend: Backend) -> StoredStructures | None:
        """The structures for a model file; None for a forest without models."""
        if self.fitted.embedding is None:
            return None
        self.found_structure(backend)
        return StoredStructures(self.structures(backend), self._greedy or [])

    def name_columns(self, names: Sequence[str]) -> None:
        """Describe the structures and the diagnosis by these names of the columns."""
        self._names, self._diagnosis = tuple(str(name) for name in names), None
        if self._structures is not None:
            self._structures, self._pieces = self._described(self._structures), None

    def member_rows(self, backend: Backend) -> list[Floats]:
        """The rows of the members of each structure."""
        return self._rows_of(self.structures(backend))

    def _described(self, found: list[Structure]) -> list[Structure]:
        d = self.fitted.points.shape[1]
        return [
            each.with_description(rows, self._names or column_names(each.family, d))
            for each, rows in zip(found, self._rows_of(found))
        ]

    def _rows_of(self, found: list[Structure]) -> list[Floats]:
        rows, numbers, _ = self._represented()
        return [rows[np.searchsorted(numbers, each.members)] for each in found]

    def _represented(self) -> tuple[Floats, Ints, bool]:
        """The training rows that represent all, their numbers, and whether they are the pool."""
        fitted = self.fitted
        if fitted.holds_all:
            return fitted.points, fitted.represented_numbers, True
        return fitted.subset, fitted.represented_numbers, False

    def pieces(self, backend: Backend) -> Pieces:
        """The connected pieces of the structures."""
        if self._pieces is None:
            rows, numbers, _ = self._represented()
            self._pieces = find_pieces(rows, numbers, self.structures(backend))
        return self._pieces

    def calibration(self, backend: Backend) -> Calibration:
        """The scores of normal training rows, which p-values compare with."""
        if self._calibration is None:
            rows, _, is_pool = self._represented()
            scores = self.fitted.pool_scores if is_pool else self.subset_scores(backend)
            self._calibration = Calibration.of(rows, scores, self.structures(backend))
        return self._calibration

    def assignment(self, backend: Backend, threshold: float) -> Assignment:
        """The structures of the training rows; not available for more than 50,000 rows."""
        scores = self.scores(backend)
        rows = self.fitted.points if self.fitted.holds_all else self.fitted.subset
        return assign_rows(rows, scores <= threshold, self.structures(backend))

    def _find_structures(self, backend: Backend) -> list[Structure]:
        fitted, families = self.fitted, self._band_counts(backend)
        threshold = self.automatic_threshold(backend) if fitted.has_null else np.inf
        stream = Stream(fitted.key).child("structures")
        normal = fitted.pool_scores <= threshold
        found = find_structures(families, normal, stream, self._greedy or [])
        fewer = independent_rows(families, normal, found, stream.child("independent"))
        if fewer is not None:
            found = find_structures(families, fewer, stream) or found
        dense = stand_out(families[0].X, found, stream.child("beside"))
        found = [each for each, seen in zip(found, dense) if seen] or (self._greedy or [])
        rows, numbers, is_pool = self._represented()
        scores = fitted.pool_scores if is_pool else self.subset_scores(backend)
        # Of the rows as they are, not dithered: the same rule as for new rows.
        cells = assign_rows(rows, scores <= threshold, found).labels
        return [each.with_members(numbers[cells == k]) for k, each in enumerate(found)]

    def _vote_threshold(
        self, backend: Backend, rows: Floats, scores: Floats, tables: Tables | None = None
    ) -> float:
        """The threshold on the scores of these rows. It flags nothing if no structure is seen."""
        found = self.found_structure(backend, tables)
        if not found or self.units_hide_structures(backend):
            return labels.NOTHING_FLAGGED
        anomalous, covered = self._anomalous(backend, rows, scores)
        threshold = labels.score_threshold(scores, anomalous, self.fitted.ceiling(), covered)
        if np.sum(scores > threshold) > 2 * np.sum(anomalous) + _SLACK:
            # The scores do not separate these rows: flag as many as there are, not most of them.
            threshold = thresholds.share(scores, float(np.mean(anomalous)))
        flagged = float(np.mean(scores > threshold))
        ordinary = self._uneven and np.sum(scores > threshold) > 2 * np.sum(anomalous) + _SLACK
        if ordinary or (flagged > _MOST and self._is_no_rule(rows[scores > threshold])):
            self._too_many = flagged
            return labels.NOTHING_FLAGGED
        if rows is self.fitted.points:
            self._agreement = labels.agreement(scores > threshold, anomalous)
        return threshold

    def _anomalous(self, backend: Backend, rows: Floats, scores: Floats) -> tuple[Bools, float]:
        """Which rows are anomalous, and the share of random points on a structure."""
        pool, stream = self._dithered(), Stream(self.fitted.key).child("null")
        own_null = own_null_rows(self._family, pool, stream.child("ends"))
        boundaries = Boundaries(pool, self._greedy or [], own_null)
        uneven = [each for each in boundaries.uneven if each is not None]
        if rows is self.fitted.points:
            self._uneven = uneven
        ceiling, null_far = self.fitted.ceiling(), boundaries.far(self._null_points())
        covered = float(np.mean(~null_far))
        if own_null is not None or uneven or self._fills_box(boundaries, null_far):
            # The ends of structures follow from null rows; or these are like normal points, or rows
            # score high where the noise is large, and comparing scores with theirs is meaningless.
            return boundaries.beyond(rows), covered
        null, far = np.minimum(self.null_scores(backend), ceiling), boundaries.far(rows)
        voted = labels.votes(np.minimum(scores, ceiling), null, far, null_far)
        if 3 * np.sum(voted & far) < (1 - covered) * np.sum(voted):
            # Of random points, the share 1 - covered is far from structures. Votes against points
            # that are nearly all on a structure contradict the structure.
            return boundaries.beyond(rows), covered
        return labels.with_missed(voted, boundaries.beyond(rows)), covered

    def _is_noisy(self) -> bool:
        """Whether the bands are as wide as the data, as those of tables with much noise are."""
        embedding = self.fitted.embedding
        assert embedding is not None
        return is_noisy(embedding.measuring_of(0, self.fitted.points).grid)

    def _is_no_rule(self, beyond: Floats) -> bool:
        """Whether most rows, which are beyond the structures, are no anomalies."""
        return self._is_noisy() or depends_much(self._family, beyond)

    def share_beyond(self, backend: Backend) -> float:
        """The share of rows that the labels would flag, if it is too large to flag any; else 0."""
        if self.fitted.has_null:
            self.automatic_threshold(backend)
        return self._too_many

    def _dithered(self) -> Floats:
        """The pool as structures were measured: rounded points may lie on one exactly, which says
        nothing about its noise."""
        fitted = self.fitted
        assert fitted.embedding is not None
        resolution = fitted.embedding.measuring_of(0, fitted.points).resolution
        return resolution.dithered(fitted.points, fitted.pool_numbers)

    def _disagreement(self, backend: Backend) -> float | None:
        """The sigma that the pool suggests, if it strongly contradicts a given one."""
        embedding = self.fitted.embedding
        if embedding is None or embedding.sigma_source != "given":
            return None
        half_widths, ratios = [], []
        for bands in self._band_counts(backend):
            table = bands.ratios(bands.counts, len(bands.X))
            half_widths.append(bands.widths[np.argmax(table, axis=0)])
            ratios.append(table.max(axis=0))
        return strongly_disagrees(
            embedding.sigma, np.concatenate(half_widths), np.concatenate(ratios)
        )

    def _fills_box(self, boundaries: Boundaries, null_far: Bools) -> bool:
        """Whether one structure fills the box of the data, as a line along an axis does, or one
        with much noise."""
        if not boundaries.structures:
            return False
        low, high = labels.box(self.fitted.points)
        widest = max(boundaries.half_widths)
        sides = (high - low) / column_units(boundaries.structures[0].family, len(low))
        wide = boundaries.wide[0] or 2 * REACH * widest >= np.min(sides)
        return bool(np.mean(null_far) < 0.5 and wide)

    def _band_counts(self, backend: Backend, tables: Tables | None = None) -> list[BandCounts]:
        """The band counts of the pool, one for each family."""
        embedding = self.fitted.embedding
        if embedding is None:
            raise AttributeError("a forest without models has no bands.")
        points, numbers = self.fitted.points, self.fitted.pool_numbers
        counts = []
        for i, models in enumerate(embedding.models):
            measuring = embedding.measuring_of(i, points)
            rows = measuring.resolution.dithered(points, numbers)
            table = None if tables is None else tables[i]
            if table is None:
                membership = embedding.membership
                if membership is None or len(embedding.models) > 1 or measuring.resolution:
                    dithered = measuring.resolution.dithered_samples(models)
                    membership = sample_membership([dithered])
                ladder = measuring.ladder(models.family, points, rows)
                table = backend.band_table(rows, models, membership, ladder)
            counts.append(BandCounts(rows, models, table, points))
        return counts

    @property
    def _family(self) -> ModelFamily:
        assert self.fitted.embedding is not None
        return self.fitted.embedding.models[0].family

    def _null_points(self) -> Floats:
        stream = Stream(self.fitted.key).child("null")
        return labels.null_points(self.fitted.points, self._family, stream)
