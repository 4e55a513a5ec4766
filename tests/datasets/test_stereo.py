from __future__ import annotations

import cv2
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest.datasets import make_motion_pair, make_plane_pair, stereo
from piforest.families import get_family

PAIRS = [make_plane_pair, make_motion_pair]


@pytest.mark.slow
@pytest.mark.parametrize("make", PAIRS)
@pytest.mark.parametrize("n_structures", [1, 2, 4])
def test_each_structure_obeys_one_model(make, n_structures):
    pair = make(n_structures, sizes=30, noise=0.0, random_state=1)
    family = get_family(pair.family)
    rng = np.random.default_rng(0)
    for structure in range(1, n_structures + 1):
        matches = pair.data[pair.target == structure]
        assert matches.shape == (30, 4)
        samples = [rng.choice(30, family.sample_size(4), replace=False) for _ in range(30)]
        theta, valid = family.solve(matches[np.array(samples)])
        assert valid.any()
        assert family.residuals(matches, theta[valid]).max(axis=0).min() < 1e-6
        others = pair.data[(pair.target != structure) & (pair.target > 0)]
        if len(others):
            best = family.residuals(matches, theta[valid]).max(axis=0).argmin()
            assert np.median(family.residuals(others, theta[valid][best : best + 1])) > 1


@pytest.mark.slow
@pytest.mark.parametrize("make", PAIRS)
def test_pairs_have_the_asked_shape(make):
    pair = make(3, sizes=[40, 20, 30], anomaly_share=0.4, random_state=0)
    assert np.bincount(pair.target).tolist() == [60, 40, 20, 30]
    assert pair.feature_names == ["x1", "y1", "x2", "y2"]
    for image in pair.images:
        assert image.shape == (480, 640, 3)
        assert image.dtype == np.uint8
        assert image.std() > 10
    true = pair.data[pair.target > 0]
    assert (true > -3).all()
    assert (true[:, [0, 2]] < 643).all()
    assert (true[:, [1, 3]] < 483).all()
    frame = make(2, random_state=0, as_frame=True).frame
    assert list(frame.columns) == ["x1", "y1", "x2", "y2", "target"]


@pytest.mark.slow
@pytest.mark.parametrize("make", PAIRS)
def test_one_seed_gives_one_pair(make):
    first, second, other = make(random_state=0), make(random_state=0), make(random_state=1)
    assert np.array_equal(first.data, second.data)
    assert np.array_equal(first.images[1], second.images[1])
    assert not np.array_equal(first.data, other.data)


@pytest.mark.slow
@pytest.mark.parametrize("make", PAIRS)
def test_the_pictures_show_the_same_thing_at_both_ends_of_a_match(make):
    pair = make(2, noise=0.0, anomaly_share=0.0, random_state=2)
    grey = [cv2.GaussianBlur(image, (5, 5), 0).mean(axis=2) for image in pair.images]
    ends = np.rint(pair.data).astype(int)
    inside = (ends.min(axis=1) >= 0) & (ends[:, [0, 2]].max(axis=1) < 640)
    ends = ends[inside]
    one, two = grey[0][ends[:, 1], ends[:, 0]], grey[1][ends[:, 3], ends[:, 2]]
    assert np.corrcoef(one, two)[0, 1] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("make", PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_false_matches_are_found(make, seed):
    pair = make(3, random_state=seed)
    n_models = 6 * len(pair.data)
    scores = (
        PreferenceIsolationForest.paper(pair.family, sigma=2, n_models=n_models, random_state=0)
        .fit(pair.data)
        .scores_
    )
    assert roc_auc_score(pair.target == 0, scores) > 0.97


@pytest.mark.parametrize("make", PAIRS)
def test_bad_options_are_named(make):
    with pytest.raises(ValueError, match="n_structures must be an integer of at least 1, got 0"):
        make(0)
    with pytest.raises(ValueError, match="noise must be a finite number of at least 0"):
        make(noise=-1)
    with pytest.raises(ValueError, match="sizes must be one number above 0"):
        make(2, sizes=[1, 2, 3])


@pytest.mark.slow
@pytest.mark.parametrize("make", PAIRS)
def test_pixels_outside_the_window_of_a_patch_show_nothing_of_it(make, monkeypatch):
    pair = make(3, random_state=2)
    monkeypatch.setattr(stereo, "_window", lambda M: (slice(0, 480), slice(0, 640)))
    whole = make(3, random_state=2)
    np.testing.assert_array_equal(pair.images, whole.images)
    np.testing.assert_array_equal(pair.data, whole.data)
