from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import piforest
from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.clouds import describe_surfaces
from piforest.datasets import make_circles, make_lines, make_planes, make_subspaces
from piforest.families import get_family
from piforest.units import may_share_unit, unequal_ranges

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
        fitted = detector(family, scale_columns=False).fit(X)
    assert fitted.threshold_source_ == "units differ"
    assert (fitted.labels_ == 1).all()
    assert (fitted.predict(X) == 1).all()
    (finding,) = [each for each in fitted.diagnosis_ if each.code == "units_differ"]
    assert "scale_columns=True (--scale-columns" in finding.advice


@pytest.mark.slow
@pytest.mark.parametrize("family", SCENES)
def test_scaled_columns_give_the_scores_of_equal_units(family):
    X = in_units(family)
    plain = detector(family).fit(SCENES[family].data)
    fitted = detector(family, scale_columns=True).fit(X)
    y = np.where(SCENES[family].target > 0, 1, -1)
    assert fitted.score(X, y) == pytest.approx(plain.score(SCENES[family].data, y), abs=0.002)
    assert fitted.sigma_ == pytest.approx(plain.sigma_)
    assert np.array_equal(fitted.units_, np.resize(FACTORS, X.shape[1]))
    assert np.array_equal(plain.units_, np.ones(X.shape[1]))
    (finding,) = [each for each in fitted.diagnosis_ if each.code == "columns_scaled"]
    assert "1000 of column 1" in finding.text
    assert "count as 1 of column 0." in finding.text


@pytest.mark.parametrize("family", ["line", "circle"])
def test_columns_are_scaled_by_themselves_only_if_models_stay_models(family):
    with pytest.warns(UserWarning, match="scale_columns=True") as caught:
        fitted = detector(family, n_models=1000).fit(in_units(family))
    texts = [str(each.message) for each in caught]
    if family == "line":
        assert fitted.threshold_source_ == "automatic"
        assert np.array_equal(fitted.units_, FACTORS[:2])
        assert fitted.embedding_.scale_columns is True
        assert texts == [
            "the units of the columns differ and hid all structures. Columns are scaled: in "
            "distances, 1000 of column 1 count as 1 of column 0. Pass scale_columns=True if this "
            "is meant, or scale_columns=False."
        ]
    else:
        assert fitted.threshold_source_ == "units differ"
        assert np.array_equal(fitted.units_, (1, 1))
        assert any("scale_columns=True" in text for text in texts)


@pytest.mark.slow
def test_a_given_sigma_and_flat_data_are_not_scaled_by_themselves():
    with pytest.warns(UserWarning, match="varies"):
        given = detector("line", sigma=0.5, n_models=500).fit(in_units("line"))
    assert np.array_equal(given.units_, (1, 1))
    with pytest.warns(UserWarning, match="varies"):
        flat = detector("plane", n_models=1000).fit(floor())
    assert np.array_equal(flat.units_, (1, 1, 1))
    assert flat.threshold_source_ == "units differ"


@pytest.mark.slow
def test_equal_units_are_not_changed_by_scale_columns():
    X = SCENES["line"].data
    one = detector("line", n_models=500).fit(X)
    for scale_columns in (False, True):
        two = detector("line", n_models=500, scale_columns=scale_columns).fit(X)
        assert np.array_equal(one.scores_, two.scores_)
        assert one.threshold_ == two.threshold_
        assert two.diagnosis_ == one.diagnosis_


@pytest.fixture(scope="module")
def scaled_plane():
    return detector("plane", scale_columns=True, n_models=1500).fit(in_units("plane"))


@pytest.mark.slow
def test_files_pickles_and_copies_keep_the_units(scaled_plane, tmp_path):
    X = in_units("plane")
    scaled_plane.save(tmp_path / "model.pif")
    for again in (piforest.load(tmp_path / "model.pif"), pickle.loads(pickle.dumps(scaled_plane))):
        assert np.array_equal(again.anomaly_score(X), scaled_plane.scores_)
        assert np.array_equal(again.units_, FACTORS)
        assert again.diagnosis_ == scaled_plane.diagnosis_
        assert again.sigma_ == scaled_plane.sigma_
    assert np.array_equal(scaled_plane.embedding_.units_, FACTORS)


