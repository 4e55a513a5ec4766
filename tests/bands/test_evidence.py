from __future__ import annotations

import warnings

import numpy as np
import pytest

import naive
import piforest
from piforest import PreferenceIsolationForest
from piforest._kernels.bands import NO_BAND
from piforest._random import Stream
from piforest.bands.evidence import (
    Bands,
    count_bands,
    count_bins,
    fill_bins,
    full_band_table,
    kernel_scales,
    least_ratio,
    measure_bands,
    model_weights,
    strongly_disagrees,
    within,
)
from piforest.bands.ladder import (
    N_WIDE,
    WIDE_WIDTHS,
    WIDTHS,
    Grid,
    ladder_of,
    log_likelihood_ratios,
    narrow_grid,
)
from piforest.bands.measuring import Measuring
from piforest.bands.resolution import find_resolution
from piforest.datasets import make_circles, make_lines
from piforest.families import extent, get_family, list_families
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.sampling import get_sampler
from scenes import on_one_model


def test_bands_are_the_narrowest_widths_that_contain_a_residual():
    rng = np.random.default_rng(0)
    R = rng.exponential(0.2, (50, 7))
    R[0, 0], R[1, 1], R[2, :] = 0.0, np.inf, WIDTHS[:7]
    R[3, :], R[4, :] = np.nextafter(WIDTHS[:7], 1), np.nextafter(WIDTHS[:7], 0)
    bins, starts = np.empty(R.shape, np.uint8), np.zeros(50, np.int64)
    ends = starts.copy()
    ends[5] = 2
    fill_bins(R, WIDTHS, starts, ends, np.array([1, 4]), bins)
    for i, j in np.ndindex(*R.shape):
        bands = [b for b, w in enumerate(WIDTHS) if R[i, j] <= w]
        skipped = i == 5 and j in (1, 4)
        assert bins[i, j] == (NO_BAND if skipped or not bands else bands[-1])
    counts = np.zeros((15, 7), np.int32)
    count_bins(bins, np.arange(50), 1, counts)
    in_band = bins != NO_BAND
    expected = [[np.sum(in_band[:, j] & (R[:, j] <= w)) for j in range(7)] for w in WIDTHS]
    assert np.array_equal(within(counts), expected)
    count_bins(bins, np.arange(50), -1, counts)
    assert not counts.any()


@pytest.mark.parametrize("size", [1.0, 3.7, 1e-7, 4e9])
@pytest.mark.parametrize("octaves", [True, False])
def test_bands_are_those_of_comparisons_to_the_last_bit(size, octaves):
    """Also at the widths themselves, next to them, at 0, far away, and for 600 columns at once."""
    rng = np.random.default_rng(0)
    widths = size * (WIDE_WIDTHS if octaves else np.sort(rng.uniform(0.01, 1, 12))[::-1])
    at = widths[rng.integers(0, len(widths), (40, 600))]
    R = at * rng.choice([1, 1 - 1e-16, 1 + 3e-16, 1 - 1e-13, 1 + 1e-13, 0.7, 1.3, 0], at.shape)
    R[rng.random(at.shape) < 0.01] = np.inf
    R[rng.random(at.shape) < 0.01] = 1e200
    R[rng.random(at.shape) < 0.01] = np.nan
    zeros, bins = np.zeros(40, np.int64), np.empty(R.shape, np.uint8)
    for some in (R, np.array(R[:, :5]), size * rng.exponential(size=(40, 600))):
        fill_bins(some, widths, zeros, zeros, zeros[:0], bins[:, : some.shape[1]])
        expected = np.sum(some[:, :, None] <= widths, axis=2) - 1
        assert np.array_equal(bins[:, : some.shape[1]], expected.astype(np.uint8))


