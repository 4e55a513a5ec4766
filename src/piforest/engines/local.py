"""The base of the engines that compute on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from .._progress import Progress
from .._random import Stream
from .._tensors import to_numpy
from .._threads import in_threads
from ..bands.evidence import BandCounted, Bands, BandTable, full_band_table, measure_bands
from ..bands.ladder import Ladder
from ..fitted import FittedForest, TrainingRows
from ..models.drawing import ModelSet
from ..models.membership import SampleMembership
from ..protocols import Floats, Ints

# Rows of an array that are looked at together.
_BLOCK = 2**18


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """The rows of an array as a `RowSource`."""

    X: Floats
    block: int = _BLOCK

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def map(self, function: Callable[[Floats, int], Any]) -> Iterator[Any]:
        for start in range(0, len(self.X), self.block):
            yield function(self.X[start : start + self.block], start)

    def fetch(self, numbers: Ints) -> TrainingRows:
        return TrainingRows(self.X)


class LocalEngine:
    """Base of the CPU and the torch engine: rows are validated arrays in memory."""

    n_jobs: int | None
    verbose: int

    @property
    def backend(self) -> Self:
        return self

    @property
    def progress(self) -> Progress:
        return Progress(self.verbose)

    def accepts(self, X: Any) -> bool:
        return False

    def check(self, X: Any, estimator: Any) -> None:
        raise NotImplementedError

    # Also of a fit on a GPU, which measures at most 4,096 rows, or few models: a core measures a
    # thousand million distances a second, and compiling for the GPU takes three.
    def measure_bands(
        self,
        X: Floats,
        models: ModelSet,
        membership: SampleMembership,
        ladder: Ladder,
        keep: bool,
        first: BandCounted | None = None,
    ) -> tuple[Bands, BandTable | None]:
        return measure_bands(
            X, models, membership, ladder, n_jobs=self.n_jobs, keep=keep, first=first
        )

    def band_table(
        self, X: Floats, models: ModelSet, membership: SampleMembership, ladder: Ladder
    ) -> BandTable:
        return full_band_table(X, models, membership, ladder, self.n_jobs)

    def in_memory(self, X: Any) -> Any:
        return to_numpy(X)

    def training_rows(
        self, X: Any, stream: Stream, pool_size: int, quality: Any = None, groups: Any = None
    ) -> TrainingRows:
        return TrainingRows(to_numpy(X), quality, groups)

    def source(self, X: Any, estimator: Any, validated: Callable[..., Any]) -> ArrayRows:
        return ArrayRows(validated(self.in_memory(X), reset=True))

    def map_tasks(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], total: int
    ) -> Iterator[Any]:
        return in_threads(function, arguments, self.n_jobs, total)

    def scores(self, fitted: Any, rows: Any) -> Any:
        return fitted.scores_by(self, rows)

    def forest_scores(self, fitted: FittedForest, rows: Any) -> Any:
        raise NotImplementedError

    def scores_in(
        self, owner: Any, forests: Sequence[FittedForest], held: Sequence[tuple[int, Any]]
    ) -> Iterable[Floats]:
        return (self.forest_scores(forests[k], rows) for k, rows in held)

    def by_rows(self, function: Callable[[Any, Any], Any], X: Any, scores: Any, name: str) -> Any:
        return function(X, to_numpy(scores))

    def elementwise(self, function: Callable[[Any], Any], values: Any, name: str) -> Any:
        return function(values)
