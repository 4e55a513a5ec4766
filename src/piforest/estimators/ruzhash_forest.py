"""Isolation by hashes that agree in proportion to the Ruzicka similarity."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from .._rows import as_rows
from .._validation import check_magnitude, clear_fit, cpu_only_error
from ..metrics import resolve_metric
from ..protocols import Metric
from ..typing import ContaminationLike, RandomStateLike, RowsLike
from .row_forest import RowForest

__all__ = ["RuzHashForest"]


class RuzHashForest(RowForest):
    """Detect rows that are easy to isolate by random hashes, without any distance.

    A node of a tree draws for every column a threshold, a rank and one of b labels. A row goes to
    the child that is the label of the column of lowest rank among those in which it exceeds the
    threshold. Two rows go to the same child with probability R + (1 - R) / b, where R is their
    Ruzicka similarity: the sum of the smaller entries divided by the sum of the larger ones. Only
    the entries of a row that are not zero are read. `docs/forests.md` compares the accuracy and
    the time with those of `VoronoiForest`.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_samples : int, default=256
        Points in each tree; at most the size of the pool.
    branching : int, default=2
        Children of each node, b. A further one takes the rows that exceed no threshold.
    pool_size : int, default=4096
        All trees draw their points from at most this many training points, chosen at random.
    contamination : "auto" or float in (0, 1), default="auto"
        Share of the training points to flag, as in `VoronoiForest`; "auto" splits the training
        scores into two classes (Otsu).
    device : {"cpu", "auto"}, default="cpu"
        This forest is computed on the CPU.
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
    forest_ : HashedForest
    max_samples_ : int

    See Also
    --------
    VoronoiForest : Isolation by distances, in any metric space.

    Examples
    --------
    Sets as rows of zeros and ones; the last one has nothing in common with the others:

    >>> import numpy as np
    >>> from piforest import RuzHashForest
    >>> X = np.zeros((21, 40))
    >>> X[:20, :10] = np.random.default_rng(0).random((20, 10)) < 0.8
    >>> X[20, 30:] = 1
    >>> forest = RuzHashForest(random_state=0).fit(X)
    >>> int(forest.scores_.argmax())
    20

    References
    ----------
    F. Leveni, L. Magri, C. Alippi, G. Boracchi, "Hashing for structure-based anomaly detection",
    ICIAP 2023.
    """

    def __init__(
        self,
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
        X : array-like or sparse matrix of shape (n, d)
            The training rows, whose entries are not negative. From a Dask collection only the
            rows that are needed are read into memory.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        clear_fit(self)
        return self._grow(X, resolve_metric("ruzicka"), hashed=True)

    def _cpu_only(self, X: Any) -> ValueError | None:
        return cpu_only_error("forest", "ruzhash", ("voronoi",))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    def _rows(self, X: Any, metric: Metric, reset: bool) -> Any:
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            reset=reset,
            ensure_min_samples=2 if reset else 1,
        )
        if reset:
            check_magnitude(X.data if scipy.sparse.issparse(X) else X)
        return as_rows(metric, X)
