"""Errors for invalid input name the parameter, the rule, the value and a solution."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from piforest import (
    PreferenceEmbedding,
    PreferenceIsolationForest,
    RejectAnomalies,
    VoronoiForest,
)
from piforest.datasets import make_circles, make_lines
from piforest.families import get_family

X = np.random.default_rng(0).normal(size=(50, 2))


class Misshapen:
    """A metric and a sampler with results of the wrong shape."""

    name, empty_rows = "misshapen", False

    def pairwise(self, A, B):
        return np.zeros((3, 3))

    def draw(self, X, size, n_samples, stream, **_):
        return np.zeros((2, 2), int)


class Dropping(Misshapen):
    def rows(self, X):
        return X[:5]


class Wrapping(Misshapen):
    name = "wrapping"

    def draw(self, X, size, n_samples, stream, **_):
        return np.full((n_samples, size), -1)


class NoModels(type(get_family("line"))):
    def solve(self, samples):
        return None


class Picky(type(get_family("line"))):
    def reason_to_reject(self, X):
        return "these look like pixels"


class Line(type(get_family("line"))):
    """Lines with modified residuals."""

    def __init__(self, change):
        object.__setattr__(self, "change", change)

    def residuals(self, X, params):
        return self.change(super().residuals(X, params))


def with_value(value):
    changed = X.copy()
    changed[3, 1] = value
    return changed


paper = PreferenceIsolationForest.paper

CASES = [
    (paper("line", sigma=1, n_models=0), X, "n_models must be an integer of at least 1, got 0"),
    (paper("line", sigma=1, n_models=2.5), X, "n_models must be an integer of at least 1, got 2.5"),
    (paper("line", sigma=1, n_models="all"), X, "n_models must be an integer.*got 'all'.*auto"),
    (paper("line", sigma=1, max_samples=1), X, "max_samples must be an integer of at least 2, got 1"),
    (paper("line", sigma=1, n_estimators=0), X, "n_estimators must be an integer of at least 1, got 0"),
    (paper("line", sigma=1, pool_size=1), X, "pool_size must be an integer of at least 2, got 1"),
    (paper("line", sigma=1, contamination=0), X, r"contamination must be 'auto' or a share .* in \(0, 1\), got 0"),
    (paper("line", sigma=1, contamination=1.0), X, r"contamination must be .* got 1.0. For 10 % write 0.1"),
    (paper("line", sigma=1, contamination="some"), X, "contamination must be .* got 'some'"),
    (paper("line", sigma=1, random_state="x"), X, "random_state must be None, an integer"),
    (paper("lime", sigma=1), X, "family must be one of 'aff.*'homography', .*'line'.*; got 'lime'. Did you mean 'line'?"),
    (paper("homography", sigma=1), X, r"family 'homography' needs 4 columns: rows \(x1, y1, x2, y2\); X has 2 feature"),
    (paper("circle", sigma=1), np.zeros((9, 3)), r"family 'circle' needs 2 columns: rows \(x, y\); X has 3 feature"),
    (paper(Picky(), sigma=1), X, "these look like pixels"),
    (paper("line", sigma=1), X[:, :1], r"family 'line' needs at least 2 columns: rows of coordinates; X has 1 feature"),
    (paper("homography", sigma=1), np.eye(4)[:3], "family 'homography' needs at least 4 matches, got 3."),
    (paper("circle", sigma=1), X[:2], "family 'circle' needs at least 3 points, got 2."),
    (paper("line", sigma=1), np.ones((30, 2)), "all 30 points are identical, so no line can be fitted"),
    (paper("homography", sigma=1), np.column_stack([X, np.arange(100).reshape(50, 2) % 4]), "only 2 different points in one of the views, and family 'homography' needs 4"),
    (paper("circle", sigma=1), np.arange(20.0).repeat(2).reshape(20, 2), "every one of .* was degenerate for family 'circle'"),
    (paper("line", sigma=1), with_value(np.nan), "contains NaN"),
    (paper("line", sigma=1), with_value(np.inf), "contains infinity"),
    (PreferenceIsolationForest(branching=1), X, "branching must be an integer of at least 2, got 1"),
    (PreferenceIsolationForest(branching=9, max_samples=8), X, r"branching must be at most max_samples \(8\), got 9"),
    (PreferenceIsolationForest(scale="wide"), X, "scale must be one of 'adaptive', 'fixed', 'per_model'; got 'wide'"),
    (PreferenceIsolationForest(weighting="gains"), X, "weighting must be one of 'gain', 'none'; got 'gains'. Did you mean 'gain'"),
    (PreferenceIsolationForest(path="deep"), X, "path must be one of 'depth', 'soft'; got 'deep'. Did you mean 'depth'"),
    (PreferenceIsolationForest(sampler="locale"), X, "sampler must be one of 'grouped', .*; got 'locale'. Did you mean 'local'"),
    (PreferenceIsolationForest(sampler="weighted"), X, r"sampler 'weighted' needs the quality of each point: pass it to fit, fit\(X, quality=...\)"),
    (PreferenceIsolationForest(sampler="grouped"), X, r"sampler 'grouped' needs the group of each point: pass it to fit, fit\(X, groups=...\)"),
    (PreferenceIsolationForest(metric="precomputed"), X, "metric='precomputed' does not apply to preferences"),
    (PreferenceIsolationForest(metric="jacard"), X, "Did you mean 'jaccard'"),
    (PreferenceIsolationForest(kernel=lambda r, s: r), X, r"kernel <lambda> must return values in \[0, 1\]"),
    (PreferenceIsolationForest(kernel=lambda r, s: r / 9), X, "kernel <lambda> must not increase with r"),
    (PreferenceEmbedding(sigma="automatic"), X, "sigma must be a finite number above 0, got 'automatic'"),
    (VoronoiForest("precomputed"), X, r"needs a square matrix of distances .* got shape \(50, 2\)"),
    (VoronoiForest("precomputed"), X @ X.T, "distances must not be negative, the precomputed matrix gives -"),
    (VoronoiForest("tanimoto"), X, "metric='tanimoto' needs entries of at least 0, got"),
    (VoronoiForest("euclidian"), X, "Did you mean 'euclidean'"),
    (VoronoiForest(lambda a, b: 1.0), ["one"], "VoronoiForest needs at least 2 object.s., got 1"),
    (VoronoiForest("euclidean"), X[:1], "minimum of 2 is required"),
    (paper("line", sigma=1), X * 1e200, "X must hold values between 1e-90 and 1e.90 in size, its largest is"),
    (paper("circle", sigma=1), X * 1e-200, "X must hold values between .* Use another unit"),
    (VoronoiForest("euclidean"), X * 1e200, "X must hold values between"),
    (VoronoiForest("euclidean"), ["kitten", "mitten"], r"metric='euclidean' takes rows of numbers; for strings pass a function d\(a, b\)"),
    (VoronoiForest(lambda a, b: 1.0), "kitten", "X must be a list of items, got one str: 'kitten'"),
    (VoronoiForest(lambda a, b: [1, 2]), ["a", "b"], r"metric <lambda>\(a, b\) must give one number"),
    (VoronoiForest(dict), X, "metric must be one of .* a function"),
    (VoronoiForest(Misshapen()), X, r"metric 'misshapen' must give distances of shape \(50, 50\), got \(3, 3\)"),
    (paper(Line(lambda R: R.repeat(3, axis=1)), sigma=1), X, r"residuals of family 'line' must have shape \(655, 500\), got \(655, 1500\)"),
    (paper(Line(lambda R: R.T), sigma=1), X, "residuals of family 'line' must have shape"),
    (paper(Line(lambda R: R[0]), sigma=1), X, "residuals of family 'line' must have shape"),
    (paper(Line(lambda R: -R), sigma=1), X, "residuals of family 'line' must not be negative or NaN, got -"),
    (VoronoiForest(Dropping()), X, r"rows\(X\) of metric 'misshapen' must keep all 50 rows, it gives 5"),
    (PreferenceIsolationForest(kernel=lambda r, s: 1.0), X, r"kernel <lambda>\(r, sigma\) must have shape \(100,\), got \(\)"),
    (PreferenceIsolationForest(sampler=Misshapen()), X, "samples of sampler 'misshapen' must have shape"),
    (PreferenceIsolationForest(sampler=Wrapping()), X, "samples of sampler 'wrapping' must be row numbers, integers from 0 to 49"),
    (PreferenceIsolationForest(sampler=object()), X, "sampler must be one of"),
    (VoronoiForest(object()), X, "metric must be one of"),
    (paper(NoModels(), sigma=1), X, "solve of family 'line' must return parameters and valid"),
    (RejectAnomalies(LinearRegression()), X, "detector must have fit_predict"),
    (VoronoiForest("euclidean", branching=300), X, r"branching must be at most max_samples \(256\), got 300"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("estimator", "data", "message"), CASES, ids=[case[2][:50] for case in CASES]
)
def test_invalid_input_raises_an_error_that_names_it(estimator, data, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(data)


def test_a_wrong_number_of_columns_raises_an_error_when_scoring():
    detector = paper("line", sigma=0.1, n_models=50, n_estimators=5).fit(X)
    with pytest.raises(
        ValueError, match="X has 3 features, but PreferenceIsolationForest is expecting 2 features"
    ):
        detector.predict(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="contains NaN"):
        detector.predict(with_value(np.nan))


def test_precomputed_scoring_needs_distances_to_the_training_points():
    D = np.abs(X[:, :1] - X[:, 0])
    forest = VoronoiForest("precomputed", n_estimators=5).fit(D)
    with pytest.raises(ValueError, match="X has 3 features"):
        forest.predict(np.zeros((2, 3)))


@pytest.mark.slow
def test_quality_must_have_one_value_for_each_row():
    with pytest.raises(
        ValueError, match="quality must have one value for each of the 50 rows of X"
    ):
        PreferenceIsolationForest(sigma=0.1).fit(X, quality=np.ones(3))
    with pytest.raises(ValueError, match="sampler 'mixed' does not use quality"):
        PreferenceIsolationForest(sigma=0.1).fit(X, quality=np.ones(50))


def test_an_invalid_contamination_is_rejected_after_fitting():
    detector = paper("line", sigma=0.1, n_models=50, n_estimators=5, random_state=0).fit(X)
    offset = detector.offset_
    with pytest.raises(ValueError, match="contamination must be"):
        detector.set_contamination(1.2)
    assert detector.offset_ == offset
    assert detector.contamination == "auto"


def test_an_unknown_option_of_a_family_is_rejected():
    with pytest.raises(ValueError, match="family 'line' has no option 'solver'; its options: none"):
        get_family("line", solver="7-point")


def test_rejecting_all_rows_raises_an_error():
    class FlagsAll:
        def fit_predict(self, X):
            return -np.ones(len(X))

        def get_params(self, deep=False):
            return {}

    with pytest.raises(ValueError, match=r"calls all 50 rows anomalous.*contamination"):
        RejectAnomalies(FlagsAll()).fit_resample(X)


@pytest.mark.parametrize("make", [make_lines, make_circles])
def test_synthetic_scenes_reject_invalid_values(make):
    with pytest.raises(ValueError, match="n_structures must be an integer of at least 1, got 0"):
        make(0)
    with pytest.raises(
        ValueError, match="sizes must be one number above 0 or one for each of the 3"
    ):
        make(3, sizes=[4, 5])
    with pytest.raises(ValueError, match=r"anomaly_share must be in \[0, 1\), got 1"):
        make(3, anomaly_share=1)


@pytest.mark.parametrize("sigma", [0, -1.5, float("nan"), None, "auto"])
def test_the_algorithm_of_the_paper_requires_sigma(sigma):
    message = f"sigma must be a finite number above 0, got {sigma!r}. PreferenceIsolationForest"
    with pytest.raises(ValueError, match=re.escape(message)):
        paper("line", sigma=sigma)
    with pytest.raises(TypeError, match="sigma"):
        paper("line")


def test_the_algorithm_of_the_paper_has_three_kernels():
    with pytest.raises(ValueError, match="kernel must be one of 'binary', 'gaussian', 'paper'"):
        paper("line", sigma=1, kernel="tukey")


def test_the_algorithm_of_the_paper_is_a_detector_with_its_parameters():
    detector = paper("circle", sigma=0.1)
    assert type(detector) is PreferenceIsolationForest
    assert repr(detector) == repr(clone(detector))
    params = {"sampler": "uniform", "scale": "fixed", "weighting": "none", "path": "depth",
              "in_sample_preferences": True, "n_models": "paper", "sigma": 0.1}  # fmt: skip
    assert params.items() <= detector.get_params().items()
