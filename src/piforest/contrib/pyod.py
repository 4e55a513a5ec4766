"""piforest as a detector of PyOD, which must be installed: pip install pyod."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..estimators import PreferenceIsolationForest
from ..protocols import Floats
from ..typing import FamilyLike, ModelCount, RandomStateLike, RowsLike, SamplerLike, SigmaLike

try:
    from pyod.models.base import BaseDetector
except ImportError as error:
    raise ImportError("piforest.contrib.pyod needs PyOD: pip install pyod") from error

__all__ = ["PIF"]


class PIF(BaseDetector):  # type: ignore[misc]
    """`PreferenceIsolationForest` with the conventions of PyOD: high scores and label 1 for
    outliers, and a given contamination.

    Parameters
    ----------
    family : str, ModelFamily or list, default="auto"
        What a structure is; see `piforest.families.list_families`.
    contamination : float in (0, 0.5], default=0.1
        The share of outliers, which sets the threshold as in every detector of PyOD.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X. "auto" estimates it.
    n_models : int, "auto" or "paper", default="auto"
        The number of models.
    sampler : str or Sampler, default="mixed"
        How to choose the points of minimal samples.
    n_estimators : int, default=100
        The number of trees.
    n_jobs : int or None, default=None
        The number of threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same result.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,)
        `anomaly_score` of the training rows, high for outliers.
    labels_ : ndarray of shape (n,)
        1 for outliers among the training rows, 0 for the rest.
    threshold_ : float
        Rows with larger scores are outliers.
    detector_ : PreferenceIsolationForest
        The fitted detector: `structures_`, `explain` and more.

    Examples
    --------
    >>> from piforest.contrib.pyod import PIF
    >>> from piforest.datasets import make_circles
    >>> X = make_circles(2, anomaly_share=0.3, random_state=0).data
    >>> detector = PIF("circle", contamination=0.3, random_state=0).fit(X)
    >>> sorted(set(detector.labels_.tolist()))
    [0, 1]
    """

    def __init__(
        self,
        family: FamilyLike = "auto",
        contamination: float = 0.1,
        *,
        sigma: SigmaLike = "auto",
        n_models: ModelCount = "auto",
        sampler: SamplerLike = "mixed",
        n_estimators: int = 100,
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
    ) -> None:
        super().__init__(contamination=contamination)
        self.family = family
        self.sigma = sigma
        self.n_models = n_models
        self.sampler = sampler
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Fit to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._set_n_classes(y)
        names = ("sigma", "n_models", "sampler", "n_estimators", "n_jobs", "random_state")
        params: dict[str, Any] = {name: getattr(self, name) for name in names}
        self.detector_ = PreferenceIsolationForest(self.family, **params).fit(X)
        known = self.detector_.findings_.has_scores
        scores = self.detector_.scores_ if known else self.detector_.anomaly_score(X)
        self.decision_scores_ = np.asarray(scores)
        self._process_decision_scores()
        return self

    def decision_function(self, X: RowsLike) -> Floats:
        """The outlier scores of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n,)
            `anomaly_score`: in (0, 1], high for outliers.
        """
        return np.asarray(self.detector_.anomaly_score(X))
