from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from piforest.families import _median, extent, get_family, list_families, resolve_family
from scenes import (
    CALIBRATED,
    circle_points,
    line_points,
    motion_matches,
    moved,
    on_one_model,
    plane_matches,
    project,
)

NAMES = list_families()
EIGHT, SEVEN = get_family("fundamental"), get_family("fundamental", solver="7-point")


def random_rows(name, n=30, seed=0, size=100.0):
    d = get_family(name).n_features or 3
    size = 1.0 if name in CALIBRATED else size
    return np.random.default_rng(seed).uniform(-size, size, (n, d))


def solved(family, X, n_samples=50, seed=0):
    rng = np.random.default_rng(seed)
    k = family.sample_size(X.shape[1])
    samples = X[np.array([rng.choice(len(X), k, replace=False) for _ in range(n_samples)])]
    params, valid = family.solve(samples)
    return samples, params, valid


@pytest.mark.parametrize("name", NAMES)
def test_solver_equals_the_naive_one(name):
    family = get_family(name)
    X = random_rows(name)
    samples, params, valid = solved(family, X, n_samples=20)
    assert valid.any()
    for sample, theta in zip(samples[valid[:, 0]], params[valid[:, 0], 0]):
        ours = family.residuals(X, theta[None])[:, 0]
        theirs = naive.residuals(name, X, np.atleast_2d(naive.SOLVE[name](sample))).T
        # A solver of several models may number them as it likes.
        off = np.abs(np.minimum(theirs, 1e9) - np.minimum(ours, 1e9))
        nearest = theirs[np.argmin(off.sum(axis=1))]
        np.testing.assert_allclose(ours, nearest, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_residuals_equal_the_naive_ones(name):
    family = get_family(name)
    X = random_rows(name)
    _, params, valid = solved(family, X)
    theta = params[valid]
    ours, theirs = family.residuals(X, theta), naive.residuals(name, X, theta)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-7)


def test_lines_in_two_and_more_dimensions_agree():
    flat = random_rows("circle")
    family = get_family("line")
    _, params, _ = solved(family, flat)
    theta = params[:, 0]
    lifted = np.column_stack([flat, np.zeros(len(flat))])
    embedded = np.column_stack([theta[:, :2], 0 * theta[:, :1], theta[:, 2:], 0 * theta[:, :1]])
    np.testing.assert_allclose(
        family.residuals(flat, theta), family.residuals(lifted, embedded), atol=1e-10
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CALIBRATED])
@pytest.mark.parametrize("power", [-20, 3, 20])
def test_scaling_by_a_power_of_two_gives_identical_bits(name, power):
    family = get_family(name)
    X = random_rows(name)
    samples, params, valid = solved(family, X)
    scaled, still = family.solve(samples * 2.0**power)
    assert np.array_equal(valid, still)
    here = family.residuals(X, params[valid])
    there = family.residuals(X * 2.0**power, scaled[valid])
    assert np.array_equal(here * 2.0**power, there)


@pytest.mark.parametrize("family", [*map(get_family, NAMES), SEVEN], ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_structures_are_found_exactly_near_and_far(family, shift):
    # Calibrated matches have an origin and no far away.
    shift = 0.0 if family.name in CALIBRATED else shift
    X = moved(family, on_one_model(family.name), shift)
    _, params, valid = solved(family, X, 200)
    assert valid.any(axis=1).mean() > 0.3
    R = family.residuals(X, params[valid])
    # Every sample of a structure gives that structure; one of its models does, if it has many.
    share = 0.95 if family.max_models == 1 else 0.9 / family.max_models
    assert np.mean(R.max(axis=0) < 1e-3) > share


@pytest.mark.parametrize("family", [*map(get_family, NAMES), SEVEN], ids=str)
def test_repeated_points_are_degenerate(family):
    X = random_rows(family.name)
    k = family.sample_size(X.shape[1])
    for shift in (0.0, 1e6) if k > 1 else ():
        samples = np.stack([X[i : i + k] for i in range(10)]) + shift
        samples[:, 1] = samples[:, 0]
        assert not family.solve(samples)[1].any()


def test_collinear_points_have_no_circle():
    for shift in (0.0, 1e6):
        points = line_points(60, d=2) + shift
        assert not get_family("circle").solve(points.reshape(20, 3, 2))[1].any()


def test_three_collinear_matches_of_four_have_no_homography():
    X = plane_matches(40)
    samples = np.stack([X[i : i + 4] for i in range(20)])
    samples[:, 1, :2] = (samples[:, 0, :2] + samples[:, 2, :2]) / 2
    assert not get_family("homography").solve(samples)[1].any()


def test_matches_that_turn_inside_out_have_no_homography():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    twisted = square[[0, 1, 3, 2]]
    valid = get_family("homography").solve(np.hstack([square, twisted])[None])[1]
    assert not valid.any()
    assert get_family("homography").solve(np.hstack([square, square + 5])[None])[1].all()


@pytest.mark.parametrize("family", [EIGHT, SEVEN], ids=str)
def test_matches_on_one_plane_determine_no_fundamental_matrix(family):
    assert not solved(family, plane_matches(40))[2].any()
    assert solved(family, motion_matches(40))[2].any(axis=1).all()


def test_matches_that_fit_two_lines_determine_no_fundamental_matrix():
    """Four x1 on one line and the other four x2 on another: only a matrix of rank 1 fits."""
    rng = np.random.default_rng(0)
    samples = rng.uniform(0, 100, (10, 8, 4))
    samples[:, :4, 1] = 2 * samples[:, :4, 0] + 3
    samples[:, 4:, 3] = -samples[:, 4:, 2] + 40
    assert not EIGHT.solve(samples)[1].any()


@pytest.mark.parametrize("shift", [[0.7, 0.0, 0.0], [0.0, 0.7, 0.0]])
def test_seven_points_of_rectified_images_have_the_root_at_infinity(shift):
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-2, 2, (60, 2)), rng.uniform(5, 9, 60)])
    X = np.concatenate([project(points), project(points, t=shift)], axis=1)
    _, params, valid = solved(SEVEN, X, 100)
    found = [
        bool(valid[i].any()) and SEVEN.residuals(X, params[i][valid[i]]).max(axis=0).min() < 1e-3
        for i in range(100)
    ]
    assert np.mean(found) > 0.95


