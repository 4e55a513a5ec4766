"""Structures that are heaps of points."""

from __future__ import annotations

import numpy as np
import pytest

from piforest.families import get_family
from piforest.structures.description import Structure
from piforest.structures.heaps import heaps_among

LAW = get_family("linear_regression")


def law(slope, level, half_width):
    params = LAW.solve(np.array([[[0.0, level], [1.0, level + slope]]]))[0][0, 0]
    return Structure(LAW, params, half_width, 50.0, np.empty(0, int), half_width / 2)


def scene(spread, seed=0):
    """A law y = x with noise .05, and 150 rows at x = .3, y = -.6 with this spread."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, 400)
    rows = np.column_stack([x, x + 0.05 * rng.normal(size=400)])
    return np.concatenate([rows, rng.normal([0.3, -0.6], spread, (150, 2))])


def heaps(X, structures):
    return heaps_among(X, np.column_stack([each.residuals(X) for each in structures]), structures)


@pytest.mark.parametrize("slope", [-1.0, 0.0, 1.5])
def test_a_law_through_a_heap_that_is_as_narrow_as_the_others_is_a_heap(slope):
    X = scene(0.05)
    found = heaps(X, [law(1.0, 0.0, 0.1), law(slope, -0.6 - 0.3 * slope, 0.1)])
    assert found.tolist() == [False, True]


@pytest.mark.parametrize("level", [0.7, -0.8])
def test_a_second_law_of_all_values_of_the_features_is_none(level):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 200)
    other = np.column_stack([x, level + 0.05 * rng.normal(size=200)])
    X = np.concatenate([scene(0.05)[:400], other])
    assert not heaps(X, [law(1.0, 0.0, 0.1), law(0.0, level, 0.1)]).any()


def test_one_structure_is_no_heap_beside_others():
    assert heaps(scene(0.05), [law(0.0, -0.6, 0.1)]).tolist() == [False]
