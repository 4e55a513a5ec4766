"""Methods of detectors that follow from the scores of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import column_or_1d

from .._tensors import to_numpy
from ..protocols import Floats
from ..typing import RowsLike


class ScoreMethods:
    """Mixin of detectors: the scores with the signs of scikit-learn."""

    # (X, name of the result, function of the scores and the threshold): its values for the rows.
    _map_scores: Callable[..., Floats]

    def score_samples(self, X: RowsLike) -> Floats:
        """The negative of `anomaly_score`, as in scikit-learn: low = anomalous.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._map_scores(X, "score_samples", negated)

    def decision_function(self, X: RowsLike) -> Floats:
        """`score_samples(X) - offset_`: negative for anomalies.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._map_scores(X, "decision_function", decision)


class RankingScore:
    """Mixin of detectors: `score`, which scikit-learn's cross-validation calls by default."""

    def score(self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The area under the ROC curve for labelled rows.

        It is the probability that a random anomaly has a larger `anomaly_score` than a random
        normal row, with ties counted half: 1 for a perfect ranking, 0.5 for a random one. It does
        not depend on the threshold. `scoring="roc_auc"` gives the same.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`.
        y : array-like of shape (n,)
            The labels: -1 or 0 for anomalies, and positive numbers for normal rows, such as 1, or
            the number of the structure.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each row counts.

        Returns
        -------
        float
            In [0, 1].
        """
        detector: Any = self
        labels = column_or_1d(to_numpy(y))
        if labels.dtype.kind not in "biuf":
            raise ValueError(
                "y must be numbers, -1 or 0 for anomalies and positive for normal rows, got "
                f"{str(labels[0])!r}. Compare text with one of its labels, such as y == 'normal'."
            )
        normal = labels > 0
        if normal.all() or not normal.any():
            kind = "normal" if normal.all() else "anomalous"
            raise ValueError(
                f"y must label both normal rows (> 0) and anomalies (-1 or 0); all {len(normal)} "
                f"rows are {kind}. For cross-validation of sorted labels, use "
                "StratifiedKFold(shuffle=True)."
            )
        scores = np.asarray(to_numpy(detector.score_samples(X)))
        return float(roc_auc_score(normal, scores, sample_weight=sample_weight))


def negated(scores: Any, threshold: float) -> Any:
    """`score_samples`, for arrays, tensors and series."""
    return -scores


def decision(scores: Any, threshold: float) -> Any:
    """`decision_function`, for arrays, tensors and series."""
    return -scores + threshold