@pytest.mark.slow
def test_dask_gives_the_bits_of_arrays(scaled_plane):
    da = pytest.importorskip("dask.array")
    X = in_units("plane")
    fitted = detector("plane", scale_columns=True, n_models=1500)
    assert np.array_equal(fitted.fit(da.from_array(X, chunks=100)).units_, FACTORS)
    assert np.array_equal(fitted.anomaly_score(X), scaled_plane.scores_)
    assert np.array_equal(
        np.asarray(fitted.anomaly_score(da.from_array(X, chunks=90))), scaled_plane.scores_
    )


def test_structures_measure_rows_in_the_units_of_the_data(scaled_plane):
    X, plane = in_units("plane"), scaled_plane.structures_[0]
    assert np.median(plane.residuals(X[plane.members])) < 0.02
    assert "sigmas" in str(scaled_plane.explain(X[plane.members[:1]])[0])
    [shape, *_] = describe_surfaces(
        [plane], X, np.where(np.isin(np.arange(len(X)), plane.members), 0, -1)
    )
    normal, offset = shape["normal"], -shape["offset"]
    # Of unit length in the units of the data, in which the third column is a thousandth.
    assert np.linalg.norm(normal) == pytest.approx(1)
    away = np.abs(X[plane.members] @ normal + offset)
    assert np.median(away) < 0.02 * np.ptp(X @ normal)


def test_bad_values_of_scale_columns_are_rejected():
    X = SCENES["line"].data
    with pytest.raises(ValueError, match="scale_columns must be True, False or 'auto', got 'yes'"):
        PreferenceIsolationForest("line", scale_columns="yes").fit(X)
    with pytest.raises(ValueError, match="scale_columns must be True or False, got 'auto'"):
        PreferenceEmbedding("line", scale_columns="auto").fit(X)
    with pytest.raises(ValueError, match="does not apply to family 'homography'"):
        PreferenceIsolationForest("homography", scale_columns=True).fit(np.ones((30, 4)))


def test_an_embedding_scales_columns(scaled_plane):
    X = in_units("plane")
    embedding = PreferenceEmbedding("plane", n_models=50, scale_columns=True, random_state=0)
    P = embedding.fit_transform(X)
    plain = PreferenceEmbedding("plane", n_models=50, random_state=0)
    Q = plain.fit_transform(SCENES["plane"].data)
    np.testing.assert_allclose(P.toarray(), Q.toarray(), atol=1e-5)


@pytest.mark.slow
def test_a_given_contamination_flags_its_share_in_any_units(tmp_path):
    X = in_units("line")
    with pytest.warns(UserWarning, match="varies") as caught:
        fitted = detector("line", contamination=0.1, scale_columns=False).fit(X)
    assert not any("no point is flagged" in str(each.message) for each in caught)
    assert 0 < np.mean(fitted.labels_ == -1) <= 0.1
    with pytest.warns(UserWarning, match="different units.* so that no point is flagged"):
        fitted.set_contamination("auto")
    fitted.save(tmp_path / "model.pif")
    loaded = piforest.load(tmp_path / "model.pif")
    assert loaded.threshold_source_ == "units differ"
    assert (loaded.predict(X) == 1).all()


def test_names_of_columns_are_in_the_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(in_units("line"), columns=["depth", "time"])
    with pytest.warns(UserWarning, match="^time varies .* as depth, .* scale_columns=True"):
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


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        (["x", "y"], True), (["X [mm]", "Z [mm]"], True), (["x0", "x1"], True), (["0", "1"], True),
        (["length (cm)", "width (cm)"], True), (["east_m", "up_m"], True), (["x", "y", "z"], True),
        (["lon", "lat"], True), (["Weight_in_lbs", "Displacement"], False), (["x", "x"], False),
        (["a", "b"], False), (["temp (C)", "p (bar)"], False), (["temp_max", "wind"], False),
    ],
)  # fmt: skip
def test_names_tell_whether_columns_may_have_one_unit(names, shared):
    assert may_share_unit(names) == shared


@pytest.mark.parametrize("times", [1, 10])
def test_a_flat_floor_has_one_unit(times):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 5, (600, 2)), rng.normal(0, 0.01, 600)])
    cloud = pd.DataFrame(np.repeat(X, times, axis=0), columns=["x", "y", "z"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector = PreferenceIsolationForest("plane", random_state=0).fit(cloud)
    assert detector.threshold_source_ == "automatic"
    assert "units_differ" not in [each.code for each in detector.diagnosis_]
    assert unequal_ranges([get_family("plane")], X, ["a", "b", "c"]) is not None
