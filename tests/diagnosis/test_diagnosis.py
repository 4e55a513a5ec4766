from __future__ import annotations

import warnings

import numpy as np
import pytest

import piforest
from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines, make_plane_pair
from piforest.diagnosis import Finding, diagnose

LINES = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0).data


def fitted(X, family="line", **options):
    return PreferenceIsolationForest(family, random_state=0, **options).fit(X)


def codes(detector):
    return [each.code for each in detector.diagnosis_]


def test_an_ordinary_scene_has_no_findings():
    detector = fitted(LINES)
    assert detector.diagnosis_ == []
    assert detector.found_structure_
    assert "Diagnosis" not in detector._html_repr()


def test_every_finding_has_a_code_a_sentence_and_a_way_out():
    X = np.repeat(LINES * [1000, 1], 2, axis=0)
    found = fitted(X, scale_columns=False).diagnosis_
    assert {"units_differ", "repeated_rows"} <= {each.code for each in found}
    for each in found:
        assert each.code.replace("_", "").isalpha()
        assert each.text.endswith(".")
        assert each.advice.endswith(".")
        assert str(each) == f"{each.text} {each.advice}"


def test_no_structure_is_said_once_and_nothing_is_flagged():
    X = np.random.default_rng(0).uniform(size=(60, 4)) * 300
    with pytest.warns(UserWarning, match="no structure of family 'fundamental'") as caught:
        detector = fitted(X, "fundamental", n_models=200)
    assert sum("significant" in str(each.message) for each in caught) == 1
    assert not detector.found_structure_
    assert codes(detector) == ["no_structure", "too_few_points"]
    assert detector.structures_ == []
    assert detector.threshold_source_ == "no structure"
    assert (detector.labels_ == 1).all()
    assert (detector.predict(X) == 1).all()
    assert (detector.decision_function(X) >= 0).all()
    assert "no structure was found in the data, so that no point is" in str(detector.explain(X)[0])
    assert "No fundamental stands out from chance" in detector._html_repr()


@pytest.mark.slow
def test_a_given_contamination_flags_its_share_without_a_structure(tmp_path):
    X = np.random.default_rng(0).uniform(size=(100, 2))
    detector = fitted(X, contamination=0.1)
    assert not detector.found_structure_
    assert np.mean(detector.labels_ == -1) == pytest.approx(0.1)
    with pytest.warns(UserWarning, match="no point is flagged"):
        detector.set_contamination("auto")
    assert (detector.labels_ == 1).all()
    detector.save(tmp_path / "model.pif")
    loaded = piforest.load(tmp_path / "model.pif")
    assert loaded.threshold_source_ == "no structure"
    assert not loaded.found_structure_
    assert loaded.diagnosis_ == detector.diagnosis_
    assert (loaded.predict(X) == 1).all()
    with pytest.warns(UserWarning, match="no point is flagged"):
        assert (loaded.set_contamination("auto", X).predict(X) == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("family", "d"),
    [("line", 2), ("circle", 2), ("plane", 3), ("linear_regression", 3), ("homography", 4)],
)
def test_noise_has_no_structure(family, d, seed):
    rng = np.random.default_rng(seed)
    for X in (rng.uniform(size=(150, d)), rng.normal(size=(300, d))):
        with pytest.warns(UserWarning, match="no point is flagged"):
            detector = PreferenceIsolationForest(family, random_state=seed).fit(X)
        assert not detector.found_structure_


def test_one_structure_that_holds_everything_is_named():
    X = make_lines(1, noise=0.01, anomaly_share=0.0, random_state=0).data
    assert codes(fitted(X)) == ["one_structure"]


def test_columns_of_different_units_are_named():
    found = fitted(LINES * [1000, 1], scale_columns=False).diagnosis_
    (units,) = [each for each in found if each.code == "units_differ"]
    assert units.text.startswith("column 0 varies ")
    assert "column 1" in units.text


