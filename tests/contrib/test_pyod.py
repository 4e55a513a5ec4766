"""The detector of PyOD."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines


@pytest.fixture
def pif():
    pytest.importorskip("pyod")
    from piforest.contrib.pyod import PIF

    return PIF


X, Y = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
SMALL = {"n_models": 500, "n_estimators": 20, "random_state": 0}


def test_scores_and_labels_follow_the_conventions_of_pyod(pif):
    found = pif("line", contamination=0.3, **SMALL).fit(X)
    detector = PreferenceIsolationForest("line", **SMALL).fit(X)
    assert np.array_equal(found.decision_scores_, detector.scores_)
    assert np.array_equal(found.decision_function(X[:9]), detector.anomaly_score(X[:9]))
    assert set(np.unique(found.labels_)) == {0, 1}
    assert np.mean(found.labels_) == pytest.approx(0.3, abs=0.01)
    assert np.array_equal(found.labels_, (found.decision_scores_ > found.threshold_).astype(int))
    assert np.array_equal(found.predict(X), found.labels_)
    assert roc_auc_score(Y == 0, found.decision_scores_) > 0.9
    probability = found.predict_proba(X)
    assert probability.shape == (len(X), 2)
    assert np.allclose(probability.sum(axis=1), 1)
    assert len(found.detector_.structures_) == 3


def test_it_is_cloned_with_its_parameters(pif):
    one = pif("circle", 0.2, sigma=0.1, **SMALL)
    assert clone(one).get_params() == one.get_params()
    assert one.get_params()["family"] == "circle"


@pytest.mark.slow
def test_beside_a_detector_of_pyod(pif):
    from pyod.models.iforest import IForest

    for detector in (pif("line", 0.3, **SMALL), IForest(contamination=0.3, random_state=0)):
        labels = detector.fit(X).labels_
        assert labels.shape == (len(X),)
        assert labels.sum() == pytest.approx(0.3 * len(X), abs=2)


def test_without_pyod_the_import_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.base", None)
    monkeypatch.delitem(sys.modules, "piforest.contrib.pyod", raising=False)
    with pytest.raises(ImportError, match=r"piforest\.contrib\.pyod needs PyOD: pip install pyod"):
        import piforest.contrib.pyod  # noqa: F401
