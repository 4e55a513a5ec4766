"""Results derived from a fitted forest: training scores, null scores, the automatic threshold and
the structures. Each is computed on first use and cached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ._random import SUBSET, Stream, subset
from ._threads import one_blas_thread
from ._validation import check_enough_rows
from .bands.evidence import BandTable, strongly_disagrees
from .bands.ladder import is_noisy
from .diagnosis import Finding, diagnose
from .engines import Backend
from .families import layout_of
from .families.scaled import column_units
from .fitted import FittedForest
from .fitted.file_structures import StoredStructures
from .labels import thresholds
from .labels import votes as labels
from .labels.again import scores_again
from .labels.calibration import Calibration
from .labels.choice import Choice, Distances
from .models.membership import sample_membership
from .protocols import Bools, Floats, Ints, ModelFamily
from .structures.assignment import Assignment, assign_rows
from .structures.boundaries import Boundaries, own_null_rows
from .structures.clusters import credible
from .structures.dependence import independent_rows
from .structures.description import column_names
from .structures.greedy import REACH, BandCounts, Structure
from .structures.laws import law_structures
from .structures.parallax import parallax_of
from .structures.pieces import Pieces, find_pieces
from .structures.ridges import standing_out
from .structures.roundness import is_shape_of_cloud
from .structures.search import find_structures
from .structures.unevenness import UnevenNoise
from .units import hide_structures

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
        self.names = None if names is None else tuple(str(name) for name in names)
        """of the columns, None if they have none"""
        self._subset_scores = subset_scores
        self._scores = fitted.pool_scores if fitted.holds_all else scores
        self._null_scores: Floats | None = None
        self._threshold: float | None = None
        self._greedy: list[Structure] | None = None if known is None else known.greedy
        self._known = None if known is None else known.found
        self._structures: list[Structure] | None = None
        self._structures_at: tuple[float, list[Structure]] | None = None
        self.better_family: list[Finding] | None = None
        """set on first use by the detector"""
        self._choice = self._own_choice = Choice(labels.NOTHING_FLAGGED)
        self._uneven: list[UnevenNoise] = []
        self._diagnosis: list[Finding] | None = None
        self._calibration: Calibration | None = None
        self._pieces: Pieces | None = None
        self._again: dict[str | float, Floats] = {}

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

    @one_blas_thread()
    def found_structure(self, backend: Backend, tables: Tables | None = None) -> bool:
        """Whether any structure is significant in the pool."""
        if self._greedy is None:
            families = self._band_counts(backend, tables)
            found, stream = law_structures(families, labels.NEAR), Stream(self.fitted.key)
            self._greedy = credible(families[0].X, found, stream)
            stream = stream.child("round")
            if is_shape_of_cloud(families[0].X, self._greedy, labels.NEAR, stream):
                self.expect_no_structure()
        return bool(self._greedy)

    def _is_clustered(self, backend: Backend) -> bool:
        """Whether no structure was found, because those that stand out go through clusters."""
        if self.found_structure(backend):
            return False
        families, stream = self._band_counts(backend), Stream(self.fitted.key)
        dense = standing_out(families[0].X, law_structures(families, labels.NEAR), stream)
        return bool(dense) and not credible(families[0].X, dense, stream)

    def units_hide_structures(self, backend: Backend, tables: Tables | None = None) -> bool:
        """Whether columns seem to have different units, so that structures cannot be seen."""
        if self.fitted.embedding is None:
            return False
        self.found_structure(backend, tables)
        families = [models.family for models in self.fitted.embedding.models]
        return hide_structures(families, self.fitted.points, self._greedy or [], self.names)

    @one_blas_thread()
    def diagnosis(self, backend: Backend, steps: Floats | None) -> list[Finding]:
        """What to know about the data and the result; steps: of the columns."""
        if self._diagnosis is None:
            self._diagnosis = diagnose(
                self.fitted,
                self.structures(backend),
                found=self.found_structure(backend),
                names=self.names,
                steps=steps,
                disagreement=self._disagreement(backend),
                agreement=self._own_choice.agreement,
                beyond=self.share_beyond(backend),
                off=self._choice.off,
                kept=self._own_choice.kept,
                uneven=self._uneven,
                clustered=self._is_clustered(backend),
                parallax=parallax_of(
                    self.fitted.points,
                    self.structures(backend),
                    Stream(self.fitted.key).child("parallax"),
                ),
            )
        return list(self._diagnosis)

    @one_blas_thread()
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

    def structures_at(self, backend: Backend, threshold: float) -> list[Structure]:
        """The structures with the members that a threshold other than their own leaves them: rows
        that it flags belong to none."""
        if self._structures_at is None or self._structures_at[0] != threshold:
            found = self.structures(backend)
            rows, numbers, is_pool = self._represented()
            scores = self.fitted.pool_scores if is_pool else self.subset_scores(backend)
            cells = assign_rows(rows, scores <= threshold, found).labels
            kept = [each.with_members(numbers[cells == k]) for k, each in enumerate(found)]
            self._structures_at = (threshold, kept)
        return self._structures_at[1]

    def to_store(self, backend: Backend) -> StoredStructures | None:
        """The structures for a model file; None for a forest without models."""
        if self.fitted.embedding is None:
            return None
        self.found_structure(backend)
        return StoredStructures(self.structures(backend), self._greedy or [])

    def name_columns(self, names: Sequence[str]) -> None:
        """Describe the structures and the diagnosis by these names of the columns."""
        self.names, self._diagnosis = tuple(str(name) for name in names), None
        self._structures_at = None
        if self._structures is not None:
            self._structures, self._pieces = self._described(self._structures), None

    def member_rows(self, backend: Backend) -> list[Floats]:
        """The rows of the members of each structure."""
        return self._rows_of(self.structures(backend))

    def _described(self, found: list[Structure]) -> list[Structure]:
        d = self.fitted.points.shape[1]
        return [
            each.with_description(rows, self.names or column_names(each.family, d))
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

    def pieces_at(self, backend: Backend, threshold: float) -> list[Structure]:
        """The pieces with the members that another threshold leaves them, as `structures_at`."""
        pieces, (rows, numbers, _) = self.pieces(backend), self._represented()
        found = self.structures_at(backend, threshold)
        labels = np.full(len(rows), -1, np.int64)
        for k, each in enumerate(found):
            labels[np.searchsorted(numbers, each.members)] = k
        parts = pieces.of(rows, Assignment(labels, np.zeros(len(rows))))
        return [each.with_members(numbers[parts == k]) for k, each in enumerate(pieces.structures)]

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
        found = credible(families[0].X, found, stream) or self._greedy or []
        rows, numbers, is_pool = self._represented()
        scores = fitted.pool_scores if is_pool else self.subset_scores(backend)
        # Of the rows as they are, not dithered: the same rule as for new rows.
        cells = assign_rows(rows, scores <= threshold, found).labels
        return [each.with_members(numbers[cells == k]) for k, each in enumerate(found)]

    @one_blas_thread()
    def _vote_threshold(
        self, backend: Backend, rows: Floats, scores: Floats, tables: Tables | None = None
    ) -> float:
        """The threshold on the scores of these rows. It flags nothing if no structure is seen."""
        found = self.found_structure(backend, tables)
        if not found or self.units_hide_structures(backend):
            return labels.NOTHING_FLAGGED
        distances = self._distances(rows)
        null = np.empty(0) if distances.decide else self.null_scores(backend)
        choice = distances.choose(scores, null, self.fitted.ceiling())
        self._choice = choice
        if rows is self.fitted.points:
            self._own_choice = choice
        return choice.threshold

    def _distances(self, rows: Floats) -> Distances:
        """Which rows are far from the structures."""
        pool, stream = self._dithered(), Stream(self.fitted.key).child("null")
        own_null = own_null_rows(self._family, pool, stream.child("ends"))
        boundaries = Boundaries(pool, self._greedy or [], own_null)
        uneven = [each for each in boundaries.uneven if each is not None]
        if rows is self.fitted.points:
            self._uneven = uneven
        null_far = boundaries.far(self._null_points())
        # The ends of structures follow from null rows; or these are like normal points, or rows
        # score high where the noise is large, and comparing scores with theirs is meaningless.
        decide = own_null is not None or bool(uneven) or self._fills_box(boundaries, null_far)
        return Distances(
            rows, self._family, boundaries.beyond(rows), boundaries.far(rows), null_far,
            boundaries.far_beyond(rows), decide, bool(uneven), self._is_noisy(boundaries),
        )  # fmt: skip

    def thresholds_again(self, backend: Backend, chosen: Literal["automatic"] | float) -> Floats:
        """The threshold of each forest that is drawn again from the trees: the automatic one, or
        that of a share of the training rows (of the pool, if there are more)."""
        if chosen not in self._again:
            fitted = self.fitted
            scores = self._scores_again(backend, fitted.points)
            if not isinstance(chosen, str):
                found = [thresholds.share(each, chosen) for each in scores]
            elif not fitted.has_null:
                found = [thresholds.otsu(each) for each in scores]
            else:
                distances, ceiling = self._distances(fitted.points), fitted.ceiling()
                null = np.empty((len(scores), 0))
                if not distances.decide:
                    null = np.sort(self._scores_again(backend, self._null_points()), axis=1)
                found = [distances.choose(s, n, ceiling).threshold for s, n in zip(scores, null)]
            self._again[chosen] = np.array(found)
        return self._again[chosen]

    def _scores_again(self, backend: Backend, rows: Floats) -> Floats:
        fitted = self.fitted
        lengths, normaliser = backend.path_lengths(fitted, rows), fitted.forest.trees.normaliser
        return scores_again(lengths, normaliser, Stream(fitted.key).child("stability"))

    def _is_noisy(self, boundaries: Boundaries) -> bool:
        """Whether the bands are as wide as the data, as those of tables with much noise are. Among
        matches, a narrow motion of few stands out although wide bands were tried."""
        embedding = self.fitted.embedding
        assert embedding is not None
        narrow = layout_of(self._family).kind == "matches" and not boundaries.wide.any()
        return is_noisy(embedding.measuring_of(0, self.fitted.points).grid) and not narrow

    def share_beyond(self, backend: Backend) -> float:
        """The share of rows that the labels would flag, if it is too large to flag any; else 0."""
        if self.fitted.has_null:
            self.automatic_threshold(backend)
        return self._choice.too_many

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
