from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._kernels.scales import histogram
from piforest.datasets import make_circles, make_lines
from piforest.scales import _WIDTHS, log_likelihood_ratios


def test_histogram_counts_what_lies_within_each_width():
    rng = np.random.default_rng(0)
    R = rng.exponential(0.2, (50, 7))
    R[0, 0], R[1, 1] = 0.0, np.inf
    counts = np.zeros((7, 15), np.int64)
    histogram(R, _WIDTHS, counts)
    within = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    expected = [[np.sum(R[:, j] <= w) for w in _WIDTHS] for j in range(7)]
    assert np.array_equal(within, expected)


def test_ratios_are_positive_only_where_a_band_is_crowded():
    even = np.zeros((1, 15), np.int64)
    even[0] = np.round(4000 * (_WIDTHS - np.append(_WIDTHS[1:], 0)))
    crowded = even.copy()
    crowded[0, 8] += 200
    own = np.array([0])
    assert log_likelihood_ratios(even, own, 1).max() < 1
    ratios = log_likelihood_ratios(crowded, own, 1)[0]
    assert ratios.argmax() == 8
    assert ratios[8] > 100


@pytest.mark.parametrize("noise", [0.003, 0.01, 0.03])
@pytest.mark.parametrize(("make", "family"), [(make_lines, "line"), (make_circles, "circle")])
def test_sigma_is_found_within_a_factor_of_two(make, family, noise):
    X = make(4, sizes=100, noise=noise, anomaly_share=0.4, random_state=5).data
    detector = PreferenceIsolationForest(family, random_state=0, n_estimators=2).fit(X)
    assert 0.5 < detector.sigma_ / noise < 2.2


def test_far_points_do_not_move_sigma():
    X = make_lines(4, sizes=100, noise=0.01, anomaly_share=0.4, random_state=5).data
    far = np.concatenate([X, np.random.default_rng(0).uniform(-100, 100, (6, 2))])
    here, there = (
        PreferenceIsolationForest("line", random_state=0, n_estimators=2).fit(data).sigma_
        for data in (X, far)
    )
    assert there == pytest.approx(here, rel=0.5)


def test_hardly_any_points_fall_back_with_a_warning():
    X = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.warns(UserWarning, match="sigma='auto' found no structure in 4 points"):
        detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
    assert detector.sigma_ > 0
