"""Surfaces without noise: rounding errors are no defects, and real ones are found beside them."""

from __future__ import annotations

import numpy as np
import pytest

from piforest._exact_surface import _residuals, on_exact_surface
from piforest.surfaces import inspect_surface

Y, X = np.mgrid[:60, :60].astype(float)
RAMP = 3.0 * X
BOWL = 0.002 * (X - 30) ** 2 + 0.001 * (Y - 20) ** 2
GREY = np.round(20 + 180 * X / 59)
EXACT = {"ramp": RAMP, "bowl": BOWL, "8 bits": GREY, "far away": 1e6 + BOWL, "fine": 1e-9 * BOWL}


@pytest.mark.parametrize("name", EXACT)
def test_all_pixels_of_an_exact_surface_are_on_it(name):
    assert on_exact_surface(EXACT[name], 59).all()


@pytest.mark.parametrize("name", ["ramp", "bowl", "8 bits"])
@pytest.mark.parametrize("side", [6, 25])
def test_pixels_of_a_dent_are_not(name, side):
    dent = np.zeros((60, 60), bool)
    dent[20 : 20 + side, 28 : 28 + side] = True
    on = on_exact_surface(EXACT[name] - 3 * dent, 59)
    assert not on[dent].any()
    if side == 6:
        assert on[~dent].all()


def test_noise_is_left_to_the_detector():
    noise = np.random.default_rng(0).normal(size=X.shape)
    assert not on_exact_surface(RAMP + 0.01 * noise, 59).any()
    assert not on_exact_surface(np.round(GREY + 0.6 * noise), 59).any()
    assert not on_exact_surface(np.full((20, 20), np.nan), 59).any()


def test_residuals_are_those_of_the_surface_beside_a_dent():
    dent = np.zeros((60, 60), bool)
    dent[10:25, 10:30] = True
    noise = 1e-6 * np.random.default_rng(0).uniform(-1, 1, X.shape)
    A = np.stack([X**i * Y**j for i in range(3) for j in range(3 - i)], axis=-1).reshape(-1, 6)
    surface, *_ = np.linalg.lstsq(A[~dent.ravel()], (BOWL + noise)[~dent], rcond=None)
    wanted = np.abs((BOWL + noise - 0.5 * dent).ravel() - A @ surface).reshape(X.shape)
    np.testing.assert_allclose(_residuals(BOWL + noise - 0.5 * dent), wanted, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ramp", "bowl", "8 bits"])
def test_an_exact_map_has_no_defects_and_a_dent_in_it_is_one(name):
    perfect = inspect_surface(EXACT[name], random_state=0)
    assert (perfect.defects, int(perfect.flagged.sum())) == ([], 0)
    dented = EXACT[name].copy()
    dented[20:26, 30:36] -= 9
    found = inspect_surface(dented, random_state=0)
    assert [each.box for each in found.defects] == [(30, 20, 36, 26)]