def test_homography_is_infinite_behind_the_camera():
    H = naive.centred([[1.0, 0, 0], [0, 1, 0], [0, 1, 1]])[None]
    behind, before = np.array([[0.0, -2, 0, 2]]), np.array([[0.0, 1, 0, 0.5]])
    family = get_family("homography")
    assert np.isinf(family.residuals(behind, H)).all()
    assert family.residuals(before, H).max() < 1e-12


def test_sampson_distance_at_both_epipoles_is_zero():
    F = naive.centred([[0.0, 0, 0], [0, 0, -1], [0, 1, 0]])[None]
    family = get_family("fundamental")
    skew = naive.centred([[0.0, -1, 2], [1, 0, -3], [-2, 3, 0]])[None]
    assert family.residuals(np.array([[3.0, 2, 3, 2]]), skew)[0, 0] == 0
    assert np.isfinite(family.residuals(np.array([[1.0, 5, 7, 5]]), F)).all()


def test_homographies_agree_with_opencv():
    rng = np.random.default_rng(1)
    X = plane_matches(40) + rng.normal(0, 1, (40, 4))
    samples, params, valid = solved(get_family("homography"), X)
    matrices = get_family("homography").matrices(params[valid])
    for sample, H in zip(samples[valid[:, 0]], matrices):
        pair = sample[:, :2].astype(np.float32), sample[:, 2:].astype(np.float32)
        reference = cv2.getPerspectiveTransform(*pair)
        mapped = cv2.perspectiveTransform(X[None, :, :2], reference)[0]
        ours = cv2.perspectiveTransform(X[None, :, :2], H)[0]
        near = np.linalg.norm(mapped - 500, axis=1) < 2000
        np.testing.assert_allclose(ours[near], mapped[near], atol=1)


def test_eight_points_agree_with_opencv():
    rng = np.random.default_rng(1)
    X = motion_matches(40) + rng.normal(0, 0.5, (40, 4))
    X = X.astype(np.float32).astype(np.float64)  # OpenCV computes with float32 points
    samples, params, _ = solved(EIGHT, X)
    for sample, F in zip(samples, params[:, 0]):
        reference = cv2.findFundamentalMat(sample[:, :2], sample[:, 2:], cv2.FM_8POINT)[0]
        theirs = EIGHT.residuals(X, naive.centred(reference)[None])
        np.testing.assert_allclose(EIGHT.residuals(X, F[None]), theirs, rtol=1e-3, atol=1e-3)


def test_seven_points_agree_with_opencv():
    rng = np.random.default_rng(1)
    X = motion_matches(40) + rng.normal(0, 0.5, (40, 4))
    samples, params, valid = solved(SEVEN, X)
    agreeing = 0
    for i, sample in enumerate(samples):
        found = cv2.findFundamentalMat(sample[:, :2], sample[:, 2:], cv2.FM_7POINT)[0]
        theirs = np.array([naive.centred(F) for F in found.reshape(-1, 3, 3)])
        reference = np.sort(SEVEN.residuals(X, theirs).sum(axis=0))
        ours = np.sort(SEVEN.residuals(X, params[i][valid[i]]).sum(axis=0))
        agreeing += len(ours) == len(reference) and np.allclose(ours, reference, rtol=1e-3)
    # A double root may count as one or two.
    assert agreeing >= 48


