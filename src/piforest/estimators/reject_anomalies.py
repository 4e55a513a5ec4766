"""Drop anomalous rows in a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from .._validation import clear_fit
from ..typing import RowsLike
from .preference_isolation_forest import PreferenceIsolationForest


class RejectAnomalies(BaseEstimator):  # type: ignore[misc]
    """Drop the rows of X and y that a detector labels as anomalies, while a pipeline is fitted.

    Pipelines of scikit-learn cannot change the number of rows. Those of imbalanced-learn call
    `fit_resample` while fitting and pass rows on unchanged while predicting, as needed here.

    Parameters
    ----------
    detector : estimator or None, default=None
        Any estimator with `fit_predict` that returns -1 for anomalies. None stands for
        `PreferenceIsolationForest()`.

    Attributes
    ----------
    detector_ : estimator
        The fitted clone of the detector.
    sample_indices_ : ndarray
        The rows that were kept.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import PreferenceIsolationForest, RejectAnomalies
    >>> from piforest.datasets import make_lines
    >>> X, y = make_lines(2, noise=0.01, anomaly_share=0.2, random_state=0, return_X_y=True)
    >>> detector = PreferenceIsolationForest("line", contamination=0.2, random_state=0)
    >>> reject = RejectAnomalies(detector)
    >>> X_kept, y_kept = reject.fit_resample(X, y)
    >>> bool((y_kept == 0).mean() < (y == 0).mean())
    True
    """

    def __init__(self, detector: OutlierMixin | None = None) -> None:
        self.detector = detector

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Fit a clone of the detector.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_resample(self, X: RowsLike, y: ArrayLike | None = None) -> Any:
        """Fit a clone of the detector and drop the rows that it flags.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or None, default=None

        Returns
        -------
        X_kept : like X
            The rows that were kept.
        y_kept : like y
            Their targets; X_kept alone if y is None.
        """
        if y is not None:
            check_consistent_length(X, y)
        labels = self._fit(X)
        self.sample_indices_ = np.flatnonzero(labels != -1)
        if len(self.sample_indices_) == 0:
            raise ValueError(
                f"the detector calls all {len(labels)} rows anomalous, so none would be left. "
                "Lower its contamination."
            )
        rows: Any = X
        rows = rows.tocsr() if scipy.sparse.issparse(rows) else rows
        kept = _safe_indexing(rows, self.sample_indices_)
        return kept if y is None else (kept, _safe_indexing(y, self.sample_indices_))

    def _fit(self, X: Any) -> Any:
        clear_fit(self)
        detector = PreferenceIsolationForest() if self.detector is None else self.detector
        if not hasattr(detector, "fit_predict"):
            raise ValueError(
                f"detector must have fit_predict and give -1 for anomalies, got {detector!r}."
            )
        self.detector_ = clone(detector)
        labels = np.asarray(self.detector_.fit_predict(X))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.detector_, name):
                setattr(self, name, getattr(self.detector_, name))
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.detector is not None and hasattr(self.detector, "__sklearn_tags__"):
            tags.input_tags = self.detector.__sklearn_tags__().input_tags
        return tags
