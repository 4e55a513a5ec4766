"""LocalPreferenceIsolationForest: windows, scores, labels, explanations, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import naive.windows
from piforest import LocalPreferenceIsolationForest
from piforest.engines import cpu


def sine(n=600, anomalies=40, seed=0):
    """A noisy sine with uniform anomalies, which come first."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4 * np.pi, n)
    X = np.column_stack([x, 3 * np.sin(x) + 0.05 * rng.normal(size=n)])
    X[:anomalies, 1] = rng.uniform(-3, 3, anomalies)
    return X, np.arange(n) < anomalies


def local(**options):
    given = {"n_models": 200, "n_estimators": 20, "random_state": 0, "coordinates": [0]}
    return LocalPreferenceIsolationForest("line", **{**given, **options})


@pytest.fixture(scope="module")
def fitted():
    X, y = sine()
    return local().fit(X), X, y


def test_anomalies_of_a_sine_score_high(fitted):
    detector, X, y = fitted
    assert detector.score(X, 1 - y) > 0.95
    assert detector.found_structure_
    assert detector.diagnosis_ == []
    assert detector.threshold_source_ == "automatic"


def test_the_automatic_labels_find_most_anomalies_and_few_others(fitted):
    detector, _, y = fitted
    flagged = detector.labels_ < 0
    assert flagged[y].mean() > 0.6
    assert flagged[~y].mean() < 0.05


def test_scores_are_the_mean_of_the_depths_of_the_windows_that_hold_a_row(fitted):
    detector, X, _ = fitted
    some = X[::40]
    expected = [2.0 ** -naive.windows.depth(detector.fitted_, row) for row in some]
    assert detector.anomaly_score(some) == pytest.approx(expected, rel=1e-9)


def test_the_score_of_a_row_does_not_depend_on_the_others_or_on_the_block(fitted, monkeypatch):
    detector, X, _ = fitted
    monkeypatch.setattr(cpu, "_MAPPED_ROWS", 7)
    assert (detector.anomaly_score(X[50:90]) == detector.scores_[50:90]).all()
    assert detector.anomaly_score(X[3:4])[0] == detector.scores_[3]


@pytest.mark.slow
def test_threads_change_no_bit(fitted):
    detector, X, _ = fitted
    threads = clone(detector).set_params(n_jobs=2).fit(X)
    assert (threads.scores_ == detector.scores_).all()
    assert threads.threshold_ == detector.threshold_
    assert threads.sigma_ == detector.sigma_


def test_one_sigma_is_near_the_noise(fitted):
    detector, _, _ = fitted
    assert 0.02 < detector.sigma_ < 0.15
    assert detector.sigma_source_ == "estimated"
    assert {float(w.fitted.embedding.sigma) for w in detector.windows_} == {detector.sigma_}


def test_there_are_several_sizes_and_the_whole_is_one_of_them(fitted):
    detector, _, _ = fitted
    sizes = {window.size for window in detector.windows_}
    assert len(sizes) >= 3
    assert detector.windows_[0].size == 0


def test_a_pickle_scores_the_same(fitted):
    detector, X, _ = fitted
    again = pickle.loads(pickle.dumps(detector))
    assert (again.anomaly_score(X[:50]) == detector.scores_[:50]).all()


def test_rows_far_from_all_windows_have_scores(fitted):
    detector, _, _ = fitted
    scores = detector.anomaly_score([[1e6, 0.0], [-1e6, 1e6]])
    assert np.isfinite(scores).all()
    assert (scores > detector.threshold_).all()


def test_p_values_are_small_on_the_structure_and_large_off_it(fitted):
    detector, X, y = fitted
    p = detector.chance_p_values(X)
    assert p[~y].mean() < 0.3 < p[y].mean()
    assert len(detector.null_scores_) == 250


def test_an_explanation_names_the_local_line(fitted):
    detector, X, _ = fitted
    worst = int(np.argmax(detector.scores_))
    best = int(np.argmin(detector.scores_))
    bad, good = detector.explain(X[[worst, best]])
    assert bad.anomalous
    assert "the local line of window" in bad.text
    assert "not on" in bad.text
    assert good.nearest[0].sigmas < 4
    assert ": on the local line of window" in good.text
    window = detector.windows_[good.nearest[0].structure]
    away = window.structure.residuals(X[[best]])[0]
    assert good.nearest[0].distance == away


