from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ks_2samp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, roc_auc_score

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_circles, make_lines, make_motion_pair, make_plane_pair
from piforest.families import get_family
from piforest.findings import Findings
from piforest.labels import votes as rules
from piforest.labels.thresholds import best_f1_threshold

SCORES = st.lists(st.integers(1, 12), min_size=1, max_size=30).map(lambda x: np.array(x) / 13)


@given(SCORES, SCORES)
def test_chance_p_values_count_the_null_scores_up_to_the_score(scores, null):
    expected = [(1 + sum(other <= score for other in null)) / (1 + len(null)) for score in scores]
    np.testing.assert_allclose(rules.chance_p_values(scores, null), expected)


@pytest.mark.slow
@given(SCORES, st.data())
def test_the_best_f1_threshold_has_the_best_f1_score(scores, data):
    flags = st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))
    anomalous = np.array(data.draw(flags))
    threshold = best_f1_threshold(scores, anomalous)
    reached = f1_score(anomalous, scores > threshold, zero_division=1.0)
    cuts = [*scores, scores.min() - 1]
    assert reached == pytest.approx(
        max(f1_score(anomalous, scores > cut, zero_division=1.0) for cut in cuts)
    )
    assert anomalous.any() or not (scores > threshold).any()


@given(st.lists(st.integers(1, 40), min_size=2, max_size=60).map(lambda x: np.array(x) / 41))
def test_the_best_cut_maximises_the_expected_f1_score(p):
    rate = min(1.0, np.mean(p > 0.3) / 0.7)
    assert rules.anomaly_rate(p) == pytest.approx(rate)
    cut = rules.best_cut(p)
    if rate * len(p) < 0.5:
        assert cut == 1.0
        return

    def expected(q):
        return 2 * rate * (1 - q) / (np.mean(p > q) + rate)

    assert expected(cut) == pytest.approx(max(expected(q) for q in [0.0, *p]))


def test_a_cut_moves_up_to_the_next_minimum_of_the_density_only():
    rng = np.random.default_rng(0)
    depths = np.concatenate([rng.normal(1, 0.1, 300), rng.normal(2, 0.1, 300)])
    assert 1.2 < rules.move_to_valley(depths, 1.1, 0.0) < 1.8
    assert rules.move_to_valley(depths, 0.85, 0.9) == 0.85  # the next peak is too far
    assert 1.2 < rules.move_to_valley(depths, 0.85, 1.3) < 1.8  # the peak of the anomalies
    assert rules.move_to_valley(depths, 2.2, 0.0) == 2.2  # no minimum beyond
    assert rules.move_to_valley(np.ones(10), 1.0, 1.0) == 1.0


def test_few_flagged_points_are_anomalous_if_they_are_far():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(0.5, 0.6, 400), [0.9, 0.91, 0.92]])
    null = rng.uniform(0.7, 1.0, 250)
    everywhere = np.ones(403, bool)
    flagged = rules.votes(scores, null, everywhere, np.ones(250, bool))
    assert np.flatnonzero(flagged).tolist() == [400, 401, 402]
    everywhere[401] = False
    flagged = rules.votes(scores, null, everywhere, np.ones(250, bool))
    assert np.flatnonzero(flagged).tolist() == [400, 402]


def test_null_points_ignore_far_points():
    X = np.random.default_rng(0).uniform(size=(500, 2))
    X[0] = 1e6
    points = rules.null_points(X, get_family("line"), Stream(0))
    assert points.shape == (rules.NULL_POINTS, 2)
    assert (points.max() < 1.01) & (points.min() > -0.01)


# --- on synthetic scenes

SCENES = {
    "line": make_lines(4, sizes=[150, 80, 60, 110], noise=0.008, anomaly_share=0.3, random_state=8),
    "circle": make_circles(3, sizes=[150, 80, 90], noise=0.01, anomaly_share=0.4, random_state=8),
    "homography": make_plane_pair(3, sizes=60, anomaly_share=0.3, random_state=8),
    "fundamental": make_motion_pair(2, sizes=80, anomaly_share=0.3, random_state=8),
}


