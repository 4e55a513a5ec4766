"""The baselines of the paper, in the ambient space and on preferences.

Every function returns the anomaly scores of its rows, high = anomalous.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from .._kernels import trees
from .._kernels.hyperplanes import NORMALS, isolate
from .._random import Stream
from .._rows import UNIT
from .._validation import check_integer
from ..forest.path_length import expected_depth, height_limit
from ..metrics import get_metric
from ..protocols import Floats
from ..typing import RandomStateLike, RowsLike


def distance_table(X: RowsLike, metric: str) -> Floats:
    """Distances (n, n) between rows, computed once for every k of LOF."""
    return get_metric(metric).pairwise(X, X)


def lof(D: Floats, k: int) -> Floats:
    """Local outlier factor from a table of distances; k is capped at n - 1."""
    k = min(check_integer("k", k, 1), len(D) - 1)
    fitted = LocalOutlierFactor(n_neighbors=k, metric="precomputed").fit(D)
    return np.asarray(-fitted.negative_outlier_factor_)


def isolation_forest(
    X: RowsLike, *, n_estimators: int = 100, max_samples: int = 256, random_state: int = 0
) -> Floats:
    """Isolation forest of scikit-learn, iFor in the paper; dense rows are faster than sparse."""
    rows = _dense(X)
    forest = IsolationForest(
        n_estimators=n_estimators,
        max_samples=min(max_samples, rows.shape[0]),
        random_state=random_state,
    )
    return np.asarray(-forest.fit(rows).score_samples(rows))


def extended_isolation_forest(
    X: RowsLike,
    *,
    n_estimators: int = 100,
    max_samples: int = 256,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Floats:
    """Extended isolation forest, EiFor in the paper: splits by random hyperplanes.

    Sparse rows are converted to dense ones; preferences take one byte per entry. The trees are
    not stored: in a preference space, each node has as many numbers as there are models.

    References
    ----------
    S. Hariri, M. Carrasco Kind, R. J. Brunner, "Extended Isolation Forest", 2018.
    """
    rows = _bytes_or_numbers(X)
    psi = min(check_integer("max_samples", max_samples, 2), len(rows))
    depths = expected_depth(psi, 2)
    stream = Stream.from_random_state(random_state).child("hyperplanes")
    lengths = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_path_lengths)(rows, stream.child(tree), psi, depths)
        for tree in range(check_integer("n_estimators", n_estimators, 1))
    )
    scores = np.empty(len(rows))
    trees.scores(np.column_stack(lengths), depths[psi], scores)
    return scores


def _dense(X: Any) -> Any:
    return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)


def _bytes_or_numbers(X: Any) -> Any:
    """Dense float64 rows, or fixed-point preferences as bytes: the scale does not matter."""
    X = _dense(X)
    if X.dtype == np.float32 and X.min() >= 0 and X.max() <= 1:
        steps = np.rint(X * UNIT).astype(np.int8)
        if np.array_equal(steps / np.float32(UNIT), X):
            return steps
    return np.ascontiguousarray(X, np.float64)


def _path_lengths(X: Any, stream: Stream, psi: int, depths: Floats) -> Floats:
    lengths = np.empty(len(X))
    key, limit = np.uint64(stream.key), height_limit(psi, 2)
    isolate(X, key, psi, limit, depths, NORMALS, lengths)
    return lengths
