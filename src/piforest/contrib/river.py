"""piforest as an anomaly detector of river, which must be installed: pip install river."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..estimators import StreamingPreferenceIsolationForest

try:
    from river.base import AnomalyDetector
except ImportError as error:
    raise ImportError("piforest.contrib.river needs river: pip install river") from error

__all__ = ["StreamingPIF"]


class StreamingPIF(AnomalyDetector):  # type: ignore[misc]
    """`StreamingPreferenceIsolationForest` with the conventions of river: dictionaries of features,
    one at a time.

    The features are those of the first dictionary that is not empty, in alphabetical order; one
    that is missing later is 0, and one that is new is ignored. Blocks of rows are faster: see
    `StreamingPreferenceIsolationForest.score_learn`, which gives the same scores.

    Parameters
    ----------
    family : str, default="line"
        What a structure is; see `piforest.families.list_families`.
    window : int, default=2048
        The number of rows that the detector remembers, at least 50.
    sigma : float or "auto", default="auto"
        The noise of the structures. "auto" estimates it at every renewal.
    n_models : int, default=200
        The number of models.
    n_estimators : int, default=100
        The number of trees.
    seed : int or None, default=None
        The same seed gives the same result.

    Attributes
    ----------
    detector : StreamingPreferenceIsolationForest
        The detector: `structures_`, `drift_`, `threshold_` and more.

    Examples
    --------
    >>> from piforest.contrib.river import StreamingPIF
    >>> model = StreamingPIF("line", window=100, seed=0)
    >>> for k in range(60):
    ...     model.learn_one({"x": k % 20 / 20, "y": (k % 20 + k % 3 / 10) / 20})
    >>> model.score_one({"x": 0.5, "y": 0.51}) < model.score_one({"x": 0.5, "y": 0.1})
    True
    """

    def __init__(
        self,
        family: str = "line",
        window: int = 2048,
        sigma: float | str = "auto",
        n_models: int = 200,
        n_estimators: int = 100,
        seed: int | None = None,
    ) -> None:
        self.family = family
        self.window = window
        self.sigma = sigma
        self.n_models = n_models
        self.n_estimators = n_estimators
        self.seed = seed
        self.detector = StreamingPreferenceIsolationForest(
            family,
            window=window,
            sigma=sigma,  # type: ignore[arg-type]
            n_models=n_models,
            n_estimators=n_estimators,
            random_state=seed,
        )
        self._names: list[Any] | None = None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """What river's own checks create: a hyperplane fits any number of features."""
        yield {"family": "hyperplane", "window": 100, "n_models": 20, "n_estimators": 5, "seed": 0}

    def learn_one(self, x: dict[Any, float]) -> None:
        """Learn a row.

        Parameters
        ----------
        x : dict
            The features.
        """
        if not x and self._names is None:
            return
        if self._names is None:
            self._names = sorted(x, key=str)
        self.detector.partial_fit(self._row(x))

    def score_one(self, x: dict[Any, float]) -> float:
        """Score a row without learning it.

        Parameters
        ----------
        x : dict
            The features.

        Returns
        -------
        float
            In (0, 1], high for anomalies. 0 as long as too few rows were learned, as river's
            detectors do.
        """
        if self._names is None:
            return 0.0
        score = float(self.detector.anomaly_score(self._row(x))[0])
        return 0.0 if math.isnan(score) else score

    def _row(self, x: dict[Any, float]) -> Any:
        return np.array([[float(x.get(name, 0.0)) for name in self._names or ()]])
