"""Features by name, masks, mutual matches."""

from __future__ import annotations

import numpy as np
import pytest

from match_scenes import right
from piforest.datasets import make_plane_pair
from piforest.vision import extract_features, match_features, match_images

cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def pair():
    return make_plane_pair(2, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("features", ["sift", "orb", "akaze"])
def test_features_of_every_kind_match_the_planes(pair, features):
    if features == "akaze" and not hasattr(cv2, "AKAZE_create"):
        with pytest.raises(ImportError, match=r"AKAZE is not part of OpenCV .*pip install 'openc"):
            match_images(*pair.images, features=features)
        return
    found = match_images(*pair.images, features=features)
    assert len(found.X) > 50
    assert np.mean(right(pair, found.X)) > 0.8


@pytest.mark.slow
def test_masks_leave_features_out(pair, tmp_path):
    mask = np.zeros(pair.images[0].shape[:2], np.uint8)
    mask[:, :300] = 1
    features = extract_features(pair.images[0], mask=mask)
    assert 0 < features.points[:, 0].max() < 300
    cv2.imwrite(str(tmp_path / "mask.png"), 255 * mask)
    again = extract_features(pair.images[0], mask=tmp_path / "mask.png")
    assert np.array_equal(again.points, features.points)
    assert extract_features(pair.images[0], mask=np.zeros_like(mask)).points.shape == (0, 2)
    with pytest.raises(ValueError, match=r"mask must have the shape of its image, \(480, 640\)"):
        extract_features(pair.images[0], mask=mask[:9])


@pytest.mark.slow
def test_matches_are_mutual_by_default(pair):
    both, there = match_images(*pair.images), match_images(*pair.images, mutual=False)
    assert len(both.X) < len(there.X)
    assert np.mean(right(pair, both.X)) >= np.mean(right(pair, there.X))


def test_features_of_two_kinds_cannot_be_matched(pair):
    first, second = (extract_features(pair.images[0][:99, :99], kind) for kind in ("sift", "orb"))
    with pytest.raises(ValueError, match="of one kind, got 'sift' and 'orb'"):
        match_features(first, second)
    with pytest.raises(ValueError, match="features must be one of"):
        match_images(*pair.images, features="surf")
