"""scikit-learn's own checks, on every estimator."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from piforest import (
    PreferenceEmbedding,
    PreferenceIsolationForest,
    RejectAnomalies,
    VoronoiForest,
)

ESTIMATORS = [
    PreferenceIsolationForest(n_estimators=20),
    PreferenceIsolationForest.paper("line", sigma=0.1, n_estimators=20),
    PreferenceEmbedding(n_models=50),
    VoronoiForest(n_estimators=20),
    VoronoiForest("euclidean", n_estimators=20),
    VoronoiForest("cosine", n_estimators=20),
    VoronoiForest("precomputed", n_estimators=20),
    RejectAnomalies(PreferenceIsolationForest(n_estimators=20)),
]

NOT_FIT_TO_FEED = ("check_outliers_train", "check_outliers_fit_predict")
REASONS = {
    "tanimoto": "feeds negative entries, which tanimoto refuses; passes with euclidean",
    "precomputed": "feeds points where distances are needed; passes with euclidean",
}


def expected_failures(estimator):
    """Two checks feed all outlier detectors the same points, whatever their tags say."""
    reason = REASONS.get(getattr(estimator, "metric", None))
    if isinstance(estimator, VoronoiForest) and reason:
        return dict.fromkeys(NOT_FIT_TO_FEED, reason)
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check, monkeypatch):
    # Without it scikit-learn skips its check that array API dispatch changes no result.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)
