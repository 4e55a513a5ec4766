"""Rows outside the ranges of the training rows are said once, and no others are."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import piforest
from piforest import PreferenceIsolationForest
from piforest._ranges import Ranges, outside_sentence
from piforest.datasets import make_lines

X = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.25, random_state=0).data
FEW = {"n_models": 200, "n_estimators": 10, "random_state": 0}


def frame(rows):
    return pd.DataFrame(rows, columns=["east", "north"])


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("line", **FEW).fit(frame(X))


def moved(n, by=5.0):
    """The first hundred training rows, n of which are far away."""
    rows = X[:100].copy()
    rows[:n] += by
    return rows


def said(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("name", ["predict", "anomaly_score", "decision_function", "assign"])
def test_rows_outside_are_said_once(detector, name):
    rows = frame(moved(12))
    assert said(lambda: getattr(detector, name)(rows)) == [outside_sentence(12, 100)]
    assert "12 of 100 rows are outside the ranges" in outside_sentence(12, 100)


def test_anomalies_like_those_of_the_fit_and_few_rows_outside_are_no_news(detector):
    assert said(lambda: detector.predict(frame(X))) == []
    assert said(lambda: detector.predict(frame(moved(5)))) == []
    assert said(lambda: detector.predict(frame(moved(6)))) != []


def test_a_memory_map_is_counted_as_a_whole(detector, tmp_path, monkeypatch):
    monkeypatch.setattr("piforest.estimators.detector._MAPPED_ROWS", 10)
    np.save(tmp_path / "rows.npy", moved(12))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert said(lambda: detector.set_params().predict(mapped))[-1:] == [outside_sentence(12, 100)]


def test_an_explanation_names_the_columns_and_their_ranges(detector):
    inside, outside = detector.explain(frame([X[0], [40.0, X[0, 1]]]))
    assert inside.outside == []
    assert outside.outside == ["east"]
    assert "Outside the ranges of the fit (east from " in str(outside)
    assert "Outside" not in str(inside)


def test_a_loaded_model_knows_its_ranges(detector, tmp_path):
    detector.save(tmp_path / "model.pif")
    loaded = piforest.load(tmp_path / "model.pif")
    assert said(lambda: loaded.predict(frame(moved(12)))) == [outside_sentence(12, 100)]


def test_a_margin_and_chance_are_allowed_for():
    ranges = Ranges.of(np.array([[0.0, 0.0], [10.0, 1.0]]), 200)
    rows = np.array([[10.9, 0.5], [11.1, 0.5], [5.0, -0.2], [5.0, 0.5]])
    assert ranges.outside(rows).tolist() == [
        [False, False],
        [True, False],
        [False, True],
        [False] * 2,
    ]
    assert ranges.count(rows) == 2
    assert ranges.count(rows[:0]) == 0
    assert ranges.matters(6, 100)
    assert not ranges.matters(5, 100)
    # Of 20 training rows in ten columns, most new rows are beyond one extreme.
    assert not Ranges(np.zeros(10), np.ones(10), 19).matters(100, 100)


def test_rows_like_the_training_rows_are_hardly_ever_outside():
    rng, wrong = np.random.default_rng(0), 0
    draws = (rng.uniform, rng.normal, rng.exponential)
    for draw in draws * 20:
        ranges = Ranges.of(draw(size=(100, 3)), 100)
        wrong += sum(ranges.matters(ranges.count(draw(size=(n, 3))), n) for n in (1, 10, 200))
    assert wrong <= 4


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_ranges_are_those_of_all_columns(order):
    rows = np.asarray(np.random.default_rng(0).normal(size=(50, 3)), order=order)
    ranges = Ranges.of(rows, 50)
    assert ranges.low.tolist() == rows.min(axis=0).tolist()
    assert ranges.high.tolist() == rows.max(axis=0).tolist()
