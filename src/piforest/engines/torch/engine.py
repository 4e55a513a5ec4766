"""The steps of fitting and scoring on a GPU, or with the same code on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from ..._rows import SparseRows
from ..._tensors import is_tensor
from ..._validation import check_tensor
from ...fitted import FittedEmbedding, FittedForest
from ...forest import FlatForest, PooledForest
from ...protocols import Floats
from ..local import LocalEngine
from ..protocol import ForestPlan
from .many import ManyForests, can_batch
from .preferences import DevicePreferences
from .scorer import PreferenceScorer, Scorer, VectorScorer

_EMBEDDED_ROWS = 4096
# Rows that are scored together in all windows that hold them.
_MAPPED_ROWS = 2**18

# The forests on a device, as long as they are in use on the host.
_SCORERS: WeakKeyDictionary[PooledForest, Scorer] = WeakKeyDictionary()
_FORESTS: WeakKeyDictionary[Any, ManyForests] = WeakKeyDictionary()
_LOCK = Lock()


@dataclass(frozen=True)
class TorchEngine(LocalEngine):
    """Accepts tensors as they are, and returns tensors on the same device for them."""

    device: Any
    n_jobs: int | None = None
    """threads of the steps on the host"""
    verbose: int = 0

    def accepts(self, X: Any) -> bool:
        return is_tensor(X)

    def check(self, X: Any, estimator: Any) -> None:
        check_tensor(X, estimator.n_features_in_)

    def embed(self, embedding: FittedEmbedding, X: Floats) -> Iterator[SparseRows]:
        models = DevicePreferences(embedding, False, self.device)
        starts = range(0, len(X), _EMBEDDED_ROWS)
        return (models.rows_of(X[start : start + _EMBEDDED_ROWS]) for start in starts)

    def grow(self, plan: ForestPlan) -> tuple[PooledForest, Floats]:
        assert isinstance(plan.trees, FlatForest)  # others are computed on the CPU only
        with self.progress.stage(f"distances and trees on {self.device}"):
            scorer = self._new_scorer(plan.metric.name, plan.embedding)
            grown = scorer.grow_pool(plan.rows, plan.trees, plan.stream, plan.n_trees)
        forest = PooledForest(plan.metric, grown.pool, grown.trees)
        _SCORERS[forest] = scorer
        return forest, grown.scores

    def forest_scores(self, fitted: FittedForest, rows: Any) -> Any:
        return self.scorer(fitted).scores(rows, self.progress)

    def map_blocks(self, function: Callable[[Any, Any], Any], rows: Any) -> list[Any]:
        starts = range(0, len(rows), _MAPPED_ROWS)
        return [function(rows[start : start + _MAPPED_ROWS], self) for start in starts]

    def scores_in(
        self, owner: Any, forests: Sequence[FittedForest], held: Sequence[tuple[int, Any]]
    ) -> Iterable[Any]:
        if not can_batch(forests):
            return super().scores_in(owner, forests, held)
        with _LOCK:
            many = _FORESTS.get(owner)
            if many is None or many.device != self.device:
                many = _FORESTS[owner] = ManyForests(forests, self.device)
        return many.scores(held)

    def path_lengths(self, fitted: FittedForest, rows: Any) -> Any:
        return self.scorer(fitted).path_lengths(rows, self.progress)

    def scorer(self, fitted: FittedForest) -> Scorer:
        """The fitted model on the device; it is copied there once."""
        forest = fitted.forest
        assert isinstance(forest, PooledForest)
        with _LOCK:
            scorer = _SCORERS.get(forest)
            if scorer is None or scorer.device != self.device:
                scorer = self._new_scorer(forest.metric.name, fitted.embedding)
                scorer.load_fitted(forest.pool, forest.trees)
                _SCORERS[forest] = scorer
        return scorer

    def _new_scorer(self, metric: str, embedding: FittedEmbedding | None) -> Scorer:
        if embedding is None:
            return VectorScorer(metric, self.device)
        return PreferenceScorer(embedding, metric, self.device)
