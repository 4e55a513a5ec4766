from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, estimate_sigma
from piforest._random import Stream
from piforest.bands.resolution import (
    DitherEffect,
    find_resolution,
    is_grid_of_levels,
    step_of,
)
from piforest.datasets import make_lines
from piforest.families import get_family, rows_with_levels

RNG = np.random.default_rng(0)
LINE = make_lines(1, sizes=600, noise=0.01, anomaly_share=0.0, random_state=1).data


@pytest.mark.parametrize("step", [0.1, 0.25, 1 / 3, 7.0, 1e-3])
def test_the_step_of_rounded_values_is_found(step):
    values = RNG.normal(0, 30 * step, 2000)
    rounded = step * np.round(values / step)
    assert step_of(rounded) == pytest.approx(step, rel=1e-9)
    assert step_of(rounded + 1e5 * step) == pytest.approx(step, rel=1e-4)
    assert step_of(rounded.astype(np.float32).astype(float)) == pytest.approx(step, rel=1e-4)
    a_few_others = np.append(rounded, values[:5])
    assert step_of(a_few_others) == pytest.approx(step, rel=0.01)


def test_the_step_of_single_precision_with_a_large_offset_is_found():
    y = RNG.uniform(0, 300, 5000) + 5_403_547.0
    assert step_of(y.astype(np.float32).astype(float)) == 0.5


def test_the_step_of_a_depth_camera_grows_with_the_depth():
    disparity = RNG.integers(500, 600, 5000)
    depth = np.round(580 * 75 / disparity / 10, 3)
    assert step_of(depth) == pytest.approx(np.median(np.diff(np.unique(depth))), rel=0.2)


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=1000),
        np.repeat(RNG.normal(size=100), 10),
        RNG.normal(size=1000).astype(np.float32).astype(float),
        np.arange(500.0),
        RNG.integers(0, 4, 300).astype(float),
        np.zeros(50),
        np.round(RNG.normal(size=500), 6),
    ],
    ids=["random", "repeated", "single", "numbers", "categories", "constant", "fine"],
)
def test_values_that_are_not_rounded_have_no_step(values):
    assert step_of(values) == 0.0


def test_columns_whose_levels_are_no_models_have_no_step():
    table = np.round(RNG.normal(size=(500, 3)), 1)
    assert find_resolution(get_family("plane"), table, Stream(0)).steps.all()
    steps = find_resolution(get_family("linear_regression"), table, Stream(0)).steps
    assert (steps > 0).tolist() == [False, False, True]
    matches = np.round(RNG.uniform(0, 640, (900, 4)))
    assert find_resolution(get_family("homography"), matches, Stream(0)).steps.all()
    matches[:, 3] += RNG.normal(size=900)
    assert not find_resolution(get_family("homography"), matches, Stream(0)).steps.any()


def test_the_dither_is_seeded_and_depends_on_the_row_number_alone():
    X = np.round(LINE, 1)
    resolution = find_resolution(get_family("line"), X, Stream(5))
    numbers = np.arange(len(X))
    rows = resolution.dithered(X, numbers)
    assert (np.abs(rows - X) <= 0.05 + 1e-12).all()
    assert np.abs(rows - X).mean() == pytest.approx(0.025, rel=0.1)
    assert np.array_equal(resolution.dithered(X[7:9], numbers[7:9]), rows[7:9])
    assert np.array_equal(find_resolution(get_family("line"), X, Stream(5)).dithered(X, numbers),
                          rows)  # fmt: skip
    other = find_resolution(get_family("line"), X, Stream(6)).dithered(X, numbers)
    assert not np.array_equal(other, rows)
    plain = find_resolution(get_family("line"), LINE, Stream(5))
    assert plain.dithered(LINE, numbers) is LINE


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**13])
def test_powers_of_two_scale_steps_and_results_exactly(factor):
    X = np.round(LINE, 2)
    one, other = (
        PreferenceIsolationForest("line", n_models=500, n_estimators=5, random_state=0).fit(data)
        for data in (X, X * factor)
    )
    assert one.resolution_.all()
    assert np.array_equal(one.resolution_ * factor, other.resolution_)
    assert np.array_equal(one.scores_, other.scores_)
    assert one.sigma_ * factor == other.sigma_