@pytest.mark.parametrize("family", [get_family("homography"), EIGHT, SEVEN], ids=str)
def test_matrices_are_those_of_the_images(family):
    X = random_rows(family.name)
    _, params, valid = solved(family, X)
    matrices = family.matrices(params[valid])
    plain = np.array([naive.centred(matrix) for matrix in matrices])
    np.testing.assert_allclose(
        family.residuals(X, plain), family.residuals(X, params[valid]), rtol=1e-6, atol=1e-6
    )


def test_seven_point_matrices_have_rank_two_and_fit_their_sample():
    X = random_rows("fundamental")
    samples, params, valid = solved(SEVEN, X)
    assert valid.any(axis=1).all()
    for i, k in zip(*np.nonzero(valid)):
        F = SEVEN.matrices(params[i, k][None])[0]
        singular = np.linalg.svd(F)[1]
        assert singular[2] < 1e-7 * singular[0]
        assert SEVEN.residuals(samples[i], params[i, k][None]).max() < 1e-5


@pytest.mark.slow
@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3))
def test_cubic_roots_are_those_of_the_cubic(roots):
    from piforest.families.fundamental import _real_roots

    c3, c2, c1, c0 = np.poly(roots)
    found = np.empty(3)
    count = _real_roots(c3, c2, c1, c0, found)
    assert count >= 1
    scale = max(abs(c) for c in (c3, c2, c1, c0))
    assert np.abs(np.polyval([c3, c2, c1, c0], found[:count])).max() < 1e-6 * scale


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [((0, 1, -3, 2), [1, 2]), ((0, 0, 2, -4), [2]), ((0, 1, 0, 1), []), ((1, 0, 0, -8), [2])],
)
def test_cubic_roots_of_lower_degree(coefficients, expected):
    from piforest.families.fundamental import _real_roots

    found = np.empty(3)
    count = _real_roots(*map(float, coefficients), found)
    np.testing.assert_allclose(np.sort(found[:count]), expected, atol=1e-9)


def test_circle_of_known_radius():
    params, valid = get_family("circle").solve(circle_points(3)[None])
    assert valid.all()
    assert params[0, 0, 2] == pytest.approx(3)


def test_extent_is_that_of_uniform_data_and_ignores_far_points():
    X = np.random.default_rng(0).uniform(0, 1, (4000, 2))
    family = get_family("line")
    assert extent(family, X) == pytest.approx(1 / np.sqrt(12), rel=0.05)
    far = np.concatenate([X, np.full((40, 2), 1e6)])
    assert extent(family, far) == pytest.approx(extent(family, X), rel=0.05)
    mostly_equal = np.concatenate([np.zeros((90, 2)), X[:10]])
    assert extent(family, mostly_equal) > 0


def test_a_familys_own_extent_is_used():
    class Own(type(get_family("line"))):
        def extent(self, X):
            return 42.0

    assert extent(Own(), np.zeros((3, 2))) == 42


def test_an_unknown_option_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"family 'parabola' has no option 'turned'; .* 'rotated'"):
        get_family("parabola", turned=True)
    with pytest.raises(ValueError, match="family 'circle' has no option 'radius'; its options: n"):
        get_family("circle", radius=1)


def test_registry_errors_name_the_known_and_the_nearest():
    with pytest.raises(
        ValueError, match=r"'homography'.*got 'homografy'. Did you mean 'homography'"
    ):
        get_family("homografy")
    with pytest.raises(
        ValueError, match="solver must be one of '7-point', '8-point'; got '5-point'"
    ):
        get_family("fundamental", solver="5-point")
    with pytest.raises(ValueError, match="pass an instance"):
        resolve_family(type(EIGHT))
    with pytest.raises(ValueError, match=r"without \['name'"):
        resolve_family(object())


@pytest.mark.parametrize("n", [1, 2, 16_383, 16_384, 40_001])
@pytest.mark.parametrize("kind", ["even", "equal", "two"])
def test_the_median_of_a_sample_is_that_of_all_values(n, kind):
    rng = np.random.default_rng(n)
    values = {"even": rng.gamma(2, size=n), "equal": np.ones(n), "two": rng.integers(0, 2, n) / 3}
    assert _median(values[kind]) == np.median(values[kind])


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("linear", "'linear_regression'?"),
        ("lin", "'line' or 'linear_regression'?"),
        ("POLY", "'polynomial' or 'polynomial_regression'?"),
        ("circel", "'circle'?"),
    ],
)
def test_the_beginning_of_a_name_is_enough_for_a_hint(given, meant):
    with pytest.raises(ValueError, match="Did you mean") as caught:
        get_family(given)
    assert str(caught.value).endswith(f"Did you mean {meant}")
