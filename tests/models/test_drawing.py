from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import naive
from piforest._random import Stream
from piforest.families import get_family
from piforest.models.drawing import distinct_rows, draw_models, sample_positions
from piforest.sampling import get_sampler, resolve_sampler
from piforest.sampling.mixed import local_samples

UNIFORM = get_sampler("uniform")
MIXED = get_sampler("mixed")


def draw(X, n_models, name="line", **options):
    return draw_models(X, get_family(name, **options), UNIFORM, n_models, Stream(7))


def test_samples_equal_the_naive_ones():
    X = np.random.default_rng(0).normal(size=(20, 2))
    models, degenerate = draw(X, 30)
    assert degenerate == 0
    assert np.array_equal(models.samples, naive.draw_samples(Stream(7).child(0).key, 20, 2, 30))


def test_parameters_belong_to_their_samples():
    X = np.random.default_rng(0).normal(size=(20, 2))
    models, _ = draw(X, 30, "circle")
    for sample, theta in zip(models.samples, models.params):
        np.testing.assert_allclose(theta, naive.solve_circle(X[sample]), rtol=1e-6)


def test_degenerate_samples_are_drawn_again_and_counted():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[:14] = X[0]
    models, degenerate = draw(X, 500)
    assert len(models) == 500
    # 14 of 20 points are equal: 14 * 13 / (20 * 19) = 48 % of the samples are degenerate.
    assert 0.4 < degenerate / (500 + degenerate) < 0.56
    assert (np.abs(X[models.samples[:, 0]] - X[models.samples[:, 1]]).max(axis=1) > 0).all()


def test_the_count_of_degenerate_samples_does_not_depend_on_the_chunk(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[:14] = X[0]
    models, degenerate = draw(X, 500)
    monkeypatch.setattr("piforest.models.drawing._CHUNK", 37)
    again, degenerate_again = draw(X, 500)
    assert np.array_equal(models.params, again.params)
    assert degenerate == degenerate_again


class Recorded(type(get_family("hyperplane"))):
    """Hyperplanes that are not solved, and note what they were given."""

    given: ClassVar[list[int]] = []

    def solve(self, samples):
        self.given.append(samples.nbytes)
        # Whether a sample is valid depends on the sample alone.
        valid = samples[:, :1, 0] > -0.5
        return np.zeros((len(samples), 1, 2 * samples.shape[2])), valid


@pytest.mark.parametrize(("d", "most"), [(1000, 2**25), (300, 2**25), (2, 16384 * 4 * 8)])
def test_minimal_samples_are_gathered_in_bounded_memory(d, most):
    """At once, 16,384 samples of 300 points in 300 dimensions would take 11 GB."""
    X = np.random.default_rng(0).normal(size=(d + 5, d))
    Recorded.given.clear()
    models, degenerate = draw_models(X, Recorded(), UNIFORM, 40, Stream(7))
    assert len(models) == 40
    assert degenerate > 0
    assert max(Recorded.given) <= most
    assert sum(Recorded.given) >= 40 * d * d * 8


@pytest.mark.slow
def test_results_do_not_depend_on_the_bytes_of_a_chunk(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 6))
    X[:20] = X[0]
    models, degenerate = draw(X, 200, "hyperplane")
    monkeypatch.setattr("piforest.models.drawing._CHUNK_BYTES", 1)
    again, as_many = draw(X, 200, "hyperplane")
    assert np.array_equal(models.params, again.params)
    assert np.array_equal(models.samples, again.samples)
    assert models.params.flags.f_contiguous
    assert again.params.flags.f_contiguous
    assert degenerate == as_many > 0


def test_the_first_models_do_not_depend_on_the_number_of_models():
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert np.array_equal(draw(X, 5)[0].params, draw(X, 50)[0].params[:5])


def test_a_sample_with_three_solutions_gives_three_models():
    X = np.random.default_rng(0).uniform(0, 100, (30, 4))
    models, _ = draw(X, 100, "fundamental", solver="7-point")
    assert len(models) == 100
    assert len(np.unique(models.samples, axis=0)) < 100


def test_the_only_pair_of_different_points_is_found():
    X = np.zeros((12, 2))
    X[3] = 1
    assert len(draw(X, 200)[0]) == 200


def test_too_few_valid_samples_give_a_warning():
    X = np.zeros((400, 2))
    X[3] = 1
    with pytest.warns(UserWarning, match="of 200 models of family 'line' could be drawn"):
        models, degenerate = draw(X, 200)
    assert 0 < len(models) < 200
    assert degenerate > 1000


def test_identical_points_raise_a_specific_error():
    with pytest.raises(ValueError, match="all 9 points are identical, so no line can be fitted"):
        draw(np.ones((9, 2)), 10)


