"""The detector of river."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from piforest import StreamingPreferenceIsolationForest

river = pytest.importorskip("river")


@pytest.fixture
def make():
    from piforest.contrib.river import StreamingPIF

    def make(**params):
        given = {"window": 100, "n_models": 20, "n_estimators": 5, "seed": 0}
        return StreamingPIF("line", **(given | params))

    return make


class _Rows:
    """In place of river's data set of credit cards, which has to be downloaded."""

    def __iter__(self):
        rng = np.random.default_rng(0)
        for k, (a, b) in enumerate(rng.random((150, 2)).tolist()):
            c = rng.random() if k % 10 == 0 else (a + b) / 2 + rng.normal(0, 0.01)
            yield {"a": a, "b": b, "c": float(c)}, k % 10 == 0

    def take(self, n):
        return list(self)[:n]


@pytest.mark.slow
def test_it_passes_the_checks_of_river(monkeypatch):
    from river import checks, datasets

    from piforest.contrib.river import StreamingPIF

    monkeypatch.setattr(datasets, "CreditCard", _Rows)
    model = StreamingPIF(**next(StreamingPIF._unit_test_params()))
    names = []
    for check in checks.yield_checks(model):
        check(model.clone())
        names.append(check.__name__)
    assert len(names) >= 10


def test_scores_are_those_of_the_detector(make):
    rng = np.random.default_rng(0)
    x = rng.random(40)
    X = np.column_stack([x, x + rng.normal(0, 0.01, 40)])
    expected = StreamingPreferenceIsolationForest(
        "line", window=100, n_models=20, n_estimators=5, random_state=0
    ).score_learn(X)
    model, found = make(), []
    for a, b in X:
        row = {"b": b, "a": a}
        found.append(model.score_one(row))
        model.learn_one(row)
    np.testing.assert_array_equal(found, np.nan_to_num(expected))
    assert found[0] == 0.0


def test_a_missing_feature_is_0_and_a_new_one_is_ignored(make):
    model = make()
    model.learn_one({"x": 1.0, "y": 2.0})
    model.learn_one({"y": 2.0, "z": 3.0})
    np.testing.assert_array_equal(model.detector.stream_.window.X[:2], [[1.0, 2.0], [0.0, 2.0]])


def test_without_river_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.base", None)
    monkeypatch.delitem(sys.modules, "piforest.contrib.river", raising=False)
    with pytest.raises(ImportError, match="pip install river"):
        import piforest.contrib.river  # noqa: F401
