"""Which concentrated models join those that were drawn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.families import get_family
from piforest.fitting.concentrating import with_concentrated
from piforest.models.drawing import draw_models
from piforest.sampling import resolve_sampler
from scenes import two_laws

X, TARGET = two_laws(14, 1200, seed=7)


def drawn(X, family="linear_regression", m=300):
    return draw_models(X, get_family(family), resolve_sampler("mixed"), m, Stream(2))[0]


def joined(X, family="linear_regression", reduce=False, seed=1):
    return with_concentrated(drawn(X, family), X, None, Stream(seed), reduce)


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("linear_regression", n_models=2000, random_state=0).fit(
        X[:600]
    )


@pytest.mark.slow
def test_models_of_both_laws_join():
    models = joined(X)
    assert 10 < len(models) - 300 <= 400
    R = models.family.residuals(X, models.params[: len(models) - 300])
    for law in (1, 2):
        assert np.median(R[law == TARGET], axis=0).min() < 0.03


@pytest.mark.slow
def test_drawn_models_stay_behind_them_as_they_were():
    models, before = joined(X), drawn(X)
    n = len(models) - len(before)
    assert np.array_equal(models.params[n:], before.params)
    assert np.array_equal(models.samples[n:], before.samples)
    assert np.array_equal(models.points, X[np.unique(models.samples)])
    assert not models.excludes_sample[:n].any()
    assert models.excludes_sample[n:].all()
    assert models.n_candidates >= len(models)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["linear_regression", "hyperplane"])
def test_no_model_joins_without_a_structure(family):
    for seed in range(2):
        noise = np.random.default_rng(seed).normal(size=(800, 14))
        assert len(joined(noise, family)) == 300


def test_copies_of_rows_support_no_model():
    few = np.random.default_rng(0).normal(size=(60, 14))
    assert len(joined(np.repeat(few, 20, axis=0))) == 300


def test_too_few_rows_are_not_concentrated_on():
    assert len(joined(X[:100])) == 300


def test_small_samples_are_left_alone():
    models = drawn(X[:, -3:], "plane")
    assert with_concentrated(models, X[:, -3:], None, Stream(1), True) is models


@pytest.mark.slow
def test_a_smaller_law_is_found_behind_a_larger_one():
    rows, target = two_laws(12, 1600, seed=3, shares=(0.6, 0.2))
    models = joined(rows)
    R = models.family.residuals(rows, models.params[: len(models) - 300])
    assert np.median(R[target == 2], axis=0).min() < 0.04


@pytest.mark.slow
def test_anomalies_of_many_columns_score_high(detector):
    without = PreferenceIsolationForest(
        "linear_regression", n_models=2000, concentrate=False, random_state=0
    )
    # Without concentration, the copies of laws with much noise do as well.
    for each in (detector, without.fit(X[:600])):
        assert roc_auc_score(TARGET[:600] == 0, each.scores_) > 0.95


@pytest.mark.slow
def test_new_rows_are_flagged_as_often_as_training_rows(detector):
    for on_a_law in (True, False):
        old, new = (
            np.mean(detector.predict(X[part][(TARGET[part] > 0) == on_a_law]) == -1)
            for part in (slice(600), slice(600, None))
        )
        assert abs(old - new) < 0.06


@pytest.mark.slow
def test_threads_do_not_change_the_models(detector):
    again = PreferenceIsolationForest("linear_regression", n_models=2000, random_state=0, n_jobs=2)
    again.fit(X[:600])
    assert np.array_equal(again.models_[0].params, detector.models_[0].params)
    assert np.array_equal(again.scores_, detector.scores_)


@pytest.mark.slow
def test_a_saved_detector_scores_as_before(detector, tmp_path):
    detector.save(tmp_path / "laws.pif")
    loaded = PreferenceIsolationForest.load(tmp_path / "laws.pif")
    assert np.array_equal(loaded.anomaly_score(X[600:]), detector.anomaly_score(X[600:]))
    assert loaded.concentrate is True


def test_the_paper_does_not_concentrate():
    assert PreferenceIsolationForest.paper("linear_regression", sigma=0.1).concentrate is False
