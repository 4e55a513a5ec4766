from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_room
from piforest.structures.dependence import patch_size


def grid(n=60):
    return np.stack(np.meshgrid(np.arange(n), np.arange(n)), -1).reshape(-1, 2).astype(float)


def smooth(width, n=60, seed=0):
    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(n, n)), width, mode="wrap")
    return np.abs(noise / noise.std()).ravel()


def test_independent_errors_have_patches_of_one_point():
    residuals = np.abs(np.random.default_rng(0).normal(size=3600))
    assert 1 <= patch_size(grid(), residuals, Stream(0)) < 2


def test_the_wider_the_bumps_the_larger_the_patches():
    sizes = [patch_size(grid(), smooth(width), Stream(0)) for width in (1, 2, 4)]
    assert 3 < sizes[0] < sizes[1] < sizes[2]


def naive_patch_size(places, residuals, some):
    """The same, neighbour by neighbour."""
    z = (residuals - np.mean(residuals)) / np.std(residuals)
    most = min(512, len(places) // 4)
    octaves = [[] for _ in range(20)]
    for i in some:
        distances = np.linalg.norm(places - places[i], axis=1)
        distances[i] = -1
        for rank, j in enumerate(np.argsort(distances, kind="stable")[1 : most + 1]):
            octaves[rank.bit_length()].append(z[i] * z[j])
    size = 1.0
    for products in octaves:
        if not products or np.mean(products) < 0.1:
            break
        size += np.mean(products) * len(products) / len(some)
    return size


def test_the_size_equals_the_naive_one():
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(200, 2))  # fewer than 300: all are looked at
    residuals = np.abs(np.sin(7 * places[:, 0]) + rng.normal(0, 0.1, 200))
    found = patch_size(places, residuals, Stream(0))
    assert found == pytest.approx(naive_patch_size(places, residuals, range(200)))
    assert found > 2


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_few_points_and_exact_ones_have_no_patches(n):
    assert patch_size(grid()[:n], np.zeros(n), Stream(0)) == 1


def bumpy_corner(bump, seed=0):
    """Two faces that meet in an edge, 200 mm wide, with bumps; the depth is in millimetres."""
    x, y = np.moveaxis(grid(90).reshape(90, 90, 2) * 2.2, -1, 0)
    z = 0.2 * x + np.maximum(x - 120, 0) * 1.5 + bump * (smooth(9, 90, seed) - 0.8).reshape(90, 90)
    return np.stack([x, y, np.round(z)], -1).reshape(-1, 3)


@pytest.mark.slow
def test_bumps_of_a_depth_camera_are_no_planes():
    for seed in range(2):
        X = bumpy_corner(6.0, seed)
        found = PreferenceIsolationForest("plane", random_state=seed).fit(X).structures_
        assert 2 <= len(found) <= 5


@pytest.mark.slow
def test_rooms_with_independent_noise_keep_all_walls():
    X = make_room(6, sizes=300, noise=0.01, anomaly_share=0.1, random_state=1).data
    assert len(PreferenceIsolationForest("plane", random_state=1).fit(X).structures_) == 6
