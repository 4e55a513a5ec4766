"""The protocol of engines, which is all that estimators use of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .._random import Stream
from .._rows import SparseRows
from ..bands.evidence import BandCounted, Bands, BandTable
from ..bands.ladder import Ladder
from ..fitted import FittedEmbedding, FittedForest, TrainingRows
from ..forest import FlatForest, HashedForest, HashedTrees, PooledForest
from ..models.drawing import ModelSet
from ..models.membership import SampleMembership
from ..protocols import Floats, Ints, Metric


@dataclass(frozen=True)
class ForestPlan:
    """The input for growing a forest."""

    metric: Metric
    rows: Any
    """the pool: points if there is an embedding, else rows in the layout of the metric"""
    embedding: FittedEmbedding | None
    trees: FlatForest | HashedTrees
    """the shape of the trees, without any tree"""
    n_trees: int
    stream: Stream
    pool: Any = None
    """the pool if it differs from `rows`: the column numbers of precomputed distances"""


class RowSource(Protocol):
    """All rows of a training set, in memory or in the partitions of a Dask collection."""

    def __len__(self) -> int: ...

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        ...

    def map(self, function: Callable[[Floats, int], Any]) -> Iterator[Any]:
        """function(rows, the number of the first) for consecutive blocks of rows, in order."""
        ...

    def fetch(self, numbers: Ints) -> TrainingRows:
        """Training rows in memory, at least those with these numbers, ascending."""
        ...


class Backend(Protocol):
    """Computes the expensive steps of fitting and scoring on this machine. Rows are validated NumPy
    arrays, or rows in the layout of the metric without an embedding."""

    def measure_bands(
        self,
        X: Floats,
        models: ModelSet,
        membership: SampleMembership,
        ladder: Ladder,
        keep: bool,
        first: BandCounted | None = None,
    ) -> tuple[Bands, BandTable | None]:
        """The bands of all models; with `keep` also their table, unless it is too large. first:
        what was counted for the first models."""
        ...

    def band_table(
        self, X: Floats, models: ModelSet, membership: SampleMembership, ladder: Ladder
    ) -> BandTable:
        """The bands of all rows and models."""
        ...

    def embed(self, embedding: FittedEmbedding, X: Floats) -> Iterator[SparseRows]:
        """Blocks of preferences, in order."""
        ...

    def grow(self, plan: ForestPlan) -> tuple[PooledForest | HashedForest, Floats]:
        """The forest, and the scores of its pool."""
        ...

    def scores(self, fitted: Any, rows: Any) -> Any:
        """(n,) anomaly scores; fitted: a forest, or windows with a forest in each."""
        ...

    def forest_scores(self, fitted: FittedForest, rows: Any) -> Any:
        """(n,) anomaly scores in one forest."""
        ...

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Any:
        """(n, t) path lengths."""
        ...

    def map_blocks(self, function: Callable[[Any, Any], Any], rows: Any) -> list[Any]:
        """function(block, backend) for blocks of rows, in order. The backend computes without
        threads where blocks are in threads."""
        ...

    def scores_in(
        self, owner: Any, forests: Sequence[FittedForest], held: Sequence[tuple[int, Any]]
    ) -> Iterable[Floats]:
        """For each pair (k, rows), the scores of the rows in forest k; owner: an object that lives
        as long as the forests, whose copies on a device are kept as long."""
        ...


class Engine(Protocol):
    """Runs a method of an estimator on one kind of input, and returns the matching output."""

    @property
    def backend(self) -> Backend:
        """Computes the steps of a fit."""
        ...

    def accepts(self, X: Any) -> bool:
        """Whether `scores` and `path_lengths` accept X as it is, without validation."""
        ...

    def check(self, X: Any, estimator: Any) -> None:
        """Raise if an accepted X does not match the fitted estimator."""
        ...

    def in_memory(self, X: Any) -> Any:
        """X in a form that scikit-learn can validate."""
        ...

    def training_rows(
        self, X: Any, stream: Stream, pool_size: int, quality: Any = None, groups: Any = None
    ) -> TrainingRows:
        """The rows that a fit uses, before validation."""
        ...

    def source(self, X: Any, estimator: Any, validated: Callable[..., Any]) -> RowSource:
        """All rows of X for a fit of the estimator; `validated` checks rows in memory."""
        ...

    def map_tasks(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], total: int
    ) -> Iterator[Any]:
        """function(*each) for `total` independent tasks, results in order."""
        ...

    def scores(self, fitted: Any, rows: Any) -> Any:
        """(n,) anomaly scores of accepted or validated rows."""
        ...

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Any:
        """(n, t) path lengths of accepted or validated rows."""
        ...

    def by_rows(self, function: Callable[[Any, Any], Any], X: Any, scores: Any, name: str) -> Any:
        """Apply a function of rows and their scores to accepted or validated rows; name: of the
        resulting column."""
        ...

    def elementwise(self, function: Callable[[Any], Any], values: Any, name: str) -> Any:
        """Apply a function to the result of `scores`; name: of the resulting column."""
        ...
