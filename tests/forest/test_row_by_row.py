from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.bands.ladder import Ladder, narrow_grid
from piforest.datasets import make_lines
from piforest.families import get_family


@pytest.mark.parametrize("path", ["soft", "depth"])
def test_path_lengths_row_by_row_are_those_of_a_table_of_distances(path):
    X = make_lines(3, sizes=60, anomaly_share=0.3, random_state=0).data
    detector = PreferenceIsolationForest("line", path=path, n_models=300, random_state=0).fit(X)
    forest, new = (
        detector.forest_,
        np.vstack([X[:100], np.random.default_rng(0).uniform(size=(50, 2))]),
    )
    rows = forest.rows_of(detector.fitted_.embedding.preferences.rows_of(new))
    products = forest.metric.products(rows, forest._index)
    found = forest.trees.path_lengths_of_rows(products)
    assert np.array_equal(found, forest.trees.path_lengths(forest.table(rows)))
    shares = forest.metric.shares(rows, forest._index)
    assert np.array_equal(found, forest.trees.path_lengths_of(*shares))


def test_the_best_model_of_each_width_is_that_of_all_ratios():
    rng = np.random.default_rng(0)
    ladder = Ladder(narrow_grid(get_family("line"), rng.uniform(size=(50, 2))))
    counts = rng.poisson(2.0, (15, 40)).astype(np.int32)
    counts[9:, 7] += 20
    counts[:, 11] = counts[:, 7]
    n = int(counts.sum(axis=0).max())
    for codimension in (1, 2):
        inside = np.cumsum(counts[::-1], axis=0)[::-1].astype(np.int32)
        table = ladder.ratios(np.ascontiguousarray(inside), codimension, n)
        best, ratios = ladder.best(counts, codimension, n)
        assert np.array_equal(best, np.argmax(table, axis=1))
        assert np.array_equal(ratios, table.max(axis=1))
        # With a limit for each model, the same from the table.
        lowest = np.full(40, 14)
        assert np.array_equal(ladder.best(counts, codimension, n, None, lowest)[0], best)
