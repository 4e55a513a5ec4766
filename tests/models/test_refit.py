"""Refits of models to their bands, against sums one point at a time and against known models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from naive import refinement as naive
from piforest._random import Stream
from piforest.datasets import make_circles, make_lines
from piforest.families import FAMILIES, extent, get_family
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.models.refit import can_refit, normalisation, refit_models
from piforest.sampling import resolve_sampler

LIFTED = [name for name in FAMILIES.names() if hasattr(get_family(name), "lift")]


def drawn(X, family, m=60, scale=0.05):
    models, _ = draw_models(X, get_family(family), resolve_sampler("mixed"), m, Stream(3))
    return replace(models, scale=np.full(len(models), scale))


@pytest.mark.parametrize("name", LIFTED)
def test_points_on_one_model_give_that_model(name):
    family = get_family(name)
    X = family.scene.on_one_model(60)
    frame = normalisation(family, X)
    Z = family.lift(frame.normalised(X))
    params, valid = family.refit((Z.T @ Z)[None], frame)
    assert valid.all()
    assert family.residuals(X, params).max() < 1e-6 * extent(family, X)


@pytest.mark.parametrize("name", LIFTED)
def test_moments_without_points_give_no_model(name):
    family = get_family(name)
    X = family.scene.on_one_model(60)
    size = family.lift(X).shape[1]
    with np.errstate(all="ignore"):
        _, valid = family.refit(np.zeros((2, size, size)), normalisation(family, X))
    assert not valid.any()


@pytest.mark.parametrize("family", ["line", "circle"])
def test_refits_equal_those_from_sums_of_single_points(family):
    X = (make_lines if family == "line" else make_circles)(2, sizes=40, random_state=1).data
    models = drawn(X, family)
    membership = sample_membership([models])
    own = np.array([[(X[s] == x).all(axis=1).any() for s in models.samples] for x in X])
    R, frame = models.family.residuals(X, models.params), normalisation(models.family, X)
    S = naive.moments(R, 2.5 * models.scale, own, models.family.lift(frame.normalised(X)))
    expected, valid = models.family.refit(S, frame)
    refitted = refit_models(models, X, membership).params
    assert valid.sum() > 30
    # The direction of a line has either sign.
    A, B = (models.family.residuals(X, each[valid]) for each in (refitted, expected))
    np.testing.assert_allclose(A, B, atol=1e-9)
    assert np.array_equal(refitted[~valid], models.params[~valid])


def test_a_refitted_line_minimises_the_weighted_squares():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 1, 200), rng.normal(0, 0.02, 200)])
    models = drawn(X, "line", 5, 10.0)
    no_one = sample_membership([replace(models, excludes_sample=np.zeros(len(models), bool))])
    params = refit_models(models, X, no_one).params

    def cost(p):
        line = np.array([[0.0, p[0], np.cos(p[1]), np.sin(p[1])]])
        r = models.family.residuals(X, line)[:, 0]
        return np.sum((1 - (R[:, 0] / 25) ** 2) ** 2 * r * r)

    R = models.family.residuals(X, models.params[:1])
    best = minimize(cost, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15})
    height = params[0, 1] - params[0, 0] * params[0, 3] / params[0, 2]
    assert height == pytest.approx(best.x[0], abs=1e-5)


def test_refits_reduce_the_error_of_models():
    data = make_lines(1, sizes=300, noise=0.01, anomaly_share=0.0, random_state=5)
    models = drawn(data.data, "line", 40, 0.02)
    refitted = refit_models(models, data.data, sample_membership([models]))
    raw, new = (
        np.median(m.family.residuals(data.data, m.params), axis=0) for m in (models, refitted)
    )
    assert np.median(new) < 0.7 * np.median(raw)
    assert np.quantile(new, 0.25) < 0.0075  # 0.67 noise for the true line


def test_refits_scale_exactly_with_powers_of_two():
    X = make_circles(2, sizes=40, random_state=1).data
    models = drawn(X, "circle")
    larger = replace(
        models, params=models.params * 8, points=models.points * 8, scale=models.scale * 8
    )
    one = refit_models(models, X, sample_membership([models])).params
    eight = refit_models(larger, X * 8, sample_membership([larger])).params
    assert np.array_equal(one * 8, eight)


def test_maps_between_images_are_not_refitted_to_bands():
    assert can_refit(get_family("plane"))
    assert not can_refit(get_family("homography"))
    assert not can_refit(get_family("fundamental"))
