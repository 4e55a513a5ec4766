"""What every detector does once its forest is grown: scores, labels, thresholds, files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from .. import thresholds
from .._device import is_tensor, like, on_host
from .._kernels.sparse import mirror
from .._progress import Progress
from .._random import SUBSET, Stream, subset
from .._threads import in_threads
from .._validation import (
    check_bounded,
    check_contamination,
    check_finite,
    check_forest_shape,
    check_tensor,
    warn_user,
)
from ..forest import FlatForest, PooledForest
from ..protocols import Floats, Ints, Metric
from ._partitioned import SomeRows, by_partition, in_memory, is_dask
from ._storage import load_detector, save_detector

# So many rows of a memory map are validated and held at once.
_MAPPED_ROWS = 65_536


class Detector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the detectors. A subclass turns user data into rows that its forest takes."""

    n_estimators: int
    max_samples: int
    branching: int
    pool_size: int
    contamination: Any
    device: str
    n_jobs: int | None
    verbose: int

    forest_: PooledForest
    offset_: float

    # Set by fit: the validated training rows as long as they are at hand, how many there are,
    # which of them are the pool, the key of all randomness, and what was computed when it was
    # asked for.
    _training: Any
    _n_training: int
    _pool_rows: Ints
    _key: int
    _known: dict[str, Any]

    # What a device other than the CPU holds of the model; made again where it is missing.
    _on_device: Any = None
    # Was the threshold given as a number, not found from contamination?
    _by_hand: bool = False

    @property
    def scores_(self) -> Floats:
        """(n,) `anomaly_score` of the training points. If there are more than the pool holds,
        they may be scored when they are first asked for: with more than 50,000 rows, do not
        change X before."""
        check_is_fitted(self, "forest_")
        scores: Floats = self._once("scores", self._score_training)
        return scores

    @property
    def labels_(self) -> NDArray[np.int64]:
        """(n,) -1 for anomalies among the training points, +1 for the rest."""
        return np.where(-self.scores_ - self.offset_ < 0, -1, 1)

    def __getstate__(self) -> dict[str, Any]:
        """Training data are not pickled where there are many, nor what a device holds."""
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("_on_device", None)
        if state.get("_n_training", 0) > SUBSET:
            state = {**state, "_training": None}
        return state

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.int64]:
        """Fit and label the training points: -1 for anomalies, +1 for the rest."""
        if is_dask(X):
            lazy: NDArray[np.int64] = self.fit(X, y, **fit_params).predict(X)
            return lazy
        labels: NDArray[np.int64] = like(self.fit(X, y, **fit_params).labels_, X)
        return labels

    @by_partition
    def anomaly_score(self, X: Any) -> Floats:
        """The paper's score of each row, (n,) in (0, 1], high = anomalous.

        A row's score depends on that row alone. 0.5 has no special meaning: where
        anomalies end depends on the structures, and `offset_` says it.
        """
        check_is_fitted(self, "forest_")
        scores: Floats = self._map(X, "scores")
        return scores

    def path_lengths(self, X: Any) -> Floats:
        """Path length of each row in each tree, (n, t), behind `anomaly_score`."""
        check_is_fitted(self, "forest_")
        lengths: Floats = self._map(X, "path_lengths")
        return lengths

    def score_blocks(self, blocks: Iterable[Any]) -> Iterator[Floats]:
        """`anomaly_score` of one block of rows after another, in constant memory.

        `blocks` may be any iterable of arrays or data frames: the parts of a file,
        a window over a stream. Every block is scored as if it were alone.
        """
        check_is_fitted(self, "forest_")
        if hasattr(blocks, "shape"):
            raise ValueError(
                "score_blocks takes an iterable of blocks of rows, got one "
                f"{type(blocks).__name__}; anomaly_score takes that."
            )
        return (self.anomaly_score(block) for block in blocks)

    @by_partition
    def score_samples(self, X: Any) -> Floats:
        """The negative of `anomaly_score`: scikit-learn's sign, low = anomalous."""
        return -self.anomaly_score(X)

    @by_partition
    def decision_function(self, X: Any) -> Floats:
        """`score_samples(X) - offset_`: negative for anomalies."""
        return self.score_samples(X) - self.offset_

    @by_partition
    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for anomalies, +1 for the rest."""
        labels: NDArray[np.int64] = np.where(on_host(self.decision_function(X)) < 0, -1, 1)
        return like(labels, X)  # type: ignore[no-any-return]

    def set_contamination(self, contamination: float | str, X: Any = None) -> Self:
        """A new threshold without fitting again.

        contamination: a share in (0, 1), or "auto".
        X: held-out points to take the threshold from, as mixed as those that will come;
        the training points if None.
        """
        check_is_fitted(self, "forest_")
        check_contamination(contamination)
        self.contamination = contamination
        self._set_threshold(in_memory(X))
        return self

    def set_threshold(self, threshold: float) -> Self:
        """Flag what scores above `threshold`, an `anomaly_score`."""
        check_is_fitted(self, "forest_")
        self.offset_, self._by_hand = -check_finite("threshold", threshold), True
        return self

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file, without pickle; it appears whole or not at all."""
        check_is_fitted(self, "forest_")
        save_detector(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str], *, family: Any = None) -> Self:
        """Read a model that `save` wrote. Scores are the same, bit for bit.

        family: the family that the model was fitted with, where it is not a built-in one; a
        file cannot hold it. Another one is refused: it has to give the same distances.
        """
        detector: Self = load_detector(path, (cls, *cls.__subclasses__()), family)
        return detector

    def _check_forest_params(self) -> None:
        check_forest_shape(self.n_estimators, self.max_samples, self.branching, self.pool_size)
        check_contamination(self.contamination)

    def _grow(
        self, metric: Metric, pool: Any, rows: Any, stream: Stream, soft: bool = False
    ) -> Floats:
        """Grow the forest; returns the pool's table of distances. `rows` are the pool's rows
        as they are scored: the pool itself but for precomputed distances."""
        progress = Progress(self.verbose)
        empty = PooledForest(metric, pool, self._empty_forest(len(pool), soft))
        with progress.stage(f"distances within a pool of {len(pool)}"):
            empty.ready()
            D = self._own_table(empty, rows)
        if soft:
            check_bounded(metric.name, D)
        with progress.stage(f"{self.n_estimators} trees"):
            self.forest_ = empty.grow(D, self.n_estimators, stream, self.n_jobs)
        return D

    def _empty_forest(self, pool: int, soft: bool) -> FlatForest:
        """What trees will be like, without any."""
        flat = FlatForest(min(self.max_samples, pool), self.branching, soft=soft)
        if flat.max_samples < self.branching:
            warn_user(
                f"branching ({self.branching}) is above the {flat.max_samples} points of a tree: "
                "no tree can split, and all scores are equal."
            )
        return flat

    def _own_table(self, pooled: PooledForest, rows: Any) -> Floats:
        """Distances (pool, pool); half of them are enough where the metric knows how."""
        if not pooled.knows_half:
            return self._blocks(rows, pooled.table, pooled.block_rows)
        n, size = len(rows), pooled.block_rows
        D = np.empty((n, n))

        def fill(start: int) -> None:
            stop = min(start + size, n)
            D[start:stop, start:] = pooled.upper_table(start, stop)

        starts = range(0, n, size)
        tracked = Progress(self.verbose).track(starts, len(starts), "rows")
        list(in_threads(fill, ((start,) for start in tracked), self.n_jobs, len(starts)))
        mirror(D)
        return D

    def _remember(self, X: Any, pool_rows: Ints, scores: Floats, stream: Stream) -> None:
        """What later questions need, of the validated training data X; scores: of the pool."""
        self._training, self._n_training, self._pool_rows = X, len(X), pool_rows
        self._key = stream.key
        self._known = {"pool scores": scores}
        if len(pool_rows) == len(X):
            self._known["scores"], self._training = scores, None

    def _score_training(self) -> Floats:
        if self._training is None or isinstance(self._training, SomeRows):
            raise AttributeError(
                f"the scores of the {self._n_training} training points were not computed before "
                "this model was saved or copied, or it was fitted to a Dask collection, and it "
                "does not hold the points; anomaly_score(X) and predict(X) take them."
            )
        with Progress(self.verbose).stage(f"scores of {self._n_training} points"):
            scores = self._run(self._training, "scores")
        self._training = None  # not needed any more
        return scores

    def _subset_scores(self) -> Floats:
        """Scores of the training points, or of the 50,000 that stand for them."""
        if self._n_training <= SUBSET:
            return self.scores_
        scores: Floats = self._once("subset scores", self._score_subset)
        return scores

    def _score_subset(self) -> Floats:
        if "scores" in self._known:
            return self.scores_[subset(Stream(self._key), self._n_training)]
        few = self._subset()
        with Progress(self.verbose).stage(f"scores of {len(few)} points"):
            return self._run(few, "scores")

    def _subset(self) -> Any:
        """The training rows that stand for all."""
        return self._training[subset(Stream(self._key), self._n_training)]

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        if name not in self._known:
            self._known[name] = compute()
        return self._known[name]

    def _set_threshold(self, X: Any = None) -> None:
        """From the rows of X, or from the training points."""
        contamination = check_contamination(self.contamination)
        if contamination is None:
            self.set_threshold(self._auto_threshold(X))
        else:
            scores = self._subset_scores() if X is None else on_host(self.anomaly_score(X))
            self.set_threshold(thresholds.share(scores, contamination))
        self._by_hand = False

    def _auto_threshold(self, X: Any) -> float:
        """The cut for the rows of X, or for the training points where X is None."""
        return thresholds.otsu(
            self._subset_scores() if X is None else on_host(self.anomaly_score(X))
        )

    def _map(self, X: Any, what: str) -> Any:
        """ "scores" or "path_lengths" of the rows of X, block by block; a memory map is read part
        by part, a tensor gives a tensor on its own device."""
        if is_tensor(X):
            scorer = self._scorer()
            if scorer is None:
                return like(self._map(on_host(X), what), X)
            check_tensor(X, self.n_features_in_)
            return getattr(scorer, what)(X, Progress(self.verbose))
        if not isinstance(X, np.memmap):
            return self._run(self._rows_to_score(X), what)
        parts = (X[start : start + _MAPPED_ROWS] for start in range(0, len(X), _MAPPED_ROWS))
        return np.concatenate([self._run(self._rows_to_score(part), what) for part in parts])

    def _run(self, rows: Any, what: str) -> Floats:
        """ "scores" or "path_lengths" of validated rows, on the device that computes."""
        scorer = self._scorer()
        if scorer is not None:
            found: Floats = getattr(scorer, what)(rows, Progress(self.verbose))
            return found
        self.forest_.ready()
        return self._blocks(rows, self._then(getattr(self.forest_, what)))

    def _scorer(self) -> Any:
        """What scores on a device other than the CPU; None for the CPU."""
        device = self._resolve_device(self.forest_.metric, self.forest_.pool)
        if device is None:
            return None
        if self._on_device is None or self._on_device.device != device:
            self._on_device = self._fitted_scorer(device)
        return self._on_device

    def _resolve_device(self, metric: Metric, rows: Any) -> Any:
        """The torch device that computes with this metric and rows like these; None: the CPU."""
        raise NotImplementedError

    def _fitted_scorer(self, device: Any) -> Any:
        """The fitted model on a device."""
        raise NotImplementedError

    def _blocks(self, rows: Any, function: Callable[[Any], Floats], size: int = 0) -> Floats:
        """function(block) for blocks of rows, in threads, joined in order."""
        size = size or self.forest_.block_rows
        starts = range(0, len(rows), size)
        tracked = Progress(self.verbose).track(starts, len(starts), "rows")
        blocks = ((rows[start : start + size],) for start in tracked)
        return np.concatenate(list(in_threads(function, blocks, self.n_jobs, len(starts))))

    def _rows_to_score(self, X: Any) -> Any:
        """Validated X, something with a length and slices."""
        raise NotImplementedError

    def _then(self, function: Callable[[Any], Floats]) -> Callable[[Any], Floats]:
        """function, after what turns a block of validated X into rows of the forest."""
        raise NotImplementedError
