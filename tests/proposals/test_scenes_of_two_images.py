"""Which family the matches of whole scenes suggest: cameras that stay, parallax, planes."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, propose_families
from piforest._random import Stream
from piforest.families._null import displaced_rows, still_within
from piforest.vision import filter_matches


def _static(noise, n=300, false=60, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.uniform(0, 1, (n, 2)) * [750, 560]
    second = first + rng.normal(0, noise, first.shape)
    second[:false] = rng.uniform(0, 1, (false, 2)) * [750, 560]
    return np.column_stack([first, second])


def _projected(points):
    return points[:, :2] / points[:, 2:] * 900 + [640, 360]


def _rigid(planar, seed=3, n=200, false=100):
    rng = np.random.default_rng(seed)
    points = rng.uniform([-3, -2, 5], [3, 2, 12], (n, 3))
    if planar:
        points[:, 2] = 8 + 0.3 * points[:, 0]
    turn = np.array([[np.cos(0.25), 0, -np.sin(0.25)], [0, 1, 0], [np.sin(0.25), 0, np.cos(0.25)]])
    views = np.column_stack([_projected(points), _projected(points @ turn.T + [1, 0.1, 0.2])])
    noise = rng.uniform(0, 1, (false, 4)) * [1280, 720, 1280, 720]
    return np.concatenate([views, noise]) + rng.normal(0, 0.5, (n + false, 4))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_a_static_camera_is_a_translation_by_nothing_in_all_entries(noise):
    X = _static(noise)
    proposals = propose_families(X, random_state=0)
    assert proposals.found
    assert proposals[0].name == "translation"
    assert proposals[0].share_explained == pytest.approx(0.8, abs=0.03)
    detector = PreferenceIsolationForest(random_state=0).fit(X)
    assert detector.family_.name == "translation"
    assert detector.found_structure_
    kept = filter_matches(X[:, :2], X[:, 2:], family="auto", random_state=0)
    assert kept.detector.family_.name == "translation"
    assert kept.mask[60:].mean() > 0.95
    assert kept.mask[:60].mean() < 0.05


def test_null_rows_of_what_stays_go_elsewhere_and_of_what_moves_into_any_direction():
    X = _static(0.1, n=100, false=0)
    X[50:, 2:] += [40, 0]
    rows = displaced_rows(X, 4000, Stream(0))
    length = np.hypot(*(rows[:, 2:] - rows[:, :2]).T)
    assert still_within(X) == pytest.approx(0.005 * 780, rel=0.1)
    assert np.mean(length < 2 * still_within(X)) < 0.02
    assert np.mean(np.abs(length - 40) < 1) == pytest.approx(0.5, abs=0.02)


def test_matches_with_random_motions_follow_none():
    rng = np.random.default_rng(0)
    first = rng.uniform(0, 640, (500, 2))
    X = np.column_stack([first, first + rng.normal(0, 20, first.shape)])
    assert not propose_families(X, random_state=0).found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_a_scene_with_parallax_is_one_fundamental_matrix_and_a_plane_one_homography(seed):
    scene = propose_families(_rigid(False, seed), random_state=0)
    assert scene[0].name == "fundamental"
    assert scene[0].n_structures == 1
    plane = propose_families(_rigid(True, seed), random_state=0)
    assert (plane[0].name, plane[0].n_structures) == ("homography", 1)
