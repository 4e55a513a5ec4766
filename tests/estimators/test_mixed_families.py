"""Structures of several families."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.datasets import make_circles, make_lines
from piforest.families import from_functions, get_family, resolve_families
from scenes import RAW

BOTH = ["line", "circle"]


@pytest.fixture(scope="module")
def scene():
    """Two lines and two circles of 100 points, 200 anomalies."""
    lines = make_lines(2, anomaly_share=0.5, random_state=0)
    circles = make_circles(2, anomaly_share=0, random_state=1)
    X = np.concatenate([circles.data, lines.data])
    return X, np.concatenate([circles.target + 2, lines.target])


def test_models_are_drawn_in_the_given_shares(scene):
    X, _ = scene
    for family, sizes in (
        (BOTH, [500, 500]),
        ([("line", 3), ("circle", 1)], [750, 250]),
        ([("line", 1000), "circle"], [998, 2]),
        ([("line", 1e6), "circle"], [999, 1]),
    ):
        embedding = PreferenceEmbedding(family, n_models=1000, random_state=0, **RAW).fit(X)
        assert [len(models) for models in embedding.models_] == sizes
        assert [models.family.name for models in embedding.models_] == BOTH
        assert len(embedding.bands_) == 2
        assert embedding.transform(X).shape == (len(X), 1000)


def test_preferences_of_families_are_concatenated(scene):
    X, _ = scene
    options = {"scale": "fixed", "weighting": "none", "sigma": 0.01, "random_state": 0, **RAW}
    both = PreferenceEmbedding(BOTH, n_models=400, **options).fit_transform(X)
    alone = PreferenceEmbedding("line", n_models=200, **options).fit_transform(X)
    assert np.array_equal(both[:, :200].toarray(), alone.toarray())


@pytest.mark.slow
@pytest.mark.parametrize("make", [PreferenceIsolationForest, PreferenceIsolationForest.paper])
def test_two_families_find_the_structures_of_both(scene, make):
    """Lines alone miss the circles; circles alone miss little, since a line is almost a circle."""
    X, y = scene
    options = {"sigma": 0.01, "random_state": 0}
    auc = {
        str(family): roc_auc_score(y == 0, make(family, **options).fit(X).scores_)
        for family in ("line", "circle", BOTH)
    }
    assert auc[str(BOTH)] > 0.93
    assert auc[str(BOTH)] > auc["line"] + 0.08
    assert auc[str(BOTH)] > auc["circle"] - 0.01


@pytest.mark.slow
def test_structures_of_both_families_are_found_and_explained(scene):
    X, y = scene
    detector = PreferenceIsolationForest(BOTH, random_state=0).fit(X)
    kinds = sorted(each.family.name for each in detector.structures_)
    assert kinds == ["circle", "circle", "line", "line"]
    for each in detector.structures_:
        assert np.bincount(y[each.members]).max() / each.support > 0.7
    assert 0.005 < detector.sigma_ < 0.02
    assert abs(np.mean(detector.labels_ == -1) - 1 / 3) < 0.08
    assert any("(circle," in str(each) for each in detector.explain(X[:1]))


@pytest.mark.slow
def test_a_model_of_two_families_can_be_saved(scene, tmp_path):
    X, _ = scene
    family = [("line", 0.4), (get_family("circle"), 0.6)]
    detector = PreferenceIsolationForest(family, n_models=500, random_state=0).fit(X)
    detector.save(tmp_path / "model.pif")
    other = PreferenceIsolationForest.load(tmp_path / "model.pif")
    assert np.array_equal(other.anomaly_score(X), detector.anomaly_score(X))
    supports = [(each.family.name, each.support) for each in detector.structures_]
    assert [(each.family.name, each.support) for each in other.structures_] == supports


def test_a_list_of_one_family_equals_that_family(scene):
    X, _ = scene
    alone = PreferenceIsolationForest("line", n_models=300, random_state=0).fit(X)
    listed = PreferenceIsolationForest(["line"], n_models=300, random_state=0).fit(X)
    assert np.array_equal(alone.scores_, listed.scores_)
    assert np.array_equal(alone.labels_, listed.labels_)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ([], "family must be a family, a list of families, or a list of"),
        ([("line", 1, 2)], "family must be a family, a list of families, or a list of"),
        ([("line", -1), "circle"], "the share of family 'line' must be .*-1"),
        (["line", "circel"], "got 'circel'. Did you mean 'circle'"),
        (["line", "homography"], "family 'homography' needs 4 columns"),
    ],
)
def test_invalid_lists_of_families_raise_an_error(scene, family, message):
    with pytest.raises(ValueError, match=message):
        PreferenceIsolationForest(family).fit(scene[0])


def test_every_family_gets_a_model_for_any_shares(scene):
    family = [("line", 1e6), ("circle", 1e6), ("ellipse", 1), ("parabola", 1)]
    for n_models, sizes in ((4, [1, 1, 1, 1]), (7, [3, 2, 1, 1]), (100, [49, 49, 1, 1])):
        embedding = PreferenceEmbedding(family, n_models=n_models, random_state=0).fit(scene[0])
        assert [models.n_candidates for models in embedding.models_] == sizes
        assert all(len(models) > 0 for models in embedding.models_)


def test_an_error_names_the_family_without_any_model():
    X = np.column_stack([np.arange(50.0), np.arange(50.0)])
    with pytest.raises(ValueError, match="leave 'circle' out of the list"):
        PreferenceIsolationForest(BOTH, n_models=50).fit(X)


def test_n_models_must_be_at_least_the_number_of_families(scene):
    with pytest.raises(ValueError, match="n_models must be an integer of at least 2, got 1"):
        PreferenceIsolationForest(BOTH, n_models=1).fit(scene[0])
    assert [share for _, share in resolve_families(BOTH)] == [0.5, 0.5]


@pytest.mark.slow
def test_the_list_that_was_fitted_may_be_passed_again(scene, tmp_path):
    X, _ = scene
    upright = from_functions(
        lambda points: (points[0, 0],),
        lambda X, theta: np.abs(X[:, 0] - theta[0]),
        sample_size=1,
        n_features=2,
    )
    detector = PreferenceIsolationForest.paper(
        ["line", upright], sigma=0.01, n_models=60, random_state=0
    ).fit(X)
    detector.save(tmp_path / "model.pif")
    for family in (upright, ["line", upright]):
        other = PreferenceIsolationForest.load(tmp_path / "model.pif", family=family)
        assert np.array_equal(other.anomaly_score(X), detector.anomaly_score(X))
    with pytest.raises(ValueError, match="family must hold the one custom family"):
        PreferenceIsolationForest.load(tmp_path / "model.pif", family=["line", "circle"])
