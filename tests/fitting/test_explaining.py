from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from naive import explaining as naive
from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest._threads import thread_limit
from piforest.bands.evidence import full_band_table
from piforest.bands.ladder import ladder_of, narrow_grid
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.fitting.explaining import drop_explained, unexplained, with_unexplained
from piforest.models.drawing import draw_models, joined
from piforest.models.membership import sample_membership
from piforest.sampling import get_sampler
from piforest.structures.greedy import BandCounts, evidence_rows, greedy, significance_limit


def ladder(family, X):
    return ladder_of(get_family(family), X, narrow_grid(get_family(family), X), Stream(2))


def drawn(family, X, m):
    return draw_models(X, get_family(family), get_sampler("uniform"), m, Stream(1))[0]


def room(n, seed=0, panel=0.01):
    """Two large walls and a small panel among uniform points."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 3))
    wall = np.repeat([1, 2, 3, 0], [int(0.45 * n), int(0.4 * n), int(panel * n), 0])
    y = np.append(wall, np.zeros(n - len(wall), int))
    noise = rng.normal(0, 0.002, n)
    X[y == 1, 2] = noise[y == 1]
    X[y == 2, 0] = noise[y == 2]
    X[y == 3, 1] = 0.5 + noise[y == 3]
    X[y == 3, ::2] = 0.3 + 0.3 * X[y == 3, ::2]
    return X, y


def near_panel(models, X, y):
    """How many models contain the panel."""
    return np.sum(np.median(models.family.residuals(X[y == 3], models.params), axis=0) < 0.005)


def test_models_of_unexplained_rows_find_a_panel_that_the_drawn_ones_miss():
    X, y = room(10_000)
    models = drawn("plane", X, 500)
    more = with_unexplained(models, X, ladder("plane", X), Stream(3))
    assert near_panel(models, X, y) == 0
    assert near_panel(more, X, y) > 5
    assert np.array_equal(more.params[: len(models)], models.params)
    assert np.array_equal(more.points, X[np.unique(more.samples)])
    assert more.n_candidates > len(models)


def test_nothing_is_added_if_nothing_stands_out():
    X = np.random.default_rng(0).uniform(size=(6000, 3))
    models = drawn("plane", X, 300)
    assert with_unexplained(models, X, ladder("plane", X), Stream(3)) is models


def test_added_models_depend_on_neither_threads_nor_the_unit_of_length():
    X, _ = room(6000)
    models = drawn("plane", X, 300)
    one = with_unexplained(models, X, ladder("plane", X), Stream(3))
    with thread_limit(1):
        alone = with_unexplained(models, X, ladder("plane", X), Stream(3))
    assert np.array_equal(one.params, alone.params)
    larger = with_unexplained(drawn("plane", 8 * X, 300), 8 * X, ladder("plane", 8 * X), Stream(3))
    assert np.array_equal(one.samples, larger.samples)


@pytest.mark.slow
def test_explained_models_equal_the_naive_ones():
    X = make_lines(3, sizes=200, noise=0.004, anomaly_share=0.2, random_state=1).data
    models, steps = drawn("line", X, 400), ladder("line", X)
    bands = BandCounts(X, models, full_band_table(X, models, sample_membership([models]), steps))
    found = greedy([bands], evidence_rows([bands], np.ones(len(X), bool)), 2.0)
    R = models.family.residuals(X, models.params)
    own = np.zeros(R.shape, bool)
    for j, sample in enumerate(models.samples):
        own[sample, j] = True
    lines = [(models.family.residuals(X, s.params[None])[:, 0], s.half_width) for s in found]
    limit = significance_limit([bands])
    expected = naive.unexplained(R, own, bands.widths, 1, lines, limit)
    assert np.array_equal(unexplained(models, X, steps), expected)
    assert 0 < expected.sum() < len(models)


def test_the_structures_themselves_are_never_dropped():
    X, _ = room(4000)
    models, steps = drawn("plane", X, 600), ladder("plane", X)
    (left,), (factors,) = drop_explained(
        [models], [np.arange(600.0)], [X], [steps], Stream(4)
    )  # fmt: skip
    assert len(left) == len(factors) < len(models)
    assert np.array_equal(left.params, models.params[factors.astype(int)])
    bands = BandCounts(X, models, full_band_table(X, models, sample_membership([models]), steps))
    best = greedy([bands], np.ones(len(X), bool), 2.0)[0]
    assert (left.params == best.params).all(axis=1).any()


def test_models_that_are_not_refitted_are_not_dropped():
    X = np.random.default_rng(1).uniform(size=(100, 4))
    models = drawn("homography", X, 50)
    (left,), _ = drop_explained(
        [models], [np.ones(50)], [X], [ladder("homography", X)], Stream(4)
    )  # fmt: skip
    assert left is models


def test_joined_models_are_those_of_all_parts():
    X, _ = room(500)
    models = drawn("plane", X, 60)
    parts = [models.take(np.arange(20)), models.take(np.arange(20, 60))]
    both = joined(parts)
    assert np.array_equal(both.params, models.params)
    assert np.array_equal(both.points, models.points)
    assert joined(parts[:1]) is parts[0]
    assert both.excludes_sample is None


def test_joined_models_keep_which_of_them_exclude_their_samples():
    X = np.random.default_rng(0).uniform(size=(50, 2))
    one, two = (
        draw_models(X, get_family("line"), get_sampler("uniform"), 20, Stream(seed))[0]
        for seed in (1, 2)
    )
    excludes = np.arange(20) % 2 == 0
    for parts, expected in (
        ([replace(one, excludes_sample=excludes), two], np.append(excludes, np.ones(20))),
        ([one, replace(two, excludes_sample=excludes)], np.append(np.ones(20), excludes)),
    ):
        assert np.array_equal(joined(parts).excludes_sample, expected)


@pytest.mark.slow
def test_a_panel_of_two_per_cent_is_found_and_not_flagged():
    X, y = room(12_000, seed=3, panel=0.02)
    detector = PreferenceIsolationForest("plane", random_state=0).fit(X)
    flagged = detector.predict(X) == -1
    assert flagged[y == 3].mean() < 0.2
    assert flagged[y == 0].mean() > 0.8
    assert len(detector.structures_) == 3
