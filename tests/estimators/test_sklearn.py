"""The estimator checks of scikit-learn."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from piforest import (
    LocalPreferenceIsolationForest,
    PreferenceEmbedding,
    PreferenceIsolationForest,
    RejectAnomalies,
    RuzHashForest,
    StreamingPreferenceIsolationForest,
    VoronoiForest,
)

ESTIMATORS = [
    PreferenceIsolationForest.paper("line", sigma=0.1, n_estimators=20),
    PreferenceEmbedding(n_models=50),
    VoronoiForest(n_estimators=20),
    RuzHashForest(n_estimators=20),
]
# Every check fits several times, and some of these compare families or search structures. One
# compares families; whether it does changes nothing in what the others add.
SLOW_ESTIMATORS = [
    LocalPreferenceIsolationForest("line", n_models=100, n_estimators=10, contamination=0.1),
    PreferenceIsolationForest(n_estimators=20),
    PreferenceIsolationForest("line", forest="ruzhash", n_estimators=20, contamination=0.1),
    VoronoiForest("euclidean", n_estimators=20),
    VoronoiForest("cosine", n_estimators=20),
    VoronoiForest("precomputed", n_estimators=20),
    PreferenceIsolationForest("line", n_estimators=20, contamination=0.1),
    RejectAnomalies(PreferenceIsolationForest("line", n_estimators=20)),
    StreamingPreferenceIsolationForest(n_estimators=5, n_models=20, contamination=0.1),
]

WRONG_INPUT = ("check_outliers_train", "check_outliers_fit_predict")
REASONS = {
    "tanimoto": "passes negative entries, which tanimoto rejects; succeeds with euclidean",
    "precomputed": "passes points instead of distances; succeeds with euclidean",
}


def expected_failures(estimator):
    """Two checks pass the same points to all outlier detectors, whatever their tags are. A third
    repeats rows in place of weights, which gives other random samples."""
    if isinstance(estimator, PreferenceIsolationForest):
        reason = "weights change how often a row is drawn, not how often it is there"
        failures = {"check_sample_weight_equivalence_on_dense_data": reason}
        if estimator.contamination == "auto":
            reason = (
                "passes blobs, which have no line, so that nothing is flagged; see contamination"
            )
            failures |= dict.fromkeys(WRONG_INPUT, reason)
        return failures
    if isinstance(estimator, StreamingPreferenceIsolationForest):
        reason = "the threshold follows the scores that rows had when they came, not those of now"
        return dict.fromkeys(WRONG_INPUT, reason)
    if isinstance(estimator, LocalPreferenceIsolationForest):
        reason = "passes blobs, which have no line: all rows off the local lines tie at the top"
        return dict.fromkeys(WRONG_INPUT, reason)
    if isinstance(estimator, RuzHashForest):
        return dict.fromkeys(WRONG_INPUT, "passes negative entries, which it rejects")
    reason = REASONS.get(getattr(estimator, "metric", None))
    if isinstance(estimator, VoronoiForest) and reason:
        return dict.fromkeys(WRONG_INPUT, reason)
    return {}


@pytest.fixture(autouse=True)
def array_api(monkeypatch):
    """Without it scikit-learn skips its check that array API dispatch changes no result."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(SLOW_ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_of_other_estimators(estimator, check):
    check(estimator)