def test_exact_points_have_a_sigma_at_the_limit():
    X = make_lines(3, noise=0.0, anomaly_share=0.3, random_state=0).data
    assert codes(fitted(X)) == ["sigma_at_limit"]


@pytest.mark.slow
def test_a_given_sigma_is_contradicted_only_by_strong_evidence():
    with pytest.warns(UserWarning, match="look as if it were"):
        wrong = fitted(LINES, sigma=0.2)
    (finding,) = [each for each in wrong.diagnosis_ if each.code == "sigma_disagrees"]
    assert finding.text.startswith("sigma = 0.2 was given")
    for share in (0.3, 0.85):
        X = make_lines(3, noise=0.01, anomaly_share=share, random_state=0).data
        assert "sigma_disagrees" not in codes(fitted(X, sigma=0.01))


@pytest.mark.slow
def test_matches_that_share_points_are_counted():
    X = make_plane_pair(2, sizes=100, anomaly_share=0.3, random_state=0).data
    shared = np.vstack([X, np.column_stack([X[:80, :2] + 7.0, np.tile(X[0, 2:], (80, 1))])])
    assert codes(fitted(X, "homography")) == []
    assert "many_to_one" in codes(fitted(shared, "homography"))


def test_matches_of_many_points_to_few_are_no_structure():
    """60 of 120 random matches share five points of the second image: counted once for each row,
    they are two or three significant motions."""
    rng = np.random.default_rng(0)
    few = rng.uniform(0, 500, (5, 2))[rng.integers(5, size=60)]
    shared = np.column_stack([rng.uniform(0, 500, (60, 2)), few])
    with pytest.warns(UserWarning, match="no point is flagged"):
        detector = fitted(np.vstack([rng.uniform(0, 500, (60, 4)), shared]), "fundamental")
    assert not detector.found_structure_
    assert codes(detector) == ["no_structure", "many_to_one"]


def test_rounded_columns_are_named():
    detector = fitted(LINES)
    steps = np.array([0.0, 0.1])
    found = diagnose(
        detector.fitted_, detector.structures_, found=True, names=["a", "b"], steps=steps
    )
    assert [each.code for each in found] == ["rounded_columns"]
    assert "b to 0.1" in found[0].text


def test_anomalies_that_score_like_normal_points_are_reported():
    detector = fitted(LINES)
    for agreement, codes_found in ((0.8, []), (0.6, ["scores_overlap"])):
        found = diagnose(detector.fitted_, detector.structures_, found=True, agreement=agreement)
        assert [each.code for each in found] == codes_found


def test_far_points_that_are_kept_are_reported():
    detector = fitted(LINES)
    for kept, text in ((1, "1 point is kept"), (1200, "1,200 points are kept")):
        found = diagnose(detector.fitted_, detector.structures_, found=True, kept=kept)
        assert [each.code for each in found] == ["scores_overlap"]
        assert found[0].text.startswith(text)


def test_points_that_only_score_high_are_not_said_to_be_off_the_structures():
    detector = fitted(LINES)
    few = diagnose(detector.fitted_, detector.structures_, found=True, beyond=0.185, off=0.049)
    many = diagnose(detector.fitted_, detector.structures_, found=True, beyond=0.6, off=0.5)
    assert [each.code for each in few + many] == ["too_many_beyond"] * 2
    assert "4.9 % of the points are off the structures, but 18.5 % score as high" in few[0].text
    assert "60 % of the points score like points off the structures" in many[0].text


@pytest.mark.slow
def test_a_vague_trend_is_called_weak():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    for noise, weak in ((0.3, False), (1.5, True)):
        X = np.column_stack([x, x + noise * rng.normal(size=400)])
        detector = fitted(X, "linear_regression")
        assert len(detector.structures_) == 1
        assert ("weak_structure" in codes(detector)) == weak