def test_an_error_explains_why_no_sample_is_valid():
    X = np.column_stack([np.arange(9.0), np.arange(9.0)])
    with pytest.raises(
        ValueError, match=r"every one of .* degenerate for family 'circle'.*9 distinct"
    ):
        draw(X, 10, "circle")


def _scattered(rng):
    X = rng.normal(size=(40, 3))
    X[10:15] = X[3]
    return X


def _far_ones(rng):
    X = rng.normal(size=(40, 3))
    X[::7] *= 1e9
    return X


@pytest.mark.parametrize("size", [2, 3, 8])
@pytest.mark.parametrize(
    "points",
    [
        _scattered,
        _far_ones,
        lambda rng: rng.integers(0, 3, (40, 3)) * 1.0,
        lambda _: np.ones((9, 3)),
    ],
    ids=["scattered", "some far", "a grid with ties", "one point"],
)
def test_the_mixed_sampler_equals_the_naive_one(size, points):
    X = points(np.random.default_rng(0))
    drawn = MIXED.draw(X, size, 60, Stream(5))
    assert np.array_equal(drawn, naive.mixed_samples(Stream(5), X, size, 60))
    assert np.array_equal(MIXED.draw(X[:size], size, 9, Stream(5)).max(axis=1), [size - 1] * 9)


def test_local_samples_of_one_of_many_points_are_the_seeds_of_larger_ones():
    X, numbers = np.random.default_rng(0).uniform(size=(6000, 2)), np.arange(60)
    drawn = local_samples(X, 1, numbers, Stream(5))
    assert np.array_equal(drawn, local_samples(X, 4, numbers, Stream(5))[:, :1])


def test_local_samples_of_many_points_are_near_and_distinct():
    X = np.random.default_rng(0).uniform(size=(6000, 2))
    X[5000:] = X[:1000]
    drawn = MIXED.draw(X, 4, 4000, Stream(5))
    assert all(len(set(sample)) == 4 for sample in drawn.tolist())
    assert np.array_equal(MIXED.draw(X, 4, 100, Stream(5)), drawn[:100])
    radius = np.linalg.norm(X[drawn] - X[drawn[:, :1]], axis=2).max(axis=1)
    uniform, local = np.median(radius[::2]), radius[1::2]
    # K is log-uniform from 4 to n, and the K nearest lie within sqrt(K / (pi n)).
    expected = np.sqrt(
        np.exp(np.log(4) + np.array([0.25, 0.5, 0.75]) * np.log(6000 / 4)) / 6000 / np.pi
    )
    quantiles = np.quantile(local, [0.25, 0.5, 0.75])
    assert (np.abs(np.log(quantiles / expected)) < 0.35).all()
    assert quantiles[1] < uniform / 5


def test_the_uniform_sampler_rejects_unused_arguments():
    X = np.zeros((5, 2))
    with pytest.raises(ValueError, match="does not use quality"):
        UNIFORM.draw(X, 2, 3, Stream(0), quality=np.ones(5))
    with pytest.raises(ValueError, match=r"sampler must be one of .*Did you mean 'uniform'"):
        resolve_sampler("unifrom")
    with pytest.raises(ValueError, match="Sampler"):
        resolve_sampler(3)


@pytest.mark.slow
def test_samples_of_dependent_columns_are_given_up_soon_with_the_reason(monkeypatch):
    monkeypatch.setattr("piforest.models.drawing._MAX_WORK", 2**24)
    X = np.random.default_rng(0).normal(size=(200, 18)) @ np.eye(18, 20, 2)
    X[:, 0], X[:, 1] = X[:, 2] + X[:, 3], 2 * X[:, 4]
    n_solved = []
    family = get_family("hyperplane")
    solve = type(family).solve
    monkeypatch.setattr(
        type(family), "solve", lambda self, s: n_solved.append(len(s)) or solve(self, s)
    )
    with pytest.raises(
        ValueError, match=r"are linear functions of each other, .* leave 2 of them out"
    ):
        draw(X, 500, "hyperplane")
    assert sum(n_solved) <= 500 + 2**24 // 20**3


@pytest.mark.parametrize("highest", [5, 10**9])
def test_rows_of_samples_are_found_with_and_without_a_table(highest):
    samples = np.random.default_rng(0).integers(0, highest, (50, 3))
    rows = np.unique(samples)
    assert distinct_rows(samples).tolist() == rows.tolist()
    at = np.array([3, 1])
    assert (rows[sample_positions(samples, at)] == samples[at]).all()


def test_matches_without_motion_are_not_told_to_remove_rows():
    points = np.random.default_rng(0).uniform(0, 100, (30, 2))
    with pytest.raises(ValueError, match="nothing moved between the views") as error:
        draw(np.hstack([points, points]), 20, "fundamental")
    assert "remove repeated rows" not in str(error.value)
    assert "columns" not in str(error.value)
