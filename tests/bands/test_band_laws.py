"""Counts, ratios and scales against formulas that are written out, and values at each limit."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import piforest
from piforest._kernels import bands as compiled
from piforest._random import Stream
from piforest.bands import evidence
from piforest.bands.evidence import (
    Bands,
    bands_of,
    count_bins,
    fallback_sigma,
    fits_table,
    full_band_table,
    kernel_scales,
    least_ratio,
    measure_bands,
    rough_sigma,
    strongly_disagrees,
    within,
)
from piforest.bands.ladder import (
    WIDE_WIDTHS,
    WIDTHS,
    Ladder,
    log_likelihood_ratios,
    narrow_grid,
)
from piforest.families import extent, get_family
from piforest.models.bounds import CELLS, Bounds
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.models.residuals import residual_blocks
from piforest.sampling import get_sampler

NO_BAND = 255
LINE = get_family("line")


def drawn(n, n_models, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, draw_models(X, LINE, get_sampler("mixed"), n_models, Stream(seed))[0]


class TestHalfOctaves:
    """Widths that are each the one before over sqrt(2), whose bands are exponents."""

    def found(self, *widths):
        with np.errstate(all="ignore"):
            return compiled.are_half_octaves.py_func(np.array(widths))

    @pytest.mark.parametrize("size", [1.0, 3.7, 1e-7, 4e9, 2.0**-500])
    def test_the_widths_of_ladders_are(self, size):
        assert self.found(*(size * WIDTHS))
        assert self.found(*(size * WIDE_WIDTHS))
        assert not self.found(*(size * WIDTHS[[0, 1, 3]]))
        assert not self.found(*(size * WIDTHS[::-1]))
        assert not self.found(*(size * WIDTHS[::2]))

    @pytest.mark.parametrize("sign", [1, -1])
    def test_squares_differ_by_less_than_a_quarter_of_what_is_compared(self, sign):
        """A third width of (1 + e) / 2 has a square of (1 + 2 e) / 4."""
        limit = 128 / 4 * 2.0**-52
        half_octaves = (1.0, np.sqrt(0.5))
        assert not self.found(*half_octaves, 0.5 * (1 + sign * limit / 2))
        assert self.found(*half_octaves, 0.5 * (1 + sign * limit / 2 * 15 / 16))

    @pytest.mark.parametrize("first", [0.0, np.inf, np.nan, 5e-324])
    def test_widths_without_a_scale_are_none(self, first):
        assert not self.found(first, 1.0)
        assert not self.found(first)


@pytest.mark.parametrize("error", [1e-16, 3e-15, 1e-14, 1e-12, 1e-3])
def test_bands_of_widths_that_are_nearly_half_octaves_are_those_of_comparisons(error):
    rng = np.random.default_rng(0)
    widths = WIDTHS * (1 + error * rng.choice([-1, 1], len(WIDTHS)))
    R = widths[rng.integers(0, len(widths), (20, 30))]
    R *= rng.choice([1, 1 - 2e-16, 1 + 3e-16, 1 - 2 * error, 1 + 2 * error], R.shape)
    zeros, bins = np.zeros(20, np.int64), np.empty(R.shape, np.uint8)
    evidence.fill_bins(R, widths, zeros, zeros, zeros[:0], bins)
    expected = np.sum(R[:, :, None] <= widths, axis=2) - 1
    assert np.array_equal(bins, expected.astype(np.uint8))


@pytest.mark.parametrize("n", [1, 254, 255, 256, 257, 511, 600])
def test_any_number_of_equal_bands_is_counted(n):
    """A byte holds 255."""
    bins = np.full((n, 3), 2, np.uint8)
    bins[:, 1] = np.arange(n) % 4
    bins[:, 2] = NO_BAND
    counts = np.zeros((4, 3), np.int32)
    count_bins(bins, np.arange(n), 1, counts)
    expected = np.array([[np.sum(bins[:, j] == b) for j in range(3)] for b in range(4)])
    assert np.array_equal(counts, expected)
    count_bins(bins, np.arange(n)[::-1], 2, counts)
    assert np.array_equal(counts, 3 * expected)
    count_bins(bins, np.repeat(0, n), -3, counts)
    assert np.array_equal(counts[:, 0], 3 * expected[:, 0] - 3 * n * (np.arange(4) == 2))


def test_counts_within_are_sums_from_the_narrowest_on():
    counts = np.array([[1, 20], [2, 0], [4, 30], [8, 5]], np.int32)
    assert within(counts).tolist() == [[15, 55], [14, 35], [12, 35], [8, 5]]
    assert within(counts[:1]).tolist() == counts[:1].tolist()


def test_tables_of_logarithms():
    shares, logs, expected_logs = np.array([1.0, 0.25]), np.full(5, 7.0), np.full((2, 5), 7.0)
    compiled.log_tables(shares, 0.001, logs, expected_logs)
    np.testing.assert_allclose(logs, [0, 0, np.log(2), np.log(3), np.log(4)], rtol=1e-15)
    np.testing.assert_allclose(
        expected_logs, np.log(np.arange(5) * shares[:, None] + 0.001), rtol=1e-14
    )


def naive_ratio(k, expected):
    return k * np.log(k / expected) - (k - expected) if k > expected else 0.0


def test_ratios_and_the_best_of_each_width_are_those_of_the_formula():
    rng = np.random.default_rng(3)
    counts = rng.poisson(3.0, (4, 9)).astype(np.int32)
    counts[2:, 4] += 9
    counts[:, 7] = counts[:, 4]  # the first of equal ratios is the best
    counts[:, 0] = 5, 0, 0, 0  # no band is dense
    counts[:, 8] = 0
    shares, lowest = np.array([1.0, 0.5, 0.25, 0.125]), 0.001
    inside = within(counts)
    logs, expected_logs = np.empty(100), np.empty((4, 100))
    compiled.log_tables(shares, lowest, logs, expected_logs)
    expected = np.array(
        [[naive_ratio(k, n * share + lowest) for k, n in zip(row, inside[0])]
         for row, share in zip(inside, shares)]
    )  # fmt: skip
    found = np.full((4, 9), np.nan)
    compiled.log_ratios(inside, shares, lowest, logs, expected_logs, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert (found[:, [0, 8]] == 0).all()
    best, ratios = np.full(4, -1), np.full(4, np.nan)
    for together in (1, 2, 9, 20):
        workspace = *np.empty((2, together), np.int32), np.empty(4, np.int64)
        compiled.best_ratios(counts, shares, lowest, logs, expected_logs, *workspace, best, ratios)
        assert ratios.tolist() == found.max(axis=1).tolist()
    assert best.tolist() == expected.argmax(axis=1).tolist()
    np.testing.assert_allclose(ratios, expected.max(axis=1), rtol=1e-12, atol=1e-12)
    assert 7 not in best
    some = np.ascontiguousarray(counts[:, :1])
    compiled.best_ratios(some, shares, lowest, logs, expected_logs, *workspace, best, ratios)
    assert best.tolist() == [0] * 4
    assert ratios.tolist() == [0] * 4


@pytest.mark.parametrize("codimension", [1, 2])
def test_the_best_of_many_models_is_that_of_all_ratios(codimension):
    """Bands with few points are passed over; ties, and the same numbers in another order."""
    rng = np.random.default_rng(codimension)
    for scale in (0.05, 1.0, 30.0):
        counts = rng.poisson(scale * rng.exponential(size=(15, 1)), (15, 1500)).astype(np.int32)
        counts[:, 700:1400] = counts[:, rng.integers(0, 700, 700)]
        n = int(counts.sum(axis=0).max())
        best, ratios = Ladder(narrow_grid(LINE, np.eye(3, 2))).best(counts, codimension, n)
        expected = log_likelihood_ratios(within(counts), codimension)
        assert ratios.tolist() == expected.max(axis=1).tolist()
        assert best.tolist() == expected.argmax(axis=1).tolist()


def test_bands_are_counted_in_blocks_of_rows_and_kept_if_asked_for():
    X, models = drawn(600, 1100)
    ladder, membership = Ladder(narrow_grid(LINE, X)), sample_membership([models])
    ((_, R),) = residual_blocks(X[:40], [models])
    own = (models.samples[None] == np.arange(40)[:, None, None]).any(axis=2)
    expected = np.where(own, -1, np.sum(R[:, :, None] <= ladder.widths, axis=2) - 1)
    table = full_band_table(X, models, membership, ladder)
    assert np.array_equal(table.bins[:40], expected.astype(np.uint8))
    counts = [np.sum(table.bins == band, axis=0) for band in range(len(ladder.widths))]
    assert np.array_equal(table.counts, counts)
    assert table.null_inside is None
    bands, kept = measure_bands(X, models, membership, ladder, keep=True)
    assert np.array_equal(kept.bins, table.bins)
    assert np.array_equal(kept.counts, table.counts)
    again, none = measure_bands(X, models, membership, ladder)
    assert none is None
    assert np.array_equal(again.ratio, bands.ratio)


def test_null_rows_are_counted_within_each_width():
    X, models = drawn(40, 30)
    null = np.random.default_rng(5).normal(size=(50, 2))
    ladder = Ladder(narrow_grid(LINE, X), null)
    _, table = measure_bands(X, models, sample_membership([models]), ladder, keep=True)
    ((_, R),) = residual_blocks(null, [models])
    assert np.array_equal(table.null_inside, [np.sum(w >= R, axis=0) for w in ladder.widths])


def test_a_table_of_64_mebibytes_is_kept_and_no_larger_one():
    assert fits_table(2**13, 2**13)
    assert not fits_table(2**13, 2**13 + 1)
    assert not fits_table(2**26 + 1, 1)
    X, models = drawn(20, 10)
    wide = Ladder(narrow_grid(LINE, X))
    many = np.broadcast_to(X[:1], (1, 2))
    assert measure_bands(many, models, sample_membership([models]), wide, keep=True)[1] is not None


def test_bounds_exclude_points_of_the_widest_band_too():
    X, models = drawn(200, 40)
    m = len(models)
    low, size = np.full((m, 2), -2.0), np.tile([4.0, np.inf], (m, 1))
    cells = np.tile(np.arange(CELLS) < CELLS // 2, (m, 1))
    bounded = replace(models, bounds=Bounds(low, size, cells))
    widths = narrow_grid(LINE, X).widths
    ((_, R),) = residual_blocks(X, [bounded])
    assert np.isinf(R).any()
    bins = evidence.band_bins(X, bounded, widths, sample_membership([models]))
    expected = np.sum(R[:, :, None] <= widths, axis=2) - 1
    own = (models.samples[None] == np.arange(200)[:, None, None]).any(axis=2)
    assert np.array_equal(bins, np.where(own, NO_BAND, expected.astype(np.uint8)))


class Models(SimpleNamespace):
    family = LINE

    def __len__(self):
        return len(self.samples)


def of_counts(counts):
    """Bands of the counts (w, m) on a grid of 0.36 and below, with samples of two points."""
    counts = np.asarray(counts, np.int32)
    m = counts.shape[1]
    models = Models(params=np.zeros((m, 3)), samples=np.zeros((m, 2), int))
    ladder = Ladder(narrow_grid(LINE, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])))
    n = int(counts.sum(axis=0).max())
    return bands_of(counts, None, ladder, models, np.zeros((n, 2))), ladder.widths


class TestBandsOfCounts:
    def test_the_best_width_its_ratio_and_its_gain(self):
        counts = np.random.default_rng(0).poisson(2.0, (15, 60))
        counts[4, 7] += 30
        bands, widths = of_counts(counts)
        inside = np.cumsum(counts[::-1], axis=0)[::-1]
        expected = inside[0] * (widths / widths[0])[:, None] + 0.001
        ratios = np.vectorize(naive_ratio)(inside, expected)
        best = ratios.argmax(axis=0)
        at = best, np.arange(60)
        np.testing.assert_allclose(bands.ratio, ratios[at], rtol=1e-10)
        assert np.array_equal(bands.half_width, widths[best])
        np.testing.assert_allclose(bands.gain, ratios[at] / (2 + inside[at]), rtol=1e-10)
        assert bands.sigma == widths[ratios.max(axis=1).argmax()] / 2

    def test_the_gain_of_an_empty_band_counts_one_point_more_than_the_sample(self):
        bands, _ = of_counts(np.zeros((15, 1)))
        assert bands.gain.tolist() == [0.0]
        counts = np.zeros((15, 1))
        counts[14] = 1
        bands, _ = of_counts(counts)
        assert bands.gain[0] == pytest.approx(bands.ratio[0] / 3)

    def test_the_number_of_the_best_models_decides(self):
        """Sigma is that of the best 2 %: of one, two or three models."""
        for m, at in ((10, 5), (60, 5), (74, 5), (76, 9), (124, 9), (126, 12)):
            counts = np.zeros((15, m), int)
            counts[5, 0] = 2000
            counts[9, 1:3] = 600
            counts[12, 3:6] = 380
            bands, widths = of_counts(counts)
            assert bands.sigma == widths[at] / 2, m

    def test_weak_evidence_is_a_guess_and_none_is_no_number(self):
        counts = np.zeros((15, 1))
        counts[1] = 3
        bands, _ = of_counts(counts)
        assert 0 < bands.ratio[0] < 1
        assert bands.sigma == bands.half_width[0] / 2
        assert np.isnan(of_counts(np.zeros((15, 3)))[0].sigma)


def test_the_least_ratio_of_given_numbers_of_models_and_widths():
    assert least_ratio(40) == pytest.approx(np.log(40 * 15 * 1000))
    assert least_ratio(1, 1) == pytest.approx(np.log(1000))
    assert least_ratio(7, 3) == pytest.approx(np.log(21_000))


def test_a_weak_band_still_has_a_scale_of_its_own():
    ratio = np.array([0.0, 0.5, 1.0])
    bands = Bands(0.01, np.array([0.3, 0.08, 0.06]), ratio, ratio)
    assert kernel_scales(bands, "per_model", None).tolist() == [0.01, 0.04, 0.03]
    assert kernel_scales(bands, "per_model", 0.5).tolist() == [0.5, 0.04, 0.03]
    assert kernel_scales(bands, "fixed", None, 0.2).tolist() == [0.2] * 3
    free = kernel_scales(bands, "adaptive", None, 0.02)
    own = np.array([0.02, 0.04, 0.03])
    np.testing.assert_allclose(free, own**0.9 * (0.02 / 0.75) ** 0.1, rtol=1e-14)


def test_bands_up_to_five_times_as_wide_or_narrow_agree_with_a_given_sigma():
    chance = least_ratio(2)
    for given in (0.25, 4.0):
        # The second band, of a sigma forty times as large, has the most evidence.
        for factor, agrees in ((5.0, True), (0.2, True), (5.0001, False), (0.1999, False),
                               (6.0, False), (1 / 6, False), (1.0, True)):  # fmt: skip
            half_width = np.array([2 * given * factor, 80 * given])
            if factor == 0.2:
                half_width[0] = np.nextafter(half_width[0], 1)
            for ratio, against in ((1.999 * 8 + chance, None), (2.001 * 8 + chance, 40 * given)):
                found = strongly_disagrees(given, half_width, np.array([8.0, ratio]))
                assert found == (against if agrees else 40 * given)


def test_without_structures_sigma_is_half_the_median_width():
    X, models = drawn(30, 5)
    with pytest.warns(UserWarning, match="no structure of family 'line' was found in 30 points"):
        sigma = fallback_sigma(X, models)
    assert sigma == extent(LINE, X) * 0.36 * 2.0**-3.5 / 2


def test_a_rough_sigma_is_that_of_at_most_1000_points_and_2000_models(monkeypatch):
    X, models = drawn(1200, 2050)
    asked = []

    def measured(some, chosen, membership, ladder):
        asked.append((len(some), len(chosen)))
        return Bands(0.125, *np.ones((3, 1))), None

    monkeypatch.setattr(evidence, "measure_bands", measured)
    assert rough_sigma(X, models, Stream(0)) == 0.125
    assert rough_sigma(X[:90], models.first(30), Stream(0)) == 0.125
    assert asked == [(1000, 2000), (90, 30)]


def test_two_points_are_enough_to_ask_for_sigma():
    with pytest.warns(UserWarning, match="no structure of family 'line' was found in 2 points"):
        sigma = piforest.estimate_sigma([[0.0, 0.0], [1.0, 1.0]], "line", random_state=0)
    assert sigma > 0
    with pytest.raises(ValueError, match="minimum of 2"):
        piforest.estimate_sigma([[0.0, 0.0]], "line", random_state=0)
