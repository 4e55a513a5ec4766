"""Curves in the plane and laws of tables: what is special about each family; their scenes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from sklearn import linear_model
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import PolynomialFeatures

from piforest import PreferenceIsolationForest
from piforest.checks import check_family
from piforest.datasets import make_ellipses, make_parabolas, make_polynomials, make_regressions
from piforest.families import extent, get_family
from scenes import ellipse_points, line_points, parabola_points, rotation

ELLIPSE, ROTATED = get_family("ellipse"), get_family("parabola", rotated=True)
UPRIGHT, CUBIC = get_family("parabola"), get_family("polynomial")
LINEAR, QUADRATIC = get_family("linear_regression"), get_family("polynomial_regression")


def drawn(X, k, n_samples=100, seed=0):
    rng = np.random.default_rng(seed)
    return X[np.array([rng.choice(len(X), k, replace=False) for _ in range(n_samples)])]


def table(n=60, d=4, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, (n, d))


# --- all of them


@pytest.mark.parametrize(
    "family",
    [ELLIPSE, UPRIGHT, ROTATED, CUBIC, get_family("polynomial", degree=1),
     get_family("polynomial", degree=5), LINEAR, QUADRATIC,
     get_family("linear_regression", target=0),
     get_family("polynomial_regression", degree=3, target=1)],
    ids=str,
)  # fmt: skip
def test_every_option_obeys_the_laws_on_random_rows(family):
    assert check_family(family)[0].startswith("rows are stable")


@pytest.mark.parametrize("family", [LINEAR, QUADRATIC], ids=str)
@pytest.mark.parametrize("d", [2, 5])
def test_tables_of_few_and_many_columns_obey_the_laws(family, d):
    check_family(family, table(40, d))


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("parabola", {"rotated": 1}, "rotated must be True or False, got 1"),
        ("polynomial", {"degree": 0}, "degree must be an integer of at least 1, got 0"),
        ("polynomial_regression", {"degree": 1.5}, "degree must be an integer of at least 1"),
        ("linear_regression", {"target": -2}, "target must be an integer of at least -1, got -2"),
        ("linear_regression", {"target": None}, "target must be .* number or the name of a column"),
    ],
)
def test_bad_options_are_named(name, options, says):
    with pytest.raises(ValueError, match=says):
        get_family(name, **options)


# --- ellipses


def test_ellipse_of_known_axes():
    samples = drawn(ellipse_points() + 1e4, 5)
    params, valid = ELLIPSE.solve(samples)
    assert valid.mean() > 0.9
    axes = np.median(ELLIPSE.axes(params[valid]), axis=0)
    np.testing.assert_allclose(axes, [4, 2, 0.6], atol=1e-6)


def test_ellipses_agree_with_opencv():
    rng = np.random.default_rng(1)
    samples = drawn(ellipse_points() + rng.normal(0, 0.1, (40, 2)), 5, 200)
    samples = samples.astype(np.float32).astype(np.float64)
    params, valid = ELLIPSE.solve(samples)
    assert valid.sum() > 50
    agreeing = 0
    for sample, theta in zip(samples[valid[:, 0]], params[valid]):
        centre, widths, _ = cv2.fitEllipseDirect(sample.astype(np.float32))
        ours = [*theta[:2], *ELLIPSE.axes(theta[None])[0, :2]]
        theirs = [*centre, max(widths) / 2, min(widths) / 2]
        agreeing += np.allclose(ours, theirs, rtol=1e-2, atol=1e-2)
    # OpenCV computes with float32, which is not enough for short arcs.
    assert agreeing > 0.9 * valid.sum()


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_points_on_no_sensible_ellipse_are_degenerate(shift):
    t = np.array([-0.9, -0.4, 0.1, 0.6, 1.0])
    circle = np.column_stack([np.cos(t), np.sin(t)])
    round_ = np.column_stack([np.cos(6 * t), np.sin(6 * t)])
    cases = {
        "hyperbola": np.column_stack([np.cosh(t), np.sinh(t)]),
        "two branches": np.column_stack([np.cosh(t) * [1, 1, -1, 1, -1], np.sinh(t)]),
        "parabola": np.column_stack([t, t**2]),
        "line": np.column_stack([t, 2 * t]),
        "three of a line": np.array([[0.0, 0], [1, 1], [2, 2], [0, 3], [3, 0]]),
        "inside the hull": np.array([[0.0, 0], [4, 0], [4, 4], [0, 4], [2, 1]]),
        "too thin": round_ * [12, 1],
        "too large": np.column_stack([np.cos(t / 40), np.sin(t / 40)]),
    }
    for name, points in cases.items():
        assert not ELLIPSE.solve(points[None] + shift)[1].any(), name
    assert ELLIPSE.solve(circle[None] + shift)[1].all()
    assert ELLIPSE.solve(round_[None] * [8, 1] + shift)[1].all()


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "off"), [(1.0, 1e-9), (0.5, 0.02), (0.2, 0.2)])
def test_the_distance_to_an_ellipse_is_right_to_first_order(ratio, off):
    t, fine = np.linspace(0, 2 * np.pi, 97), np.linspace(0, 2 * np.pi, 100_001)
    curve = np.column_stack([np.cos(fine), ratio * np.sin(fine)])
    normals = np.column_stack([ratio * np.cos(t), np.sin(t)])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    theta = np.array([[0, 0, 1, 0, ratio**-2]])
    for step in (0.03, -0.03):
        points = np.column_stack([np.cos(t), ratio * np.sin(t)]) + step * normals
        exact = np.sqrt(((points[:, None] - curve) ** 2).sum(axis=2).min(axis=1))
        ours = ELLIPSE.residuals(points, theta)[:, 0]
        np.testing.assert_allclose(ours, exact, rtol=off + 1e-6)


def test_the_centre_of_an_ellipse_is_the_shorter_semi_axis_away():
    theta = np.array([[7.0, 8, 1 / 9, 0, 1 / 4]])
    assert ELLIPSE.residuals(np.array([[7.0, 8]]), theta)[0, 0] == pytest.approx(2)


# --- parabolas and polynomials


def test_an_upright_parabola_is_the_polynomial_of_degree_two():
    X = table(30, 2)
    family = get_family("polynomial", degree=2)
    samples = drawn(X, 3)
    (ours, valid), (theirs, also) = UPRIGHT.solve(samples), family.solve(samples)
    assert np.array_equal(valid, also)
    np.testing.assert_allclose(
        UPRIGHT.residuals(X, ours[valid]), family.residuals(X, theirs[valid]), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("angle", [0.0, 0.5, np.pi / 2, 4.0])
def test_a_parabola_of_any_direction_is_one_of_two(angle, shift):
    X = parabola_points(angle=angle) + shift
    params, valid = ROTATED.solve(drawn(X, 4))
    assert valid.any(axis=1).mean() > 0.95
    worst = [
        min((ROTATED.residuals(X, theta[None]).max() for theta in models[ok]), default=np.inf)
        for models, ok in zip(params, valid)
    ]
    assert np.mean(np.array(worst) < 1e-3) > 0.95


def test_two_parabolas_go_through_four_corners_and_none_through_a_point_inside():
    corners = np.array([[0.0, 0], [4, 0.3], [3, 4], [0.5, 2]])
    params, valid = ROTATED.solve(corners[None])
    assert valid.all()
    assert ROTATED.residuals(corners, params[0]).max() < 1e-12
    assert abs(params[0, 0, 2:4] @ params[0, 1, 2:4]) < 0.99
    inside = np.array([[0.0, 0], [4, 0.3], [3, 4], [2, 1]])
    collinear = np.array([[0.0, 0], [1, 1], [2, 2], [0.5, 2]])
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    for points in (inside, collinear, square):
        for shift in (0.0, 1e6):
            assert not ROTATED.solve(points[None] + shift)[1].any()


def test_polynomials_agree_with_polyfit():
    X = table(30, 2)
    samples = drawn(X, 4, 30)
    params, valid = CUBIC.solve(samples)
    assert valid.all()
    for sample, theta in zip(samples, params[:, 0]):
        f = np.polyfit(*sample.T, 3)
        away = np.abs(X[:, 1] - np.polyval(f, X[:, 0]))
        expected = away / np.sqrt(1 + np.polyval(np.polyder(f), X[:, 0]) ** 2)
        ours = CUBIC.residuals(X, theta[None])[:, 0]
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_a_polynomial_of_degree_one_is_a_line():
    X, family = line_points(d=2), get_family("polynomial", degree=1)
    params, valid = family.solve(drawn(X, 2))
    theirs, _ = get_family("line").solve(drawn(X, 2))
    probes = table(30, 2)
    np.testing.assert_allclose(
        family.residuals(probes, params[valid]),
        get_family("line").residuals(probes, theirs[valid]),
        rtol=1e-6, atol=1e-6,
    )  # fmt: skip


@pytest.mark.parametrize("family", [UPRIGHT, CUBIC], ids=str)
def test_points_one_above_the_other_have_no_polynomial(family):
    samples = drawn(table(30, 2), family.sample_size(2))
    samples[:, 1, 0] = samples[:, 2, 0]
    for shift in (0.0, 1e6):
        assert not family.solve(samples + shift)[1].any()


# --- laws of tables


@pytest.mark.parametrize(("family", "degree"), [(LINEAR, 1), (QUADRATIC, 2)], ids=str)
def test_regressions_agree_with_scikit_learn(family, degree):
    X = table()
    samples = drawn(X, family.sample_size(4), 30)
    params, valid = family.solve(samples)
    assert valid.mean() > 0.9
    powers = PolynomialFeatures(degree)
    for sample, theta in zip(samples[valid[:, 0]], params[valid]):
        law = linear_model.LinearRegression().fit(
            powers.fit_transform(sample[:, :-1]), sample[:, -1]
        )
        expected = np.abs(X[:, -1] - law.predict(powers.transform(X[:, :-1])))
        ours = family.residuals(X, theta[None])[:, 0]
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-6)


def test_coefficients_are_slopes_and_intercept():
    X = table(40, 3)
    X[:, 2] = 2 * X[:, 0] - 0.5 * X[:, 1] + 4
    params, valid = LINEAR.solve(drawn(X, 3))
    np.testing.assert_allclose(
        np.median(LINEAR.coefficients(params[valid]), axis=0), [2, -0.5, 4], atol=1e-9
    )
    assert QUADRATIC.terms(3) == [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    assert get_family("polynomial_regression", target=0).terms(3)[3:] == [(1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("name", ["linear_regression", "polynomial_regression"])
def test_the_target_may_be_any_column(name):
    X, last = table(), get_family(name)
    samples = drawn(X, last.sample_size(4))
    params, valid = last.solve(samples)
    for target in range(4):
        moved = get_family(name, target=target)
        order = np.insert(np.arange(3), target, 3)
        there, also = moved.solve(samples[:, :, order])
        assert np.array_equal(valid, also)
        here = last.residuals(X, params[valid])
        assert np.array_equal(moved.residuals(X[:, order], there[valid]), here)
        assert moved.extent(X[:, order]) == last.extent(X)


@pytest.mark.parametrize("family", [LINEAR, QUADRATIC], ids=str)
def test_units_of_the_features_do_not_matter(family):
    X, units = table(), np.array([1e-6, 1.0, 1e6, 1.0])
    samples = drawn(X, family.sample_size(4))
    (here, valid), (there, also) = family.solve(samples), family.solve(samples * units)
    assert np.array_equal(valid, also)
    np.testing.assert_allclose(
        family.residuals(X * units, there[valid]), family.residuals(X, here[valid]),
        rtol=1e-6, atol=1e-6,
    )  # fmt: skip


@pytest.mark.parametrize("family", [LINEAR, QUADRATIC], ids=str)
def test_features_that_depend_on_one_another_determine_no_law(family):
    X = table()
    X[:, 2] = X[:, 0] - 3 * X[:, 1]
    for shift in (0.0, 1e6):
        assert not family.solve(drawn(X + shift, family.sample_size(4)))[1].any()


def test_the_extent_of_a_table_is_that_of_its_target():
    X = np.random.default_rng(0).uniform(0, 1, (4000, 3)) * [1e6, 1, 5]
    assert extent(LINEAR, X) == pytest.approx(5 / np.sqrt(12), rel=0.05)
    X[:40, 2] = 1e9
    assert extent(QUADRATIC, X) == pytest.approx(5 / np.sqrt(12), rel=0.05)
    mostly_equal = np.where(np.arange(100) < 90, 0.0, 1.0)[:, None].repeat(2, axis=1)
    assert extent(LINEAR, mostly_equal) > 0


def test_tables_without_a_law_to_find_are_refused_in_words():
    X = table()
    with pytest.raises(ValueError, match=r"target must be a column of X, got 4; .* 0 to 3"):
        PreferenceIsolationForest.paper(get_family("linear_regression", target=4), sigma=1).fit(X)
    X[:, 1] = X[:, 1] > 0
    assert LINEAR.reason_to_reject(X) is None
    with pytest.raises(ValueError, match=r"column 1 of X has 2 distinct .* law of degree 2 in it"):
        PreferenceIsolationForest.paper("polynomial_regression", sigma=1).fit(X)
    X[:, 1] = 3
    with pytest.raises(ValueError, match=r"column 0 of X has 1 distinct .* law of degree 1 in it"):
        PreferenceIsolationForest.paper("linear_regression", sigma=1).fit(X[:, [1, 3]])
    with pytest.raises(ValueError, match="the target, column 1 of X, is constant"):
        PreferenceIsolationForest.paper(get_family("linear_regression", target=1), sigma=1).fit(X)
    with pytest.raises(ValueError, match="needs at least 2 columns: rows of features and a target"):
        PreferenceIsolationForest.paper("linear_regression", sigma=1).fit(X[:, :1])


# --- scenes


SCENES = [
    (make_ellipses, ELLIPSE, {}),
    (make_parabolas, UPRIGHT, {}),
    (make_parabolas, ROTATED, {"rotated": True}),
    (make_polynomials, CUBIC, {}),
    (make_regressions, LINEAR, {}),
    (make_regressions, QUADRATIC, {"n_features": 2, "degree": 2}),
]


@pytest.mark.parametrize(("make", "family", "options"), SCENES)
def test_structures_lie_on_models_and_have_the_asked_noise(make, family, options):
    asked = {"sizes": [200, 150], "anomaly_share": 0.3, "random_state": 3, **options}
    exact, noisy = make(2, noise=0.0, **asked), make(2, noise=0.01, **asked)
    assert np.bincount(noisy.target).tolist() == [150, 200, 150]
    normal, anomalies = noisy.data[noisy.target > 0], noisy.data[noisy.target == 0]
    assert (anomalies >= normal.min(axis=0)).all()
    assert (anomalies <= normal.max(axis=0)).all()
    for structure in (1, 2):
        X = exact.data[exact.target == structure]
        params, valid = family.solve(drawn(X, family.sample_size(X.shape[1])))
        theta = params[valid]
        worst = family.residuals(X, theta).max(axis=0)
        assert worst.min() < 1e-9
        off = family.residuals(noisy.data[noisy.target == structure], theta[[worst.argmin()]])
        assert np.sqrt(np.mean(off**2)) == pytest.approx(0.01, rel=0.2)


def test_scenes_come_as_frames_and_in_any_box():
    frame = make_regressions(2, n_features=2, random_state=0, as_frame=True).frame
    assert list(frame.columns) == ["x1", "x2", "y", "target"]
    box = ([-5, -6, -7], [5, 6, 7])
    scene = make_regressions(2, n_features=2, box=box, random_state=0)
    anomalies = scene.data[scene.target == 0]
    assert (np.abs(anomalies) <= [5, 6, 7]).all()
    assert (np.abs(anomalies).max(axis=0) > [4, 5, 6]).all()
    with pytest.raises(ValueError, match=r"box must be \(lowest x1, lowest x2, lowest y\)"):
        make_regressions(2, n_features=2, box=([0, 0], [1, 1]))
    with pytest.raises(ValueError, match="degree must be an integer of at least 1"):
        make_polynomials(degree=0)
    with pytest.raises(ValueError, match="rotated must be True or False"):
        make_parabolas(rotated="yes")


@pytest.mark.parametrize(
    ("make", "family", "options", "least"),
    [
        (make_ellipses, ELLIPSE, {"n_structures": 2}, 0.95),
        (make_parabolas, UPRIGHT, {"n_structures": 3}, 0.97),
        (make_parabolas, ROTATED, {"n_structures": 3, "rotated": True}, 0.95),
        (make_polynomials, CUBIC, {"n_structures": 2}, 0.95),
        (make_regressions, LINEAR, {"n_structures": 3, "noise": 0.01}, 0.97),
        (make_regressions, QUADRATIC, {"n_structures": 2, "n_features": 2, "degree": 2,
                                       "noise": 0.01, "sizes": 200}, 0.95),
    ],
)  # fmt: skip
def test_anomalies_are_found(make, family, options, least):
    options = {"noise": 0.005, "anomaly_share": 0.3, **options}
    X, y = make(random_state=0, return_X_y=True, **options)
    detector = PreferenceIsolationForest.paper(family, sigma=options["noise"], random_state=0).fit(
        X
    )
    assert roc_auc_score(y == 0, detector.scores_) >= least


@pytest.mark.parametrize("family", [ROTATED, get_family("polynomial", degree=2)], ids=str)
def test_options_survive_on_disk(family, tmp_path):
    X = make_parabolas(2, sizes=60, random_state=0).data
    detector = PreferenceIsolationForest.paper(
        family, sigma=0.005, n_models=60, n_estimators=9, random_state=0
    ).fit(X)
    detector.save(tmp_path / "m")
    again = PreferenceIsolationForest.load(tmp_path / "m")
    assert again.family == family
    assert np.array_equal(again.anomaly_score(X), detector.anomaly_score(X))


def test_models_are_drawn_where_they_are():
    turn = rotation([0, 0, 1], 0.6)[:2, :2]
    theta = np.array([[1.0, 2, *(turn @ np.diag([1 / 16, 1 / 4]) @ turn.T)[[0, 0, 1], [0, 1, 1]]]])
    (line,) = ELLIPSE.outline(theta[0], np.array([-9.0, -9]), np.array([9.0, 9]))
    assert np.isfinite(line).all()
    assert np.linalg.norm(line - [1, 2], axis=1).max() == pytest.approx(4, rel=1e-3)
