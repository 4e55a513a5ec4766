from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

import piforest
from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.datasets import make_circles, make_lines, make_planes, make_subspaces
from piforest.families import get_family
from piforest.units import unequal_ranges

FACTORS = (1.0, 1000.0, 0.001)
SCENES = {
    "line": make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0),
    "circle": make_circles(2, noise=0.01, anomaly_share=0.3, random_state=0),
    "plane": make_planes(3, noise=0.01, anomaly_share=0.3, random_state=0),
    "hyperplane": make_subspaces(
        2, dimension=3, n_features=4, noise=0.01, anomaly_share=0.3, random_state=0
    ),
    "subspace": make_subspaces(
        3, dimension=2, n_features=5, noise=0.01, anomaly_share=0.3, random_state=0
    ),
}


def detector(family, **options):
    return PreferenceIsolationForest(family, n_estimators=20, random_state=0, **options)


def in_units(family):
    X = SCENES[family].data
    return X * np.resize(FACTORS, X.shape[1])


def floor(n=600):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(-10, 10, (n, 2)), rng.normal(0, 0.01, n)])


@pytest.mark.slow
@pytest.mark.parametrize("family", SCENES)
def test_columns_in_other_units_warn_and_nothing_is_flagged(family):
    X = in_units(family)
    with pytest.warns(UserWarning, match=r"^column . varies .* times as much as column ., and"):
        fitted = detector(family).fit(X)
    assert fitted.threshold_source_ == "units differ"
    assert (fitted.labels_ == 1).all()
    assert (fitted.predict(X) == 1).all()
    assert "units_differ" in [each.code for each in fitted.diagnosis_]


def test_a_given_contamination_flags_its_share_in_any_units(tmp_path):
    X = in_units("line")
    with pytest.warns(UserWarning, match="varies") as caught:
        fitted = detector("line", contamination=0.1).fit(X)
    assert not any("no point is flagged" in str(each.message) for each in caught)
    assert 0 < np.mean(fitted.labels_ == -1) <= 0.1
    with pytest.warns(UserWarning, match="different units.* so that no point is flagged"):
        fitted.set_contamination("auto")
    fitted.save(tmp_path / "model.pif")
    loaded = piforest.load(tmp_path / "model.pif")
    assert loaded.threshold_source_ == "units differ"
    assert (loaded.predict(X) == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("family", ["line", "plane", "hyperplane"])
def test_the_way_out_gives_the_accuracy_of_equal_units(family):
    y = np.where(SCENES[family].target > 0, 1, -1)
    plain = detector(family).fit(SCENES[family].data)
    scaled = make_pipeline(RobustScaler(), detector(family))
    X = in_units(family)
    scaled.fit(X)
    assert scaled.score(X, y) > plain.score(SCENES[family].data, y) - 0.02


def test_names_of_columns_are_in_the_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(in_units("line"), columns=["depth", "time"])
    with pytest.warns(UserWarning, match="^time varies .* as depth, .* RobustScaler"):
        PreferenceEmbedding("line", n_models=50, random_state=0).fit(frame)


@pytest.mark.slow
def test_anomalies_above_a_thin_floor_are_flagged():
    rng = np.random.default_rng(1)
    above = np.column_stack([rng.uniform(-10, 10, (4, 2)), rng.uniform(0.3, 0.5, 4)])
    with pytest.warns(UserWarning, match="column . varies .* as column 2"):
        fitted = detector("plane").fit(np.concatenate([floor(), above]))
    assert fitted.threshold_source_ == "automatic"
    assert (fitted.labels_[-4:] == -1).all()
    assert np.mean(fitted.labels_[:-4] == -1) < 0.02


def test_only_columns_that_distances_mix_are_compared():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 4)) * [1, 1, 100, 100]
    assert unequal_ranges([get_family("linear_regression")], X) is None
    assert unequal_ranges([get_family("homography")], X) is None
    normals = np.column_stack([X[:, :2], X[:, 0], X[:, 2:], X[:, 2]])
    assert unequal_ranges([get_family("cone")], normals) is None
    assert unequal_ranges([get_family("cone")], normals[:, ::-1] * [1, 1, 0.01, 1, 1, 1])
    assert unequal_ranges([get_family("polynomial")], X[:, 1:3]) is not None
    found = unequal_ranges([get_family("hyperplane")], X)
    assert {found.wide, found.narrow} <= {0, 1, 2, 3}
    assert found.factor == pytest.approx(100, rel=0.1)
    assert unequal_ranges([get_family("homography")], X[:, [0, 2, 1, 3]]) is not None


def test_constant_columns_and_moderate_ranges_are_not_compared():
    X = np.random.default_rng(0).uniform(size=(100, 3))
    assert unequal_ranges([get_family("plane")], X * [1, 0, 1]) is None
    assert unequal_ranges([get_family("plane")], X * 0) is None
    assert unequal_ranges([get_family("plane")], X * [1, 20, 1]) is None