@pytest.mark.slow
def test_structures_that_hold_few_points_are_reported():
    few = make_lines(2, noise=0.01, anomaly_share=0.6, random_state=0).data
    assert "little_explained" in codes(fitted(few))
    assert "little_explained" not in codes(fitted(LINES))


@pytest.mark.slow
def test_columns_of_few_levels_are_named_where_distances_use_them():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    code = rng.integers(0, 4, 300)
    subspace = piforest.families.get_family("subspace", dimension=2)
    detector = fitted(np.column_stack([x, x[:, 0] - x[:, 1], code]), subspace)
    (found,) = (each for each in detector.diagnosis_ if each.code == "categorical_columns")
    assert found.text.startswith("column 3: few different values")
    law = np.column_stack([code, x, x[:, 0] + 0.05 * rng.normal(size=300)])
    assert "categorical_columns" not in codes(fitted(law, "linear_regression"))


@pytest.mark.slow
def test_a_level_of_the_target_is_no_law():
    """It holds for many rows in a band of no width, whatever the other columns are."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    rainfall = np.where(rng.uniform(size=300) < 0.5, 0.0, rng.exponential(5, 300))
    for target in (rng.integers(0, 3, 300), np.round(rainfall, 1)):
        with pytest.warns(UserWarning, match="no point is flagged"):
            detector = fitted(np.column_stack([x, target]), "linear_regression")
        assert not detector.found_structure_
    classes = np.clip(np.round(1.5 + 0.8 * (x[:, 0] + x[:, 1])), 0, 3)
    detector = fitted(np.column_stack([x, classes]), "linear_regression")
    (structure,) = detector.structures_
    assert np.mean(detector.labels_ == -1) < 0.03
    assert 0.15 < structure.sigma < 0.5


def test_findings_are_values():
    assert Finding("a", "b.", "c.") == Finding("a", "b.", "c.")
    with pytest.raises(AttributeError):
        Finding("a", "b.", "c.").code = "d"
    forest = piforest.VoronoiForest("euclidean", random_state=0).fit(LINES)
    with pytest.raises(ValueError, match="without models of structures has no diagnosis"):
        diagnose(forest.fitted_, [], found=False)


def two_laws(noise):
    """Rows (x, y) of y = 2 x and y = 9 x, with noise of this size at each x."""
    rng = np.random.default_rng(0)
    x = rng.uniform(30, 150, 600)
    return np.column_stack([x, np.repeat([2.0, 9.0], 300) * x + noise(x) * rng.normal(size=600)])


def test_noise_that_grows_with_the_prediction_is_one_finding_for_all_laws():
    found = fitted(two_laws(lambda x: 0.05 * x), "linear_regression").diagnosis_
    uneven = [each for each in found if each.code == "uneven_noise"]
    assert len(uneven) == 1
    assert uneven[0].text.startswith("The noise of 2 laws is ")
    assert "where the predicted column 1 is large" in uneven[0].text
    assert "take the logarithm of column 1" in uneven[0].advice
    assert "uneven_noise" not in codes(fitted(two_laws(lambda x: 5.0), "linear_regression"))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_a_target_with_one_common_value_is_named(share):
    """Whether it rains is one question, how much another."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 300)
    y = 2 * x + 0.01 * rng.normal(size=300)
    y[rng.random(300) < share] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = fitted(np.column_stack([x, y]), "linear_regression").diagnosis_
    common = [each for each in found if each.code == "common_value"]
    assert len(common) == (share > 0.25)
    if common:
        assert common[0].text.startswith(
            "60 % of the values of column 1 are 0: the structures hold "
        )
        assert "Fit the rows with other values" in common[0].advice


def test_labels_that_flag_nothing_although_points_are_far_are_said_otherwise():
    detector = fitted(LINES)
    for agreement, start in ((0.0, "No point is flagged, although"), (0.5, "The labels miss")):
        (found,) = diagnose(detector.fitted_, detector.structures_, found=True, agreement=agreement)
        assert found.text.startswith(start)
        assert "assign(X, return_distance=True)" in found.advice
