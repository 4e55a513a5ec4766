"""What an engine must offer. Estimators choose one at each public method and use nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .._random import Stream
from .._rows import SparseRows
from ..bands import Bands, BandTable
from ..fitted import FittedEmbedding, FittedForest, TrainingRows
from ..forest import FlatForest, PooledForest
from ..membership import SampleMembership
from ..models import ModelSet
from ..protocols import Floats, Metric


@dataclass(frozen=True)
class ForestPlan:
    """What a forest is to be grown from."""

    metric: Metric
    rows: Any
    """the pool: points with an embedding, else rows in the layout of the metric"""
    embedding: FittedEmbedding | None
    trees: FlatForest
    """what trees are like, without any"""
    n_trees: int
    stream: Stream
    pool: Any = None
    """the pool where it is not made of `rows`: the numbers of precomputed columns"""


class Computing(Protocol):
    """The steps of fitting and scoring that take time. Rows are validated NumPy arrays, or rows
    in the layout of the metric without an embedding."""

    def measure_bands(
        self, X: Floats, models: ModelSet, membership: SampleMembership, keep: bool
    ) -> tuple[Bands, BandTable | None]:
        """The bands of all models; with `keep` also their table, unless it is too large."""
        ...

    def band_table(self, X: Floats, models: ModelSet, membership: SampleMembership) -> BandTable:
        """The bands of all rows and models."""
        ...

    def embed(self, embedding: FittedEmbedding, X: Floats) -> Iterator[SparseRows]:
        """Blocks of preferences, in order."""
        ...

    def grow(self, plan: ForestPlan) -> tuple[PooledForest, Floats]:
        """The forest, and the scores of its pool."""
        ...

    def scores(self, fitted: FittedForest, rows: Any) -> Any:
        """(n,) anomaly scores."""
        ...

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Any:
        """(n, t)"""
        ...


class Engine(Protocol):
    """Where a method of an estimator runs, and how its input and output travel there."""

    @property
    def computing(self) -> Computing:
        """What computes on this machine."""
        ...

    def takes(self, X: Any) -> bool:
        """Whether `scores` and `path_lengths` take X as it is, before validation."""
        ...

    def check(self, X: Any, estimator: Any) -> None:
        """Raise if X, which is taken as it is, does not fit the fitted estimator."""
        ...

    def in_memory(self, X: Any) -> Any:
        """X as something that scikit-learn validates."""
        ...

    def training_rows(
        self, X: Any, stream: Stream, pool_size: int, quality: Any = None, groups: Any = None
    ) -> TrainingRows:
        """The rows that a fit looks at, not yet validated."""
        ...

    def scores(self, fitted: FittedForest, rows: Any) -> Any:
        """(n,) anomaly scores of rows that are taken, or of validated rows."""
        ...

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Any:
        """(n, t) of rows that are taken, or of validated rows."""
        ...

    def elementwise(self, function: Callable[[Any], Any], values: Any, name: str) -> Any:
        """A function of each of the values that `scores` returned; name: of the answer."""
        ...
