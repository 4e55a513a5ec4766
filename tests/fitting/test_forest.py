from __future__ import annotations

import numpy as np
import pytest

from piforest._random import Stream
from piforest.engines import CpuEngine
from piforest.fitted.training_rows import TrainingRows
from piforest.fitting import ForestParameters, empty_trees, fit_forest
from piforest.metrics import get_metric

X = np.random.default_rng(0).normal(size=(90, 3))


def parameters(metric="euclidean", **changes):
    params = {"n_trees": 6, "max_samples": 32, "branching": 2, "pool_size": 40, **changes}
    return ForestParameters(get_metric(metric), **params)


def test_the_pool_is_part_of_the_rows_and_the_subset_is_a_copy_of_them():
    fitted = fit_forest(TrainingRows(X), parameters(), CpuEngine(None), Stream(1))
    assert np.array_equal(fitted.forest.pool, X[fitted.pool_numbers])
    assert len(fitted.pool_numbers) == len(fitted.pool_scores) == 40
    assert np.array_equal(fitted.subset, X)
    assert not np.shares_memory(fitted.subset, X)
    assert not fitted.holds_all


def test_nothing_is_kept_beside_a_pool_of_all_rows():
    fitted = fit_forest(TrainingRows(X), parameters(pool_size=90), CpuEngine(None), Stream(1))
    assert fitted.holds_all
    assert fitted.subset is None
    assert fitted.pool_points is None


def test_a_precomputed_pool_is_the_numbers_of_columns():
    D = np.abs(np.subtract.outer(X[:, 0], X[:, 0]))
    fitted = fit_forest(TrainingRows(D), parameters("precomputed"), CpuEngine(None), Stream(1))
    assert np.array_equal(fitted.forest.pool, fitted.pool_numbers)
    scores = CpuEngine(None).scores(fitted, D[fitted.pool_numbers])
    assert np.array_equal(scores, fitted.pool_scores)


def test_trees_that_cannot_split_are_a_warning():
    with pytest.warns(UserWarning, match=r"branching \(5\) is above the 3 points of a tree"):
        trees = empty_trees(parameters(branching=5), 3)
    assert trees.max_samples == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"n_trees": 0}, "n_estimators must be an integer of at least 1"),
     ({"branching": 33}, "branching must be at most max_samples"),
     ({"pool_size": 1}, "pool_size must be an integer of at least 2")],
)  # fmt: skip
def test_parameters_are_checked(change, reason):
    with pytest.raises(ValueError, match=reason):
        parameters(**change)
