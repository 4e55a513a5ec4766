"""`score`, cross-validation, weights and metadata routing."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from piforest import PreferenceEmbedding, PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines

X, Y = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
SMALL = {"n_models": 500, "n_estimators": 20, "random_state": 0}
DETECTOR = PreferenceIsolationForest("line", **SMALL)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def test_score_is_the_area_under_the_curve_for_every_kind_of_labels():
    detector = DETECTOR.fit(X)
    expected = roc_auc_score(Y == 0, detector.anomaly_score(X))
    assert expected > 0.9
    for labels in (Y, np.where(Y > 0, 1, -1), np.where(Y > 0, 1, 0), Y > 0, Y.astype(float)):
        assert detector.score(X, labels) == pytest.approx(expected)
    for labels in (np.where(Y > 0, 1, -1), np.where(Y > 0, 1, 0)):
        assert get_scorer("roc_auc")(detector, X, labels) == pytest.approx(expected)
    weights = np.where(Y == 1, 0, 1)
    kept = weights > 0
    assert detector.score(X, Y, weights) == pytest.approx(detector.score(X[kept], Y[kept]))
    forest = VoronoiForest("euclidean", n_estimators=20, random_state=0).fit(X)
    assert 0 <= forest.score(X, Y) <= 1


def test_labels_of_one_kind_are_an_error_that_names_the_way_out():
    for labels, kind in ((np.ones(len(X)), "normal"), (np.zeros(len(X)), "anomalous")):
        with pytest.raises(ValueError, match=rf"all {len(X)} rows are {kind}.*StratifiedKFold"):
            DETECTOR.fit(X).score(X, labels)


@pytest.mark.slow
def test_cross_validation_of_sorted_labels_gives_numbers():
    order = np.argsort(Y, kind="stable")
    rows, labels = X[order], np.where(Y[order] > 0, 1, -1)
    for scoring in (None, "roc_auc", "average_precision"):
        scores = cross_val_score(DETECTOR, rows, labels, cv=FOLDS, scoring=scoring)
        assert np.isfinite(scores).all()
        assert scores.min() > 0.7
    search = GridSearchCV(DETECTOR, {"sigma": [0.01, 1.0]}, cv=FOLDS).fit(rows, labels)
    assert search.best_params_ == {"sigma": 0.01}


def test_sample_weight_is_quality():
    quality = np.where(Y > 0, 1.0, 0.01)
    weighted = PreferenceIsolationForest("line", sampler="weighted", **SMALL)
    scores = weighted.fit(X, quality=quality).scores_
    assert np.array_equal(weighted.fit(X, sample_weight=quality).scores_, scores)
    embedding = PreferenceEmbedding("line", sampler="weighted", n_models=100, random_state=0)
    one = embedding.fit(X, quality=quality).transform(X)
    assert (one != embedding.fit(X, sample_weight=quality).transform(X)).nnz == 0
    with pytest.raises(ValueError, match="quality and sample_weight are the same; pass one"):
        weighted.fit(X, quality=quality, sample_weight=quality)
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        weighted.fit(X, sample_weight=0 * quality)
    # Another sampler is replaced, so that weights always count; a quality must be asked for.
    assert np.array_equal(DETECTOR.fit(X, sample_weight=quality).scores_, scores)
    with pytest.raises(ValueError, match="sampler 'mixed' does not use quality"):
        DETECTOR.fit(X, quality=quality)


@pytest.mark.slow
def test_metadata_is_routed_through_pipelines_and_cross_validation():
    quality = np.where(Y > 0, 1.0, 0.01)
    labels = np.where(Y > 0, 1, -1)
    weighted = PreferenceIsolationForest("line", sampler="weighted", **SMALL)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted.set_fit_request(quality=True, groups=False, sample_weight=False)
        weighted.set_score_request(sample_weight=False)
        pipeline = make_pipeline(StandardScaler(), weighted).fit(X, quality=quality)
        scaled = StandardScaler().fit_transform(X)
        expected = weighted.fit(scaled, quality=quality).scores_
        assert np.array_equal(pipeline[-1].scores_, expected)
        found = cross_validate(weighted, X, labels, cv=FOLDS, params={"quality": quality})
        assert found["test_score"].min() > 0.8
    by_name = make_pipeline(StandardScaler(), weighted)
    by_name.fit(X, preferenceisolationforest__sample_weight=quality)
    assert np.array_equal(by_name[-1].scores_, expected)