def test_members_of_local_structures_are_rows_of_their_windows(fitted):
    detector, X, _ = fitted
    for window in detector.windows_:
        low, high = detector.fitted_.tilings[window.size].box(window.number)
        x = X[window.structure.members, 0]
        assert (x >= low - 1e-9).all()
        assert (x <= high + 1e-9).all()


@pytest.mark.slow
def test_features_leave_the_time_out_of_the_structures():
    rng = np.random.default_rng(0)
    t, u = np.arange(400.0), rng.normal(size=400)
    X = np.column_stack([t, u, np.where(t < 200, u, -u) + 0.02 * rng.normal(size=400)])
    X[::40, 2] += 2
    detector = local(features=[1, 2], coordinates=0).fit(X)
    flags = np.arange(400) % 40 == 0
    assert detector.score(X, ~flags) > 0.97
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["t", "u", "v"])
    named = local(features=["u", "v"], coordinates="t").fit(frame)
    assert (named.scores_ == detector.scores_).all()


@pytest.mark.slow
def test_rows_that_no_given_window_holds_are_judged_by_the_whole():
    X, _ = sine()
    X = np.vstack([X, np.column_stack([np.arange(20, 100, 4.0), np.zeros(20)])])
    detector = local(window=2.0).fit(X)
    assert np.isfinite(detector.scores_).all()
    assert detector.fitted_.n_skipped > 0
    assert "windows_skipped" in [each.code for each in detector.diagnosis_]


@pytest.mark.slow
def test_contamination_flags_that_share(fitted):
    detector, X, _ = fitted
    changed = clone(detector).set_params(contamination=0.1).fit(X)
    # As many as rows with equal scores allow.
    ordered, n = np.sort(changed.scores_)[::-1], np.sum(changed.labels_ < 0)
    assert n == 60 or ordered[min(n, 60)] == ordered[max(n, 60) - 1]
    assert abs(n - 60) <= 2
    assert changed.threshold_source_ == "contamination"
    changed.set_contamination("auto")
    assert changed.threshold_ == detector.threshold_
    assert changed.set_contamination("auto", X).threshold_ == detector.threshold_
    assert changed.set_threshold(0.5).threshold_source_ == "given"


def test_noise_alone_is_not_flagged():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    with pytest.warns(UserWarning, match="no window has a structure that stands out from chance"):
        detector = local(coordinates=None).fit(X)
    assert (detector.labels_ > 0).all()
    assert detector.threshold_source_ == "no structure"
    assert detector.diagnosis_[0].code == "no_structure"


@pytest.mark.slow
def test_a_channel_that_is_constant_in_a_window_leaves_that_window_out():
    X, _ = sine()
    X[X[:, 0] < 5, 1] = 0.0
    detector = LocalPreferenceIsolationForest(
        "linear_regression", coordinates=[0], n_models=100, n_estimators=10, random_state=0
    ).fit(X)
    assert detector.fitted_.n_skipped > 0
    assert np.isfinite(detector.scores_).all()
    with pytest.raises(ValueError, match="the target, column 1 of X, is constant"):
        detector.fit(X * [1, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, r"window must be 'auto', the side of the windows .* got 0\."),
        ({"window": "big"}, "window must be 'auto'"),
        ({"window": []}, "window must be 'auto'"),
        ({"window": 0.01}, "no window has the 20 rows that a detector needs, the fullest has"),
        ({"window": 1e-4}, r"makes .* windows, at most 2048 are possible"),
        ({"window": 1e-300}, "is too small for the range of the coordinates"),
        ({"overlap": 0.9}, r"overlap must be from 0 to 0\.75"),
        ({"coordinates": [5]}, "coordinates must be numbers of the 2 columns of X, got 5"),
        ({"coordinates": [0, 0]}, "coordinates must be different columns"),
        ({"coordinates": ["t"]}, "coordinates must be numbers of the 2 columns of X, got 't'"),
        ({"features": []}, "features must be different columns, at least one"),
        ({"min_share": 1.0}, r"min_share must be in \[0, 1\), got 1\.0"),
        ({"contamination": 0}, "contamination must be 'auto' or a share"),
    ],
)
def test_a_bad_parameter_is_named(options, message):
    X, _ = sine(3000 if options.get("window") == 1e-4 else 300)
    with pytest.raises(ValueError, match=message):
        local(**options).fit(X)