@pytest.fixture(scope="module")
def fitted():
    return {
        name: PreferenceIsolationForest(name, random_state=0).fit(scene.data)
        for name, scene in SCENES.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_labels_are_nearly_as_good_as_the_best_threshold(fitted, name):
    detector, anomalous = fitted[name], SCENES[name].target == 0
    reached = f1_score(anomalous, detector.labels_ == -1)
    best = max(f1_score(anomalous, detector.scores_ > cut) for cut in detector.scores_)
    assert reached > 0.93 * best
    assert np.array_equal(detector.labels_, detector.predict(SCENES[name].data))


@pytest.mark.parametrize("name", SCENES)
def test_few_points_are_flagged_if_none_is_anomalous(name):
    scene = SCENES[name]
    X = scene.data[scene.target > 0]
    flagged = PreferenceIsolationForest(name, random_state=0).fit(X).labels_ == -1
    assert flagged.mean() < 0.06


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_chance_p_values_of_new_random_points_are_uniform(fitted, name):
    """1,000 new points of the same box: the share below alpha is within 4 standard errors of the
    two samples, and the distributions agree."""
    detector, X = fitted[name], SCENES[name].data
    low, high = np.percentile(X, [1, 99], axis=0)
    fresh = np.random.default_rng(77).uniform(low, high, (1000, X.shape[1]))
    p = detector.chance_p_values(fresh)
    for alpha in (0.05, 0.1, 0.3):
        margin = 4 * np.sqrt(alpha * (1 - alpha) * (1 / 1000 + 1 / 500))
        assert np.mean(p <= alpha) < alpha + margin
    assert ks_2samp(detector.anomaly_score(fresh), detector.null_scores_).pvalue > 1e-3
    assert 0 < p.min() <= p.max() <= 1


@pytest.mark.slow
def test_chance_p_values_bound_the_share_of_random_points_among_those_kept(fitted):
    """Benjamini-Hochberg at level q keeps at most a share q of random points as normal."""
    detector, scene = fitted["homography"], SCENES["homography"]
    p = detector.chance_p_values(scene.data)
    order = np.sort(p)
    n, q = len(p), 0.05
    passing = np.flatnonzero(order <= q * np.arange(1, n + 1) / n)
    kept = p <= order[passing[-1]]
    wrong = np.sum(scene.target[kept] == 0)
    assert wrong <= binom.ppf(0.999, kept.sum(), q)
    assert np.mean(kept[scene.target > 0]) > 0.9


def test_a_threshold_can_be_set_and_reset(fitted):
    detector = fitted["line"]
    offset, labels = detector.offset_, detector.labels_.copy()
    detector.set_threshold(0.7)
    assert np.array_equal(detector.labels_ == -1, detector.scores_ > 0.7)
    detector.set_contamination(0.1)
    assert np.sum(detector.labels_ == -1) <= 0.1 * len(labels)
    detector.set_contamination("auto")
    assert detector.offset_ == offset
    assert np.array_equal(detector.labels_, labels)
    X = SCENES["line"].data
    detector.set_contamination("auto", X[::2])
    assert np.mean(detector.labels_ != labels) < 0.05
    detector.set_contamination("auto")
    for invalid in (np.nan, "high", True, None):
        with pytest.raises(ValueError, match="threshold must be a finite number"):
            detector.set_threshold(invalid)


def along_an_axis(n, kind):
    rng = np.random.default_rng(n)
    t, noise = rng.uniform(0, 1, n), rng.normal(0, 0.01, n)
    return {
        "horizontal": np.column_stack([t, noise]),
        "constant": np.column_stack([t, np.full(n, 3.0)]),
        "sensor": np.column_stack([np.arange(n), 20 + 50 * noise]),
        "in space": np.column_stack([t, noise, rng.normal(0, 0.01, n)]),
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["horizontal", "constant", "sensor", "in space"])
@pytest.mark.parametrize("n", [100, 400])
def test_a_line_that_fills_the_box_is_not_flagged(n, kind):
    X = along_an_axis(n, kind)
    flagged = PreferenceIsolationForest("line", random_state=0).fit(X).labels_ == -1
    assert flagged.mean() < 0.06
    X[0, 1] += 0.5 if kind != "sensor" else 25
    labels = PreferenceIsolationForest("line", random_state=0).fit(X).labels_
    assert labels[0] == -1
    assert np.mean(labels == -1) < 0.06


def test_data_without_structures_give_a_warning():
    X = np.random.default_rng(0).uniform(size=(60, 4)) * 300
    with pytest.warns(UserWarning, match="no structure of family 'fundamental' is significant"):
        PreferenceIsolationForest("fundamental", n_models=200, random_state=0).fit(X)


def test_too_few_rows_give_no_automatic_threshold(fitted):
    with pytest.raises(ValueError, match="needs at least 20 rows of X to take a threshold from"):
        fitted["line"].set_contamination("auto", SCENES["line"].data[:19])
    fitted["line"].set_contamination("auto")


@pytest.mark.slow
def test_chance_p_values_are_not_available_without_a_null_distribution():
    scene = SCENES["line"]
    for detector in (
        PreferenceIsolationForest.paper("line", sigma=0.008, n_estimators=5, random_state=0),
        PreferenceIsolationForest(metric="euclidean", path="depth", n_estimators=5, random_state=0),
    ):
        detector.fit(scene.data)
        with pytest.raises(
            ValueError, match="chance_p_values needs a detector with in_sample_preferences=False"
        ):
            detector.chance_p_values(scene.data)
        assert detector.explain(scene.data[:1])[0].p_value is None


@pytest.mark.slow
def test_fitted_results_are_cleared_by_a_new_fit():
    detector = PreferenceIsolationForest("line", n_estimators=5, random_state=0)
    for name in ("structures_", "null_scores_", "sigma_", "models_"):
        with pytest.raises(NotFittedError):
            getattr(detector, name)
    detector.fit(SCENES["line"].data)
    assert len(detector.structures_) == 4
    supports = [each.support for each in detector.structures_]
    detector.set_params(in_sample_preferences=True)
    detector.findings_ = Findings(detector.fitted_)
    assert [each.support for each in detector.structures_] == supports
    with pytest.raises(ValueError, match="NaN"):
        detector.fit(np.full((30, 2), np.nan))
    with pytest.raises(NotFittedError):
        detector.structures_  # noqa: B018
    with pytest.raises(ValueError, match="in_sample_preferences must be True or False, got 'no'"):
        detector.set_params(in_sample_preferences="no").fit(SCENES["line"].data)


@pytest.mark.slow
def test_the_detector_of_the_paper_uses_otsus_threshold():
    scene = SCENES["line"]
    detector = PreferenceIsolationForest.paper("line", sigma=0.008, random_state=0).fit(scene.data)
    assert 0.1 < np.mean(detector.labels_ == -1) < 0.6
    assert len(detector.structures_) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("n", "scenes"), [(200, 40), (400, 12), (1600, 4)])
