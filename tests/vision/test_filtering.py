from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from match_scenes import right
from piforest import PreferenceIsolationForest
from piforest.datasets import make_motion_pair, make_plane_pair
from piforest.vision import (
    FilterOptions,
    filter_matches,
    match_families,
    match_images,
    read_image,
)

cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def pair():
    return make_plane_pair(2, random_state=0)


@pytest.fixture(scope="module")
def matched(pair):
    """All nearest descriptors, many of them false matches."""
    return match_images(*pair.images, ratio=1.0, mutual=False)


@pytest.mark.slow
def test_true_matches_of_images_are_separated_from_false_ones(pair, matched):
    truth = right(pair, matched.X)
    assert 0.2 < np.mean(~truth) < 0.8  # enough of both
    kept = filter_matches(matched.X[:, :2], matched.X[:, 2:], family="homography", random_state=0)
    assert roc_auc_score(~truth, kept.scores) > 0.97
    assert np.mean(truth[kept.mask]) > 0.95
    assert np.mean(kept.mask[truth]) > 0.95
    assert np.array_equal(kept.mask, kept.detector.predict(kept.X) == 1)
    # The descriptors alone are worse.
    assert roc_auc_score(~truth, matched.ratio) < roc_auc_score(~truth, kept.scores)


@pytest.mark.slow
def test_keypoints_arrays_and_pairs_give_the_same(matched):
    first, second = matched.X[:, :2], matched.X[:, 2:]
    n = len(first)
    options = {"family": "homography", "random_state": 0, "n_models": 1000}
    expected = filter_matches(first, second, **options)
    assert np.array_equal(expected.X, matched.X)
    keypoints = [
        [cv2.KeyPoint(float(x), float(y), 1) for x, y in end] for end in (first, second[::-1])
    ]
    matches = [cv2.DMatch(k, n - 1 - k, 0.0) for k in range(n)]
    pairs = np.column_stack([np.arange(n), np.arange(n)[::-1]])
    for given in (
        (*keypoints, matches),
        (*keypoints, [(each, each) for each in matches]),  # as knnMatch returns them
        (keypoints[0], second[::-1], pairs),
        (first, second[::-1], pairs.astype(np.uint32)),  # as COLMAP stores them
        (first[:, None], second[::-1][:, None], pairs.tolist()),  # OpenCV's (n, 1, 2)
    ):
        got = filter_matches(*given, **options)
        assert np.allclose(got.X, expected.X, atol=1e-4)
        assert np.array_equal(got.mask, expected.mask)


@pytest.mark.slow
def test_fundamental_matrices_are_the_default():
    pair = make_motion_pair(2, random_state=1)
    kept = filter_matches(pair.data[:, :2], pair.data[:, 2:], random_state=0)
    assert kept.detector.models_[0].family.name == "fundamental"
    assert roc_auc_score(pair.target == 0, kept.scores) > 0.99


def test_options_reach_the_detector(pair):
    kept = filter_matches(
        pair.data[:, :2], pair.data[:, 2:], family="homography", sigma=1.5, contamination=0.5,
        n_estimators=7, n_models=500, random_state=0,
    )  # fmt: skip
    assert isinstance(kept.detector, PreferenceIsolationForest)
    assert (kept.detector.sigma_, kept.detector.n_drawn_) == (1.5, 500)
    assert 0.45 < np.mean(~kept.mask) <= 0.5


def test_the_typed_options_are_the_other_parameters_of_the_detector():
    named = {"family", "sigma", "contamination", "n_jobs", "random_state"}
    parameters = set(PreferenceIsolationForest().get_params())
    assert set(FilterOptions.__annotations__) == parameters - named


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((3, 2)), np.ones((4, 2))), "the same length without matches, got 3 and 4"),
        ((np.ones((3, 3)), np.ones((3, 2))), r"points1 must have shape \(n, 2\)"),
        ((np.ones((3, 2)), np.ones((3, 2)), [(0, 3)]), "into points2 must be row numbers"),
        ((np.ones((3, 2)), np.ones((3, 2)), [(0, 1, 2)]), "pairs of indices"),
        ((np.ones((3, 2)), np.ones((3, 2)), []), "at least one match is needed, got 0"),
        (([], []), "at least one match is needed, got 0"),
        ((np.ones((3, 2)), np.ones((3, 2))), "needs at least 8 matches, got 3"),
    ],
)
def test_matches_that_cannot_be_filtered_raise_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        filter_matches(*arguments)


