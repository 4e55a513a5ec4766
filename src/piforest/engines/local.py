"""The base of the engines that compute on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .._progress import Progress
from .._random import Stream
from .._tensors import to_numpy
from ..fitted import TrainingRows


class LocalEngine:
    """Base of the CPU and the torch engine: rows are validated arrays in memory."""

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
