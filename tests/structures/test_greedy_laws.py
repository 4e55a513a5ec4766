"""Greedy selection on horizontal lines, whose counts can be written down."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import naive
from piforest._random import Stream
from piforest.bands.evidence import full_band_table, least_ratio
from piforest.bands.ladder import Grid, Ladder, binomial_ratios, log_likelihood_ratios
from piforest.families import get_family, marginal_rows
from piforest.models.drawing import ModelSet
from piforest.models.membership import sample_membership
from piforest.models.refit import ROWS_EACH
from piforest.structures import greedy as selection
from piforest.structures.greedy import (
    BandCounts,
    Candidate,
    evidence_rows,
    greedy,
    greedy_structures,
    members_of,
    nearest_of,
    relative_distances,
    significance_limit,
    weighted_sigma,
)

LINE, NO_BAND = get_family("line"), 255
WIDTHS = 0.36 * 2.0 ** (-np.arange(15) / 2)


def lines_at(heights, X, widths=WIDTHS, n_wide=0, null=None, n_drawn=0):
    """Models y = height, whose samples are the first two rows."""
    params = np.array([[0.0, height, 1.0, 0.0] for height in heights])
    m = len(params)
    samples, ones = np.tile([0, 1], (m, 1)), np.ones(m)
    models = ModelSet(LINE, params, samples, X[:2], ones, ones, n_drawn=n_drawn)
    ladder = Ladder(Grid(np.asarray(widths), n_wide), null)
    table = full_band_table(X, models, sample_membership([models]), ladder)
    return BandCounts(X, models, table)


def points(*heights, n=200):
    """Points at these heights, after two samples far away and others in between."""
    rng = np.random.default_rng(0)
    y = np.concatenate([[50.0, 60.0], *(np.full(n, height) for height in heights),
                        rng.uniform(-1, 1, 60)])  # fmt: skip
    return np.column_stack([rng.uniform(0, 1, len(y)), y])


@pytest.mark.parametrize("reach", [2.0, 3.0])
def test_greedy_selection_equals_the_naive_one(reach):
    rng = np.random.default_rng(1)
    X = points(-0.5, 0.0, 0.6, n=40)
    X[2:, 1] += rng.normal(0, 0.004, len(X) - 2)
    heights = [-0.5, 0.0, 0.6, 0.05, -0.45, *rng.uniform(-1, 1, 15)]
    bands = lines_at(heights, X)
    R = np.abs(X[:, 1:] - np.array(heights))
    own = np.zeros(R.shape, bool)
    own[:2] = True
    limit = significance_limit([bands])
    expected = naive.greedy(R, own, WIDTHS, 1, reach, limit)
    found = greedy_structures([bands], reach)
    assert len(found) == len(expected) >= 3
    for structure, (model, width, ratio) in zip(found, expected):
        assert structure.params[1] == heights[model]
        assert structure.half_width == width
        assert structure.log_ratio == pytest.approx(ratio)
        assert structure.sigma == width / 2
        assert structure.members.shape == (0,)


def test_a_candidate_is_a_structure_without_members():
    bands = SimpleNamespace(family=LINE)
    structure = Candidate(bands, np.array([0.0, 1.0, 1.0, 0.0]), 0.5, 7.0).structure()
    assert (structure.half_width, structure.log_ratio, structure.sigma) == (0.5, 7.0, 0.25)
    assert len(structure.members) == 0


def at_points(X):
    """Bands of lines of which only the distances are asked for."""
    return SimpleNamespace(distances=lambda params: LINE.residuals(X, params[None])[:, 0])


def test_points_within_reach_are_those_that_are_active():
    X = np.array([[0.0, 0.0], [0.0, 1.5], [0.0, np.nextafter(1.5, 2)], [0.0, -1.5], [0.0, 0.1]])
    candidate = Candidate(at_points(X), np.array([0.0, 0, 1, 0]), 0.5, 1.0)
    active = np.array([True, True, True, True, False])
    assert selection._within_reach(candidate, active, 3.0).tolist() == [0, 1, 3]
    assert selection._within_reach(candidate, active, 1.0).tolist() == [0]


def test_distances_are_kept_and_forgotten(monkeypatch):
    X = np.array([[0.0, 0.0], [0.0, 1.5], [2.0, 0.5]])
    bands = lines_at([0.0, 0.5], X)
    monkeypatch.setattr(selection, "_KEPT", 1)
    for params in bands.models.params[[0, 1, 0]]:
        expected = LINE.residuals(X, params[None])[:, 0]
        assert np.array_equal(bands.distances(params), expected)
        assert bands.distances(params) is bands.distances(params.copy())


def test_the_nearest_structure_is_at_most_three_half_widths_away():
    beyond = np.nextafter(3, 4)
    distances = np.array([[3.0, 5], [beyond, 4], [1, 0.5], [2, 2], [0, 0.1], [9, 3]])
    normal = np.array([True, True, True, True, False, True])
    assert nearest_of(distances, normal).tolist() == [0, -1, 1, 0, -1, 1]
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 5.0]])
    assert members_of(X, np.ones(3, bool), []).tolist() == [-1, -1, -1]
    structures = [SimpleNamespace(residuals=lambda X, at=at: np.abs(X[:, 1] - at), half_width=0.5)
                  for at in (0.0, 2.0)]  # fmt: skip
    assert members_of(X, np.ones(3, bool), structures).tolist() == [0, 0, -1]
    assert relative_distances(X, structures).tolist() == [[0, 4], [2, 2], [10, 6]]
    assert relative_distances(X, []).shape == (3, 0)


def test_the_weighted_median_of_sigmas():
    def median(*pairs):
        return weighted_sigma([SimpleNamespace(sigma=s, support=n) for s, n in pairs], 7.0)

    assert median((3.0, 1), (2.0, 1)) == 2.0
    assert median((3.0, 1)) == 3.0
    assert median((3.0, 3), (2.0, 2), (5.0, 2)) == 3.0
    assert median((1.0, 5), (2.0, 4), (3.0, 5)) == 2.0
    assert median((1.0, 0)) == median() == 7.0


def test_equal_rows_count_once_and_rounded_ones_each():
    """Rows whose raw values are equal are different points, unless they are matches."""
    raw = np.array([[0.0, 0, 1, 1], [0.0, 0, 1, 1], [0.0, 0, 2, 2], [3.0, 3, 4, 4]])
    dithered = raw + np.arange(4)[:, None] / 100
    dithered[3] = dithered[1]
    everything = np.ones(4, bool)

    def bands(name, raw, X):
        return SimpleNamespace(family=get_family(name), raw=raw, X=X)

    planes = bands("plane", raw, dithered)
    assert evidence_rows([planes], everything).tolist() == [True, True, True, False]
    matches = bands("homography", raw, dithered)
    assert evidence_rows([matches], everything).tolist() == [True, False, False, True]
    assert evidence_rows([planes, matches], everything).tolist() == [True, False, False, True]
    others = bands("plane", raw[::-1], dithered[::-1])
    assert evidence_rows([planes, others], everything).tolist() == [True, True, True, False]
    assert evidence_rows([matches, others], everything).tolist() == [True, False, False, True]
    assert evidence_rows([planes], ~everything).sum() == 0


def test_the_limit_counts_all_models_and_the_most_widths():
    X = points(0.0)
    few = lines_at([0.0, 0.1], X, n_drawn=50)
    wide = lines_at([0.0, 0.1, 0.2], X, np.r_[1.0, 0.6, WIDTHS])
    assert significance_limit([few]) == least_ratio(50, 15)
    assert significance_limit([few, wide]) == least_ratio(53, 17)


class TestBandCounts:
    def test_counts_of_some_rows_and_without_them(self):
        X = points(0.0, 0.5, n=20)
        bands = lines_at([0.0, 0.5], X)
        bands.raw = X + 1
        rows = np.array([2, 3, 22, 5])
        some = bands.of_rows(rows)
        expected = np.stack([(bands.bins[rows] == w).sum(axis=0) for w in range(len(WIDTHS))])
        assert np.array_equal(some.counts, expected)
        assert np.array_equal(some.bins, bands.bins[rows])
        assert np.array_equal(some.X, X[rows])
        assert np.array_equal(some.raw, X[rows] + 1)
        before = bands.counts.copy()
        assert np.array_equal(bands.without(bands.counts, rows), before - expected)
        assert np.array_equal(bands.counts, before)
        assert lines_at([0.0], X).raw is not None

    def test_the_best_width_of_other_models(self):
        """Two points of a band, those of the sample, are not counted."""
        X = np.column_stack([np.zeros(9), [0.36, 0.2, 0.0, 0.0, 0.1, -0.36, 0.4, 0.0, 0.0]])
        bands = lines_at([0.0], points(0.0), widths=WIDTHS[:6])
        bands.X = X
        heights = np.array([0.0, 0.1, 0.9])
        params = np.array([[0.0, height, 1.0, 0.0] for height in heights])
        rows = np.arange(8)
        R = np.abs(X[rows, 1:] - heights)
        inside = np.stack([(w >= R).sum(axis=0) for w in WIDTHS[:6]])
        assert inside[0, 0] == 7
        left = np.maximum(inside - 2, 0).astype(np.int32)
        ratios = log_likelihood_ratios(left, 1, WIDTHS[:6])
        best, ratio = bands.best_width(rows, params)
        assert best.tolist() == ratios.argmax(axis=0).tolist()
        assert ratio.tolist() == ratios.max(axis=0).tolist()

    def noisy(self, X, null):
        widths = np.array([1.0, 0.5, 0.25])
        return lines_at([0.0, 0.5], X, widths, n_wide=3, null=null)

    def test_bands_of_few_points_among_much_noise_have_no_evidence(self):
        least = ROWS_EACH * 2
        X, null = points(0.0), np.column_stack([np.zeros(40), np.linspace(-3, 3, 40)])
        bands = self.noisy(X, null)
        inside = np.array([[least, least - 1], [least + 1, least], [0, 1]])
        ratios = bands._without_few(np.full((3, 2), 7.0), inside)
        assert ratios.tolist() == [[7, 0], [7, 7], [0, 0]]
        plain = lines_at([0.0, 0.5], X)
        assert (plain._without_few(np.full((3, 2), 7.0), inside) == 7).all()
        found = bands.ratios(bands.counts, len(X))
        inside = np.cumsum(bands.counts[::-1], axis=0)[::-1]
        expected = binomial_ratios(inside, len(X), bands.null_inside, 40)
        assert np.array_equal(found, np.where(inside < least, 0, expected))
        best, ratio = bands.best_width(np.arange(len(X)), bands.models.params)
        R = np.abs(X[:, 1:] - [0.0, 0.5])
        inside = np.stack([(w >= R).sum(axis=0) for w in bands.widths]) - 2
        null_inside = np.stack([(np.abs(null[:, 1:] - [0.0, 0.5]) <= w).sum(axis=0)
                                for w in bands.widths])  # fmt: skip
        expected = binomial_ratios(inside, len(X), null_inside, 40)
        assert best.tolist() == expected.argmax(axis=0).tolist()
        np.testing.assert_allclose(ratio, expected.max(axis=0))

    def test_null_rows_follow_the_points_that_remain(self):
        X = points(0.0, n=30)
        null = np.random.default_rng(3).normal(size=(50, 2))
        rows = X[:, 1] > 0.1
        bands = self.noisy(X, null)
        found = bands.compared_with(rows)
        stream = Stream(0).child("remaining", int(rows.sum()))
        expected = marginal_rows(LINE, X[rows], 50, stream)
        assert np.array_equal(found.ladder.null, expected)
        R = np.abs(expected[:, 1:] - [0.0, 0.5])
        assert np.array_equal(found.null_inside, [(w >= R).sum(axis=0) for w in bands.widths])
        assert bands.ladder.null is null
        assert bands.compared_with(~rows & rows) is bands
        for other in (lines_at([0.0], X), lines_at([0.0], X, WIDTHS[:4], 2, null)):
            assert other.compared_with(rows) is other


class TestSearch:
    def test_structures_up_to_the_widest_are_found(self):
        X = points(0.0)
        bands, everything = lines_at([0.0], X), np.ones(262, bool)
        (best, *_) = greedy([bands], everything, 3.0)
        assert best.half_width == WIDTHS[-1]
        (again, *_) = greedy([bands], everything, 3.0, widest=WIDTHS[-1])
        assert again.half_width == WIDTHS[-1]
        assert greedy([bands], everything, 3.0, widest=np.nextafter(WIDTHS[-1], 0)) == []

    def test_only_active_points_count(self):
        X = points(0.0, 0.5)
        bands, active = lines_at([0.0, 0.5], X), np.ones(462, bool)
        active[2:202] = False
        found = greedy([bands], active, 3.0)
        assert [each.params[1] for each in found] == [0.5]
        assert active[202:].all()

    def test_a_ratio_at_the_limit_is_not_significant(self):
        bands = SimpleNamespace(
            best=lambda counts, n: (np.array([1, 0, 1]), np.array([4.0, np.nextafter(4, 5), 9.0])),
            widths=np.array([3.0, 2.0, 1.0]),
            models=SimpleNamespace(params=np.array([[7.0], [8.0]])),
        )
        found = list(selection._significant(bands, None, 5, 4.0))
        assert [(each.params[0], each.half_width) for each in found] == [(7.0, 2.0), (8.0, 1.0)]

    def test_a_search_ends_after_100_structures(self, monkeypatch):
        bands = lines_at([0.0], points(0.0, n=5))
        candidate = Candidate(bands, bands.models.params[0], 0.1, 9.0)
        monkeypatch.setattr(selection, "_significant", lambda *args: iter([candidate]))
        assert len(greedy([bands], np.ones(67, bool), 3.0)) == 100

    def test_looking_ahead_adds_the_bonus(self, monkeypatch):
        bands = lines_at([0.0, 0.5], points(0.0, 0.5, n=30))
        first = Candidate(bands, bands.models.params[0], 0.01, 9.0)
        second = Candidate(bands, bands.models.params[1], 0.01, 8.0)
        rounds = iter([[first, second], []])
        monkeypatch.setattr(selection, "_significant", lambda *args: iter(next(rounds)))
        monkeypatch.setattr(selection, "_bonus", lambda *args: 3.0 * (args[3] is second))
        assert greedy([bands], np.ones(122, bool), 3.0, look_ahead=True) == [second]
        rounds = iter([[first, second], []])
        assert greedy([bands], np.ones(122, bool), 3.0) == [first]


class Known:
    """Counts of bands whose best models are given; `asked` are the numbers of points."""

    def __init__(self, models, ratios, bins):
        self.found, self.bins, self.asked = (np.array(models), np.array(ratios)), np.array(bins), []
        self.family, self.X = LINE, np.column_stack([np.zeros(8), [0, 0, 0, 0, 9, 9, 9, 9]])

    def without(self, counts, rows):
        assert rows.tolist() == [0, 1, 2, 3]
        return counts

    def best(self, counts, n):
        self.asked.append(n)
        return self.found


class TestBonus:
    """The first four of eight points, seven of which are active, belong to the candidate. What is
    left has a model with a ratio of 9 at width 2 of 4."""

    candidate = Candidate(at_points(Known([0], [0], [0]).X), np.array([0.0, 0, 1, 0]), 1.0, 5.0)

    def bonus(self, bins, limit=4.0, ratios=(1.0, 3.0, 9.0, 2.0), other=8.0):
        table = np.full((8, 3), NO_BAND)
        table[:4, 1] = bins
        bands = Known([0, 2, 1, 0], ratios, table)
        less = Known([0] * 4, [other, 0, 0, 0], np.full((8, 3), 0))
        active = np.ones(8, bool)
        active[7] = False
        found = selection._bonus([less, bands], [0, 0], active, self.candidate, 3.0, limit)
        assert bands.asked == less.asked == [3]
        return found

    def test_another_structure_counts_what_exceeds_the_limit(self):
        assert self.bonus([NO_BAND] * 4) == 5.0
        assert self.bonus([1, 1, 0, 1]) == 5.0
        assert self.bonus([NO_BAND] * 4, limit=8.5) == 0.5
        assert self.bonus([NO_BAND] * 4, limit=9.5) == 0.0

    def test_half_of_the_points_in_the_band_are_still_another_structure(self):
        assert self.bonus([2, 3, 1, NO_BAND]) == 5.0
        assert self.bonus([2, 3, 1, 0]) == 5.0

    def test_most_of_the_points_in_the_band_are_the_same_one(self):
        assert self.bonus([2, 3, 2, NO_BAND]) == 0.0
        assert self.bonus([2, 2, 2, 1]) == 0.0

    def test_three_fifths_of_the_points_are_most(self):
        bands = Known([0, 0, 0], [1.0, 3.0, 9.0], [[2], [2], [2], [0], [NO_BAND]])
        bands.without = lambda counts, rows: counts
        candidate = self.candidate._replace(bands=at_points(np.zeros((5, 2))))
        active = np.ones(5, bool)
        assert selection._bonus([bands], [0], active, candidate, 3.0, 4.0) == 0.0

    def test_the_best_family_counts(self):
        assert self.bonus([2] * 4, other=10.0, limit=7.0) == 0.0  # bins of 0 are within width 0
        assert self.bonus([2] * 4, other=8.5) == 0.0

    def test_without_points_it_is_the_same_structure(self):
        active, bands = np.zeros(8, bool), Known([0], [9.0], np.zeros((8, 1)))
        bands.without = lambda counts, rows: counts
        assert selection._bonus([bands], [0], active, self.candidate, 3.0, 4.0) == 0.0
