"""Laws of the search for structures, and its steps on their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest._threads import thread_limit
from piforest.bands.evidence import full_band_table
from piforest.bands.ladder import ladder_of, narrow_grid
from piforest.datasets import make_lines, make_plane_pair
from piforest.families import get_family
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.sampling import get_sampler
from piforest.structures import unions
from piforest.structures.greedy import BandCounts, Candidate, greedy, significance_limit
from piforest.structures.local_models import best_candidate, local_bands, models_of, refine
from piforest.structures.search import _divided, find_structures
from piforest.structures.unions import _Unions, union_of, united


def counts_of(X, family="line", n_models=300):
    models, _ = draw_models(X, get_family(family), get_sampler("mixed"), n_models, Stream(1))
    ladder = ladder_of(models.family, X, narrow_grid(models.family, X), Stream(2))
    return BandCounts(X, models, full_band_table(X, models, sample_membership([models]), ladder))


def parallel_lines(k, noise=0.005, gap=8.0, seed=0):
    """k parallel lines `gap` sigmas apart, 120 points each, among 100 others."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (k, 120))
    heights = (np.arange(k) - (k - 1) / 2) * gap * noise
    y = heights[:, None] + rng.normal(0, noise, x.shape)
    points = np.column_stack([x.ravel(), 0.3 * x.ravel() + y.ravel()])
    return np.concatenate([points, rng.uniform(-1, 1, (100, 2))])


@pytest.fixture(scope="module")
def scene():
    X = make_lines(4, sizes=80, noise=0.008, anomaly_share=0.3, random_state=8).data
    return counts_of(X)


