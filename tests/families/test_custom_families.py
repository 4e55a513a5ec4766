"""Families that users bring: estimators that learn, and plain functions."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.checks import CheckError, check_family
from piforest.datasets import make_lines, make_piecewise_laws
from piforest.families import LearnedFamily, extent, from_functions, get_family, learned
from piforest.protocols import ModelFamily

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (60, 3))
CLASSES = np.column_stack([X[:, :2], RNG.integers(0, 3, 60)])
TREE = DecisionTreeRegressor(max_depth=3)


def samples_of(rows, k, n=12, seed=1):
    rng = np.random.default_rng(seed)
    return rows[np.array([rng.choice(len(rows), k, replace=False) for _ in range(n)])]


def predicted(estimator, sample, row):
    estimator = clone(estimator).fit(np.delete(sample, -1, 1), sample[:, -1])
    return abs(row[-1] - estimator.predict(row[None, :-1])[0])


def reconstructed(estimator, sample, row):
    estimator = clone(estimator).fit(sample)
    return np.linalg.norm(row - estimator.inverse_transform(estimator.transform(row[None]))[0])


def sparse(estimator, sample, row):
    estimator = clone(estimator).fit(sample)
    gap = estimator.score_samples(sample).max() - estimator.score_samples(row[None])[0]
    return np.sqrt(2 * max(0.0, gap))


def unlikely(estimator, sample, row):
    estimator = clone(estimator).fit(sample[:, :-1], sample[:, -1])
    p = dict(zip(estimator.classes_, estimator.predict_proba(row[None, :-1])[0]))
    return -np.log(p[row[-1]]) if p.get(row[-1], 0) > 0 else np.inf


LEARNED = [
    (TREE, 20, X, predicted),
    (make_pipeline(PolynomialFeatures(2), LinearRegression()), 8, X, predicted),
    (PCA(1), 4, X, reconstructed),
    (make_pipeline(StandardScaler(), PCA(2)), 5, X, reconstructed),
    (GaussianMixture(random_state=0), 10, X, sparse),
    (KernelDensity(bandwidth=0.3), 10, X, sparse),
    (LogisticRegression(), 12, CLASSES, unlikely),
    (DecisionTreeClassifier(max_depth=2, random_state=0), 12, CLASSES, unlikely),
]
IDS = [str(case[0])[:20] for case in LEARNED]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "k", "rows", "twin"), LEARNED, ids=IDS)
def test_learned_residuals_equal_the_naive_ones(estimator, k, rows, twin):
    family = LearnedFamily(estimator, k)
    samples = samples_of(rows, k, 6)
    params, valid = family.solve(samples)
    assert valid.any()
    assert params.shape == (6, 1, k * 3)
    ours = family.residuals(rows[:15], params[valid])
    theirs = [[twin(family.estimator, s, row) for s in samples[valid[:, 0]]] for row in rows[:15]]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "k", "rows", "twin"), LEARNED, ids=IDS)
def test_learned_families_obey_the_laws(estimator, k, rows, twin):
    family = LearnedFamily(estimator, k)
    assert isinstance(family, ModelFamily)
    check_family(family)  # on rows that are random as X
    if rows is not X:
        check_family(family, rows)


def test_the_target_may_be_any_column():
    turned = LearnedFamily(TREE, 20, target=0)
    last = LearnedFamily(TREE, 20)
    order = [1, 2, 0]
    samples = samples_of(X, 20)
    here = turned.residuals(X, turned.solve(samples)[0][:, 0])
    there = last.residuals(X[:, order], last.solve(samples[:, :, order])[0][:, 0])
    assert np.array_equal(here, there)


def test_a_family_without_its_memory_gives_the_same_residuals():
    family = LearnedFamily(DecisionTreeRegressor(max_features=1), 10)
    params, valid = family.solve(samples_of(X, 10))
    R = family.residuals(X, np.asfortranarray(params[valid]))
    fresh = pickle.loads(pickle.dumps(family))
    assert fresh == family
    assert hash(fresh) == hash(family)
    assert not fresh._fitted
    assert np.array_equal(fresh.residuals(X, params[valid]), R)
    assert copy.deepcopy(family) is family


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(learned, "_KEPT", 5)
    family = LearnedFamily(TREE, 10)
    params, valid = family.solve(samples_of(X, 10))
    assert len(family._fitted) == 5
    R = family.residuals(X, params[valid])
    assert len(family._fitted) == 5
    assert np.array_equal(R[:, 3:4], family.residuals(X, params[3]))


def test_learned_families_are_equal_by_value():
    assert LearnedFamily(DecisionTreeRegressor(max_depth=3), 20) == LearnedFamily(TREE, 20)
    others = [
        LearnedFamily(TREE, 19),
        LearnedFamily(TREE, 20, target=0),
        LearnedFamily(DecisionTreeRegressor(max_depth=4), 20),
        LearnedFamily(LinearRegression(), 20),
        get_family("line"),
    ]
    assert LearnedFamily(TREE, 20) not in others
    assert len({LearnedFamily(TREE, 20), *others}) == 6


def test_the_estimator_is_copied_and_fixed():
    tree = DecisionTreeRegressor()
    family = LearnedFamily(tree, 20)
    tree.set_params(max_depth=1)
    assert family.estimator.max_depth is None
    assert family.estimator.random_state == 0
    assert tree.random_state is None
    pipeline = make_pipeline(PCA(1, random_state=7), DecisionTreeRegressor())
    steps = LearnedFamily(pipeline, 20).estimator
    assert [step.random_state for step in steps] == [7, 0]


class Fussy(RegressorMixin, BaseEstimator):
    """Fails as it is told where the first row is on the left."""

    def __init__(self, how=None):
        self.how = how

    def fit(self, X, y):
        if X[0, 0] < 0:
            if isinstance(self.how, Warning):
                warnings.warn(self.how, stacklevel=1)
            elif self.how is not None:
                raise self.how
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(
    "how", [ValueError("no"), np.linalg.LinAlgError("singular"), ConvergenceWarning("far")], ids=str
)
def test_a_fit_that_raises_or_warns_is_degenerate(how):
    samples = samples_of(X, 5)
    _, valid = LearnedFamily(Fussy(how), 5).solve(samples)
    assert np.array_equal(valid[:, 0], samples[:, 0, 0] >= 0)


def test_what_a_library_will_change_is_not_degenerate():
    for how in (FutureWarning("soon"), DeprecationWarning("soon")):
        assert LearnedFamily(Fussy(how), 5).solve(samples_of(X, 5))[1].all()


def test_a_mistake_in_the_estimator_is_no_degenerate_sample():
    with pytest.raises(TypeError, match=r"'learned Fussy': what\?"):
        LearnedFamily(Fussy(TypeError("what?")), 5).solve(samples_of(X, 5))
    with pytest.raises(TypeError, match=r"'learned DecisionTreeRegressor': .*max_depth"):
        LearnedFamily(DecisionTreeRegressor(max_depth=-1), 5).solve(samples_of(X, 5))


def test_repeated_rows_and_single_classes_are_degenerate():
    samples = samples_of(X, 5)
    samples[3, 4] = samples[3, 0]
    _, valid = LearnedFamily(TREE, 5).solve(samples)
    assert np.flatnonzero(~valid[:, 0]).tolist() == [3]
    alone = samples_of(CLASSES[CLASSES[:, 2] == 1], 5)
    assert not LearnedFamily(DecisionTreeClassifier(), 5).solve(alone)[1].any()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((TREE, 1), "sample_size must be an integer of at least 2, got 1"),
        ((TREE, 5, "y"), "target must be the number of a column, got 'y'"),
        ((TREE, 5, -1, 0), "codimension must be an integer of at least 1"),
        ((DecisionTreeRegressor, 5), "must be a scikit-learn estimator, got <class"),
        (("tree", 5), "must be a scikit-learn estimator, got 'tree'"),
        ((IsolationForest(), 5), "a density with score_samples, got IsolationForest"),
        ((SVC(), 5), "a classifier with predict_proba, .* got SVC"),
    ],
)
def test_learned_families_name_what_they_cannot_take(arguments, says):
    with pytest.raises(ValueError, match=says):
        LearnedFamily(*arguments)


def test_fit_says_why_nothing_can_be_learned():
    detector = PreferenceIsolationForest.paper(LearnedFamily(TREE, 5, target=7), sigma=0.1)
    with pytest.raises(ValueError, match=r"target .* is column 7, but X has 3 columns"):
        detector.fit(X)
    with pytest.raises(ValueError, match=r"column -1 of X, the target .* is constant"):
        PreferenceIsolationForest.paper(LearnedFamily(TREE, 5), sigma=0.1).fit(
            np.column_stack([X, np.ones(60)])
        )
    with pytest.raises(ValueError, match=r"learns from none of 20 .* of 5 rows; .* n_components=6"):
        PreferenceIsolationForest.paper(LearnedFamily(PCA(6), 5), sigma=0.1).fit(
            np.hstack([X, X**2, X**3])
        )
    with pytest.raises(
        ValueError, match=r"'learned PCA' needs at least 4 columns: rows of .*; X has 3"
    ):
        PreferenceIsolationForest.paper(LearnedFamily(PCA(3), 5), sigma=0.1).fit(X)
    with pytest.raises(
        ValueError, match="at least 2 columns: rows of features and a target; X has 1"
    ):
        PreferenceIsolationForest.paper(LearnedFamily(TREE, 5), sigma=0.1).fit(X[:, :1])


def test_the_extent_is_in_the_units_of_the_residuals():
    wide = X * [100, 1, 10]
    assert extent(LearnedFamily(TREE, 5), wide) == pytest.approx(10 / np.sqrt(3), rel=0.2)
    assert extent(LearnedFamily(TREE, 5, target=0), wide) == pytest.approx(100 / 3**0.5, rel=0.2)
    assert extent(LearnedFamily(PCA(1), 5), X) == extent(get_family("line"), X)


def test_what_is_not_a_number_is_out_of_reach():
    class Blind(Fussy):
        def predict(self, X):
            return np.where(X[:, 0] < 0, np.nan, 0)

    family = LearnedFamily(Blind(), 5)
    R = family.residuals(X, family.solve(samples_of(X, 5))[0][:, 0])
    assert np.array_equal(np.isinf(R[:, 0]), X[:, 0] < 0)


@pytest.mark.slow
def test_threads_and_batches_change_nothing():
    family = LearnedFamily(TREE, 5)
    one = PreferenceEmbedding(family, sigma=0.1, n_models=60, random_state=0).fit(X)
    fresh = pickle.loads(pickle.dumps(one))
    fresh.n_jobs = 2
    many = np.repeat(X, 10, axis=0)
    assert (one.transform(many) != fresh.transform(many)).nnz == 0
    assert (one.transform(many)[:10:10] != one.transform(X[:1])).nnz == 0


def test_laws_have_the_asked_noise_and_pieces():
    for shape, degree in (("steps", 0), ("curves", 2)):
        options = {"shape": shape, "n_pieces": 2, "sizes": 400, "random_state": 2}
        for noise in (0.0, 0.02):
            X, y = make_piecewise_laws(3, noise=noise, return_X_y=True, **options)
            assert np.bincount(y).tolist() == [800, 400, 400, 400]
            for law in (1, 2, 3):
                for right in (False, True):
                    x, height = X[(y == law) & ((X[:, 0] > 0) == right)].T
                    off = height - np.polyval(np.polyfit(x, height, degree), x)
                    assert np.std(off) == pytest.approx(noise, rel=0.2, abs=1e-9)
    with pytest.raises(ValueError, match="shape must be one of 'curves', 'steps'; got 'waves'"):
        make_piecewise_laws(shape="waves")


STEPS = DecisionTreeRegressor(max_depth=3), 6
CURVES = make_pipeline(PolynomialFeatures(2), LinearRegression()), 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "n_pieces", "learner"), [("steps", 3, STEPS), ("curves", 1, CURVES)]
)
def test_learned_laws_are_found_at_the_true_noise(shape, n_pieces, learner):
    X, y = make_piecewise_laws(3, shape=shape, n_pieces=n_pieces, random_state=1, return_X_y=True)
    detector = PreferenceIsolationForest.paper(
        LearnedFamily(*learner), sigma=0.01, n_models=1000, random_state=0
    ).fit(X)
    assert roc_auc_score(y == 0, detector.scores_) > 0.95


@pytest.mark.slow
def test_importing_families_imports_no_estimators():
    code = (
        "import sys, piforest.families; before = set(sys.modules);"
        "piforest.families.from_functions;"
        "assert not any('sklearn' in name for name in set(sys.modules) - before);"
        "assert 'piforest.families.learned' not in sys.modules;"
        "assert 'sklearn' not in sys.modules;"
        "piforest.families.LearnedFamily"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ImportError):
        exec("from piforest.families import nothing")


# Functions.


def fit_line(points):
    (x1, y1), (x2, y2) = points
    if x1 == x2:
        return None
    slope = (y2 - y1) / (x2 - x1)
    return slope, y1 - slope * x1


def along_y(X, params):
    slope, height = params
    return np.abs(X[:, 1] - slope * X[:, 0] - height)


def fit_lines(samples):
    return np.linalg.solve(
        np.stack([samples[:, :, 0], np.ones(samples.shape[:2])], axis=2), samples[:, :, 1:]
    )[:, :, 0]


def all_along_y(X, params):
    return np.abs(X[:, 1:] - params[:, 0] * X[:, :1] - params[:, 1])


FLAT = X[:, :2]
ONE = from_functions(fit_line, along_y, sample_size=2, n_features=2, name="slope")
MANY = from_functions(fit_lines, all_along_y, sample_size=2, n_features=2, batched=True)


@pytest.mark.parametrize("fit", [fit_line, fit_lines])
@pytest.mark.parametrize("residuals", [along_y, all_along_y])
def test_functions_are_batched_by_themselves(fit, residuals):
    family = from_functions(fit, residuals, sample_size=2, n_features=2)
    assert isinstance(family, ModelFamily)
    samples = samples_of(FLAT, 2, 30)
    samples[4, 1] = samples[4, 0]
    samples[5, :, 0] = 0.5  # upright: singular for one, None for the other
    params, valid = family.solve(samples)
    assert np.flatnonzero(~valid[:, 0]).tolist() == [4, 5]
    expected = [[along_y(row[None], fit_line(s))[0] for s in samples[valid[:, 0]]] for row in FLAT]
    np.testing.assert_allclose(
        family.residuals(FLAT, params[valid]), expected, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(family.residuals(FLAT[:1], params[:1, 0])[0, 0], expected[0][0])
    check_family(family)


def test_what_takes_many_is_called_with_many():
    shapes = []

    def fit(samples):
        shapes.append(samples.shape)
        return fit_lines(samples)

    def residuals(X, params):
        shapes.append(params.shape)
        return all_along_y(X, params)

    samples = samples_of(FLAT, 2, 30)
    for batched, most in ((None, 5), (True, 2)):
        shapes.clear()
        family = from_functions(fit, residuals, sample_size=2, batched=batched)
        family.residuals(FLAT, family.solve(samples)[0][:, 0])
        assert len(shapes) <= most + 1
        assert {(30, 2, 2), (30, 2)} <= set(shapes)
    assert MANY.slow_calls is False
    assert ONE.slow_calls is True


def test_a_fit_that_does_for_one_and_for_many_is_called_with_one():
    def heights(points):  # of one sample its heights, of many their second points
        return points[:, 1]

    family = from_functions(heights, lambda X, p: np.abs(X[:, 1] - p.mean()), sample_size=2)
    samples = samples_of(FLAT, 2)
    assert np.array_equal(family.solve(samples)[0][:, 0], samples[:, :, 1])


def test_one_number_is_a_parameter_and_sizes_may_depend_on_the_columns():
    family = from_functions(
        lambda points: points[:, -1].mean(),
        lambda X, height: np.abs(X[:, -1] - height),
        sample_size=lambda d: d,
        codimension=lambda d: d - 1,
        exact=False,
    )
    assert (family.sample_size(4), family.codimension(4)) == (4, 3)
    params, valid = family.solve(samples_of(X, 3))
    assert params.shape == (12, 1, 1)
    assert valid.all()
    check_family(family)


@pytest.mark.parametrize("error", [np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError])
def test_a_fit_may_fail_by_name_where_its_points_do_not_do(error):
    def fit(points):
        if points[0, 0] < 0:
            raise error("bad")
        return fit_line(points)

    samples = samples_of(FLAT, 2, 30)
    _, valid = from_functions(fit, along_y, sample_size=2).solve(samples)
    assert np.array_equal(valid[:, 0], samples[:, 0, 0] >= 0)
    assert 0 < valid.sum() < 30


def test_parameters_that_are_not_finite_are_degenerate():
    samples = samples_of(FLAT, 2)
    for answer in (np.nan, np.inf, None):
        family = from_functions(lambda points: answer, along_y, sample_size=2)  # noqa: B023
        params, valid = family.solve(samples)
        assert not valid.any()
        assert np.isfinite(params).all()


def test_a_detector_does_without_the_length_of_parameters_that_never_were():
    calls = []

    def rarely(points):
        calls.append(1)
        return fit_line(points) if len(calls) > 300 else None

    family = from_functions(rarely, along_y, sample_size=2, batched=False)
    assert PreferenceEmbedding(family, sigma=0.1, n_models=100).fit(FLAT).n_drawn_ == 100


def _typo(points):
    return points.maen()


@pytest.mark.parametrize(
    ("fit", "residuals", "says"),
    [
        (_typo, along_y, r"fit function '_typo' of family 'own' failed on \(2, 2\): Attribute"),
        (fit_line, lambda X, p: 1 / 0, "residuals function '<lambda>' .* failed .*: ZeroDivision"),
        (fit_line, lambda X, p: X, r"'<lambda>' of family 'own' must have shape \(256,\)"),
        (lambda p: np.eye(2), along_y, r"must give parameters \(p,\), real numbers, or None, got"),
        (lambda p: "no", along_y, r"must give parameters \(p,\), real numbers, or None, got 'no'"),
        (lambda p: np.ones(1 + (p[0, 0] < 0)), along_y, r"same number of parameters, got \[1, 2\]"),
    ],
)
def test_errors_name_the_function(fit, residuals, says):
    family = from_functions(fit, residuals, sample_size=2, name="own")
    detector = PreferenceIsolationForest.paper(family, sigma=0.1, n_models=50, random_state=0)
    with pytest.raises((RuntimeError, ValueError), match=says):
        detector.fit(FLAT)
    with pytest.raises(CheckError, match=r"must not raise an error for any rows.*'own'"):
        check_family(family, FLAT)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"fit": 3}, "fit must be a function, got 3"),
        ({"residuals": LinearRegression}, "residuals must be a function, got <class"),
        ({"sample_size": 0}, "sample_size must be an integer of at least 1, got 0"),
        ({"codimension": 0.5}, "codimension must be an integer of at least 1, got 0.5"),
        ({"n_features": "2"}, "n_features must be an integer"),
        ({"name": None}, "name must be a string"),
        ({"batched": "yes"}, "batched must be True or False"),
        ({"exact": None}, "exact must be True or False"),
    ],
)
def test_from_functions_names_bad_options(changes, says):
    options = {"fit": fit_line, "residuals": along_y, "sample_size": 2, **changes}
    with pytest.raises(ValueError, match=says):
        from_functions(**options)


def test_families_of_the_same_functions_are_equal():
    assert from_functions(fit_line, along_y, sample_size=2, n_features=2, name="slope") == ONE
    assert ONE != MANY
    assert len({ONE, MANY, pickle.loads(pickle.dumps(ONE))}) == 2


@pytest.mark.slow
def test_functions_find_what_the_family_of_lines_finds():
    X, y = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    for family in (ONE, MANY):
        detector = PreferenceIsolationForest(family, n_models=800, random_state=0).fit(X)
        assert roc_auc_score(y == 0, detector.scores_) > 0.95


def test_check_family_knows_what_need_not_be_exact():
    def middle(points):
        return points[:, 1].mean()

    def off(X, height):
        return np.abs(X[:, 1] - height)

    with pytest.raises(CheckError, match=r"its own minimal sample; .* exact = False"):
        check_family(from_functions(middle, off, sample_size=4, n_features=2))
    check_family(from_functions(middle, off, sample_size=4, n_features=2, exact=False))
    nothing = from_functions(
        middle, lambda X, height: np.zeros(len(X)), sample_size=4, n_features=2, exact=False
    )
    with pytest.raises(CheckError, match="all are about 0"):
        check_family(nothing)


def test_check_family_says_why_nothing_is_learned():
    with pytest.raises(CheckError, match=r"learns from none of 20 .* n_components=4"):
        check_family(LearnedFamily(PCA(4), 3, codimension=1))
    with pytest.raises(CheckError, match="column 5, but X has 3 columns"):
        check_family(LearnedFamily(TREE, 5, target=5))


def test_a_classifier_of_a_continuous_target_is_refused():
    X = make_piecewise_laws(3, noise=0.01, random_state=0).data
    family = LearnedFamily(DecisionTreeClassifier(max_depth=2), sample_size=6)
    with pytest.raises(ValueError, match=r"distinct values .* no classes\. Use a regressor"):
        PreferenceIsolationForest.paper(family, sigma=0.01, n_models=20).fit(X)
