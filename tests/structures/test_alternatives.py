"""Structures of matches that are judged together."""

from __future__ import annotations

import numpy as np
import pytest

import naive.local_shares as naive
from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.bands.evidence import full_band_table
from piforest.bands.ladder import ladder_of, narrow_grid
from piforest.datasets import make_lines, make_motion_pair, make_plane_pair
from piforest.families import get_family
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.sampling import get_sampler
from piforest.structures.alternatives import better_described, mixes_structures
from piforest.structures.greedy import BandCounts, Candidate
from piforest.structures.local_models import best_candidate
from piforest.structures.mixture import Mixture


def facade(noise=0.7, tilt=0.1, seed=0):
    """Matches of two walls side by side, a few degrees apart, and the wall of each."""
    rng = np.random.default_rng(seed)
    x = rng.uniform([-0.5, -0.4], [0.5, 0.4], (300, 2))
    right = x[:, 0] > 0.02
    normal = np.where(right[:, None], [tilt, 0.0, 1.0], [-tilt, 0.0, 1.0])
    depth = 5.0 / (normal[:, 0] * x[:, 0] + normal[:, 2])
    there = x - np.outer(1 / depth, [0.9, 0.05])
    X = 1500 * np.column_stack([x, there])
    return X + rng.normal(0, noise, X.shape), right.astype(int)


def counts_of(X, family="homography", n_models=200):
    models, _ = draw_models(X, get_family(family), get_sampler("mixed"), n_models, Stream(1))
    ladder = ladder_of(models.family, X, narrow_grid(models.family, X), Stream(2))
    return BandCounts(X, models, full_band_table(X, models, sample_membership([models]), ladder))


def one_for_all(bands):
    """The widest good structure, as a search may find it."""
    R = bands.family.residuals(bands.X, bands.models.params)
    widest = int(np.argmin(np.median(R, axis=0)))
    return best_candidate(bands, bands.models.params[widest][None], np.arange(len(R)))


@pytest.mark.parametrize("family", ["homography", "fundamental"])
def test_rounds_are_those_of_a_loop_over_rows(family):
    maker = make_plane_pair if family == "homography" else make_motion_pair
    X = maker(2, random_state=3).data[::2]
    bands = counts_of(X, family)
    mixture = Mixture(bands.family, X)
    params, sigmas = bands.models.params[:3], np.array([2.0, 5.0, 9.0])
    size, c = mixture.size, bands.codimension
    R = mixture.residuals(params)
    shares = np.full((len(X), 4), 0.25)
    for _ in range(2):  # the models stay in the first two rounds
        P, _ = naive.posterior(R, sigmas, shares, size, c)
        shares = naive.local_shares(P, X)
        enough = P[:, 1:].sum(axis=0) > bands.family.sample_size(4) + 1
        new = naive.noise(R, sigmas, P[:, 1:], size, c, mixture.freedom)
        sigmas = np.where(enough, new, sigmas)
    P, density = naive.posterior(R, sigmas, shares, size, c)
    found = mixture.describe(params, np.array([2.0, 5.0, 9.0]), 2)
    np.testing.assert_allclose(found.sigmas, sigmas, rtol=1e-9)
    np.testing.assert_allclose(found.shares, shares, atol=1e-9)
    np.testing.assert_allclose(found.posterior, P, atol=1e-9)
    np.testing.assert_allclose(found.density, density, rtol=1e-9, atol=1e-9)
    price = mixture.prices(sigmas).sum()
    assert found.evidence == pytest.approx(density.sum() - price)


def test_what_the_rows_lose_without_a_structure_is_that_of_shares_without_it():
    X, _ = facade()
    mixture = Mixture(get_family("homography"), X)
    params, sigmas = mixture.local_models(np.arange(0, 300, 60), 24)
    found = mixture.describe(params, sigmas, 4)
    k = 1
    logs = mixture.log_ratios(mixture.residuals(found.params), found.sigmas)
    densities = np.column_stack([np.ones(len(X)), np.exp(logs)])
    left = np.delete(found.shares, k + 1, axis=1)
    left /= left.sum(axis=1, keepdims=True)
    without = np.log(np.sum(left * np.delete(densities, k + 1, axis=1), axis=1))
    assert found.losses()[k] == pytest.approx((found.density - without).sum(), rel=1e-6)


def test_local_models_of_exact_planes_are_these_planes():
    X, _ = facade(noise=0.0)
    mixture = Mixture(get_family("homography"), X)
    params, sigmas = mixture.local_models(np.arange(40), 12)
    assert len(params) == len(sigmas) > 30
    far = get_family("homography").residuals(X[:40], params)
    assert np.median(np.min(far, axis=1)) < 1e-3


def test_one_structure_for_two_walls_becomes_two():
    X, right = facade()
    bands = counts_of(X)
    one = one_for_all(bands)
    found = better_described([one], np.ones(len(X), bool), Stream(0))
    assert len(found) == 2
    R = np.column_stack([each.structure().residuals(X) / each.half_width for each in found])
    wall = np.argmin(R, axis=1)
    assert max(np.mean(wall == right), np.mean(wall != right)) > 0.9


def test_two_structures_for_one_wall_become_one():
    X, _ = facade(tilt=0.0)
    bands = counts_of(X)
    halves = [
        best_candidate(bands, bands.models.params, np.flatnonzero(side))
        for side in (X[:, 0] > 0, X[:, 0] <= 0)
    ]
    found = better_described(halves, np.ones(len(X), bool), Stream(0))
    assert len(found) == 1


def test_units_do_not_matter():
    X, _ = facade()
    numbers = []
    for scale in (1.0, 1 / 1024):
        bands = counts_of(scale * X)
        found = better_described([one_for_all(bands)], np.ones(len(X), bool), Stream(0))
        numbers.append(len(found))
    assert numbers == [2, 2]


def test_other_families_and_rows_that_say_nothing_stay_as_they_are():
    assert mixes_structures(get_family("homography"))
    assert mixes_structures(get_family("fundamental"))
    assert not mixes_structures(get_family("line"))
    assert not mixes_structures(get_family("translation"))
    X = make_lines(2, random_state=0).data
    lines = counts_of(X, "line")
    one = Candidate(lines, lines.models.params[0], 0.1, 50.0)
    assert better_described([one], np.ones(len(X), bool), Stream(0)) == [one]
    assert better_described([], np.ones(len(X), bool), Stream(0)) == []
    matches = counts_of(facade()[0])
    one = one_for_all(matches)
    few = np.zeros(len(matches.X), bool)
    few[:12] = True
    assert better_described([one], few, Stream(0)) == [one]
    flat = facade()[0]
    flat[:, 3] = 7.0
    flat_bands = BandCounts(flat, matches.models, full_band_table(
        flat, matches.models, sample_membership([matches.models]), matches.ladder))  # fmt: skip
    one = one._replace(bands=flat_bands)
    assert better_described([one], np.ones(len(flat), bool), Stream(0)) == [one]


@pytest.mark.slow
def test_two_walls_a_few_degrees_apart_are_found():
    X, right = facade(tilt=0.05, seed=4)
    rng = np.random.default_rng(0)
    X = np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (150, 4))])
    detector = PreferenceIsolationForest("homography", random_state=0).fit(X)
    assert len(detector.structures_) == 2
    assert np.mean(detector.labels_[: len(right)] == 1) > 0.95