def test_windows_over_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="windows over 5 columns are too many, at most 4"):
        local(coordinates=[0, 1, 2, 3, 4]).fit(np.random.default_rng(0).normal(size=(50, 5)))


def test_equal_rows_give_the_reason():
    with pytest.raises(ValueError, match="line"):
        local().fit(np.ones((50, 2)))


def test_windows_that_are_not_flat_are_reported_if_hardly_any_row_is_flagged():
    rng = np.random.default_rng(0)
    xy = rng.uniform(-2, 2, (1500, 2))
    X = np.column_stack([xy, 0.5 * np.sin(4 * xy[:, 0]) * np.cos(4 * xy[:, 1])])
    X[:250] = rng.uniform(X.min(axis=0), X.max(axis=0), (250, 3))
    options = {"n_models": 200, "n_estimators": 10, "random_state": 1}
    with pytest.warns(UserWarning, match="hardly any is flagged"):
        detector = LocalPreferenceIsolationForest("plane", window=4.0, **options).fit(X)
    assert [each.code for each in detector.diagnosis_][:1] == ["windows_not_flat"]
    assert (detector.labels_ < 0).mean() < 0.01


def test_the_noise_of_quadratic_surfaces_is_not_that_of_models_of_six_points():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 3))
    X[:, 2] = X[:, 0] ** 2 + 0.05 * rng.normal(size=1500)
    options = {"n_models": 50, "n_estimators": 3, "coordinates": [0, 1], "random_state": 0}
    detector = LocalPreferenceIsolationForest("polynomial_regression", **options).fit(X)
    assert 0.04 < detector.sigma_ < 0.06


def test_a_window_explains_nothing_if_its_models_explain_as_many_random_rows():
    X = np.random.default_rng(0).uniform(size=(500, 2))
    options = {"coordinates": [0], "window": 1.0, "contamination": 0.1, "random_state": 0}
    wide = LocalPreferenceIsolationForest("line", sigma=0.2, **options).fit(X)
    assert wide.windows_[0].explained < 0.3
    X[:, 1] = 0.5 * X[:, 0] + 0.01 * np.random.default_rng(1).normal(size=500)
    flat = LocalPreferenceIsolationForest("line", **options).fit(X)
    assert flat.windows_[0].explained > 0.9


@pytest.mark.slow
def test_windows_overlap_less_where_there_would_be_too_many(monkeypatch):
    X = np.random.default_rng(0).uniform(size=(10_000, 2))
    options = {"coordinates": [0, 1], "n_models": 20, "n_estimators": 2, "contamination": 0.1}
    options |= {"random_state": 0, "sigma": 0.1}
    # 1 + 9 + 49 windows with half an overlap: of an eighth of the range, 64 without any.
    monkeypatch.setattr("piforest.windows.cutting.MAX_WINDOWS", 59 + 64)
    tilings = LocalPreferenceIsolationForest("line", **options).fit(X).fitted_.tilings
    assert [each.step / each.side for each in tilings[:4]] == [0.5, 0.5, 0.5, 1.0]


@pytest.mark.slow
def test_smaller_windows_are_used_where_structures_are_not_straight():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 3000)
    straight = np.column_stack([x, 0.3 * x + 0.002 * rng.normal(size=len(x))])
    curved = np.column_stack([x, 0.02 * np.sin(60 * x) + 0.002 * rng.normal(size=len(x))])
    options = {"contamination": 0.1, "n_models": 100, "n_estimators": 5}
    assert len(local(**options).fit(straight).fitted_.tilings) == 4
    assert len(local(**options).fit(curved).fitted_.tilings) > 4


def test_what_windows_do_not_have_is_refused_in_words(fitted):
    detector, X, _ = fitted
    with pytest.raises(ValueError, match="belong to its windows"):
        detector.path_lengths(X)
    with pytest.raises(AttributeError, match="each window has a forest of its own"):
        _ = detector.forest_


@pytest.mark.slow
def test_many_rows_take_bounded_windows():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 60_000)
    X = np.column_stack([x, np.sin(x) + 0.01 * rng.normal(size=len(x))])
    detector = local(contamination=0.01).fit(X)
    with pytest.raises(AttributeError, match="more than 50000"):
        _ = detector.scores_
    assert max(len(w.structure.members) for w in detector.windows_) <= 2048
    assert 0.002 < np.mean(detector.predict(X[:5000]) < 0) < 0.03
