"""Properties of the detectors through their public interface."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from joblib import parallel_config
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances, roc_auc_score
from sklearn.pipeline import make_pipeline

import naive
from naive import paper
from piforest import PreferenceEmbedding, PreferenceIsolationForest, VoronoiForest
from piforest._random import Stream, choose
from piforest.datasets import make_circles, make_lines
from piforest.metrics import get_metric
from scenes import RAW

LINES, LINES_Y = make_lines(
    3, sizes=30, noise=0.02, anomaly_share=0.4, random_state=1, return_X_y=True
)
CIRCLES, CIRCLES_Y = make_circles(
    2, sizes=60, noise=0.02, anomaly_share=0.3, random_state=1, return_X_y=True
)
MATCHES = np.random.default_rng(0).uniform(0, 500, (40, 4))
MATCHES[:25, 2:] = MATCHES[:25, :2] * 1.1 + [20, -30]


def small(cls=PreferenceIsolationForest.paper, family="line", **changes):
    params = {
        "sigma": 0.03,
        "n_models": 150,
        "n_estimators": 12,
        "max_samples": 32,
        "random_state": 4,
    }
    return cls(family, **{**params, **changes})


# --- equal to the naive ones; test_paper.py does the same for the paper's algorithm


@pytest.mark.slow
@pytest.mark.parametrize("pool_size", [50, 4096])
@pytest.mark.parametrize("sigma", ["auto", 0.03])
@pytest.mark.parametrize("family", ["line", "circle"])
def test_the_detector_with_models_as_drawn_equals_the_naive_one(family, sigma, pool_size):
    X = LINES if family == "line" else CIRCLES
    X = np.concatenate([X, X[:5]])
    twin = paper.LINE if family == "line" else paper.CIRCLE
    lengths, scores = naive.default_detector(X, twin, 1, sigma, 150, 12, 32, 3, pool_size, 4)
    detector = small(
        PreferenceIsolationForest, family, sigma=sigma, pool_size=pool_size, branching=3, **RAW
    ).fit(X)
    np.testing.assert_allclose(detector.path_lengths(X), lengths, rtol=1e-12)
    np.testing.assert_allclose(detector.scores_, scores, rtol=1e-12)
    assert np.array_equal(detector.scores_[:5], detector.scores_[-5:])


def test_soft_edges_need_distances_of_at_most_one():
    detector = small(PreferenceIsolationForest, metric="euclidean")
    with pytest.raises(ValueError, match="path='soft' needs a metric with distances of at most 1"):
        detector.fit(LINES)
    assert len(detector.set_params(path="depth").fit(LINES).scores_) == len(LINES)


@pytest.mark.parametrize("branching", [2, 3, 5])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_voronoi_forest_equals_the_naive_one(metric, branching):
    forest = VoronoiForest(
        metric, n_estimators=9, max_samples=50, branching=branching, pool_size=70, random_state=2
    ).fit(CIRCLES)
    stream = Stream.from_random_state(2)
    pool = choose(stream.child("pool"), len(CIRCLES), 70)
    D = naive.table(metric, CIRCLES, CIRCLES[pool])
    trees = naive.pi_forest(D[pool], stream.child("trees"), 9, 50, branching)
    lengths, scores = naive.scores(D, np.zeros(len(D), bool), trees, 50, branching)
    np.testing.assert_allclose(forest.path_lengths(CIRCLES), lengths, rtol=1e-13)
    np.testing.assert_allclose(forest.scores_, scores, rtol=1e-13)


# --- scores depend on the seed only, not on the batch, the order or the threads

DETECTORS = [
    (small(PreferenceIsolationForest.paper), LINES),
    (small(PreferenceIsolationForest, "circle", sigma="auto", pool_size=50), CIRCLES),
    (small(PreferenceIsolationForest, metric="ruzicka", branching=3), LINES),
    (small(PreferenceIsolationForest, metric="chebyshev"), LINES),
    (VoronoiForest("euclidean", n_estimators=12, random_state=4), CIRCLES),
    (VoronoiForest("tanimoto", n_estimators=12, random_state=4, pool_size=60), np.abs(CIRCLES)),
]


@pytest.mark.parametrize(
    ("detector", "X"),
    DETECTORS,
    ids=lambda value: "" if isinstance(value, np.ndarray) else str(value)[:60],
)
class TestInvariants:
    def test_scores_do_not_depend_on_the_batch_or_the_order(self, detector, X):
        fitted = clone(detector).fit(X)
        whole = fitted.anomaly_score(X)
        assert np.array_equal(whole, fitted.scores_)
        for rows in (np.arange(7), np.arange(len(X))[::-1], np.array([5, 5, 90, 0])):
            assert np.array_equal(fitted.anomaly_score(X[rows]), whole[rows])
        assert np.array_equal(fitted.anomaly_score(X[3:4]), whole[3:4])

    def test_scores_do_not_depend_on_the_block_size(self, detector, X, monkeypatch):
        fitted = clone(detector).fit(X)
        whole = fitted.anomaly_score(X)
        monkeypatch.setattr("piforest.forest.pooled._TABLE_BYTES", 1)
        monkeypatch.setattr("piforest.forest.pooled._ROWS", 16)
        monkeypatch.setattr("piforest.engines.cpu._EMBEDDED_ROWS", (19, 19))
        assert fitted.forest_.block_rows == 16
        assert np.array_equal(fitted.anomaly_score(X), whole)
        assert np.array_equal(clone(detector).fit(X).scores_, whole)

    def test_scores_do_not_depend_on_the_threads(self, detector, X):
        one = clone(detector).set_params(n_jobs=1).fit(X)
        for n_jobs in (2, -1):
            many = clone(detector).set_params(n_jobs=n_jobs).fit(X)
            assert np.array_equal(one.scores_, many.scores_)
            assert np.array_equal(one.path_lengths(X), many.path_lengths(X))
            for name in ("roots", "first_child", "seed", "size"):
                a, b = (getattr(d.forest_.trees, name) for d in (one, many))
                assert np.array_equal(a, b)

    def test_the_same_seed_gives_the_same_scores(self, detector, X):
        first, second = (clone(detector).fit(X).scores_ for _ in range(2))
        other = clone(detector).set_params(random_state=5).fit(X).scores_
        assert np.array_equal(first, second)
        assert not np.array_equal(first, other)

    def test_global_random_state_is_neither_read_nor_changed(self, detector, X):
        np.random.seed(0)  # noqa: NPY002
        state = pickle.dumps(np.random.get_state())  # noqa: NPY002
        clone(detector).set_params(random_state=None).fit(X).predict(X)
        assert pickle.dumps(np.random.get_state()) == state  # noqa: NPY002

    def test_equal_rows_get_equal_scores(self, detector, X):
        X = np.concatenate([X, X[:20]])
        scores = clone(detector).fit(X).scores_
        assert np.array_equal(scores[-20:], scores[:20])

    def test_predict_equals_fit_predict(self, detector, X):
        fitted = clone(detector).fit(X)
        labels = clone(detector).fit_predict(X)
        assert np.array_equal(fitted.predict(X), labels)
        nothing = fitted.threshold_source_ == "no structure"
        assert set(labels.tolist()) == ({1} if nothing else {-1, 1})

    def test_signs_are_those_of_scikit_learn(self, detector, X):
        fitted = clone(detector).fit(X)
        scores = fitted.anomaly_score(X)
        assert (scores > 0).all()
        assert (scores <= 1).all()
        assert np.array_equal(fitted.score_samples(X), -scores)
        assert np.array_equal(fitted.decision_function(X), -scores - fitted.offset_)
        assert np.array_equal(fitted.predict(X) == -1, fitted.decision_function(X) < 0)

    def test_scores_are_those_of_the_path_lengths(self, detector, X):
        fitted = clone(detector).fit(X)
        lengths = fitted.path_lengths(X)
        assert lengths.shape == (len(X), 12)
        expected = 2 ** (-lengths.mean(axis=1) / fitted.forest_.trees.normaliser)
        np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-12)

    def test_blocks_are_scored_lazily(self, detector, X):
        fitted = clone(detector).fit(X)
        read = []

        def blocks():
            for start in range(0, len(X), 25):
                read.append(start)
                yield X[start : start + 25]

        scored = fitted.score_blocks(blocks())
        assert read == []
        first = next(scored)
        assert read == [0]
        assert np.array_equal(np.concatenate([first, *scored]), fitted.scores_)

    def test_a_pickled_detector_gives_the_same_scores(self, detector, X):
        fitted = clone(detector).fit(X)
        assert np.array_equal(pickle.loads(pickle.dumps(fitted)).anomaly_score(X), fitted.scores_)

    def test_processes_give_the_same_scores(self, detector, X):
        fitted = clone(detector).set_params(n_jobs=2).fit(X)
        with parallel_config(backend="loky"):
            assert np.array_equal(fitted.anomaly_score(X), fitted.scores_)


def test_scores_do_not_depend_on_the_container_of_the_training_rows():
    expected = small().fit(LINES).scores_
    frame = pd.DataFrame(LINES, columns=["x", "y"])
    with_names = small().fit(frame)
    assert np.array_equal(with_names.scores_, expected)
    assert with_names.feature_names_in_.tolist() == ["x", "y"]
    assert np.array_equal(
        with_names.embedding_.transform(frame).toarray(),
        small().fit(LINES).embedding_.transform(LINES).toarray(),
    )
    assert np.array_equal(small().fit(pl.DataFrame(LINES, schema=["x", "y"])).scores_, expected)
    assert np.array_equal(small().fit(LINES.tolist()).scores_, expected)
    assert np.array_equal(small().fit(np.asfortranarray(LINES)).scores_, expected)


def test_scoring_accepts_the_same_containers_as_fitting(tmp_path):
    np.save(tmp_path / "points.npy", CIRCLES)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    frames = [pd.DataFrame(CIRCLES), CIRCLES.tolist(), mapped]
    embedding = PreferenceEmbedding("circle", sigma=0.02, n_models=80, random_state=0).fit(CIRCLES)
    for detector in (
        small(PreferenceIsolationForest.paper, "circle"),
        VoronoiForest("euclidean", n_estimators=5),
    ):
        expected = detector.fit(CIRCLES).anomaly_score(CIRCLES)
        for X in [*frames, np.asfortranarray(CIRCLES)]:
            assert np.array_equal(detector.anomaly_score(X), expected)
            assert (embedding.transform(X) != embedding.transform(CIRCLES)).nnz == 0
        single = CIRCLES.astype(np.float32)
        assert np.array_equal(
            detector.anomaly_score(single), detector.anomaly_score(single.astype(float))
        )


def test_parameters_set_after_fitting_do_not_change_the_fitted_model():
    embedding = PreferenceEmbedding("circle", sigma=0.02, n_models=80, random_state=0).fit(CIRCLES)
    before = embedding.transform(CIRCLES)
    embedding.set_params(kernel="binary", sigma=5)
    assert (embedding.transform(CIRCLES) != before).nnz == 0


def test_tags_reflect_metric_objects():
    tags = VoronoiForest(get_metric("precomputed")).__sklearn_tags__().input_tags
    assert tags.pairwise
    tags = VoronoiForest(get_metric("tanimoto")).__sklearn_tags__().input_tags
    assert tags.sparse
    assert tags.positive_only
    assert not VoronoiForest(lambda a, b: 0.0).__sklearn_tags__().input_tags.sparse


def test_float32_and_integers_are_accepted():
    X = (LINES * 64).round()
    expected = small(sigma=2.0).fit(X).scores_
    for dtype in (np.float32, np.int16, np.int64):
        assert np.array_equal(small(sigma=2.0).fit(X.astype(dtype)).scores_, expected)


def test_a_read_only_memory_map_is_accepted(tmp_path):
    np.save(tmp_path / "points.npy", LINES)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert np.array_equal(small().fit(mapped).scores_, small().fit(LINES).scores_)


@pytest.mark.parametrize("power", [-10, 7])
def test_scaling_data_and_sigma_by_a_power_of_two_changes_no_bit(power):
    factor = 2.0**power
    for family, X, sigma in (("line", LINES, 0.03), ("homography", MATCHES, 4.0)):
        here = small(PreferenceIsolationForest.paper, family, sigma=sigma).fit(X).scores_
        there = (
            small(PreferenceIsolationForest.paper, family, sigma=sigma * factor)
            .fit(X * factor)
            .scores_
        )
        assert np.array_equal(here, there)
    automatic = small(PreferenceIsolationForest, "circle", sigma="auto")
    assert automatic.fit(CIRCLES).sigma_ * factor == automatic.fit(CIRCLES * factor).sigma_


def test_moving_the_data_changes_preferences_by_rounding_only():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    both = np.kron(np.eye(2), turn)
    cases = [("line", LINES, 0.03, turn), ("circle", CIRCLES, 0.03, turn)]
    cases += [("homography", MATCHES, 4.0, both), ("fundamental", MATCHES, 4.0, both)]
    for family, X, sigma, turn in cases:
        embedding = PreferenceEmbedding(family, sigma=sigma, n_models=400, random_state=0, **RAW)
        here = embedding.fit_transform(X).toarray()
        for far in (50, 1e6):
            shift = far * np.linspace(0.6, -1.4, X.shape[1])
            there = embedding.fit_transform(X @ turn.T + shift).toarray()
            assert np.abs(here - there).max() < 0.02
            assert np.mean(here != there) < 1e-3


def test_points_that_prefer_no_model_score_highest():
    detector = small(PreferenceIsolationForest.paper, "circle").fit(CIRCLES)
    alone = np.array([[0.0, -1e4], [1e4, 1e4]])
    X = np.concatenate([CIRCLES, alone])
    assert detector.embedding_.transform(alone).nnz == 0
    scores = detector.anomaly_score(X)
    assert scores[-1] == scores[-2] == scores.max()
    assert scores[-1] == pytest.approx(2 ** (-1 / detector.forest_.trees.normaliser))
    assert (detector.path_lengths(alone) == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_structures_are_more_informative_than_density(seed):
    for family, X, y in (("line", LINES, LINES_Y), ("circle", CIRCLES, CIRCLES_Y)):
        structure = PreferenceIsolationForest(family, random_state=seed).fit(X)
        density = VoronoiForest("euclidean", random_state=seed).fit(X)
        aucs = [roc_auc_score(y == 0, detector.scores_) for detector in (structure, density)]
        assert aucs[0] > aucs[1] + 0.05
        assert aucs[0] > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("far", [1e6, 1e20, 9.97e36, 1e80])
@pytest.mark.parametrize(
    ("family", "X", "y"), [("line", LINES, LINES_Y), ("circle", CIRCLES, CIRCLES_Y)]
)
def test_one_far_row_hardly_changes_the_scores(family, X, y, far):
    here = PreferenceIsolationForest(family, random_state=0).fit(X)
    there = PreferenceIsolationForest(family, random_state=0).fit(np.vstack([X, [[far, far]]]))
    aucs = [roc_auc_score(y == 0, fitted.scores_[: len(X)]) for fitted in (here, there)]
    assert aucs[1] > aucs[0] - 0.05
    assert there.labels_[-1] == -1


@pytest.mark.parametrize("far", [1e100, 1e155, 1e200, 1e300])
def test_extremely_far_rows_have_hardly_any_preferences(far):
    cases = [("line", LINES, 0.03), ("circle", CIRCLES, 0.03)]
    cases += [("homography", MATCHES, 4.0), ("fundamental", MATCHES, 4.0)]
    with np.errstate(all="ignore"):
        for family, X, sigma in cases:
            detector = small(PreferenceIsolationForest.paper, family, sigma=sigma).fit(X)
            row = np.full((1, X.shape[1]), far) * np.linspace(1, 1.3, X.shape[1])
            assert detector.embedding_.transform(row).nnz <= 3
            assert detector.predict(row)[0] == -1


def test_new_points_on_the_structures_have_lower_scores():
    rng = np.random.default_rng(3)
    detector = PreferenceIsolationForest.paper("circle", sigma=0.02, random_state=0).fit(CIRCLES)
    on, off = CIRCLES[CIRCLES_Y > 0] + rng.normal(0, 0.005, (120, 2)), rng.uniform(-1, 1, (120, 2))
    scores = detector.anomaly_score(np.concatenate([on, off]))
    assert roc_auc_score(np.repeat([0, 1], 120), scores) > 0.85


def test_binary_preferences_make_tanimoto_jaccard():
    options = {"kernel": "binary", "weighting": "none", **RAW}
    tanimoto = small(PreferenceIsolationForest, **options).fit(LINES)
    jaccard = small(PreferenceIsolationForest, **options, metric="jaccard").fit(LINES)
    assert np.array_equal(tanimoto.scores_, jaccard.scores_)


def test_the_algorithm_of_the_paper_is_the_general_detector_with_its_values():
    general = small(
        PreferenceIsolationForest, sampler="uniform", scale="fixed", weighting="none",
        in_sample_preferences=True, path="depth", metric="tanimoto", branching=2, **RAW,
    )  # fmt: skip
    assert np.array_equal(
        general.fit(LINES).scores_, small(PreferenceIsolationForest.paper).fit(LINES).scores_
    )


def test_custom_families_samplers_and_kernels_are_accepted():
    class Vertical:
        """x = c."""

        name, n_features, max_models = "vertical", 2, 1
        symmetries = frozenset({"translation", "scale"})

        def sample_size(self, d):
            return 1

        def codimension(self, d):
            return 1

        def solve(self, samples):
            return samples[:, :, :1], np.ones((len(samples), 1), bool)

        def residuals(self, X, params):
            return np.abs(X[:, :1] - params[:, 0])

    class FirstRows:
        name = "first rows"

        def draw(self, X, size, n_samples, stream, *, quality=None, groups=None):
            return np.argsort(-quality)[np.arange(n_samples)[:, None] % 30]

    X = np.concatenate([np.column_stack([np.ones(40), np.arange(40.0)]), CIRCLES[:20]])
    quality = np.arange(60.0)[::-1]
    detector = small(
        PreferenceIsolationForest,
        Vertical(),
        sampler=FirstRows(),
        kernel=lambda r, s: 1 - r / (3 * s),
        select=False,
    ).fit(X, quality=quality)
    assert detector.models_[0].samples.max() == 29
    assert detector.scores_[:40].max() < detector.scores_[40:].min()


def test_the_paper_draws_ten_models_for_each_point():
    assert small(n_models="auto").fit(LINES).n_models_ == 10 * len(LINES)
    many = np.random.default_rng(0).normal(size=(1100, 2))
    assert small(n_models="auto").fit(many).n_models_ == 10_000


def test_degenerate_samples_are_counted():
    X = np.concatenate([LINES, np.repeat(LINES[:1], 100, axis=0)])
    detector = small().fit(X)
    assert detector.n_degenerate_ > 10
    assert detector.n_models_ == 150


def test_verbose_prints_the_stages(capsys):
    small(verbose=1).fit(LINES)
    printed = capsys.readouterr().err
    stages = [
        "150 models of family 'line'",
        f"preferences of {len(LINES)} points",
        "12 trees",
        "threshold",
    ]
    assert all(stage in printed for stage in [*stages, "distances within a pool"])
    small().fit(LINES)
    assert capsys.readouterr().err == ""


# --- thresholds


def test_contamination_flags_at_most_its_share():
    detector = small(contamination=0.1).fit(LINES)
    assert 0 < np.sum(detector.labels_ == -1) <= 0.1 * len(LINES)
    assert np.array_equal(detector.labels_, detector.predict(LINES))


def test_the_threshold_can_be_changed_after_fitting():
    detector = small().fit(LINES)
    assert detector.set_contamination(0.2) is detector
    again = small(contamination=0.2).fit(LINES)
    assert detector.offset_ == again.offset_
    assert np.array_equal(detector.labels_, again.labels_)
    held_out = LINES[LINES_Y > 0]
    detector.set_contamination(0.3, held_out)
    flagged = np.mean(detector.predict(held_out) == -1)
    assert 0 < flagged <= 0.3
    assert np.array_equal(detector.labels_, detector.predict(LINES))
    assert detector.set_contamination("auto").offset_ == small().fit(LINES).offset_


# --- VoronoiForest in any metric space


def test_precomputed_distances_equal_their_metric():
    D = pairwise_distances(CIRCLES[:100], metric="manhattan")
    table = VoronoiForest("precomputed", random_state=0, n_estimators=10).fit(D)
    points = VoronoiForest("manhattan", random_state=0, n_estimators=10).fit(CIRCLES[:100])
    np.testing.assert_allclose(table.scores_, points.scores_, rtol=1e-6)
    new = pairwise_distances(CIRCLES[100:], CIRCLES[:100], metric="manhattan")
    np.testing.assert_allclose(
        table.anomaly_score(new), points.anomaly_score(CIRCLES[100:]), rtol=1e-6
    )
    assert table.__sklearn_tags__().input_tags.pairwise


def test_precomputed_distances_with_a_pool():
    D = pairwise_distances(CIRCLES)
    forest = VoronoiForest("precomputed", random_state=0, n_estimators=10, pool_size=30).fit(D)
    assert len(forest.forest_.pool) == 30
    assert np.array_equal(forest.anomaly_score(D), forest.scores_)


def test_a_callable_equals_its_named_metric():
    def city_block(a, b):
        return float(np.sum(np.abs(a - b)))

    custom = VoronoiForest(city_block, random_state=0, n_estimators=10).fit(CIRCLES[:60])
    named = VoronoiForest("manhattan", random_state=0, n_estimators=10).fit(CIRCLES[:60])
    assert np.array_equal(custom.scores_, named.scores_)


def test_sparse_rows_equal_dense_ones():
    X = np.abs(CIRCLES) * (np.abs(CIRCLES) > 0.3)
    for metric in ("tanimoto", "jaccard", "cosine", "euclidean", "manhattan", "chebyshev"):
        forest = VoronoiForest(metric, random_state=0, n_estimators=10)
        dense = forest.fit(X).scores_.copy()
        assert np.array_equal(forest.fit(scipy.sparse.csr_matrix(X)).scores_, dense), metric
        assert np.array_equal(forest.fit(scipy.sparse.coo_array(X)).scores_, dense), metric


def test_strings_and_other_objects_are_accepted():
    def different_letters(a, b):
        return len(set(a) ^ set(b))

    words = ["abc", "abd", "abe", "acd", "bcd", "xyz"]
    forest = VoronoiForest(different_letters, random_state=0).fit(words)
    assert words[int(np.argmax(forest.scores_))] == "xyz"
    assert forest.anomaly_score(["abc", "uvw"])[0] == forest.scores_[0]
    sets = [set(word) for word in words]
    assert np.array_equal(
        VoronoiForest(different_letters, random_state=0).fit(sets).scores_, forest.scores_
    )
    ragged = [[1], [1, 2], [1, 2, 3], [1, 2, 3], [9, 9, 9, 9, 9, 9]]
    lengths = VoronoiForest(lambda a, b: abs(len(a) - len(b)), random_state=0).fit(ragged)
    assert np.argmax(lengths.scores_) == 4


def test_series_of_strings_are_accepted():
    words = ["abc", "abd", "abe", "acd", "bcd", "xyz"]
    forest = VoronoiForest(lambda a, b: len(set(a) ^ set(b)), random_state=0)
    expected = forest.fit(words).scores_.copy()
    for column in (
        pd.Series(words),
        pl.Series(words),
        pd.Index(words),
        np.array(words),
        tuple(words),
    ):
        assert np.array_equal(forest.fit(column).scores_, expected)


def test_rows_to_score_must_be_of_the_same_kind_as_the_training_rows():
    forest = VoronoiForest(lambda a, b: float(len(str(a)) != len(str(b))), n_estimators=3)
    forest.fit(LINES[:20])
    assert forest.n_features_in_ == 2
    with pytest.raises(ValueError, match="was fitted on rows of numbers, X is a list of objects"):
        forest.predict(["a", "b"])
    forest.fit(["a", "bb", "ccc"])
    assert not hasattr(forest, "n_features_in_")
    with pytest.raises(ValueError, match="was fitted on a list of objects, X is rows of numbers"):
        forest.predict(LINES)
    with pytest.raises(ValueError, match=r"needs at least 1 object\(s\), got 0"):
        forest.predict([])


def test_scores_of_ragged_lists_do_not_depend_on_the_batch():
    forest = VoronoiForest(lambda a, b: abs(sum(a) - sum(b)), random_state=0, n_estimators=9)
    forest.fit([[1], [1, 2], [1, 2, 3], [4]])
    whole = forest.anomaly_score([[1], [1, 2], [3, 4]])
    for i, item in enumerate([[1], [1, 2], [3, 4]]):
        assert np.array_equal(forest.anomaly_score([item]), whole[i : i + 1])


def test_rows_that_differ_by_rounding_are_accepted():
    X = np.random.default_rng(0).uniform(0, 1, (100, 30))
    forest = VoronoiForest(random_state=0, n_estimators=5).fit(np.concatenate([X, X * 0.1 * 10]))
    assert forest.anomaly_score(X / 3 * 3).shape == (100,)


@pytest.mark.slow
def test_a_fit_that_fails_leaves_an_unfitted_estimator():
    detector = small().fit(LINES)
    with pytest.raises(ValueError, match="identical"):
        detector.fit(np.ones((50, 3)))
    with pytest.raises(NotFittedError):
        detector.predict(LINES)
    with pytest.raises(NotFittedError):
        detector.predict(np.ones((5, 3)))
    embedding = PreferenceEmbedding(sigma=0.1).fit(LINES)
    with pytest.raises(ValueError, match="identical"):
        embedding.fit(np.ones((50, 3)))
    with pytest.raises(NotFittedError):
        embedding.transform(LINES)
    forest = VoronoiForest("euclidean", n_estimators=3).fit(LINES)
    with pytest.raises(ValueError, match="at least 0"):
        forest.set_params(metric="tanimoto").fit(LINES)
    with pytest.raises(NotFittedError):
        forest.predict(LINES)


def test_trees_that_cannot_split_give_a_warning():
    with pytest.warns(UserWarning, match=r"branching \(10\) is above the 5 points of a tree"):
        forest = VoronoiForest("euclidean", branching=10).fit(LINES[:5])
    assert np.ptp(forest.scores_) == 0


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_every_backend_of_joblib_gives_the_same_scores(backend):
    with parallel_config(backend=backend):
        many = small(n_jobs=2).fit(LINES)
        assert np.array_equal(many.anomaly_score(LINES), small().fit(LINES).scores_)


def test_a_custom_metric_class_accepts_objects():
    class Lengths:
        name, empty_rows = "lengths", False

        def rows(self, X):
            return np.array([len(item) for item in X])

        def pairwise(self, A, B):
            return np.abs(A[:, None] - B[None, :]).astype(float)

    words = ["a", "b", "cc", "dd", "eeeeeeeee"]
    forest = VoronoiForest(Lengths(), random_state=0).fit(words)
    assert np.argmax(forest.scores_) == 4


def test_the_euclidean_forest_isolates_a_far_point():
    X = np.concatenate([np.random.default_rng(0).normal(size=(300, 2)), [[9.0, 9.0]]])
    assert np.argmax(VoronoiForest("euclidean", random_state=0).fit(X).scores_) == 300


# --- the embedding in a pipeline


@pytest.mark.slow
def test_the_embedding_works_before_any_other_estimator():
    pipeline = make_pipeline(
        PreferenceEmbedding("circle", sigma=0.02, select=False, random_state=0),
        LogisticRegression(max_iter=500),
    )
    assert pipeline.fit(CIRCLES, CIRCLES_Y > 0).score(CIRCLES, CIRCLES_Y > 0) > 0.9
    isolation = make_pipeline(
        PreferenceEmbedding("circle", sigma=0.02, random_state=0), IsolationForest(random_state=0)
    )
    assert isolation.fit(CIRCLES).score_samples(CIRCLES).shape == (len(CIRCLES),)
    forest = make_pipeline(
        PreferenceEmbedding("circle", sigma=0.02, random_state=0), VoronoiForest(random_state=0)
    ).fit(CIRCLES)
    assert roc_auc_score(CIRCLES_Y == 0, -forest.score_samples(CIRCLES)) > 0.85


def test_the_embedding_is_sparse_float32_with_feature_names():
    embedding = PreferenceEmbedding("line", sigma=0.02, n_models=70, random_state=0, **RAW)
    P = embedding.fit_transform(LINES)
    assert isinstance(P, scipy.sparse.csr_array)
    assert P.dtype == np.float32
    assert P.shape == (len(LINES), 70)
    assert 0 < P.data.min() <= P.max() <= 1
    assert embedding.get_feature_names_out()[0] == "preferenceembedding0"
    # A point is on every model whose sample contains it, and has no preference for it.
    both = PreferenceEmbedding(
        "line",
        sigma=0.02,
        n_models=70,
        weighting="none",
        in_sample_preferences=True,
        random_state=0,
        **RAW,
    ).fit_transform(LINES)
    for j, sample in enumerate(embedding.models_[0].samples):
        rows = [int(i) for i in sample]
        assert (both[rows, [j, j]] == 1).all()
        assert (P[rows, [j, j]] == 0).all()


def test_unfitted_estimators_raise_not_fitted_error():
    for detector in (
        PreferenceIsolationForest.paper("line", sigma=1),
        VoronoiForest(),
        PreferenceIsolationForest(),
    ):
        for call in ("predict", "score_samples", "anomaly_score", "path_lengths", "score_blocks"):
            with pytest.raises(NotFittedError):
                getattr(detector, call)(LINES)
        with pytest.raises(NotFittedError):
            detector.set_contamination(0.1)
        with pytest.raises(NotFittedError):
            detector.save("nowhere")
    with pytest.raises(NotFittedError):
        PreferenceEmbedding().transform(LINES)
