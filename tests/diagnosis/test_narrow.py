"""Bands that are narrower than the noise of their structure."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.diagnosis.narrow import about_narrow_bands
from piforest.families import get_family
from piforest.structures.greedy import Structure


def _line(half_width, sigma, noise="normal", n=2000, seed=0):
    """Points about y = 0, uniform ones, and a structure with that band."""
    rng = np.random.default_rng(seed)
    y = rng.laplace(0, 0.01, n) if noise == "laplace" else rng.normal(0, 0.01, n)
    X = np.concatenate([np.column_stack([rng.uniform(-1, 1, n), y]), rng.uniform(-1, 1, (n, 2))])
    params, _ = get_family("line").solve(np.array([[[-1.0, 0.0], [1.0, 0.0]]]))
    return X, Structure(
        get_family("line"), params[0, 0], half_width, 1e3, np.arange(n), sigma
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("half_width", "sigma"), [(0.02, 0.01), (0.015, 0.01), (0.03, 0.012)])
def test_a_band_of_the_noise_is_no_finding(half_width, sigma, seed):
    X, structure = _line(half_width, sigma, seed=seed)
    assert list(about_narrow_bands(X, [structure])) == []
    X, structure = _line(1.2 * half_width, 1.2 * sigma, "laplace", seed=seed)
    assert list(about_narrow_bands(X, [structure])) == []


@pytest.mark.parametrize("part", [0.3, 0.5])
def test_a_narrower_band_is_one_and_the_noise_is_told(part):
    X, structure = _line(part * 0.02, part * 0.01)
    (found,) = about_narrow_bands(X, [structure])
    assert found.code == "narrow_band"
    told = float(found.advice.split("sigma=")[1].split(" ")[0])
    assert told == pytest.approx(0.01, rel=0.15)
    # What is beside it belongs to others.
    wide = Structure(structure.family, structure.params, 0.2, 1e3, structure.members, 0.1)
    both = about_narrow_bands(X, [structure, wide])
    assert not any("structure 0" in each.text for each in both)


@pytest.mark.slow
def test_a_noisy_sphere_with_a_narrow_band_says_so():
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(500, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    X = np.concatenate([sphere + rng.normal(0, 0.1, (500, 3)), rng.uniform(-1.4, 1.4, (214, 3))])
    detector = PreferenceIsolationForest("sphere", random_state=0).fit(X)
    assert "narrow_band" in [each.code for each in detector.diagnosis_] or detector.sigma_ > 0.08