def test_new_points_are_labelled_like_training_points(n, scenes):
    """Fit on half of the points: the flagged shares of normal points of both halves differ by less
    than 0.05."""
    differences = []
    for seed in range(scenes):
        size = round(0.7 * n / 4)
        X, y = make_lines(
            4, sizes=size, noise=0.01, anomaly_share=0.3, random_state=seed, return_X_y=True
        )
        half = np.random.default_rng(seed).permutation(len(X)) % 2 == 0
        detector = PreferenceIsolationForest("line", random_state=seed).fit(X[half])
        flagged = detector.predict(X) == -1
        differences.append(flagged[half & (y > 0)].mean() - flagged[~half & (y > 0)].mean())
    assert abs(np.mean(differences)) < 0.05


@pytest.mark.slow
def test_far_points_do_not_change_the_scores_of_others():
    scene = SCENES["circle"]
    far = np.random.default_rng(0).uniform(-100, 100, (max(1, len(scene.data) // 100), 2))
    plain = PreferenceIsolationForest("circle", random_state=0).fit(scene.data)
    both = PreferenceIsolationForest("circle", random_state=0).fit(np.vstack([scene.data, far]))
    n, anomalous = len(scene.data), scene.target == 0
    aucs = [roc_auc_score(anomalous, each.scores_[:n]) for each in (plain, both)]
    assert abs(aucs[0] - aucs[1]) < 0.01
    assert (both.labels_[n:] == -1).all()


def test_points_of_a_small_structure_are_not_anomalous():
    """The 40 points of a small structure have the scores of random points, among 600 normal points
    and 12 anomalies: if random points are rarely near a structure, only far points are flagged."""
    rng = np.random.default_rng(0)
    null, null_far = np.sort(rng.uniform(0.6, 0.8, 250)), np.ones(250, bool)
    null_far[:10] = False
    scores = np.concatenate([rng.uniform(0.3, 0.4, 600), rng.uniform(0.62, 0.8, 52)])
    far = np.zeros(652, bool)
    far[-12:] = True
    assert np.array_equal(rules.votes(scores, null, far, null_far), far)
    # If random points are near structures as often as these points, they are anomalies.
    null_far[:195] = False
    assert rules.votes(scores, null, far, null_far)[600:].mean() > 0.9