@pytest.mark.slow
def test_the_ratio_and_mutual_tests_drop_matches(pair, matched):
    strict = match_images(*pair.images, ratio=0.7, mutual=False)
    both = match_images(*pair.images, ratio=0.7)
    assert len(both.X) < len(strict.X) < len(matched.X)
    assert strict.ratio.max() < 0.7
    assert np.all(np.diff(strict.ratio) >= 0)
    rows = {tuple(row) for row in strict.X}
    assert {tuple(row) for row in both.X} < rows
    back = match_images(*pair.images[::-1], ratio=1.0, mutual=True)
    turned = {tuple(row[[2, 3, 0, 1]]) for row in back.X}
    assert {tuple(row) for row in match_images(*pair.images, ratio=1.0, mutual=True).X} == turned


def test_matches_are_not_repeated(matched):
    assert len(np.unique(matched.X, axis=0)) == len(matched.X)


@pytest.mark.slow
def test_images_may_be_grey_or_files_and_of_other_sizes(pair, tmp_path):
    first, second = pair.images
    cv2.imwrite(str(tmp_path / "ä b.png"), first[:, :, ::-1])
    assert np.array_equal(read_image(tmp_path / "ä b.png"), first)
    expected = match_images(first, second)
    assert np.array_equal(match_images(tmp_path / "ä b.png", second).X, expected.X)
    grey = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in pair.images]
    assert np.array_equal(match_images(*grey).X, expected.X)
    small = second[::2, ::2].copy()
    found = match_images(first, small)
    assert found.X[:, 2].max() <= small.shape[1]
    assert len(found.X) > 20


@pytest.mark.slow
def test_an_image_without_features_has_no_matches(pair):
    blank = np.full((80, 100), 127, np.uint8)
    for images in ((pair.images[0], blank), (blank, pair.images[0])):
        found = match_images(*images)
        assert found.X.shape == (0, 4)
        assert found.ratio.shape == (0,)


def test_files_that_are_no_images_raise_an_error(tmp_path):
    (tmp_path / "a.png").write_text("no image")
    (tmp_path / "empty.png").touch()
    for name in ("a.png", "empty.png"):
        with pytest.raises(ValueError, match=f"{name} is not an image that OpenCV can read"):
            read_image(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_image(tmp_path / "b.png")
    with pytest.raises(ValueError, match=r"of bytes \(uint8\), got float64"):
        match_images(np.ones((9, 9)), np.ones((9, 9)))
    with pytest.raises(ValueError, match=r"ratio must be in \(0, 1\], got 2"):
        match_images(tmp_path / "a.png", tmp_path / "a.png", ratio=2)


def test_without_opencv_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"pip install 'piforest\[vision\]'"):
        match_images("a.png", "b.png")


def test_families_of_matches_are_those_of_two_views():
    assert match_families() == [
        "affine_fundamental", "affinity", "essential", "fundamental", "homography", "rotation",
        "similarity", "translation",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_matches_suggest_a_family():
    pair = make_plane_pair(2, random_state=0)
    kept = filter_matches(pair.data[:, :2], pair.data[:, 2:], family="auto", random_state=0)
    proposals = kept.detector.proposals_
    assert proposals.found
    assert {"homography", "fundamental"} <= {each.name for each in proposals}
    assert kept.detector.family.name == proposals[0].name
    assert np.mean(pair.target[kept.mask] > 0) > 0.95


def test_too_few_matches_for_a_comparison_raise_a_clear_error():
    with pytest.raises(ValueError, match="needs at least 8 matches, got 1"):
        filter_matches([[0.0, 0.0]], [[1.0, 1.0]], family="auto", random_state=0)


def test_a_result_prints_in_one_line_and_unknown_coordinates_are_an_error():
    pair = make_plane_pair(1, random_state=0)
    ends = pair.data[:, :2], pair.data[:, 2:].copy()
    kept = filter_matches(*ends, family="homography", random_state=0, n_models=500)
    assert repr(kept) == (
        f"Filtered({kept.mask.sum()} of {len(pair.data)} matches kept, 1 motion of family "
        "homography)"
    )
    ends[1][7] = np.nan
    with pytest.raises(ValueError, match=r"1 of \d+ matches have a coordinate that is NaN .* 7"):
        filter_matches(*ends)