def test_ratios_are_positive_only_if_a_band_is_dense():
    even = np.zeros((15, 1), np.int64)
    even[:, 0] = np.round(4000 * (WIDTHS - np.append(WIDTHS[1:], 0)))
    dense = even.copy()
    dense[8, 0] += 200
    even, dense = (np.cumsum(counts[::-1], axis=0)[::-1] for counts in (even, dense))
    assert log_likelihood_ratios(even, 1).max() < 1
    ratios = log_likelihood_ratios(dense, 1)[:, 0]
    assert ratios.argmax() == 8
    assert ratios[8] > 100


@pytest.mark.parametrize("noise", [0.003, 0.01, 0.03])
@pytest.mark.parametrize(("make", "family"), [(make_lines, "line"), (make_circles, "circle")])
def test_sigma_is_estimated_within_a_factor_of_two(make, family, noise):
    X = make(4, sizes=100, noise=noise, anomaly_share=0.4, random_state=5).data
    detector = PreferenceIsolationForest(family, random_state=0, n_estimators=2).fit(X)
    assert 0.5 < detector.sigma_ / noise < 2.2


def test_far_points_do_not_change_sigma():
    X = make_lines(4, sizes=100, noise=0.01, anomaly_share=0.4, random_state=5).data
    far = np.concatenate([X, np.random.default_rng(0).uniform(-100, 100, (6, 2))])
    here, there = (
        PreferenceIsolationForest("line", random_state=0, n_estimators=2).fit(data).sigma_
        for data in (X, far)
    )
    assert there == pytest.approx(here, rel=0.5)


def test_sigma_of_very_few_points_is_a_fallback_with_a_warning():
    X = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.warns(
        UserWarning,
        match="no structure of family 'circle' was found in 4 points; sigma='auto' fell back",
    ):
        detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
    assert detector.sigma_ > 0
    assert detector.sigma_source_ == "guessed"
    fixed = PreferenceIsolationForest("circle", scale="fixed", weighting="none", random_state=0)
    with pytest.warns(UserWarning, match="no structure of family 'circle' was found in 4 points"):
        fixed.fit(X)
    assert fixed.sigma_source_ == "guessed"


def test_the_source_of_sigma_is_reported():
    X = make_lines(4, sizes=100, noise=0.01, anomaly_share=0.3, random_state=5).data
    detector = PreferenceIsolationForest("line", n_estimators=2, random_state=0)
    assert detector.fit(X).sigma_source_ == "estimated"
    assert detector.set_params(sigma=0.01).fit(X).sigma_source_ == "given"
    assert detector.sigma_ == 0.01


def compare_with_naive(name, X, models, ladder, **naive_options):
    """Compare bands with the naive ones; return bands and table."""
    family, membership = models.family, sample_membership([models])
    found, table = measure_bands(X, models, membership, ladder, keep=True)
    R = naive.residuals(name, X, models.params)
    in_sample = np.zeros(R.shape, bool)
    for j, sample in enumerate(models.samples):
        in_sample[sample, j] = True
    if ladder.null is not None:
        naive_options["null"] = naive.residuals(name, ladder.null, models.params)
    d = X.shape[1]
    sigma, width, ratio, gain = naive.bands(
        R, in_sample, ladder.widths, family.sample_size(d), family.codimension(d), **naive_options
    )
    assert found.sigma == sigma
    assert np.array_equal(found.half_width, width)
    np.testing.assert_allclose(found.ratio, ratio, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.gain, gain, rtol=1e-11, atol=1e-11)
    return found, table


