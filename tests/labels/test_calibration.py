"""p-values, false alarm rates and probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines, make_planes
from piforest.labels.calibration import Calibration, _shell_weights, normal_weights


def made(scores, weights):
    order = np.argsort(scores, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(np.asarray(weights, float)[order])])
    return Calibration(np.asarray(scores, float)[order], below, np.zeros(1), np.zeros(1))


few = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(few, st.integers(0, 99))
def test_p_values_are_weighted_counts_of_scores_at_least_as_high(scores, seed):
    weights = np.random.default_rng(seed).uniform(size=len(scores))
    found = made(scores, weights).p_values(np.array([0.0, 0.2, 0.25, 0.5, 0.6]))
    for p, score in zip(found, (0.0, 0.2, 0.25, 0.5, 0.6)):
        above = sum(w for s, w in zip(scores, weights) if s >= score)
        assert p == pytest.approx((1 + above) / (1 + sum(weights)))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(few, st.integers(0, 99), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
def test_the_threshold_is_that_of_benjamini_and_hochberg(scores, seed, rate):
    calibration = made(scores, np.random.default_rng(seed).uniform(size=len(scores)))
    scores = np.array(scores)
    p = calibration.p_values(scores)
    # The largest k for which the k-th smallest p-value is at most k q / n.
    ordered = np.sort(p)
    passing = [k for k in range(1, len(p) + 1) if ordered[k - 1] <= rate * k / len(p)]
    expected = p <= ordered[passing[-1] - 1] if passing else np.zeros(len(p), bool)
    assert np.array_equal(scores > calibration.threshold(rate), expected)


def test_weights_are_the_excess_over_the_density_beside_a_structure():
    rng = np.random.default_rng(0)
    noise, clutter = np.abs(rng.normal(size=4000)), rng.uniform(0, 9, 1800)
    weights = _shell_weights(np.concatenate([noise, clutter]), 1)
    assert weights[:4000].sum() + weights[4000:].sum() == pytest.approx(4000, rel=0.03)
    near = np.concatenate([noise, clutter]) < 1
    assert weights[near].mean() == pytest.approx(np.sum(noise < 1) / near.sum(), abs=0.02)
    assert (weights[np.concatenate([noise, clutter]) > 4.5] == 0).all()
    alone = _shell_weights(noise, 1)
    assert alone[noise < 3].min() > 0.99
    assert normal_weights(np.zeros((3, 2)), []).tolist() == [1, 1, 1]


def test_rows_that_the_noise_does_not_explain_are_hardly_normal():
    """Twenty rows of a thousand at 3.5 sigmas, where Gaussian noise has about two."""
    sigmas = np.concatenate([np.abs(np.random.default_rng(1).normal(size=1000)), np.full(20, 3.5)])
    assert _shell_weights(sigmas, 1)[-1] < 0.5


@pytest.fixture(scope="module")
def planes():
    scene = make_planes(3, sizes=250, noise=0.01, anomaly_share=0.2, random_state=21)
    held_out = make_planes(3, sizes=250, noise=0.01, anomaly_share=0.2, random_state=21)
    detector = PreferenceIsolationForest("plane", n_models=2000, random_state=0).fit(scene.data)
    return detector, scene, held_out


@pytest.mark.slow
def test_p_values_of_normal_rows_are_uniform_and_of_anomalies_small(planes):
    detector, scene, _ = planes
    p, normal = detector.p_values(scene.data), scene.target > 0
    for level in (0.05, 0.1, 0.3):
        slack = 3 * np.sqrt(level * (1 - level) / normal.sum())
        assert np.mean(p[normal] <= level) < level + slack
    assert np.mean(p[normal] <= 0.5) > 0.4
    assert np.mean(p[~normal] <= 0.05) > 0.9
    order = np.argsort(detector.scores_)
    assert (np.diff(p[order]) <= 0).all()


@pytest.mark.slow
def test_a_false_alarm_rate_bounds_the_share_of_normal_rows_among_the_flagged(planes):
    detector, scene, _ = planes
    calibration = detector.findings_.calibration(detector._engine().backend)
    flagged = detector.scores_ > calibration.threshold(0.1)
    assert np.mean(scene.target[flagged] > 0) < 0.15
    assert np.mean(flagged[scene.target == 0]) > 0.9
    rated = PreferenceIsolationForest(
        "plane", n_models=2000, random_state=0, false_alarm_rate=0.1
    ).fit(scene.data)
    assert rated.threshold_source_ == "false alarm rate"
    assert np.array_equal(rated.labels_ == -1, flagged)
    rated.set_contamination(0.2)
    assert (rated.false_alarm_rate, rated.threshold_source_) == (None, "contamination")


@pytest.mark.slow
def test_probabilities_are_calibrated_and_do_not_decrease_with_the_score(planes):
    detector, scene, _ = planes
    probability = detector.anomaly_probability(scene.data)
    assert (np.diff(probability[np.argsort(detector.scores_)]) >= 0).all()
    assert 0 < probability.min() < probability.max() < 1
    anomalous = scene.target == 0
    assert probability.mean() == pytest.approx(anomalous.mean(), abs=0.03)
    assert np.mean(anomalous[probability > 0.9]) > 0.9
    assert np.mean(anomalous[probability < 0.1]) < 0.05


def test_what_cannot_be_told_is_said():
    X = make_lines(2, sizes=60, anomaly_share=0.2, random_state=0).data
    paper = PreferenceIsolationForest.paper("line", sigma=0.01, n_models=200, random_state=0).fit(X)
    for method in ("p_values", "anomaly_probability"):
        with pytest.raises(ValueError, match=f"{method} needs a detector with in_sample_pref"):
            getattr(paper, method)(X)
    noise = np.random.default_rng(0).uniform(size=(80, 2))
    with pytest.warns(UserWarning, match="no structure of family"):
        nothing = PreferenceIsolationForest("line", n_models=300, random_state=0).fit(noise)
    with pytest.warns(UserWarning, match="anomaly_probability cannot tell normal rows"):
        assert np.isnan(nothing.anomaly_probability(noise)).all()
    with pytest.warns(UserWarning, match="p_values cannot tell normal rows from others"):
        assert nothing.p_values(noise).min() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"false_alarm_rate": 2}, r"false_alarm_rate must be None or a share in \(0, 1\)"),
        ({"false_alarm_rate": 0.1, "contamination": 0.2}, "both choose the threshold: give one"),
        ({"false_alarm_rate": 0.1, "in_sample_preferences": True}, "false_alarm_rate needs in_sa"),
    ],
)
def test_a_false_alarm_rate_that_cannot_be_met_is_an_error(options, message):
    X = make_lines(2, sizes=60, anomaly_share=0.2, random_state=0).data
    with pytest.raises(ValueError, match=message):
        PreferenceIsolationForest("line", n_models=100, random_state=0, **options).fit(X)
