from __future__ import annotations

import math
import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from flat_trees import distances, nested
from piforest._random import Stream
from piforest._rows import SparseRows, sparse_rows
from piforest.forest import FlatForest, PooledForest
from piforest.forest.flat import join
from piforest.forest.path_length import expected_depth, height_limit
from piforest.metrics import get_metric

sizes = st.tuples(st.integers(2, 40), st.integers(2, 40), st.integers(2, 6), st.integers(1, 50))


@pytest.mark.slow
@given(sizes, st.integers(0, 1000))
def test_trees_and_path_lengths_equal_the_naive_ones(shape, seed):
    pool, psi, branching, levels = shape
    psi = min(psi, pool)
    D = distances(pool, seed, levels)
    forest = FlatForest(psi, branching).grow(D, Stream(seed), range(4))
    expected = naive.pi_forest(D, Stream(seed), 4, psi, branching)
    assert [nested(forest, tree) for tree in range(4)] == expected
    rows = np.random.default_rng(seed).integers(0, levels + 1, (7, pool)).astype(float)
    lengths = [[naive.path_length(row, tree, branching) for tree in expected] for row in rows]
    np.testing.assert_allclose(forest.path_lengths(rows), lengths, rtol=1e-13)


@given(sizes, st.integers(0, 1000))
def test_every_point_is_in_one_leaf_and_no_leaf_is_empty(shape, seed):
    pool, psi, branching, levels = shape
    psi = min(psi, pool)
    forest = FlatForest(psi, branching).grow(distances(pool, seed, levels), Stream(seed), range(3))
    leaves = forest.first_child < 0
    for tree in range(3):
        here = slice(forest.roots[tree], forest.roots[tree + 1])
        assert forest.size[here][leaves[here]].sum() == psi
    assert forest.size.min() >= 1


def test_a_seed_belongs_to_its_own_cell_even_if_all_points_are_equal():
    D = np.zeros((30, 30))
    forest = FlatForest(30, 2).grow(D, Stream(0), range(50))
    assert forest.size.min() >= 1
    # Equal points are split at random, so both children of a root are large.
    halves = [forest.size[root + 1 : root + 3].min() for root in forest.roots[:-1]]
    assert np.mean(halves) > 10


def test_ties_are_broken_at_random_while_growing():
    D = np.ones((300, 300)) - np.eye(300)
    forest = FlatForest(300, 2).grow(D, Stream(0), range(40))
    first = [forest.size[root + 1] for root in forest.roots[:-1]]
    assert abs(np.mean(first) - 150) < 5


def test_a_tie_goes_to_the_first_seed_while_scoring():
    forest = FlatForest(
        2, 2, np.array([0, 3]), *np.array([[1, -1, -1], [-1, 0, 1], [2, 1, 5]], np.int32)
    )
    forest = FlatForest(5, 2, forest.roots, forest.first_child, forest.seed, forest.size)
    tied, second = forest.path_lengths(np.array([[1.0, 1.0], [2.0, 1.0]]))[:, 0]
    assert tied == 1 + naive.c(1, 2)
    assert second == pytest.approx(1 + naive.c(5, 2))


def test_a_tree_that_cannot_split_is_one_leaf():
    forest = FlatForest(3, 5).grow(distances(3, 0, 9), Stream(0), range(2))
    assert forest.roots.tolist() == [0, 1, 2]
    assert (forest.path_lengths(np.ones((1, 3))) == 1).all()
    assert forest.normaliser == 1


