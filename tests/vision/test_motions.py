"""H, F, E and the relative pose of the motions between two images."""

from __future__ import annotations

import numpy as np
import pytest

from match_scenes import calibrated_pair
from piforest.datasets import make_motion_pair, make_plane_pair
from piforest.families import get_family
from piforest.vision import Camera, filter_matches, relative_pose
from piforest.vision.refine import fit_homography, refine, transfer_errors

cv2 = pytest.importorskip("cv2")


def angle(a, b):
    """Degrees between two unit vectors or two rotations."""
    cosine = np.dot(a, b) if a.ndim == 1 else (np.trace(a.T @ b) - 1) / 2
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


@pytest.fixture(scope="module")
def pair():
    return calibrated_pair()


@pytest.fixture(scope="module")
def kept(pair):
    return filter_matches(
        pair.X[:, :2], pair.X[:, 2:], family="essential", K1=pair.cameras[0], K2=pair.cameras[1].K,
        random_state=0, n_models=2000,
    )  # fmt: skip


@pytest.mark.slow
def test_calibrated_families_take_pixels(pair, kept):
    assert np.array_equal(kept.X, pair.X)
    assert np.mean(kept.mask[pair.true]) > 0.95
    assert np.mean(pair.true[kept.mask]) > 0.95
    # Normalised by hand, without K, the scores are the same.
    rows = np.column_stack([
        camera.normalise(pair.X[:, 2 * k : 2 * k + 2]) for k, camera in enumerate(pair.cameras)
    ])  # fmt: skip
    by_hand = filter_matches(
        rows[:, :2], rows[:, 2:], family="essential", random_state=0, n_models=2000
    )
    assert np.array_equal(kept.scores, by_hand.scores)


def test_the_relative_pose_comes_beside_the_essential_matrix(pair, kept):
    (motion,) = kept.motions
    assert angle(motion.R, pair.R) < 0.3
    assert angle(motion.t, pair.t) < 2
    assert motion.parallax > 1
    assert motion.note == ""
    assert 0.2 < motion.half_width < 2  # pixels
    # F is E in pixels, of rank 2, and fits the matches.
    F = kept.models[0]
    assert np.allclose(F, motion.F)
    assert abs(np.linalg.det(F)) < 1e-12
    ones = np.ones(len(pair.X))
    lines = np.column_stack([pair.X[:, :2], ones]) @ F.T
    distance = np.abs(np.sum(lines * np.column_stack([pair.X[:, 2:], ones]), axis=1))
    assert np.median((distance / np.hypot(lines[:, 0], lines[:, 1]))[pair.true]) < 1


def test_the_pose_is_that_of_opencv(pair, kept):
    (motion,) = kept.motions
    rows = np.column_stack([
        camera.normalise(pair.X[:, 2 * k : 2 * k + 2]) for k, camera in enumerate(pair.cameras)
    ])[motion.members]  # fmt: skip
    pose = relative_pose(motion.E, rows)
    count, R, t, _ = cv2.recoverPose(motion.E, rows[:, :2].copy(), rows[:, 2:].copy(), np.eye(3))
    assert np.allclose(pose.R, R, atol=1e-6)
    assert np.allclose(pose.t, t[:, 0], atol=1e-6)
    assert abs(int(pose.in_front.sum()) - count) <= 0.02 * len(rows)


@pytest.mark.slow
def test_a_fundamental_matrix_with_cameras_has_a_pose_too(pair):
    K1, K2 = pair.cameras
    kept = filter_matches(pair.X[:, :2], pair.X[:, 2:], K1=K1, K2=K2, random_state=0, n_models=3000)
    motion = kept.motions[0]
    assert angle(motion.R, pair.R) < 1
    assert angle(motion.t, pair.t) < 8


@pytest.mark.slow
def test_a_camera_that_only_turns_has_no_translation():
    turned = calibrated_pair(t=(0, 0, 0))
    K1, K2 = turned.cameras
    options = {"K1": K1, "K2": K2, "random_state": 0, "n_models": 2000}
    ends = turned.X[:, :2], turned.X[:, 2:]
    (motion,) = filter_matches(*ends, family="rotation", **options).motions
    assert angle(motion.R, turned.R) < 0.1
    assert motion.E is None
    assert np.median(transfer_errors(motion.H, turned.X[turned.true])) < 1
    essential = filter_matches(*ends, family="essential", **options).motions[0]
    assert essential.t is None
    assert essential.note == "a rotation explains the matches: t is not determined"
    assert angle(essential.R, turned.R) < 0.2


@pytest.mark.slow
def test_a_plane_leaves_the_fundamental_matrix_undetermined():
    flat = calibrated_pair(plane=True)
    motion = filter_matches(flat.X[:, :2], flat.X[:, 2:], random_state=0, n_models=3000).motions[0]
    assert motion.note == "a plane or a rotation explains the matches: F is ambiguous"
    assert np.median(transfer_errors(motion.H, flat.X[motion.members])) < 1


@pytest.mark.slow
@pytest.mark.parametrize("family", ["homography", "fundamental", "auto"])
def test_cameras_give_no_pose_where_it_is_not_determined_and_a_note_says_why(family):
    flat, turned = calibrated_pair(plane=True), calibrated_pair(t=(0, 0, 0))
    poses = [
        filter_matches(
            each.X[:, :2], each.X[:, 2:], family=family, K1=each.cameras[0], K2=each.cameras[1],
            random_state=0, n_models=3000,
        ).motions[0]
        for each in (flat, turned)
    ]  # fmt: skip
    assert poses[0].R is poses[0].t is poses[1].t is None
    assert "one plane explains the matches, which leaves several R and t" in poses[0].note
    assert "a rotation explains the matches" in poses[1].note
    assert angle(poses[1].R, turned.R) < 0.2


