"""Isolation by nested Voronoi cells in any metric space: the PI-Forest of the paper."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from .._rows import SparseRows, as_rows
from .._validation import (
    check_magnitude,
    check_no_strings,
    check_row_count,
    check_same_kind,
    check_square,
    check_table,
    clear_fit,
    cpu_only_error,
    objects_or_none,
)
from ..engines import VECTOR_METRICS
from ..metrics import METRICS, resolve_metric
from ..protocols import Metric
from ..typing import ContaminationLike, MetricLike, RandomStateLike, RowsLike
from .row_forest import RowForest

__all__ = ["VoronoiForest"]

_NOT_NEGATIVE = ("tanimoto", "jaccard", "ruzicka", "precomputed")


class VoronoiForest(RowForest):
    """Detect points that are easy to isolate under any distance.

    Each tree splits a random subset of the points into the Voronoi cells of a few random seeds,
    and each cell again. Isolated points end in shallow leaves. Only distances are used, so the
    points can be vectors, sparse rows, strings or a matrix of distances.

    Parameters
    ----------
    metric : str, Metric or callable, default="tanimoto"
        A name of `piforest.metrics.list_metrics`; "precomputed", for a square matrix of distances
        in `fit` and distances to the training points (rows, n_train) afterwards; or any function
        d(a, b) of vectors or of the items of a list. A function is called for each pair of a row
        and a pool point: reduce `pool_size` if it is slow. tanimoto, jaccard and ruzicka reject
        negative entries; jaccard treats every non-zero entry as 1. Sparse rows stay sparse with
        these three, cosine, euclidean and manhattan; other metrics convert them to dense rows.
    n_estimators : int, default=100
        The number of trees, t in the paper.
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
        classes (Otsu), which flags some points even if none is anomalous, and too
        many if anomalies are few: pass a share if you know it.
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        "cuda" or "cuda:1": a GPU, through PyTorch, for dense rows with the metrics euclidean and
        manhattan; "auto": a GPU if there is one; "torch": the same code on the CPU. Tensors give
        tensors on the same device, whatever `device` is.
    n_jobs : int or None, default=None
        The number of threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same result.
    verbose : int, default=0
        1 prints the stages and their times on standard error.

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
    Words, compared by the number of letters that differ:

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

    def __init__(
        self,
        metric: MetricLike = "tanimoto",
        *,
        n_estimators: int = 100,
        max_samples: int = 256,
        branching: int = 2,
        pool_size: int = 4096,
        contamination: ContaminationLike = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
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

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n, d) or list of objects
            The training rows. From a Dask collection, whose rows have to be vectors, only the
            rows that are needed are read into memory.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        clear_fit(self)
        return self._grow(X, resolve_metric(self.metric))

    def _cpu_only(self, X: Any) -> ValueError | None:
        fitted = getattr(self, "fitted_", None)
        metric = resolve_metric(self.metric) if fitted is None else fitted.forest.metric
        if METRICS.name_of(metric) not in VECTOR_METRICS:
            return cpu_only_error("metric", metric, VECTOR_METRICS)
        sparse = fitted is not None and isinstance(fitted.forest.pool, SparseRows)
        if sparse or scipy.sparse.issparse(X):
            return ValueError("a device needs dense rows; use device='cpu', or X.toarray().")
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        named = self.metric if isinstance(self.metric, str) else METRICS.name_of(self.metric)
        tags.input_tags.pairwise = named == "precomputed"
        tags.input_tags.sparse = named not in ("precomputed", None)
        tags.input_tags.positive_only = named in _NOT_NEGATIVE
        return tags

    def _rows(self, X: Any, metric: Metric, reset: bool) -> Any:
        objects = self._objects(X, metric, reset)
        if not reset:
            check_same_kind(self._fitted_on_objects, objects)
        min_rows = 2 if reset else 1
        if objects is not None:
            if len(objects) < min_rows:
                raise ValueError(
                    f"VoronoiForest needs at least {min_rows} object(s), got {len(objects)}."
                )
            return as_rows(metric, objects)
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if hasattr(metric, "rows") else False,
            dtype=np.float64,
            order="C",
            reset=reset,
            ensure_min_samples=min_rows,
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

    @property
    def _fitted_on_objects(self) -> bool:
        """Whether the training rows were objects, which have no columns."""
        return not hasattr(self, "n_features_in_")

    def _objects(self, X: Any, metric: Metric, reset: bool) -> Any:
        """The items of a list, for a custom metric; None for rows of numbers."""
        if METRICS.name_of(metric) is None:
            # The kind of a list was decided in fit and does not depend on the batch.
            return objects_or_none(X, certainly=not reset and self._fitted_on_objects)
        check_no_strings(metric.name, X)
        return None
