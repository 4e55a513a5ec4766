"""Trees small enough to compute by hand, and values at the limits of each rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from flat_trees import distances, nested
from piforest._kernels.trees import ZERO_DISTANCE, _pool_distance, _split, _split_in_two
from piforest._random import Stream
from piforest._rows import NO_ROWS, SparseRows, sparse_rows
from piforest.forest import FlatForest, PooledForest
from piforest.forest.flat import join
from piforest.metrics import get_metric


def by_hand(branching, soft=False):
    """Three trees of 9 points: a leaf, two levels, a leaf."""
    b = branching
    second = [1, *[-1] * (b - 1), b + 1, *[-1] * b]  # the last child of the root has children
    first_child = [-1, *second, -1]
    seed = [-1, -1, *range(b), *range(b, 2 * b), -1]
    size = [9, 9, *range(1, 2 * b + 1), 4]
    arrays = (np.array(each, np.int32) for each in (first_child, seed, size))
    roots = np.array([0, 1, 2 * b + 2, 2 * b + 3])
    return FlatForest(9, b, roots, *arrays, soft=soft)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("branching", [2, 3, 4])
def test_path_lengths_are_those_of_the_naive_trees(branching, soft):
    """With ties, at the distance that counts as none and next to it, and for more rows than
    descend together."""
    forest = by_hand(branching, soft)
    assert forest.is_valid(9)
    at = [0.0, ZERO_DISTANCE, np.nextafter(ZERO_DISTANCE, 1), 1.2 * ZERO_DISTANCE, 0.25, 0.5, 1.0]
    D = np.random.default_rng(0).choice(at, (70, 9))
    D[0] = 1.0
    D[1] = ZERO_DISTANCE
    trees = [nested(forest, tree) for tree in range(3)]
    expected = [[naive.path_length(row, tree, branching, soft=soft) for tree in trees] for row in D]
    np.testing.assert_allclose(forest.path_lengths(D), expected, rtol=1e-13)
    assert (forest.path_lengths(D)[:, [0, 2]] == forest.depths[[9, 4]]).all()


def test_an_edge_to_an_equal_row_counts_one_and_any_other_two_less_the_distance():
    for branching in (2, 3):
        forest = by_hand(branching, soft=True)
        D = np.full((3, 9), 1.0)
        D[:, 0] = ZERO_DISTANCE, np.nextafter(ZERO_DISTANCE, 1), 0.25
        expected = [1.0, 2.0 - np.nextafter(ZERO_DISTANCE, 1), 1.75]
        assert forest.path_lengths(D)[:, 1].tolist() == expected


def test_path_lengths_from_sums_are_those_of_their_distances():
    """Nothing shared, all shared, half shared, and rows and points that are both empty."""
    forest = by_hand(2, soft=True)
    pool = np.array([0.0, 1.0, 2.0, 4.0, 0.0, 1.0, 8.0, 3.0, 5.0])
    rows = np.array([0.0, 1.0, 2.0, 8.0])
    shared = np.minimum(rows[:, None], pool) * (np.arange(9) != 6)
    union = rows[:, None] + pool - shared
    D = 1 - np.divide(shared, union, out=np.zeros_like(union), where=union > 0)
    found = forest.path_lengths_of(shared.astype(np.int32), rows, pool)
    assert np.array_equal(found, forest.path_lengths(D))
    swapped = forest.path_lengths_of(shared.astype(np.int32)[:, ::-1], rows, pool[::-1].copy())
    assert np.array_equal(swapped, forest.path_lengths(D[:, ::-1]))


def test_the_distance_of_two_rows_of_bytes():
    dense = np.array([[0, 0], [0, 0], [3, 4], [4, 3], [1, 0]], np.int16)
    sums, none = (dense.astype(float) ** 2).sum(axis=1), np.empty((0, 0))
    for i, j, expected in [
        (0, 1, 1.0), (2, 2, 0.0), (2, 3, 1 - 24 / 26), (3, 2, 1 - 24 / 26),
        (4, 4, 0.0), (0, 4, 1.0), (2, 4, 1 - 3 / 23),
    ]:  # fmt: skip
        assert _pool_distance(none, dense, sums, i, j) == expected
    assert _pool_distance(np.array([[0.0, 0.7], [0.3, 0.0]]), dense, sums, 0, 1) == 0.7
    assert _pool_distance(np.array([[0.4]]), dense, sums, 0, 0) == 0.4


@pytest.mark.parametrize("branching", [2, 3, 5])
def test_grown_trees_equal_the_naive_ones_in_all_arrays(branching):
    D = distances(40, 1, 6)
    forest = FlatForest(33, branching).grow(D, Stream(3), range(2, 5))
    expected = naive.pi_forest(D, Stream(3), 5, 33, branching)[2:]
    assert [nested(forest, tree) for tree in range(3)] == expected
    leaves = forest.first_child < 0
    assert (forest.first_child[leaves] == -1).all()
    assert (forest.seed[forest.roots[:-1]] == -1).all()
    assert (forest.size[forest.roots[:-1]] == 33).all()
    children = forest.children
    assert (children[leaves] == -1).all()
    start = np.repeat(forest.roots[:-1], np.diff(forest.roots))
    assert np.array_equal((children - start)[~leaves], forest.first_child[~leaves])


def test_the_points_of_a_tree_and_the_side_of_each_do_not_depend_on_the_layout():
    """Two branches, and the general code called with two seeds, agree."""
    D, key = distances(30, 0, 3), np.uint64(77)
    dense, sums = NO_ROWS
    for low in range(0, 20, 5):
        results = []
        for general in (False, True):
            members, ordered = np.arange(low, low + 10), np.empty(10, np.int64)
            seeds, counts = np.empty(2, np.int64), np.empty(2, np.int64)
            if general:
                _split(D, members, key, np.empty(2, np.uint64), seeds, counts, ordered)
            else:
                _split_in_two(D, dense, sums, members, key, seeds, counts, ordered)
            results.append((members.tolist(), seeds.tolist(), counts.tolist()))
        assert results[0] == results[1]


def test_a_forest_that_has_not_grown_has_no_nodes():
    empty = FlatForest(8, 2)
    assert len(empty) == 0
    assert [len(each) for each in (empty.first_child, empty.seed, empty.size)] == [0, 0, 0]
    assert not empty.is_valid(8)


class TestValidity:
    """Each rule of `is_valid` with the last value that it allows and the first that it refuses."""

    forest = by_hand(3)

    def changed(self, name, at, value):
        array = getattr(self.forest, name).copy()
        array[at] = value
        return replace(self.forest, **{name: array}).is_valid(9)

    def test_sizes_of_the_pool_the_trees_and_the_branching(self):
        assert self.forest.is_valid(9)
        assert not self.forest.is_valid(8)
        assert not replace(self.forest, max_samples=8).is_valid(9)  # a leaf has nine points
        assert not replace(self.forest, max_samples=10).is_valid(9)
        assert by_hand(2).is_valid(9)
        one = replace(by_hand(2), branching=1)
        assert not one.is_valid(9)
        three = FlatForest(3, 3).grow(distances(3, 0, 5), Stream(0), range(1))
        assert three.is_valid(3)
        assert not replace(three, max_samples=2).is_valid(3)

    def test_a_branching_of_more_points_than_a_tree_has(self):
        leaf = np.array([-1], np.int32)
        for max_samples, branching in ((2, 2), (3, 3)):
            forest = FlatForest(max_samples, branching, np.array([0, 1]), leaf, leaf, leaf + 3)
            assert forest.is_valid(5)
            assert not replace(forest, branching=branching + 1).is_valid(5)

    @pytest.mark.parametrize("name", ["first_child", "seed", "size"])
    def test_lengths_and_types_of_arrays(self, name):
        array = getattr(self.forest, name)
        assert not replace(self.forest, **{name: array[:-1]}).is_valid(9)
        assert not replace(self.forest, **{name: array.astype(np.int64)}).is_valid(9)
        assert not replace(self.forest, **{name: array[:, None]}).is_valid(9)

    def test_roots(self):
        assert not replace(self.forest, roots=self.forest.roots[:, None]).is_valid(9)
        assert not replace(self.forest, roots=self.forest.roots.astype(np.int32)).is_valid(9)
        for roots in ([0], [1, 8, 9], [0, 1, 8, 8], [0, 1, 8, 10], [0, 8, 1, 9], [0, 0, 1, 8, 9],
                      [0, 1, 1, 8, 9], [0, 1, 8, 9, 9]):  # fmt: skip
            assert not replace(self.forest, roots=np.array(roots)).is_valid(9)
        alone = FlatForest(9, 2).grow(distances(9, 0, 5), Stream(0), range(1))
        assert alone.is_valid(9)
        assert not replace(alone, roots=alone.roots + 1).is_valid(9)

    def test_children_follow_their_parent_within_their_tree(self):
        # The inner nodes are 1 and 4: numbers 0 and 3 of a tree of 7 nodes.
        assert not self.changed("first_child", 1, 0)
        assert not self.changed("first_child", 4, 3)
        assert not self.changed("first_child", 4, 5)
        assert self.changed("first_child", 1, 4)
        assert not self.changed("first_child", 1, 5)
        assert not self.changed("first_child", 0, 0)
        assert not self.changed("first_child", 8, 0)
        assert self.changed("first_child", 1, -2)
        assert not self.changed("first_child", 1, np.iinfo(np.int32).max)

    def test_seeds_are_rows_of_the_pool_except_at_roots(self):
        for at in (2, 4, 7):
            assert self.changed("seed", at, 0)
            assert self.changed("seed", at, 8)
            assert not self.changed("seed", at, -1)
            assert not self.changed("seed", at, 9)
        for root in (0, 1, 8):
            assert self.changed("seed", root, -1)
            assert self.changed("seed", root, 9)

    def test_no_node_has_more_points_than_a_tree_or_fewer_than_none(self):
        for at in (0, 3, 8):
            assert self.changed("size", at, 0)
            assert self.changed("size", at, 9)
            assert not self.changed("size", at, -1)
            assert not self.changed("size", at, 10)


def test_joined_forests_keep_their_parameters():
    one, other = by_hand(3, soft=True), by_hand(3, soft=True)
    both = join([one, other])
    assert (both.max_samples, both.branching, both.soft, len(both)) == (9, 3, True, 6)
    assert both.roots.tolist() == [0, 1, 8, 9, 10, 17, 18]
    assert both.roots.dtype == np.int64
    D = np.random.default_rng(0).random((5, 9))
    assert np.array_equal(both.path_lengths(D)[:, 3:], one.path_lengths(D))


def exact_rows(n, columns=12, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    rows = sparse_rows(rng.integers(1, 128, (n, columns)) * (rng.random((n, columns)) < share))
    return SparseRows(rows.indptr, rows.indices, rows.data.astype(np.int8), rows.n_columns)


def pooled_with(name, rows, psi, branching=2):
    metric = get_metric(name)
    pool = metric.rows(rows)
    empty = PooledForest(metric, pool, FlatForest(psi, branching))
    return empty.grow(empty.table(pool), 5, Stream(0), 1)


class TestPools:
    def test_distances_that_are_given_are_used(self):
        forest = pooled_with("tanimoto", exact_rows(30), 16)
        D = np.random.default_rng(1).random((4, 30))
        rows = forest.rows_of(exact_rows(4, seed=3))
        assert forest._shares
        assert np.array_equal(forest.path_lengths(rows, D), forest.trees.path_lengths(D))
        assert not np.array_equal(forest.path_lengths(rows), forest.path_lengths(rows, D))

    @pytest.mark.parametrize("name", ["tanimoto", "ruzicka"])
    def test_no_table_is_made_where_rows_share_columns(self, monkeypatch, name):
        forest = pooled_with(name, exact_rows(30), 16)
        rows = forest.rows_of(exact_rows(4, seed=3))
        expected = forest.path_lengths(rows, forest.table(rows))
        monkeypatch.setattr(PooledForest, "table", None)
        assert np.array_equal(forest.path_lengths(rows), expected)

    def test_products_are_taken_where_the_metric_has_them(self):
        forest = pooled_with("tanimoto", exact_rows(30), 16)
        assert forest._products(forest.rows_of(exact_rows(4))) is not None
        plain = pooled_with("euclidean", np.random.default_rng(0).random((20, 2)), 8)
        assert plain._products(plain.pool) is None

    @pytest.mark.parametrize("name", ["tanimoto", "jaccard"])
    def test_rows_have_the_layout_of_the_metric(self, name):
        dense = np.array([[0, 3, 0], [1, 0, 2]])
        forest = pooled_with(name, exact_rows(20, 3, share=0.9), 8)
        assert isinstance(forest.rows_of(dense), SparseRows)
        plain = pooled_with("euclidean", np.random.default_rng(0).random((20, 3)), 8)
        rows = plain.rows_of(dense.tolist())
        assert isinstance(rows, np.ndarray)
        assert rows.tolist() == dense.tolist()

    @pytest.mark.parametrize("branching", [2, 3])
    @pytest.mark.parametrize("soft", [False, True])
    def test_the_ceiling_is_the_score_at_distance_one_from_every_seed(self, branching, soft):
        empty = PooledForest(
            get_metric("euclidean"), np.zeros((9, 1)), by_hand(branching, soft=soft)
        )
        lengths = naive.c(9, branching) + naive.c(4, branching) + 1
        lengths += naive.c(1, branching)
        normaliser = naive.c(9, branching) * (2 if soft else 1)
        assert empty.ceiling() == pytest.approx(2 ** (-lengths / 3 / normaliser), rel=1e-14)
        one = np.ones((2, 9))
        assert empty.scores(one, one).tolist() == [empty.ceiling()] * 2

    @pytest.mark.parametrize(
        ("pool", "trees", "expected"),
        [(10, 3, 256), (4096, 3, 256), (4097, 3, 255), (8192, 3, 128), (2**20, 3, 16)],
    )
    def test_blocks_have_fewer_rows_if_their_distances_take_more_memory(
        self, pool, trees, expected
    ):
        points = np.broadcast_to(0.0, (pool, 2))
        assert len(by_hand(2)) == trees
        assert PooledForest(get_metric("euclidean"), points, by_hand(2)).block_rows == expected

    def test_many_trees_make_blocks_small_too(self):
        leaf = np.full(8192, -1, np.int32)
        forest = FlatForest(2, 2, np.arange(8193), leaf, leaf, leaf + 3)
        pooled = PooledForest(get_metric("euclidean"), np.zeros((4, 2)), forest)
        assert pooled.block_rows == 128

    def test_rows_without_a_table_have_blocks_of_their_own(self):
        forest = pooled_with("tanimoto", exact_rows(30), 16)
        assert forest.block_rows == 512
        assert pooled_with("tanimoto", exact_rows(30), 16, branching=3).block_rows == 256

    @pytest.mark.parametrize(("n", "dense"), [(64, False), (65, True)])
    def test_dense_rows_pay_from_a_number_of_rows_on(self, n, dense):
        """4,096 columns cost as much as a row of the table, and the table has n rows of n."""
        pool = exact_rows(n, 1, share=1.0)
        forest = PooledForest(get_metric("jaccard"), pool, FlatForest(8, 2))
        assert (forest.dense_rows is not None) == dense
        three = PooledForest(get_metric("jaccard"), pool, FlatForest(8, 3))
        assert three.dense_rows is None

    def test_metrics_without_shares_have_no_dense_rows(self):
        points = np.random.default_rng(0).random((80, 1))
        assert PooledForest(get_metric("euclidean"), points, FlatForest(8, 2)).dense_rows is None

    def test_empty_rows_have_the_smallest_path_length(self):
        forest = pooled_with("tanimoto", exact_rows(30), 16)
        rows = forest.rows_of(np.array([[0] * 12, [1] + [0] * 11]))
        lengths = forest.path_lengths(rows)
        assert (lengths[0] == 1.0).all()
        assert (lengths[1] > 1.0).all()