def test_a_rounded_line_is_one_structure_and_a_score_depends_on_its_row_alone(tmp_path):
    X = np.round(2 * LINE, 1)
    detector = PreferenceIsolationForest("line", n_estimators=20, random_state=0).fit(X)
    np.testing.assert_allclose(detector.resolution_, 0.1)
    (structure,) = detector.structures_
    assert structure.half_width >= 0.1
    assert np.mean(detector.labels_ == -1) < 0.03
    scores = detector.anomaly_score(X)
    assert np.array_equal(scores, detector.scores_)
    some = [17, 3, 560]
    assert np.array_equal(detector.anomaly_score(X[some]), scores[some])
    detector.save(tmp_path / "line.pif")
    loaded = PreferenceIsolationForest.load(tmp_path / "line.pif")
    assert np.array_equal(loaded.resolution_, detector.resolution_)
    assert np.array_equal(loaded.structures_[0].params, structure.params)
    assert loaded.structures_[0].half_width == structure.half_width


def test_the_paper_has_no_dither():
    X = np.round(LINE, 1)
    detector = PreferenceIsolationForest.paper("line", sigma=0.05, n_models=200, random_state=0)
    detector.fit(X)
    assert not detector.resolution_.any()
    (models,) = detector.models_
    assert np.array_equal(models.params[0, :2], X[models.samples[0]][
        np.argmin(np.sum(X[models.samples[0]] ** 2, axis=1))])  # fmt: skip


def test_estimate_sigma_of_rounded_rows():
    X = np.round(2 * LINE, 1)
    assert 0.03 < estimate_sigma(X, random_state=0) < 0.1


def test_levels_of_points_matter_where_as_many_columns_have_them_as_flats_have_directions():
    rng = np.random.default_rng(0)
    answers, values = rng.integers(1, 6, (300, 2)), rng.normal(size=(300, 2))
    mixed = np.column_stack([answers, values]).astype(float)
    for dimension, expected in ((1, False), (2, True), (3, True)):
        assert is_grid_of_levels(get_family("subspace", dimension=dimension), mixed) == expected
    zeros = np.where(rng.random((300, 4)) < 0.2, 0.0, rng.normal(size=(300, 4)))
    assert is_grid_of_levels(get_family("subspace", dimension=1), zeros)
    assert not is_grid_of_levels(get_family("subspace", dimension=1), rng.normal(size=(300, 4)))
    # Places may lie on lines of equal values, and a table has a rule of its own.
    assert not is_grid_of_levels(get_family("plane"), rng.integers(1, 6, (300, 3)).astype(float))
    assert not is_grid_of_levels(get_family("linear_regression"), mixed)


def test_null_rows_of_levels_have_the_levels_of_each_column():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 6, 300), 10 * rng.integers(0, 3, (3, 300)).T])
    null = rows_with_levels(get_family("subspace"), X, 600, Stream(0))
    for column, own in zip(null.T, X.T):
        shares = [np.mean(column == value) for value in np.unique(own)]
        assert shares == [np.mean(own == value) for value in np.unique(own)]
    assert abs(np.corrcoef(null.T)[0, 1]) < 0.15


def test_rows_at_an_infinite_distance_before_and_after_the_dither_have_not_moved():
    class Family:
        def residuals(self, X, params):
            return np.where(X[:, :1] > 2, np.inf, X[:, :1] * params[:, 0])

    raw, dithered = np.arange(5.0)[:, None], np.arange(5.0)[:, None] + 0.25
    with np.errstate(all="raise"):
        floors = DitherEffect(raw, dithered, 0.0).floors(Family(), np.array([[1.0], [2.0]]))
    assert floors.tolist() == [1.0, 2.0]