def all_of(bands):
    return np.ones(len(bands.X), bool)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_five_parallel_lines_eight_sigmas_apart_are_found(seed):
    X = parallel_lines(5, seed=seed)
    found = PreferenceIsolationForest("line", random_state=seed).fit(X).structures_
    assert len(found) == 5
    for each in found:
        assert len(np.unique(each.members[each.members < 600] // 120)) <= 2
        assert each.half_width < 0.03


@pytest.mark.slow
def test_the_search_scales_with_the_unit_of_length_and_needs_no_threads(scene):
    one = find_structures([scene], all_of(scene), Stream(5))
    with thread_limit(1):
        alone = find_structures([scene], all_of(scene), Stream(5))
    larger = find_structures([counts_of(8 * scene.X)], all_of(scene), Stream(5))
    assert len(one) == len(alone) == len(larger) == 4
    for a, b, c in zip(one, alone, larger):
        assert np.array_equal(a.params, b.params)
        assert np.array_equal(a.members, c.members)
        assert c.half_width == 8 * a.half_width
        assert c.log_ratio == pytest.approx(a.log_ratio)


@pytest.mark.parametrize("family", ["homography", "fundamental"])
def test_unrelated_matches_have_no_structures(family):
    X = np.random.default_rng(3).uniform(0, 600, (150, 4))
    assert find_structures([counts_of(X, family)], np.ones(150, bool), Stream(0)) == []


@pytest.mark.parametrize("family", ["line", "circle"])
def test_few_sets_of_random_points_have_structures(family):
    found = 0
    for seed in range(6):
        X = np.random.default_rng(seed).uniform(size=(200, 2))
        found += len(find_structures([counts_of(X, family)], np.ones(200, bool), Stream(seed)))
    assert found <= 1


def test_a_wide_band_around_two_lines_is_divided():
    X = parallel_lines(2, gap=20.0)
    bands, among = counts_of(X), np.arange(len(X)) < 240
    direction = np.array([1, 0.3]) / np.hypot(1, 0.3)
    middle = np.concatenate([[0.0, 0.0], direction])
    wide = best_candidate(bands, middle[None], np.flatnonzero(among))
    assert wide.half_width > 0.04
    parts = _divided([wide], among, significance_limit([bands]), Stream(1))
    assert len(parts) == 2
    assert max(each.half_width for each in parts) <= wide.half_width / 2


def test_one_line_is_not_divided():
    X = parallel_lines(1)
    bands, among = counts_of(X), np.arange(len(X)) < 120
    limit = significance_limit([bands])
    found = refine(greedy([bands], among, 3.0), among, limit, Stream(0))
    assert len(_divided(found, among, limit, Stream(1))) == len(found) == 1


def test_two_models_of_one_line_are_united_and_those_of_two_lines_are_not():
    X = parallel_lines(2, gap=20.0)
    bands, limit = counts_of(X), significance_limit([counts_of(X)])
    among = np.arange(len(X)) < 240
    found = refine(greedy([bands], among, 3.0, look_ahead=True), among, limit, Stream(0))
    assert len(found) == 2
    assert len(united(found, among, limit, Stream(1))) == 2
    first, *rest = found
    shifted = first.params.copy()
    shifted[1] += 0.1 * first.half_width
    # Each explains half of the points, so together they have the evidence of one.
    twice = [
        first._replace(log_ratio=first.log_ratio / 2, params=p) for p in (first.params, shifted)
    ]
    assert len(united([*twice, *rest], among, limit, Stream(1))) == 2


def pieces_of_a_curve(n_pieces, seed=0):
    """Pieces of a parabola, among points: neighbours are nearly on one line."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, 400)
    curve = np.column_stack([x, 0.4 * x**2 + rng.normal(0, 0.004, 400)])
    bands = counts_of(np.concatenate([curve, rng.uniform(-1, 1, (100, 2))]))
    found = []
    for at in np.linspace(-0.95, 0.95, n_pieces):
        slope = np.array([1, 0.8 * at]) / np.hypot(1, 0.8 * at)
        params = np.array([[at, 0.4 * at**2, *slope]])
        near = np.flatnonzero(np.abs(bands.X[:, 0] - at) < 1.2 / n_pieces)
        found.append(best_candidate(bands, params, near))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_unions_equal_those_of_trying_every_pair_again(seed):
    found = pieces_of_a_curve(9, seed)
    among, limit = all_of(found[0].bands), significance_limit([found[0].bands])
    fast = united(found, among, limit, Stream(seed))
    slow = naive.united(found, among, limit, Stream(seed))
    assert 1 < len(fast) == len(slow) <= len(found) - 2
    for a, b in zip(fast, slow):
        assert np.array_equal(a.params, b.params)
        assert (a.half_width, a.log_ratio) == (b.half_width, b.log_ratio)


@pytest.mark.slow
def test_a_pair_that_did_not_change_is_not_tried_again(monkeypatch):
    found, tried = pieces_of_a_curve(16), []
    among, limit = all_of(found[0].bands), significance_limit([found[0].bands])

    def counting(pair, *rest):
        tried.append(pair)
        return union_of(pair, *rest)

    monkeypatch.setattr(unions, "union_of", counting)
    n_united = len(found) - len(united(found, among, limit, Stream(0)))
    first = len(naive.neighbours(dict(enumerate(found)), among))
    assert n_united >= 3
    assert len(tried) < first * (n_united + 1) / 1.5


def test_structures_are_united_with_their_nearest_ones_only():
    X = parallel_lines(5, gap=30.0)
    bands = counts_of(X)
    direction = np.array([1, 0.3]) / np.hypot(1, 0.3)
    found = [
        Candidate(bands, np.array([0.0, (k - 2) * 0.15, *direction]), 0.01, 50.0) for k in range(5)
    ]
    pairs = _Unions(found, np.arange(len(X)) < 600, 10.0, Stream(0))._neighbours()
    assert {(0, 1), (1, 2), (2, 3), (3, 4)} <= set(pairs)
    assert (0, 4) not in pairs


def test_local_models_are_measured_like_any_others(scene):
    rows = np.arange(0, len(scene.X), 2)
    local = local_bands(scene, rows, 50, Stream(1))
    R = local.family.residuals(scene.X[rows], local.models.params)
    for j, sample in enumerate(local.models.samples):
        R[sample, j] = np.inf
    inside = [(w >= R).sum(axis=0) for w in local.widths]
    assert np.array_equal(np.cumsum(local.counts[::-1], axis=0)[::-1], inside)
    assert local.models.n_candidates == scene.models.n_candidates + len(local.models)
    assert local_bands(scene, rows[:2], 50, Stream(1)) is None


def test_the_counts_of_some_rows_are_those_of_these_rows(scene):
    rows = np.arange(3, len(scene.X), 3)
    some, left = scene.of_rows(rows), np.setdiff1d(np.arange(len(scene.X)), rows)
    assert np.array_equal(some.counts, scene.without(scene.counts, left))
    assert np.array_equal(some.X, scene.X[rows])


@pytest.mark.parametrize("family", ["homography", "line"])
def test_least_squares_are_nearer_to_the_points_than_minimal_samples(family):
    X = (
        make_plane_pair(1, sizes=150, anomaly_share=0.0, random_state=2).data
        if family == "homography"
        else parallel_lines(1)[:120]
    )
    bands = counts_of(X, family)
    models = models_of(greedy([bands], all_of(bands), 3.0)[0], np.arange(len(X)), Stream(3))
    errors = np.sqrt(np.mean(bands.family.residuals(X, models) ** 2, axis=0))
    assert len(models) > 50
    # The weights differ from those of a mean square.
    assert errors[2] <= 1.01 * np.min(np.delete(errors, [1, 2]))


def test_too_few_points_keep_their_model(scene):
    candidate = Candidate(scene, scene.models.params[0], 0.1, 1.0)
    assert np.array_equal(models_of(candidate, np.arange(2), Stream(0)), candidate.params[None])
    assert refine([], all_of(scene), 10.0, Stream(0)) == []


def test_without_local_models_the_drawn_ones_are_used(scene):
    class NoSolution(type(scene.family)):
        def solve(self, samples):
            params, valid = super().solve(samples)
            return params, np.zeros_like(valid)

    none = replace(scene.models, family=NoSolution())
    bands = BandCounts(scene.X, none, (scene.ladder, scene.bins, scene.counts, None))
    assert local_bands(bands, np.arange(100), 50, Stream(0)) is None
    assert len(find_structures([bands], all_of(bands), Stream(5))) == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 9])
def test_the_halves_of_a_line_are_not_two_structures(seed):
    X = make_lines(2, sizes=200, noise=0.02, anomaly_share=0.3, random_state=seed).data
    assert len(PreferenceIsolationForest("line", random_state=0).fit(X).structures_) == 2
