"""A fitted model as a value: everything that scoring needs, without code that computes.

Estimators hold it as `fitted_`. Model files, pickles, Dask workers and GPUs use the same value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from .._random import Stream, subset
from .._ranges import Ranges
from ..bands.evidence import Bands
from ..bands.measuring import Measuring
from ..forest import HashedForest, PooledForest
from ..models.drawing import ModelSet
from ..models.membership import SampleMembership
from ..preferences import Preferences
from ..protocols import Floats, Ints, Kernel

SigmaSource = Literal["given", "estimated", "guessed"]


class ForestScorer(Protocol):
    """What computes the scores of a forest: an engine."""

    def forest_scores(self, fitted: FittedForest, rows: Any) -> Any:
        """(n,) anomaly scores."""
        ...


@dataclass(frozen=True, eq=False)
class FittedEmbedding:
    """The models of an embedding, and the kernel that converts distances to preferences."""

    models: tuple[ModelSet, ...]
    """one set for each family"""
    kernel: Kernel
    membership: SampleMembership | None
    """None if points may prefer the models whose samples contain them"""
    sigma: float
    sigma_source: SigmaSource
    n_degenerate: int
    """minimal samples that determined no model"""
    bands: tuple[Bands, ...] | None = None
    """for each family, if they were measured; not saved"""
    measuring: tuple[Measuring, ...] | None = None
    """how the bands of each family were measured, if they were"""

    def measuring_of(self, family: int, X: Floats) -> Measuring:
        """How bands of a family are measured on rows like X."""
        if self.measuring is not None:
            return self.measuring[family]
        return Measuring.plain(self.models[family].family, X)

    @property
    def n_models(self) -> int:
        """The number of models of all families."""
        return sum(len(part) for part in self.models)

    @cached_property
    def preferences(self) -> Preferences:
        """Maps validated rows to sparse preferences."""
        return Preferences(self.models, self.kernel, self.membership)


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A forest, its embedding if there is one, and the training rows that later results need."""

    forest: PooledForest | HashedForest
    """metric, pool and trees"""
    embedding: FittedEmbedding | None
    """None for a forest on the rows themselves"""
    key: int
    """of the random stream of the fit"""
    n_training: int
    pool_numbers: Ints
    """the numbers of the training rows in the pool, ascending"""
    pool_scores: Floats
    """their anomaly scores"""
    pool_points: Floats | None
    """their coordinates, with an embedding"""
    subset: Any
    """the training rows, or the random 50,000 that represent them, in the form that is scored;
    None if they are not kept"""

    @property
    def holds_all(self) -> bool:
        """Whether the pool contains all training rows."""
        return len(self.pool_numbers) == self.n_training

    @property
    def represented_numbers(self) -> Ints:
        """The numbers of the training rows that represent all, ascending: of all rows, or of the
        random 50,000."""
        if self.holds_all:
            return self.pool_numbers
        return subset(Stream(self.key), self.n_training)

    @cached_property
    def ranges(self) -> Ranges | None:
        """The ranges of the training rows (of those that represent them); None if they are not
        kept, or if the rows are no coordinates."""
        if self.embedding is None or not isinstance(self.subset, np.ndarray):
            return None
        return Ranges.of(self.subset, self.n_training)

    @property
    def has_null(self) -> bool:
        """Whether random points are comparable with training points: neither have preferences for
        models whose samples contain them, and no distance exceeds 1."""
        embedding = self.embedding
        return (
            embedding is not None
            and embedding.membership is not None
            and self.forest.metric.empty_rows
        )

    @property
    def points(self) -> Floats:
        """(pool, d) the coordinates of the pool."""
        if self.pool_points is None:
            raise AttributeError("a forest without models of structures has no points.")
        return self.pool_points

    def rows_to_score(self, X: Any) -> Any:
        """Validated X in the form that engines score."""
        return X if self.embedding is not None else self.forest.rows_of(X)

    def scores_by(self, engine: ForestScorer, rows: Any) -> Any:
        """(n,) anomaly scores that an engine computes."""
        return engine.forest_scores(self, rows)

    def ceiling(self) -> float:
        """The score of a row that resembles no row of the pool.

        Rows without any preference have a higher score by convention, which would split the scores
        of anomalies into two groups.
        """
        return self.forest.ceiling()

    def for_scoring(self) -> FittedForest:
        """A copy without the data that only results about the training rows need."""
        embedding = self.embedding
        return replace(
            self,
            embedding=None if embedding is None else replace(embedding, bands=None),
            pool_scores=self.pool_scores[:0],
            pool_points=None,
            subset=None,
        )
