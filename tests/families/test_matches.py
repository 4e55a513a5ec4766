"""Families of matches other than homographies and fundamental matrices, and vanishing points."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest, datasets
from piforest.families import get_family
from scenes import (
    affine_matches,
    affine_motion_matches,
    calibrated_matches,
    cloud_matches,
    motion_matches,
    rotation,
    scaled_cloud_matches,
    segments,
)

MAKERS = [
    datasets.make_affine_motion_pair,
    datasets.make_affine_pair,
    datasets.make_essential_pair,
    datasets.make_rigid_matches,
    datasets.make_rotation_pair,
    datasets.make_segments,
    datasets.make_similarity3d_matches,
    datasets.make_similarity_pair,
    datasets.make_translation3d_matches,
    datasets.make_translation_pair,
]
ESSENTIAL = get_family("essential")


def samples_of(X, k, n_samples=50, seed=0):
    rng = np.random.default_rng(seed)
    return X[np.array([rng.choice(len(X), k, replace=False) for _ in range(n_samples)])]


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_structures", [2, 3])
def test_anomalies_among_matches_are_found(make, n_structures):
    scene = make(n_structures, anomaly_share=0.4, random_state=1)
    detector = PreferenceIsolationForest.paper(scene.family, sigma=scene.sigma, random_state=0).fit(
        scene.data
    )
    assert roc_auc_score(scene.target == 0, detector.scores_) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
def test_scenes_of_matches_have_the_asked_shape_and_exact_structures(make):
    scene = make(2, sizes=[40, 30], noise=0.0, anomaly_share=0.3, random_state=0)
    assert np.bincount(scene.target).tolist() == [30, 40, 30]
    family = get_family(scene.family)
    assert scene.data.shape == (100, family.n_features)
    for structure in (1, 2):
        rows = scene.data[scene.target == structure]
        params, valid = family.solve(samples_of(rows, family.sample_size(rows.shape[1])))
        assert valid.any()
        off = family.residuals(rows, params[valid]).max(axis=0)
        assert off.min() < 1e-6
        theta = params[valid][[off.argmin()]]
        rest = scene.data[scene.target != structure]
        assert np.median(family.residuals(rest, theta)) > 1e-3
    X, y = make(2, sizes=[40, 30], noise=0.0, anomaly_share=0.3, random_state=0, return_X_y=True)
    assert np.array_equal(X, scene.data)
    assert np.array_equal(y, scene.target)
    frame = make(2, random_state=1, as_frame=True).frame
    assert list(frame.columns) == [*scene.feature_names, "target"]
    assert not np.array_equal(frame.iloc[0, :-1], scene.data[0])


@pytest.mark.parametrize("make", MAKERS)
def test_bad_options_of_matches_are_named(make):
    with pytest.raises(ValueError, match="n_structures must be an integer of at least 1, got 0"):
        make(0)
    with pytest.raises(ValueError, match="noise must be a finite number of at least 0"):
        make(noise=-1)
    with pytest.raises(ValueError, match=r"anomaly_share must be in \[0, 1\)"):
        make(anomaly_share=1)


# --- maps of the image plane


@pytest.mark.parametrize("name", ["affinity", "similarity"])
def test_affine_maps_agree_with_opencv(name):
    family = get_family(name)
    k = family.sample_size(4)
    X = affine_matches(40) + np.random.default_rng(1).normal(0, 3, (40, 4))
    X = X.astype(np.float32).astype(np.float64)
    samples = samples_of(X, k, 20)
    params, valid = family.solve(samples)
    assert valid.all()
    estimate = cv2.estimateAffine2D if k == 3 else cv2.estimateAffinePartial2D
    for sample, H in zip(samples, family.matrices(params[:, 0])):
        reference = estimate(sample[:, :2].astype("f4"), sample[:, 2:].astype("f4"))[0]
        np.testing.assert_allclose(H[:2], reference, rtol=1e-4, atol=1e-2)


def test_collinear_matches_have_no_affinity():
    family = get_family("affinity")
    for shift in (0.0, 1e6):
        for view in (0, 2):
            samples = samples_of(affine_matches(), 3) + shift
            samples[:, 1, view : view + 2] = samples[:, [0, 2], view : view + 2].mean(axis=1)
            assert not family.solve(samples)[1].any()


def test_a_similarity_does_not_mirror():
    X = affine_matches(40, A=[[1, 0], [0, -1]])
    params, valid = get_family("similarity").solve(samples_of(X, 2))
    assert valid.all()
    assert (np.linalg.det(params[:, 0, 4:].reshape(-1, 2, 2)) > 0).all()
    assert get_family("similarity").residuals(X, params[:, 0]).max(axis=0).min() > 10


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_the_affine_fundamental_matrix_is_that_of_the_images(shift):
    family = get_family("affine_fundamental")
    X = affine_motion_matches() + shift
    params, valid = family.solve(samples_of(X, 4))
    assert valid.all()
    F = family.matrices(params[:, 0])
    ends = np.column_stack([X[:, :2], np.ones(40)]), np.column_stack([X[:, 2:], np.ones(40)])
    values = np.einsum("ni,mij,nj->nm", ends[1], F, ends[0])
    np.testing.assert_allclose(np.abs(values), 0, atol=1e-6)
    assert (np.linalg.matrix_rank(F) == 2).all()


def test_matches_collinear_in_one_image_have_no_affine_fundamental_matrix():
    samples = samples_of(affine_motion_matches(), 4)
    samples[:, :, 1] = 2 * samples[:, :, 0] + 3
    assert not get_family("affine_fundamental").solve(samples)[1].any()
    # Four matches of one affine map lie in a plane of the four dimensions.
    samples = samples_of(affine_matches(), 4)
    assert not get_family("affine_fundamental").solve(samples)[1].any()


# --- point clouds


@pytest.mark.parametrize("name", ["rigid", "similarity3d"])
def test_motions_agree_with_scipy(name):
    family = get_family(name)
    X = scaled_cloud_matches() + np.random.default_rng(1).normal(0, 2, (40, 6))
    samples = samples_of(X, 3)
    params, valid = family.solve(samples)
    assert valid.all()
    for sample, T in zip(samples, family.matrices(params[:, 0])):
        p, q = sample[:, :3], sample[:, 3:]
        a, b = p - p.mean(axis=0), q - q.mean(axis=0)
        R = Turn.align_vectors(b, a)[0].as_matrix()
        scale = np.linalg.norm(b) / np.linalg.norm(a) if name == "similarity3d" else 1.0
        np.testing.assert_allclose(T[:3, :3], scale * R, atol=1e-6)
        np.testing.assert_allclose(T[:3, :3] @ p.mean(axis=0) + T[:3, 3], q.mean(axis=0))


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_the_motion_of_a_cloud_is_found(shift):
    for name, X, scale in (
        ("rigid", cloud_matches(), 1.0),
        ("similarity3d", scaled_cloud_matches(), 0.7),
    ):
        params, valid = get_family(name).solve(samples_of(X + shift, 3))
        assert valid.all()
        M = params[:, 0, 6:].reshape(-1, 3, 3)
        expected = scale * rotation([0.3, -1, 0.5], 0.8)
        np.testing.assert_allclose(M, np.tile(expected, (50, 1, 1)), atol=1e-6)


@pytest.mark.parametrize("name", ["rigid", "similarity3d"])
@pytest.mark.parametrize("view", [0, 3])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_collinear_points_have_no_motion(name, view, shift):
    samples = samples_of(cloud_matches(), 3) + shift
    samples[:, 1, view : view + 3] = samples[:, [0, 2], view : view + 3].mean(axis=1)
    assert not get_family(name).solve(samples)[1].any()


@pytest.mark.parametrize("name", ["rigid", "similarity3d"])
def test_motions_do_not_mirror(name):
    X = cloud_matches() * [1, 1, 1, 1, 1, -1]
    params, valid = get_family(name).solve(samples_of(X, 3))
    assert valid.all()
    assert (np.linalg.det(params[:, 0, 6:].reshape(-1, 3, 3)) > 0).all()
    assert get_family(name).residuals(X, params[:, 0]).max(axis=0).min() > 1


@pytest.mark.parametrize("scale", [1e-90, 1e80])
@pytest.mark.parametrize(
    ("name", "X"),
    [
        ("affinity", affine_matches()),
        ("affine_fundamental", affine_motion_matches()),
        ("rigid", cloud_matches()),
        ("similarity3d", scaled_cloud_matches()),
        ("vanishing_point", segments()),
    ],
)
def test_tiny_and_huge_coordinates_are_solved(name, X, scale):
    family = get_family(name)
    params, valid = family.solve(samples_of(X, family.sample_size(X.shape[1])) * scale)
    assert valid.mean() > 0.9
    assert np.median(family.residuals(X * scale, params[valid])) < 1e-9 * scale


# --- vanishing points


def test_a_vanishing_point_is_found_and_its_residual_is_that_of_the_ends():
    family = get_family("vanishing_point")
    params, valid = family.solve(samples_of(segments(point=(900.0, 150.0)), 2))
    assert valid.all()
    found = params[:, 0, :2] + params[:, 0, 2:4] / params[:, 0, 4:]
    np.testing.assert_allclose(found, np.tile([900.0, 150.0], (50, 1)), atol=1e-6)
    # Middle (0, 150): the line to the point is level, the ends are 3 above and below.
    row = np.array([[-10.0, 147, 10, 153]])
    np.testing.assert_allclose(family.residuals(row, params[:, 0]), 3, atol=1e-6)
    # A segment with its middle on the point lies on every line through it.
    at_origin = np.array([[0.0, 0, 0, 0, 1]])
    assert family.residuals(np.array([[-8.0, 2, 8, -2]]), at_origin) == 0


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_parallel_segments_meet_at_infinity(shift):
    start = np.random.default_rng(0).uniform(0, 600, (40, 2))
    X = np.concatenate([start, start + np.array([40.0, 30.0])], axis=1) + shift
    family = get_family("vanishing_point")
    params, valid = family.solve(samples_of(X, 2))
    assert valid.all()
    assert np.abs(params[:, 0, 4]).max() < 1e-9
    assert family.residuals(X, params[:, 0]).max() < 1e-6
    across = np.array([[0.0, 0, -30, 40]]) + shift
    np.testing.assert_allclose(family.residuals(across, params[:, 0]), 25, atol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_segments_of_one_line_and_points_have_no_vanishing_point(shift):
    family = get_family("vanishing_point")
    one_line = np.array([[[0.0, 0, 3, 4], [6, 8, 12, 16]]]) + shift
    a_point = np.array([[[0.0, 0, 3, 4], [6, 9, 6, 9]]]) + shift
    assert not family.solve(one_line)[1].any()
    assert not family.solve(a_point)[1].any()
    assert not family.solve(a_point[:, ::-1])[1].any()


# --- calibrated cameras


def test_pixels_are_refused_by_families_of_calibrated_matches():
    X = motion_matches()
    for name in ("essential", "rotation"):
        with pytest.raises(ValueError, match=rf"'{name}' needs calibrated.*max \|value\| \d+"):
            PreferenceIsolationForest.paper(name, sigma=1).fit(X)
        assert get_family(name).reason_to_reject(calibrated_matches()) is None


@pytest.mark.parametrize("t", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.2, 0.3)])
@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_five_points_find_the_motion_of_a_camera(t, angle):
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-2, 2, (60, 2)), rng.uniform(3, 6, 60)])
    R = rotation([0.3, 1, 0.2], angle)
    moved = points @ R.T + np.asarray(t)
    X = np.concatenate([points[:, :2] / points[:, 2:], moved[:, :2] / moved[:, 2:]], axis=1)
    tx, ty, tz = t
    E = np.array([[0, -tz, ty], [tz, 0, -tx], [-ty, tx, 0]]) @ R
    E = E.ravel() / np.linalg.norm(E)
    params, valid = ESSENTIAL.solve(samples_of(X, 5, 200))
    near = [
        bool(valid[i].any()) and np.abs(np.abs(params[i][valid[i]] @ E) - 1).min() < 1e-6
        for i in range(200)
    ]
    assert np.mean(near) > 0.97


def test_five_points_agree_with_opencv():
    X = calibrated_matches(60) + np.random.default_rng(1).normal(0, 0.01, (60, 4))
    samples = samples_of(X, 5, 100)
    params, valid = ESSENTIAL.solve(samples)
    missing = []
    for sample, theta, good in zip(samples, params, valid):
        found = cv2.findEssentialMat(sample[:, :2], sample[:, 2:], np.eye(3))[0]
        theirs = found.reshape(-1, 9) / np.linalg.norm(found.reshape(-1, 9), axis=1)[:, None]
        off = 1 - np.abs(theta[good] @ theirs.T).max(axis=1)
        missing.extend(off > 1e-6)
    # Every matrix of ours is one of theirs, which also have those that no camera can see; but
    # where two roots are nearly one, they may have none.
    assert len(missing) > 100
    assert np.mean(missing) < 0.02


def test_essential_matrices_have_two_equal_singular_values_and_fit_their_sample():
    X = np.random.default_rng(0).uniform(-1, 1, (60, 4))
    samples = samples_of(X, 5, 200)
    params, valid = ESSENTIAL.solve(samples)
    # Hardly any random matches can be seen by two cameras.
    assert 0.1 < valid.any(axis=1).mean() < 0.4
    singular = np.linalg.svd(ESSENTIAL.matrices(params[valid]))[1]
    np.testing.assert_allclose(
        singular, np.tile([0.5**0.5, 0.5**0.5, 0], (len(singular), 1)), atol=1e-5
    )
    for i in range(200):
        assert ESSENTIAL.residuals(samples[i], params[i][valid[i]]).max(initial=0) < 1e-8


def test_matches_on_one_plane_still_determine_an_essential_matrix():
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-2, 2, (60, 2)), np.full(60, 4.0)])
    points[:, 2] += 0.3 * points[:, 0]
    moved = points @ rotation([0.3, 1, 0.2], 0.2).T + [0.5, 0.1, 0.2]
    X = np.concatenate([points[:, :2] / points[:, 2:], moved[:, :2] / moved[:, 2:]], axis=1)
    params, valid = ESSENTIAL.solve(samples_of(X, 5, 100))
    best = [
        ESSENTIAL.residuals(X, theta[good]).max(axis=0).min(initial=1)
        for theta, good in zip(params, valid)
    ]
    assert np.mean(np.array(best) < 1e-6) > 0.9


@pytest.mark.parametrize("roots", [[-0.9, 0.1, 0.5], [0.25] * 2 + [-0.3], [], [1 / 3] * 3])
def test_roots_within_one_are_all_found(roots):
    from piforest.families.essential import _roots

    others = [2.0, -5.0, 1 + 2j, 1 - 2j, 0.2 + 1j, 0.2 - 1j, 3.0, 9.0, -4.0, 1.5][: 10 - len(roots)]
    p = np.real(np.poly([*roots, *others]))[::-1].copy()
    found = np.empty(10)
    count = _roots(p, np.empty((11, 11)), np.empty(12), found)
    alone = [root for root in roots if roots.count(root) % 2]
    for root in alone:
        assert np.abs(found[:count] - root).min() < 1e-4
    assert np.abs(np.polyval(p[::-1], found[:count])).max(initial=0) < 1e-9 * np.abs(p).max()


@pytest.mark.slow
def test_one_far_match_does_not_make_calibrated_ones_pixels():
    X = datasets.make_essential_pair(random_state=0).data.copy()
    X[0] = 50
    assert get_family("essential").reason_to_reject(X) is None
    assert "look like pixels" in get_family("essential").reason_to_reject(1000 * X)