@pytest.mark.slow
@pytest.mark.parametrize("name", list_families())
def test_bands_equal_the_naive_ones(name):
    family, X = get_family(name), on_one_model(name, 60)
    X = X + np.random.default_rng(2).normal(0, 0.05 * extent(family, X), X.shape)
    models, _ = draw_models(X, family, get_sampler("mixed"), 60, Stream(1))
    ladder = ladder_of(family, X, narrow_grid(family, X), Stream(2))
    assert np.array_equal(ladder.widths, extent(family, X) * WIDTHS)
    found, table = compare_with_naive(name, X, models, ladder)
    membership = sample_membership([models])
    threads, no_table = measure_bands(X, models, membership, ladder, n_jobs=2)
    assert np.array_equal(threads.gain, found.gain)
    assert no_table is None
    for n in (20, len(models)):
        first = count_bands(X, models.take(np.arange(n)), ladder)
        joined, _ = measure_bands(X, models, membership, ladder, first=first)
        assert np.array_equal(joined.gain, found.gain)
    full = full_band_table(X, models, membership, ladder)
    assert np.array_equal(table.bins, full.bins)
    assert np.array_equal(table.counts, full.counts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["line", "linear_regression", "homography", "vanishing_point"])
@pytest.mark.parametrize("n_wide", [N_WIDE, len(WIDE_WIDTHS)])
def test_wide_bands_equal_the_naive_ones(name, n_wide):
    family, X = get_family(name), on_one_model(name, 60)
    X = X + np.random.default_rng(2).normal(0, 0.2 * extent(family, X), X.shape)
    models, _ = draw_models(X, family, get_sampler("mixed"), 30, Stream(1))
    grid = Grid(extent(family, X) * WIDE_WIDTHS, n_wide)
    compare_with_naive(name, X, models, ladder_of(family, X, grid, Stream(2)), n_wide=n_wide)


def test_no_band_of_rounded_points_is_narrower_than_the_step():
    X = make_lines(2, sizes=100, noise=0.002, anomaly_share=0.3, random_state=3).data
    X *= 4
    family, rounded = get_family("line"), np.round(X, 1)
    resolution = find_resolution(family, rounded, Stream(4))
    np.testing.assert_allclose(resolution.steps, 0.1)
    rows = resolution.dithered(rounded, np.arange(len(X)))
    models, _ = draw_models(rows, family, get_sampler("mixed"), 150, Stream(1))
    ladder = Measuring(resolution, narrow_grid(family, X)).ladder(family, rounded, rows)
    floors = ladder.effect.floors(family, models.params)
    assert (floors >= 0.1 - 1e-12).all()
    found, _ = compare_with_naive("line", rows, models, ladder, floors=floors)
    assert (found.half_width[found.ratio > 0] >= 0.1 - 1e-12).all()


def test_the_adaptive_scale_lies_between_sigma_and_the_scale_of_the_model():
    ratio = np.array([5.0, 2.0, 0.0])
    bands = Bands(0.01, np.array([0.08, 0.005, 0.3]), ratio, ratio / 10)
    assert kernel_scales(bands, "fixed", 0.02).tolist() == [0.02] * 3
    assert kernel_scales(bands, "fixed", None).tolist() == [0.01] * 3
    per_model = kernel_scales(bands, "per_model", None)
    assert per_model.tolist() == [0.04, 0.0025, 0.01]  # no evidence: sigma
    given = kernel_scales(bands, "adaptive", 0.02)
    np.testing.assert_allclose(given, np.sqrt(0.02 * np.array([0.04, 0.0025, 0.02])))
    free = kernel_scales(bands, "adaptive", None)
    distance = np.abs(np.log(per_model / (0.01 / 0.75)))
    assert (np.abs(np.log(free / per_model)) < 0.2 * distance + 1e-9).all()
    assert model_weights(bands, "none").tolist() == [1.0] * 3
    np.testing.assert_allclose(model_weights(bands, "gain"), (ratio / 10) ** 0.75)


@pytest.mark.parametrize("sigma", [None, 0.02])
@pytest.mark.parametrize("power", [-20, 1, 30])
def test_scales_follow_a_power_of_two_to_the_last_bit(power, sigma):
    rng = np.random.default_rng(0)
    width, ratio = rng.uniform(0.01, 0.5, 50), rng.uniform(0, 1, 50)
    factor = 2.0**power
    here = kernel_scales(Bands(0.013, width, ratio, ratio), "adaptive", sigma)
    bands = Bands(0.013 * factor, width * factor, ratio, ratio)
    there = kernel_scales(bands, "adaptive", sigma and sigma * factor)
    assert np.array_equal(there, here * factor)