def test_trees_can_be_grown_separately_and_joined():
    D = distances(30, 0, 20)
    empty = FlatForest(16, 3)
    whole = empty.grow(D, Stream(5), range(9))
    parts = join([empty.grow(D, Stream(5), range(0, 2)), empty.grow(D, Stream(5), range(2, 9))])
    for name in ("roots", "first_child", "seed", "size"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_subsamples_and_seeds_are_uniform():
    D = distances(50, 0, 1000)
    forest = FlatForest(10, 2).grow(D, Stream(0), range(4000))
    roots = forest.roots[:-1]
    seeds = np.concatenate([forest.seed[roots + 1], forest.seed[roots + 2]])
    counts = np.bincount(seeds, minlength=50)
    assert abs(counts - 160).max() < 5 * np.sqrt(160)


@pytest.mark.parametrize("branching", [2, 3, 4, 7])
def test_expected_depth_equals_the_naive_one(branching):
    table = expected_depth(60, branching)
    np.testing.assert_allclose(table, [naive.c(n, branching) for n in range(61)], rtol=1e-12)


def test_expected_depth_of_two_branches_follows_the_general_recursion():
    @cache
    def general(n):
        return 0.0 if n < 2 else 1 + sum(2 * j / (n * (n - 1)) * general(j) for j in range(1, n))

    assert expected_depth(12, 2)[12] == pytest.approx(general(12))


@pytest.mark.slow
def test_expected_depth_equals_that_of_simulated_splits():
    """b = 3: all splits of n into three non-empty parts are equally likely."""
    rng = np.random.default_rng(0)

    def depth_of_one(n):
        depth = 0
        while n >= 3:
            cuts = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
            parts = np.diff([0, *cuts, n])
            n = parts[rng.choice(3, p=parts / n)]
            depth += 1
        return depth + (1 if n == 2 else 0)

    simulated = np.mean([depth_of_one(30) for _ in range(20_000)])
    assert expected_depth(30, 3)[30] == pytest.approx(simulated, rel=0.02)


@given(st.integers(2, 10**6), st.integers(2, 50))
def test_height_limit_is_the_rounded_up_logarithm(psi, b):
    limit = height_limit(psi, b)
    assert b**limit >= psi > b ** (limit - 1)


def test_height_limit_is_not_subject_to_rounding():
    assert math.ceil(math.log(125, 5)) == 4
    assert height_limit(125, 5) == 3
    assert height_limit(243, 3) == 5


def test_empty_rows_do_not_descend():
    P = np.random.default_rng(0).uniform(size=(20, 6)) * (
        np.random.default_rng(1).uniform(size=(20, 6)) < 0.5
    )
    metric = get_metric("tanimoto")
    pool = metric.rows(P)
    pooled = PooledForest(metric, pool, FlatForest(20, 2))
    pooled = pooled.grow(pooled.table(pool), 30, Stream(0), None)
    new = metric.rows(np.vstack([P[:2], np.zeros(6)]))
    assert (pooled.path_lengths(new)[2] == 1).all()
    assert pooled.scores(new)[2] == pooled.scores(new).max()


def test_a_pooled_forest_pickles_without_its_index():
    metric = get_metric("tanimoto")
    pool = metric.rows(np.random.default_rng(0).uniform(size=(40, 60)))
    pooled = PooledForest(metric, pool, FlatForest(20, 2))
    pooled = pooled.grow(pooled.table(pool), 5, Stream(0), None)
    stored = pickle.dumps(pooled)
    assert np.array_equal(pickle.loads(stored).scores(pool), pooled.scores(pool))
    assert len(stored) < 1.7 * (pool.data.nbytes + pool.indices.nbytes)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_number_of_jobs_does_not_change_the_trees(n_jobs):
    metric = get_metric("euclidean")
    pooled = PooledForest(metric, np.random.default_rng(0).normal(size=(20, 2)), FlatForest(8, 2))
    D = pooled.table(pooled.pool)
    grown = pooled.grow(D, 7, Stream(0), n_jobs).trees
    expected = pooled.trees.grow(D, Stream(0), range(7))
    for name in ("roots", "first_child", "seed", "size"):
        assert np.array_equal(getattr(grown, name), getattr(expected, name))


@pytest.mark.parametrize("branching", [2, 3, 8])
def test_grown_trees_are_valid_for_their_pool_and_for_no_smaller_one(branching):
    for n_trees in (1, 3):
        forest = FlatForest(8, branching).grow(distances(8, 0, 9), Stream(0), range(n_trees))
        assert forest.is_valid(8)
        assert not forest.is_valid(7)


def test_distances_of_a_metric_that_is_not_built_in_are_checked():
    class Broken(type(get_metric("tanimoto"))):
        def pairwise(self, rows, pool):
            return np.full((len(rows), 5), np.nan)

    metric = Broken()
    columns = np.arange(5, dtype=np.uint16)
    pool = SparseRows(np.arange(6), columns, np.ones(5, np.int8), 5)
    assert pool.exact
    with pytest.raises(ValueError, match="metric 'tanimoto'"):
        PooledForest(metric, pool, FlatForest(5, 2)).table(pool)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("branching", [2, 3])
def test_scores_equal_the_naive_ones(branching, soft):
    rng, metric = np.random.default_rng(0), get_metric("euclidean")
    pool, rows = rng.uniform(0, 0.5, (30, 2)), rng.uniform(0, 0.5, (12, 2))
    rows[0] = pool[3]  # at no distance from a seed
    pooled = PooledForest(metric, pool, FlatForest(16, branching, soft=soft))
    pooled = pooled.grow(pooled.table(pool), 6, Stream(0), None)
    D = np.sqrt(((rows[:, None] - pool) ** 2).sum(axis=2))
    trees = [nested(pooled.trees, tree) for tree in range(6)]
    lengths, scores = naive.scores(D, np.zeros(12, bool), trees, 16, branching, soft)
    np.testing.assert_allclose(pooled.path_lengths(rows), lengths, rtol=1e-12)
    np.testing.assert_allclose(pooled.scores(rows), scores, rtol=1e-12)


def test_distances_that_are_no_numbers_are_an_error():
    pool = np.array([[0.0], [1.0]])
    with pytest.raises(ValueError, match="metric 'euclidean'"):
        PooledForest(get_metric("euclidean"), pool, FlatForest(2, 2)).table(pool * np.nan)


@pytest.mark.parametrize("name", ["tanimoto", "jaccard", "ruzicka"])
def test_path_lengths_from_overlaps_equal_those_from_distances(name):
    rng = np.random.default_rng(0)
    dense = rng.integers(1, 128, (90, 40)) * (rng.random((90, 40)) < 0.2)
    rows = sparse_rows(dense)
    rows = SparseRows(rows.indptr, rows.indices, rows.data.astype(np.int8), rows.n_columns)
    metric, pool = get_metric(name), rows[:60]
    empty = PooledForest(metric, metric.rows(pool), FlatForest(32, 2, soft=True))
    forest = empty.grow(empty.table(metric.rows(pool)), 10, Stream(0), 1)
    assert forest._shares
    some = metric.rows(rows[50:])
    assert np.array_equal(forest.path_lengths(some), forest.path_lengths(some, forest.table(some)))


@pytest.mark.parametrize("name", ["tanimoto", "jaccard", "ruzicka", "cosine"])
def test_trees_grown_from_rows_equal_those_from_distances(monkeypatch, name):
    rng = np.random.default_rng(1)
    dense = rng.integers(1, 128, (90, 40)) * (rng.random((90, 40)) < 0.1)
    dense[:5] = dense[5]  # ties, and empty rows
    rows = sparse_rows(dense)
    rows = SparseRows(rows.indptr, rows.indices, rows.data.astype(np.int8), rows.n_columns)
    metric = get_metric(name)
    empty = PooledForest(metric, metric.rows(rows), FlatForest(64, 2, soft=True))
    assert empty.dense_rows is None, "few rows, many columns"
    monkeypatch.setattr("piforest.forest.pooled._DENSE_COLUMNS", 1)
    empty = PooledForest(metric, metric.rows(rows), FlatForest(64, 2, soft=True))
    assert (empty.dense_rows is not None) == (name in ("tanimoto", "jaccard"))
    if empty.dense_rows is not None:
        ours = empty.grow(None, 20, Stream(0), 1).trees
        expected = empty.grow(empty.table(metric.rows(rows)), 20, Stream(0), 1).trees
        for each in ("roots", "first_child", "seed", "size"):
            assert np.array_equal(getattr(ours, each), getattr(expected, each))
