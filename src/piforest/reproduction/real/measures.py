"""Fits a detector and measures its scores, labels, structures and noise."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ...estimators import PreferenceIsolationForest
from ...families import get_family
from ...protocols import Floats
from ..beyond import best_f1, f1
from .cases import Values

UNKNOWN = -1
"""The label of rows whose truth is not known; they are fitted, but not evaluated."""


@dataclass(frozen=True)
class Fit:
    """A fitted detector, the CPU time of the fit, and its warnings."""

    detector: PreferenceIsolationForest
    cpu_s: float
    messages: tuple[str, ...]


def fit(family: str, X: Floats, random_state: int, **options: Any) -> Fit:
    """Fit the default detector."""
    _compile(family, X.shape[1])
    detector = PreferenceIsolationForest(family, random_state=random_state, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        detector.fit(X)
        cpu_s = time.process_time() - start
        # What predict has to say; the labels of all rows are known from the fit.
        detector.predict(X[:10])
    return Fit(detector, cpu_s, tuple(str(each.message) for each in caught))


def measure(fitted: Fit, y: Any = None, sigma: float | None = None) -> Values:
    """What is measured on every fit.

    y: 0 for anomalies, above 0 for normal rows, UNKNOWN; None without truth. sigma: the true noise.
    """
    detector = fitted.detector
    structures, flagged = detector.structures_, detector.labels_ == -1
    values = {
        "flagged": float(flagged.mean()),
        "structures": float(len(structures)),
        "found": float(getattr(detector, "found_structure_", len(structures) > 0)),
        "models": float(sum(len(each) for each in detector.models_)),
        "cpu_s": fitted.cpu_s,
        "warnings": float(len(fitted.messages)),
    }
    if sigma is not None:
        values["sigma"] = float(detector.sigma_ / sigma)
    if y is not None:
        y = np.asarray(y)
        values |= _against_truth(y, flagged, detector.scores_)
        values["surplus"] = float(len(structures) - len(np.unique(y[y > 0])))
    return values


def _against_truth(y: Any, flagged: Any, scores: Floats) -> Values:
    values = {"flagged normal": float(flagged[y > 0].mean())}
    known = y != UNKNOWN
    anomalous, flagged, scores = y[known] == 0, flagged[known], scores[known]
    if anomalous.any():
        values["auc"] = float(roc_auc_score(anomalous, scores))
        values["f1"] = f1(anomalous, flagged)
        values["best f1"] = best_f1(anomalous, scores)
        values["f1 ratio"] = values["f1"] / values["best f1"]
    return values


@cache
def _compile(family: str, d: int) -> None:
    """Fit a few rows first, so that no measured fit compiles or loads code."""
    n = 4 * get_family(family).sample_size(d) + 16
    rows = np.random.default_rng(0).uniform(-1, 1, (n, d))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = PreferenceIsolationForest(family, n_models=50, random_state=0).fit(rows)
        assert detector.structures_ is not None
