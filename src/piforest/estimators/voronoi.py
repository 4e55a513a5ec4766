"""Isolation by nested Voronoi cells in any metric space: the paper's PI-Forest on its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from .._device import VECTOR_METRICS, on_host, resolve_device
from .._progress import Progress
from .._random import Stream, choose
from .._validation import (
    check_magnitude,
    check_no_strings,
    check_row_count,
    check_same_kind,
    check_square,
    check_table,
    forget_fit,
    objects_or_none,
    on_cpu_only,
)
from ..forest import PooledForest
from ..metrics import METRICS, as_rows, resolve_metric
from ..protocols import Floats, Metric
from ._detector import Detector
from ._partitioned import training_data

_NOT_NEGATIVE = ("tanimoto", "jaccard", "ruzicka", "precomputed")


class VoronoiForest(Detector):
    """Detect points that are easy to isolate under any distance.

    Each tree splits a random subset of the points into the Voronoi cells of a few
    random seeds, and each cell again. Isolated points end in shallow leaves. Only
    distances are looked at, so the points can be vectors, sparse rows, strings or
    a table of distances.

    Parameters
    ----------
    metric : str, Metric or callable, default="tanimoto"
        A name of `piforest.metrics.list_metrics`; "precomputed", for a square
        matrix of distances in `fit` and distances to the training points (rows,
        n_train) afterwards; or any function d(a, b), on vectors or on the items
        of a list. A function is called once for each pair of a row and a pool
        point: lower `pool_size` if it is slow. tanimoto, jaccard and ruzicka
        reject negative entries; jaccard treats every non-zero entry as 1. Sparse
        rows stay sparse with these three, cosine, euclidean and manhattan, and
        are made dense with the others.
    n_estimators : int, default=100
        Trees, t in the paper.
    max_samples : int, default=256
        Points in each tree, psi in the paper; at most the size of the pool.
    branching : int, default=2
        Seeds in each node, b in the paper.
    pool_size : int, default=4096
        All trees draw their points from at most this many training points, chosen
        at random. With n <= pool_size this is exactly the paper's forest; memory
        and time of a score do not grow with n beyond it.
    contamination : "auto" or float in (0, 1), default="auto"
        Share of the training points to flag: at most contamination * n, or the
        whole block of ties at the top. "auto" splits the training scores into two
        classes (Otsu), which flags something even where nothing is anomalous, and
        too much where anomalies are few: give a share if you know it.
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        What computes: "cuda" or "cuda:1" a GPU, through PyTorch, for dense rows with the
        metrics euclidean and manhattan; "auto" a GPU where there is one; "torch" the same
        code on the CPU. Tensors may go in, and come out on their own device, whatever
        computes.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        One seed gives one answer.
    verbose : int, default=0
        1 prints the stages and their times to standard error.

    Attributes
    ----------
    scores_ : ndarray (n,)
        `anomaly_score` of the training points.
    labels_ : ndarray (n,)
        -1 for anomalies, +1 for the rest.
    offset_ : float
        `decision_function = score_samples - offset_`.
    forest_ : PooledForest
    max_samples_ : int

    Examples
    --------
    Words by the number of letters in which they differ:

    >>> from piforest import VoronoiForest
    >>> def differing(a, b):
    ...     return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))
    >>> words = ["cat", "bat", "rat", "mat", "hat", "car", "bar", "zeppelin"]
    >>> forest = VoronoiForest(differing, random_state=0).fit(words)
    >>> words[forest.scores_.argmax()]
    'zeppelin'

    References
    ----------
    F. Leveni, L. Magri, G. Boracchi, C. Alippi, "PIF: Anomaly detection via
    preference embedding", ICPR 2020, section IV-B.
    """

    # Were the training points objects, not rows of numbers? A loaded model's never were.
    _on_objects = False

    def __init__(
        self,
        metric: Any = "tanimoto",
        *,
        n_estimators: int = 100,
        max_samples: int = 256,
        branching: int = 2,
        pool_size: int = 4096,
        contamination: Any = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.branching = branching
        self.pool_size = pool_size
        self.contamination = contamination
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the forest on X; y is ignored. Of a Dask collection, whose rows have to be vectors,
        only the rows that are looked at are gathered."""
        forget_fit(self)
        self._check_forest_params()
        metric = resolve_metric(self.metric)
        stream = Stream.from_random_state(self.random_state)
        data = training_data(on_host(X), stream, self.pool_size)
        rows = data.among_all(self._rows(data.X, metric, reset=True))
        chosen = choose(stream.child("pool"), len(rows), self.pool_size)
        pool = chosen if metric.name == "precomputed" else rows[chosen]
        device = self._resolve_device(metric, pool)
        if device is None:
            D = self._grow(metric, pool, rows[chosen], stream.child("trees"))
            scores = self.forest_.scores(rows[chosen], D)
        else:
            scores = self._grow_on(device, metric, pool, stream.child("trees"))
        self.max_samples_ = self.forest_.forest.max_samples
        self._remember(rows, chosen, scores, stream)
        self._set_threshold()
        return self

    def _grow_on(self, device: Any, metric: Metric, pool: Any, stream: Stream) -> Floats:
        """Grow the forest on a device other than the CPU; returns the pool's scores."""
        scorer = self._new_scorer(device, metric, pool)
        empty = self._empty_forest(len(pool), soft=False)
        with Progress(self.verbose).stage(f"distances and trees on {device}"):
            grown, scores = scorer.take_pool(empty, stream, self.n_estimators)
        self.forest_, self._on_device = PooledForest(metric, pool, grown), scorer
        return scores  # type: ignore[no-any-return]

    def _resolve_device(self, metric: Metric, rows: Any) -> Any:
        known = METRICS.name_of(metric) in VECTOR_METRICS
        device = resolve_device(self.device, able=known and isinstance(rows, np.ndarray))
        if device is not None and not known:
            raise on_cpu_only("metric", metric, VECTOR_METRICS)
        return device

    def _fitted_scorer(self, device: Any) -> Any:
        scorer = self._new_scorer(device, self.forest_.metric, self.forest_.pool)
        return scorer.take_fitted(self.forest_.forest)

    def _new_scorer(self, device: Any, metric: Metric, pool: Any) -> Any:
        from ..engines.torch.scorer import VectorScorer

        return VectorScorer(metric.name, pool, device)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        named = self.metric if isinstance(self.metric, str) else METRICS.name_of(self.metric)
        tags.input_tags.pairwise = named == "precomputed"
        tags.input_tags.sparse = named not in ("precomputed", None)
        tags.input_tags.positive_only = named in _NOT_NEGATIVE
        return tags

    def _rows(self, X: Any, metric: Metric, reset: bool) -> Any:
        """Validated X in the metric's own layout."""
        objects = self._objects(X, metric, reset)
        if reset:
            self._on_objects = objects is not None
        check_same_kind(self._on_objects, objects)
        if objects is not None:
            return self._checked_objects(objects, metric, reset)
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if hasattr(metric, "rows") else False,
            dtype=np.float64,
            order="C",
            reset=reset,
            ensure_min_samples=2 if reset else 1,
        )
        if metric.name == "precomputed":
            if reset:
                check_square(X)
            check_table(X, "the precomputed matrix", X.shape)
        elif reset:
            check_magnitude(X.data if scipy.sparse.issparse(X) else X)
        rows = as_rows(metric, X)
        check_row_count(metric.name, len(rows), X.shape[0])
        return rows

    def _objects(self, X: Any, metric: Metric, reset: bool) -> Any:
        """Items of a list for a metric of the user's own; None for rows of numbers."""
        if METRICS.name_of(metric) is None:
            # What a list holds was decided in fit, not by the other items of a batch.
            return objects_or_none(X, certainly=self._on_objects and not reset)
        check_no_strings(metric.name, X)
        return None

    def _checked_objects(self, objects: Any, metric: Metric, reset: bool) -> Any:
        least = 2 if reset else 1
        if len(objects) < least:
            raise ValueError(f"VoronoiForest needs at least {least} object(s), got {len(objects)}.")
        return as_rows(metric, objects)

    def _rows_to_score(self, X: Any) -> Any:
        check_is_fitted(self, "forest_")
        return self._rows(X, self.forest_.metric, reset=False)

    def _then(self, function: Callable[[Any], Floats]) -> Callable[[Any], Floats]:
        return function