@pytest.mark.slow
def test_homographies_are_those_of_opencv_on_the_same_matches():
    pair = make_plane_pair(2, random_state=0)
    kept = filter_matches(pair.data[:, :2], pair.data[:, 2:], family="homography", random_state=0)
    assert len(kept.motions) == kept.labels.max() + 1 >= 2
    for k, motion in enumerate(kept.motions):
        assert np.array_equal(motion.members, np.flatnonzero(kept.labels == k))
        X = pair.data[motion.members]
        H, _ = cv2.findHomography(X[:, :2], X[:, 2:], 0)
        assert motion.matrix[2, 2] == 1
        theirs, ours = (np.sqrt(np.mean(transfer_errors(each, X) ** 2)) for each in (H, motion.H))
        assert ours <= theirs * 1.001


@pytest.mark.slow
@pytest.mark.parametrize("family", ["homography", "fundamental"])
def test_a_refined_matrix_has_less_residual_by_the_family_itself(family):
    make = make_plane_pair if family == "homography" else make_motion_pair
    pair = make(1, random_state=3)
    X, known = pair.data[pair.target == 1], get_family(family)
    params, valid = known.solve(X[None, : known.sample_size(4)])
    start = known.matrices(params[valid][:1])[0]
    refined = refine(family, start, X)
    zero = np.zeros(4)
    before, after = (
        np.sum(known.residuals(X, np.concatenate([zero, M.ravel()])[None]) ** 2)
        for M in (start * np.sign(start[2, 2]) if family == "homography" else start, refined)
    )
    assert after < before
    # A second refinement changes nothing, and neither does too little data.
    assert np.allclose(refine(family, refined, X), refined, atol=1e-5 * np.abs(refined).max())
    assert refine(family, start, X[:5]) is start


def test_an_exact_homography_is_found_again():
    H = np.array([[1.1, 0.1, 20], [-0.05, 0.95, 5], [1e-4, -5e-5, 1]])
    points = np.random.default_rng(0).uniform(0, 600, (40, 2))
    X = np.column_stack([points, cv2.perspectiveTransform(points[None], H)[0]])
    assert np.allclose(fit_homography(X), H, atol=1e-6)
    assert fit_homography(X[:3]) is None
    assert fit_homography(np.repeat(X[:1], 9, axis=0)) is None


def test_translations_and_affinities_have_a_matrix_too():
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 500, (60, 2))
    moved = points + np.array([30, -10]) + rng.normal(0, 0.3, points.shape)
    for family in ("translation", "affinity", "similarity"):
        kept = filter_matches(points, moved, family=family, random_state=0, n_models=500)
        assert np.allclose(kept.models[0][:2, 2], [30, -10], atol=8), family


def test_sigma_is_in_pixels(pair):
    K1, K2 = pair.cameras
    kept = filter_matches(
        pair.X[:, :2], pair.X[:, 2:], family="essential", K1=K1, K2=K2, sigma=0.4, random_state=0,
        n_models=300,
    )  # fmt: skip
    assert kept.detector.sigma_ == pytest.approx(0.4 / 800)


def test_matches_that_follow_nothing_have_no_model():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 500, (60, 4))
    with pytest.warns(UserWarning, match="no structure of family 'homography' is significant"):
        kept = filter_matches(X[:, :2], X[:, 2:], family="homography", random_state=0, n_models=500)
    assert kept.models.shape == (0, 3, 3)
    assert (kept.labels == -1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"K2": np.eye(3)}, "K2 needs K1"),
        ({"K1": np.eye(2)}, r"K1: K must be a matrix \(3, 3\)"),
        ({"K1": np.eye(3), "K2": [1, 2]}, "K2: K must be a matrix"),
        ({"K1": np.eye(3), "family": ["essential", "homography"]}, "mixes 'essential' or 'rot"),
        ({"family": "essential"}, "look like pixels .* K1 and K2"),
        ({"quality": [1, 2]}, "quality must have one value for each of the 200 rows"),
    ],
)
def test_cameras_and_options_that_do_not_fit_raise_an_error(pair, options, message):
    with pytest.raises(ValueError, match=message):
        filter_matches(pair.X[:, :2], pair.X[:, 2:], **options)


def test_quality_draws_samples_of_matches_to_trust(pair):
    quality = np.where(pair.true, 1.0, 0.0)
    kept = filter_matches(
        pair.X[:, :2], pair.X[:, 2:], quality=quality, random_state=0, n_models=300
    )
    assert kept.detector.sampler == "weighted"
    assert pair.true[np.unique(kept.detector.models_[0].samples)].all()


@pytest.mark.slow
def test_keypoints_give_a_mask_that_opencv_draws():
    pair = make_plane_pair(2, random_state=0)
    keypoints = [
        [cv2.KeyPoint(float(x), float(y), 1) for x, y in pair.data[:, 2 * k : 2 * k + 2]]
        for k in range(2)
    ]
    matches = [cv2.DMatch(k, k, 0.0) for k in range(len(pair.data))]
    kept = filter_matches(*keypoints, matches, family="homography", random_state=0, n_models=1000)
    drawn = cv2.drawMatches(
        pair.images[0], keypoints[0], pair.images[1], keypoints[1], matches, None,
        matchesMask=kept.mask.astype(int).tolist(),
    )  # fmt: skip
    assert drawn.shape[1] == 1280


def test_a_camera_prints_what_it_is():
    assert "fx=500" in repr(Camera(500, 500, 1, 2))
