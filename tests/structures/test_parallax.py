"""Matches on no plane that agree with one epipolar geometry."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.structures.greedy import Structure
from piforest.structures.parallax import _agreeing, _distances, is_map, parallax_of


def scene(n_plane=150, n_deep=80, n_false=60, noise=0.5, seed=0):
    """Matches of a plane, of points at any depth, and false ones, in pixels."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.5, 0.5, (n_plane + n_deep, 2))
    depth = np.concatenate([
        5 / (1 + 0.3 * x[:n_plane, 0]), rng.uniform(2, 12, n_deep)
    ])  # fmt: skip
    points = np.column_stack([x, np.ones(len(x))]) * depth[:, None] - [0.5, 0.1, 0.2]
    X = 1000 * np.column_stack([x, points[:, :2] / points[:, 2:]])
    X += rng.normal(0, noise, X.shape)
    return np.concatenate([X, rng.uniform(-500, 500, (n_false, 4))])


def plane_of(X, n_plane=150, half_width=1.5):
    """The true plane of a scene, by least squares."""
    from piforest.vision.refine import fit_homography

    H = fit_homography(X[:n_plane])
    params = np.concatenate([np.zeros(4), H.ravel() / np.linalg.norm(H)])
    members = np.arange(n_plane)
    return Structure(get_family("homography"), params, half_width, 500.0, members, half_width / 2)


def test_points_at_any_depth_agree_with_the_epipolar_geometry():
    X = scene()
    found = parallax_of(X, [plane_of(X)], Stream(0))
    assert found is not None
    assert 60 <= found.agree <= 85
    assert 120 <= found.total <= 140


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_false", [20, 150])
def test_false_matches_agree_with_none(seed, n_false):
    X = scene(n_deep=0, n_false=n_false, seed=seed)
    assert parallax_of(X, [plane_of(X)], Stream(seed)) is None


def test_errors_of_the_plane_itself_are_no_parallax():
    X = scene(n_deep=0, n_false=0)
    rng = np.random.default_rng(1)
    far = X[:80].copy()
    far[:, 2:] += 4 * rng.standard_t(3, (80, 2))
    assert parallax_of(np.concatenate([X, far]), [plane_of(X)], Stream(0)) is None


def test_points_of_one_image_with_many_partners_count_once():
    X = scene(n_deep=0, n_false=100)
    X[-60:, 2:] = [77.0, 55.0]  # the lines of all of these pass through one point
    assert parallax_of(X, [plane_of(X)], Stream(0)) is None


def test_it_is_asked_of_maps_of_images_alone():
    names = ("homography", "translation", "fundamental", "line")
    assert [is_map(get_family(name)) for name in names] == [True, True, False, False]
    X = make_lines(2, random_state=0).data
    lines = PreferenceIsolationForest("line", random_state=0).fit(X).structures_
    assert parallax_of(X, lines, Stream(0)) is None
    assert parallax_of(X, [], Stream(0)) is None


def test_chance_is_that_of_any_direction_from_where_the_plane_takes_a_point():
    X = scene(n_deep=0, n_false=400, seed=3)
    plane = plane_of(X)
    rows = X[150:]
    _, expected = _agreeing(plane, rows, Stream(0))
    H = get_family("homography").matrices(plane.params[None])[0]
    there = np.column_stack([rows[:, :2], np.ones(len(rows))]) @ H.T
    mapped = there[:, :2] / there[:, 2:]
    length = np.linalg.norm(rows[:, 2:] - mapped, axis=1)
    rng, counts = np.random.default_rng(0), []
    for _ in range(400):
        angle = rng.uniform(0, 2 * np.pi, len(rows))
        across = np.abs(length * np.sin(angle))
        counts.append(np.sum(across <= 1.5 * plane.half_width))
    assert expected == pytest.approx(np.mean(counts), rel=0.1)


def test_distances_are_those_from_the_lines_through_the_epipole():
    rng = np.random.default_rng(0)
    x, y, e = (np.column_stack([rng.normal(size=(n, 2)), np.ones(n)]) for n in (6, 6, 3))
    slow = np.empty((6, 3))
    for i in range(6):
        for k in range(3):
            along = (e[k] - y[i])[:2]
            offset = (x[i] - y[i])[:2]
            slow[i, k] = abs(along[0] * offset[1] - along[1] * offset[0]) / np.linalg.norm(along)
    np.testing.assert_allclose(_distances(e, x, y), slow, rtol=1e-9)


@pytest.mark.slow
def test_the_diagnosis_of_a_detector_says_it():
    X = scene(n_plane=200, n_deep=120)
    detector = PreferenceIsolationForest("homography", random_state=0).fit(X)
    [found] = [each for each in detector.diagnosis_ if each.code == "parallax"]
    assert "agree with one fundamental matrix" in found.text
    assert "family='fundamental'" in found.advice
    flat = scene(n_plane=200, n_deep=0)
    detector = PreferenceIsolationForest("homography", random_state=0).fit(flat)
    assert "parallax" not in [each.code for each in detector.diagnosis_]


def test_matches_of_clouds_have_no_epipolar_geometry():
    X = get_family("translation3d").scene.make(random_state=0).data
    detector = PreferenceIsolationForest("translation3d", random_state=0).fit(X)
    assert "parallax" not in [each.code for each in detector.diagnosis_]
