"""Concentration steps, against a loop over models and points and against known laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from naive import refinement as naive
from piforest._random import Stream
from piforest.families import get_family
from piforest.models.concentration import can_concentrate, concentrate
from piforest.models.drawing import draw_models
from piforest.sampling import resolve_sampler
from scenes import two_laws


def starts(X, m=12):
    family = get_family("linear_regression")
    return draw_models(X, family, resolve_sampler("uniform"), m, Stream(3))[0]


def slopes(models):
    return models.family.coefficients(models.params)


@pytest.mark.slow
def test_steps_equal_weighted_least_squares_of_one_model_at_a_time():
    X, _ = two_laws(8, 200, seed=1)
    models = starts(X)
    moved = slopes(concentrate(models, X, 0.75))
    for start, found in zip(slopes(models), moved):
        np.testing.assert_allclose(naive.concentrate(start, X, 0.75), found, atol=1e-6)


@pytest.mark.slow
def test_impure_samples_move_to_a_law():
    X, target = two_laws(16, 1000, seed=2)
    laws = [naive.least_squares(X[target == k], np.ones(np.sum(target == k))) for k in (1, 2)]
    models = starts(X, 16)
    errors = [
        [
            min(np.linalg.norm(each - law) / np.linalg.norm(law) for law in laws)
            for each in slopes(m)
        ]
        for m in (models, concentrate(models, X, 0.75))
    ]
    assert np.min(errors[0]) > 0.5
    assert np.mean(np.array(errors[1]) < 0.1) > 0.8


def test_a_model_does_not_depend_on_the_others():
    X, _ = two_laws(8, 200, seed=3)
    models = starts(X)
    together = concentrate(models, X, 0.6).params
    for j in range(len(models)):
        alone = concentrate(models.take(np.array([j])), X, 0.6).params
        assert np.array_equal(alone[0], together[j])


def test_scaling_the_data_by_a_power_of_two_scales_the_models():
    X, _ = two_laws(8, 200, seed=4)
    one, eight = (
        concentrate(replace(starts(rows), scale=np.ones(12)), rows, 0.75) for rows in (X, 8 * X)
    )
    A, B = one.family.residuals(X, one.params), eight.family.residuals(8 * X, eight.params)
    np.testing.assert_allclose(8 * A, B, rtol=1e-6, atol=1e-9)


def test_rows_that_determine_no_model_leave_it_as_it_is():
    X, _ = two_laws(8, 200, seed=5)
    models = starts(X)
    same = np.repeat(X[:1], 50, axis=0)
    assert np.array_equal(concentrate(models, same, 0.75).params, models.params)


@pytest.mark.parametrize(
    ("family", "d", "large"),
    [
        ("linear_regression", 5, False),
        ("linear_regression", 6, True),
        ("hyperplane", 6, True),
        ("plane", 3, False),
        ("circle", 2, False),
        ("polynomial_regression", 3, True),
        ("fundamental", 4, False),
    ],
)
def test_only_large_samples_of_families_with_a_lift_are_concentrated(family, d, large):
    assert can_concentrate(get_family(family), d) == large
