from __future__ import annotations

import numpy as np
import pytest

import naive
from piforest.families import resolve_family
from piforest.sampling import resolve_sampler
from piforest.streams import detector as module
from piforest.streams.detector import StreamDetector
from piforest.streams.reservoir import ReservoirSettings
from piforest.streams.settings import StreamSettings


def stream(n, seed=0, k=3, share=0.2):
    """Rows of k segments and random rows; and which are random."""
    rng = np.random.default_rng(seed)
    ends = rng.uniform(0, 1, (k, 2, 2))
    structure, t = rng.integers(0, k, n), rng.random((n, 1))
    X = ends[structure, 0] * (1 - t) + ends[structure, 1] * t + rng.normal(0, 0.01, (n, 2))
    random = rng.random(n) < share
    X[random] = rng.uniform(0, 1, (random.sum(), 2))
    return X, random


def make(window=100, n_trees=5, max_samples=16, n_models=20, contamination=None, key=7):
    family, sampler = resolve_family("line"), resolve_sampler("mixed")
    reservoir = ReservoirSettings(family, sampler, n_models, None)
    settings = StreamSettings(reservoir, window, n_trees, max_samples, contamination)
    return StreamDetector(settings, 2, key)


@pytest.mark.slow
def test_scores_equal_those_of_the_naive_stream_bit_for_bit(monkeypatch):
    # A pool that is smaller than the window, so that some rows are in no tree.
    monkeypatch.setattr(module, "POOL", 40)
    X, _ = stream(190)
    fast = make()
    slow = naive.NaiveStream(100, 5, 16, 40, 7)
    scores, expected = [], []
    for i, x in enumerate(X):
        scores.append(fast.pass_rows(x[None])[0][0])
        expected.append(slow.pass_row(x))
        if fast.renewed_at == i + 1:
            slow.renew(fast.models)
        if i == 145:
            fast.forget(30)
            slow.forget(30)
    np.testing.assert_array_equal(scores, expected)
    assert np.isnan(scores[:20]).all()
    assert np.isfinite(scores[20:]).all()


@pytest.mark.slow
def test_counts_are_those_of_the_rows_that_remember_their_leaves():
    detector = make()
    detector.pass_rows(stream(157)[0])
    cells = detector.cells
    leaf = cells.forest.trees.first_child < 0
    counted = np.bincount(cells.leaves[cells.leaves >= 0], minlength=len(cells.size))
    np.testing.assert_array_equal(cells.size[leaf], counted[leaf])


@pytest.fixture(scope="module")
def passed():
    """A detector, its rows and its scores."""
    X, _ = stream(240)
    detector = make()
    return detector, X, detector.pass_rows(X)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [[1], [64, 1, 30]])
def test_blocks_of_any_size_give_the_same_bits(blocks, passed):
    whole, X, expected = passed
    parts, found, start, turn = make(), [], 0, 0
    while start < len(X):
        size = blocks[turn % len(blocks)]
        found.append(parts.pass_rows(X[start : start + size]))
        start, turn = start + size, turn + 1
    for k in range(2):
        np.testing.assert_array_equal(np.concatenate([each[k] for each in found]), expected[k])
    np.testing.assert_array_equal(parts.models.params, whole.models.params)


def test_after_a_renewal_the_scores_are_those_of_a_forest_of_the_pool(passed):
    detector, X, _ = passed
    assert detector.renewed_at == len(X)
    forest = detector.cells.forest
    rows = forest.rows_of(detector.cells.preferences.rows_of(X[:50]))
    np.testing.assert_array_equal(detector.cells.scores(X[:50]), forest.scores(rows))


def test_forgetting_all_rows_drops_the_models_until_there_are_enough_rows():
    X, _ = stream(120)
    detector = make()
    detector.pass_rows(X[:45])
    detector.forget(1000)
    assert detector.models is None
    scores, limits = detector.pass_rows(X[45:90])
    # 45 + 20 rows; the renewals are at multiples of ten.
    assert np.isnan(scores[:25]).all()
    assert np.isfinite(scores[25:]).all()
    np.testing.assert_array_equal(np.isnan(scores), np.isnan(limits))


@pytest.mark.slow
def test_equal_rows_have_no_model_and_no_score_and_no_error():
    detector = make()
    scores, _ = detector.pass_rows(np.ones((40, 2)))
    assert np.isnan(scores).all()
    scores, _ = detector.pass_rows(stream(40)[0])
    assert np.isfinite(scores[-1])
    detector.pass_rows(np.ones((150, 2)))
    assert np.isfinite(detector.pass_rows(np.ones((1, 2)))[0]).all()


@pytest.mark.slow
def test_a_share_of_the_window_is_flagged_with_a_given_contamination():
    X, _ = stream(300)
    detector = make(contamination=0.1)
    scores, limits = detector.pass_rows(X)
    assert 0.03 < np.mean(scores[100:] > limits[100:]) < 0.25


@pytest.mark.slow
def test_the_stream_is_as_accurate_as_a_fit_of_its_window():
    from sklearn.metrics import roc_auc_score

    from piforest import PreferenceIsolationForest

    X, random = stream(2048, seed=4, k=4)
    detector = make(window=1024, n_trees=100, max_samples=256, n_models=200)
    scores, _ = detector.pass_rows(X)
    batch = PreferenceIsolationForest("line", random_state=0).fit(X[:1024])
    new, expected = random[1024:], batch.anomaly_score(X[1024:])
    assert roc_auc_score(new, scores[1024:]) > roc_auc_score(new, expected) - 0.01
