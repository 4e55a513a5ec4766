"""The base of the engines that compute on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .._progress import Progress
from .._random import Stream
from .._tensors import to_numpy
from ..bands.evidence import Bands, BandTable, full_band_table, measure_bands
from ..bands.ladder import Ladder
from ..fitted import TrainingRows
from ..models.drawing import ModelSet
from ..models.membership import SampleMembership
from ..protocols import Floats


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
    ) -> tuple[Bands, BandTable | None]:
        return measure_bands(X, models, membership, ladder, n_jobs=self.n_jobs, keep=keep)

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

    def by_rows(self, function: Callable[[Any, Any], Any], X: Any, scores: Any, name: str) -> Any:
        return function(X, to_numpy(scores))

    def elementwise(self, function: Callable[[Any], Any], values: Any, name: str) -> Any:
        return function(values)