def test_a_sigma_that_contradicts_the_data_gives_a_warning_with_both_values():
    X = make_lines(4, sizes=100, noise=0.01, anomaly_share=0.3, random_state=5).data
    with pytest.warns(UserWarning, match=r"sigma=0\.2 was given, but .* as if it were 0\.0"):
        PreferenceIsolationForest("line", sigma=0.2, n_estimators=2, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PreferenceIsolationForest("line", sigma=0.02, n_estimators=2, random_state=0).fit(X)


def test_estimate_sigma_is_public_and_reproducible():
    X = make_circles(4, sizes=100, noise=0.01, anomaly_share=0.4, random_state=5).data
    sigma = piforest.estimate_sigma(X, "circle", random_state=0)
    assert 0.005 < sigma < 0.02
    assert piforest.estimate_sigma(X, "circle", random_state=0) == sigma
    assert piforest.estimate_sigma(4 * X, "circle", random_state=0) == 4 * sigma
    with pytest.raises(ValueError, match="n_models must be"):
        piforest.estimate_sigma(X, "circle", n_models=0)
    with pytest.raises(ValueError, match="family 'homography' needs"):
        piforest.estimate_sigma(X, "homography")


def test_scales_equal_the_naive_ones():
    width, ratio = np.array([0.01, 0.04, 0.3, 0.1]), np.array([9.0, 1.0, 3.0, 0.0])
    bands = Bands(0.013, width, ratio, ratio)
    for sigma in ("auto", 0.02):
        expected = naive.scales(sigma, 0.013, width, ratio)
        found = kernel_scales(bands, "adaptive", None if sigma == "auto" else sigma)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert model_weights(bands, "gain").tolist() == [g**0.75 for g in ratio]
    assert model_weights(bands, "none").tolist() == [1.0] * 4


@pytest.mark.parametrize("n_models", [1, 40, 10_000])
def test_random_data_give_one_significant_band_in_a_thousand(n_models):
    """A ratio of L or more has a probability of about exp(-L), in each band of each model."""
    limit = least_ratio(n_models)
    assert n_models * len(WIDTHS) * np.exp(-limit) == pytest.approx(1e-3)
    bands = Bands(0.013, np.ones(n_models), np.ones(n_models), np.ones(n_models))
    assert bands.least_ratio == limit


def test_sigma_can_be_estimated_from_one_model_and_not_from_none():
    X = make_lines(1, sizes=30, noise=0.01, anomaly_share=0.0, random_state=0).data
    assert piforest.estimate_sigma(X, "line", n_models=1, random_state=0) > 0
    with pytest.raises(ValueError, match="n_models must be"):
        piforest.estimate_sigma(X, "line", n_models=0)
    with pytest.raises(ValueError, match="X must hold values between"):
        piforest.estimate_sigma(X * 1e160, "line")


def test_a_given_sigma_is_contradicted_by_evidence_elsewhere_alone():
    given, chance = 1.0, least_ratio(3)
    # Half-widths of a sigma of 1, of 4 and of 20: only the last is more than five times as wide.
    half_width = np.array([2.0, 8.0, 40.0])

    def found(*ratio):
        return strongly_disagrees(given, half_width, np.array(ratio))

    assert found(0.0, 0.0, chance + 1e-6) == 20.0
    assert found(0.0, 0.0, chance) is None
    assert found(10.0, 0.0, 20 + chance + 1e-6) == 20.0
    assert found(10.0, 0.0, 20 + chance) is None
    assert found(0.0, 10.0, 20 + chance) is None
    assert strongly_disagrees(20.0, half_width, np.array([chance + 1, 0.0, 0.0])) == 1.0
