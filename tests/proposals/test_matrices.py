"""Least squares in the entries of a matrix."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from piforest.families import get_family
from piforest.proposals.description import Described
from piforest.proposals.matrices import MatrixSteps

PAIRS = [
    ("homography", "homography"), ("affinity", "homography"), ("similarity", "homography"),
    ("translation", "homography"), ("fundamental", "fundamental"),
    ("affine_fundamental", "fundamental"), ("essential", "fundamental"), ("essential", "essential"),
]  # fmt: skip


@cache
def one_structure(name):
    """The rows of one structure of the scene of a family, and the model of a sample of them."""
    scene = get_family(name).scene.make(random_state=1)
    rows, family = scene.data[scene.target == 1], get_family(name)
    size, rng = family.sample_size(4), np.random.default_rng(0)
    samples = np.stack([rows[rng.permutation(len(rows))[:size]] for _ in range(50)])
    solved, valid = family.solve(samples)
    models = solved[valid]
    loss = np.median(family.residuals(rows, models), axis=0)
    best = models[np.argmin(loss)]
    sigma = float(max(np.min(loss), 1e-6))
    return rows, Described(family, best, sigma, np.ones(len(rows)), 0.0, 0.0)


@pytest.mark.parametrize(("contained", "name"), PAIRS)
def test_a_family_contains_another_with_the_same_distances(contained, name):
    rows, seed = one_structure(contained)
    steps = MatrixSteps.of(get_family(name), seed, rows)
    params = steps.params(steps.start(seed))
    before = seed.family.residuals(rows, seed.params[None])[:, 0]
    after = steps.family.residuals(rows, params[None])[:, 0]
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6 * seed.sigma)


@pytest.mark.parametrize("name", ["homography", "fundamental", "essential"])
def test_a_step_brings_the_rows_nearer_and_stays_in_the_family(name):
    rows, seed = one_structure(name)
    steps = MatrixSteps.of(seed.family, seed, rows)
    state, params = steps.start(seed), seed.params
    losses = []
    for _ in range(5):
        r = seed.family.residuals(rows, params[None])[:, 0]
        losses.append(np.sum(np.minimum(r, 3 * seed.sigma) ** 2))
        state, params = steps.step(seed, state, rows, 1.0)
    assert min(losses[1:]) < 0.98 * losses[0]
    values = np.linalg.svd(state)[1]
    if name != "homography":
        assert values[2] < 1e-9 * values[0]
    if name == "essential":
        assert values[1] == pytest.approx(values[0])


def test_other_families_have_no_such_steps():
    rows, seed = one_structure("homography")
    assert MatrixSteps.of(get_family("affinity"), seed, rows) is None
    assert MatrixSteps.of(get_family("fundamental"), seed, rows) is None
    assert MatrixSteps.of(get_family("homography"), seed, rows[:5]) is None
