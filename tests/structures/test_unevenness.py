"""Noise that grows or shrinks along the prediction of a law."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.families import get_family
from piforest.structures.boundaries import Boundaries
from piforest.structures.description import Structure
from piforest.structures.unevenness import uneven_noise

LAW = get_family("linear_regression")


def law_of(slope=2.0, sigma=1.0):
    """The structure y = slope x with this sigma."""
    params = LAW.solve(np.array([[[0.0, 0.0], [10.0, 10.0 * slope]]]))[0][0, 0]
    return Structure(LAW, params, 2 * sigma, 50.0, np.empty(0, int), sigma)


def rows(noise_at, n=400, slope=2.0, seed=0):
    """Rows about y = slope x, x from 1 to 10, with the noise that a function of x gives."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 10, n)
    return np.column_stack([x, slope * x + noise_at(x) * rng.normal(size=n)])


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_noise_in_proportion_to_the_target_is_uneven(slope):
    X = rows(lambda x: 0.1 * x, slope=slope)
    uneven = uneven_noise(X, law_of(slope, 0.4))
    assert uneven is not None
    growth = uneven.growth if slope > 0 else 1 / uneven.growth
    assert 4 < growth < 12, "about 9.4 to 1.6 at the medians of the outer eighths"


def test_even_noise_is_not_uneven():
    found = [uneven_noise(rows(np.ones_like, seed=k), law_of()) for k in range(40)]
    assert sum(each is not None for each in found) == 0


def test_the_factor_follows_the_noise_where_it_is_larger_than_sigma():
    uneven = uneven_noise(rows(lambda x: 0.1 * x, n=4000), law_of(2.0, 0.5))
    assert uneven is not None
    at = np.array([2.0, 8.0])
    factors = uneven.at(np.column_stack([at, 2 * at]))
    assert factors[0] == 1, "a row is no anomaly where the noise is smaller than sigma"
    assert factors[1] == pytest.approx(0.8 / 0.5, rel=0.25)


@pytest.mark.parametrize("at", ["lowest", "highest", "middle"])
def test_a_heap_of_anomalies_does_not_make_the_noise_uneven(at):
    X = rows(np.ones_like)
    middle = {"lowest": 1.5, "middle": 5.0, "highest": 9.5}[at]
    rng = np.random.default_rng(1)
    heap = np.column_stack([rng.normal(middle, 0.1, 150), rng.normal(40, 0.3, 150)])
    assert uneven_noise(np.concatenate([X, heap]), law_of()) is None


def test_what_lies_about_a_law_of_few_rows_is_no_noise_of_it():
    X = rows(lambda x: 2 * x)
    assert uneven_noise(X, law_of(2.0, 0.1)) is None
    assert uneven_noise(X, law_of(2.0, 10.0)) is not None


def test_few_rows_and_other_families_have_even_noise():
    assert uneven_noise(rows(lambda x: x, n=60), law_of()) is None
    line = Structure(get_family("line"), np.array([0.0, 0, 1, 0]), 1.0, 9.0, np.empty(0, int), 0.5)
    assert uneven_noise(rows(lambda x: x), line) is None


def test_exact_values_have_a_logarithm():
    X = rows(lambda x: np.where(x < 4, 0.0, x))
    uneven = uneven_noise(X, law_of(2.0, 4.0))
    assert uneven is not None
    assert np.isfinite(uneven.factors).all()


def test_far_rows_are_beyond_in_the_noise_of_their_place():
    X = rows(lambda x: 0.1 * x)
    boundaries = Boundaries(X, [law_of(2.0, 0.2)])
    far = 2 * np.array([1.5, 9.0]) + 2.0
    beyond = boundaries.beyond(np.column_stack([[1.5, 9.0], far]))
    assert beyond.tolist() == [True, False]


def test_a_table_whose_noise_grows_says_so_and_keeps_its_ordinary_rows():
    rng = np.random.default_rng(4)
    x = np.exp(rng.normal(0, 1, 500))
    X = np.column_stack([x, 3 * x * np.exp(0.25 * rng.normal(size=500))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert np.mean(detector.labels_ == -1) < 0.12
    findings = {each.code: each for each in detector.diagnosis_}
    assert "uneven_noise" in findings
    assert "take the logarithm of column 1" in findings["uneven_noise"].advice


def test_the_logarithm_of_such_a_target_has_even_noise():
    rng = np.random.default_rng(4)
    x = np.exp(rng.normal(0, 1, 500))
    X = np.log(np.column_stack([x, 3 * x * np.exp(0.25 * rng.normal(size=500))]))
    detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert "uneven_noise" not in [each.code for each in detector.diagnosis_]
    assert detector.structures_[0].sigma == pytest.approx(0.25, rel=0.2)
