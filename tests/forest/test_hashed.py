from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from piforest import PreferenceIsolationForest, RuzHashForest
from piforest._kernels.hashing import child_of
from piforest._random import Stream, mix
from piforest._rows import SparseRows, sparse_rows
from piforest.datasets import make_lines
from piforest.forest import HashedForest, HashedTrees

X = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0).data


def fixed_point(table):
    rows = sparse_rows(table)
    return SparseRows(rows.indptr, rows.indices, rows.data.astype(np.int8), rows.n_columns)


def random_table(n, columns, seed, exact):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 128, (n, columns)) * (rng.random((n, columns)) < 0.4)
    return table.astype(float) if exact else np.round(table * rng.random((n, columns)), 3)


sizes = st.tuples(st.integers(2, 30), st.integers(2, 30), st.integers(2, 5), st.integers(1, 12))


@given(sizes, st.booleans(), st.integers(0, 1000))
def test_nodes_and_path_lengths_equal_the_naive_ones(shape, exact, seed):
    pool, psi, b, columns = shape
    psi = min(psi, pool)
    table, new = random_table(pool, columns, seed, exact), random_table(9, columns, seed + 1, exact)
    to_rows = fixed_point if exact else sparse_rows
    forest = HashedForest.grow(to_rows(table), HashedTrees(psi, b), 3, Stream(seed), None)
    top = table.max() or 1.0
    rows = [naive.shares(row, top) for row in table]
    lengths = forest.path_lengths(to_rows(new))
    for tree in range(3):
        key = Stream(seed).child(tree).key
        expected = naive.hashed_tree(rows, key, psi, b)
        nodes = expected[0]
        here = slice(*forest.trees.roots[tree : tree + 2])
        assert forest.trees.first_child[here].tolist() == [first for _, _, first in nodes]
        assert forest.trees.size[here].tolist() == [len(members) for _, members, _ in nodes]
        for row, length in zip(new, lengths[:, tree]):
            own = naive.shares(row, top)
            assert length == pytest.approx(naive.hashed_length(own, expected, key, b), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("b", [2, 4, 7])
@pytest.mark.parametrize("overlap", [0, 20, 40])
def test_two_rows_share_a_child_as_often_as_their_similarity_says(b, overlap):
    rng = np.random.default_rng(overlap)
    table = np.zeros((2, 80))
    table[0, :40], table[1, 40 - overlap : 80 - overlap] = rng.integers(1, 128, (2, 40))
    rows, trees = fixed_point(table), HashedTrees(2, b, top=127.0)
    similarity = table.min(axis=0).sum() / table.max(axis=0).sum()
    bounds, n = trees.bounds(rows), 20_000
    parts = [slice(*rows.indptr[i : i + 2]) for i in (0, 1)]
    children = np.array(
        [
            [child_of(rows.indices[part], bounds[part], np.uint64(key), b) for part in parts]
            for key in mix(7, np.arange(n))
        ]
    )
    # 40 entries exceed no threshold once in 10^9 nodes, so that the formula is exact.
    assert (children < b).all()
    expected = similarity + (1 - similarity) / b
    same = np.mean(children[:, 0] == children[:, 1])
    assert abs(same - expected) < 4 * np.sqrt(expected * (1 - expected) / n)
    counts = np.bincount(children[:, 0], minlength=b)
    assert abs(counts - n / b).max() < 4.5 * np.sqrt(n / b)


@pytest.mark.parametrize("top", [127, 90, 1])
def test_an_entry_exceeds_its_share_of_the_thresholds_in_fixed_point(top):
    values = np.arange(1, 128)
    bounds = HashedTrees(2, 2, top=float(top)).bounds(fixed_point(values[None].astype(float)))
    for value, bound in zip(values.tolist(), bounds.tolist()):
        # The steps of the threshold that words of 32 bits stand for: floor(word top / 2^32).
        assert min(value, top) == (bound * top >> 32) + 1
        assert bound == 2**32 - 1 or ((bound + 1) * top >> 32) == value


def test_a_row_without_entries_has_length_one_and_few_small_entries_come_near():
    table = np.full((20, 30), 100.0)
    rows = fixed_point(table)
    forest = HashedForest.grow(rows, HashedTrees(16, 2), 30, Stream(0), None)
    new = np.zeros((2, 30))
    new[1, 3] = 1
    lengths = forest.path_lengths(fixed_point(new))
    assert (lengths[0] == 1).all()
    assert lengths[1].mean() < 1.2
    assert forest.scores(fixed_point(new))[0] == pytest.approx(forest.ceiling())


@pytest.mark.parametrize("b", [2, 3])
def test_the_result_depends_on_neither_threads_nor_batch(b):
    options = {"branching": b, "forest": "ruzhash", "n_models": 200, "random_state": 3}
    one = PreferenceIsolationForest("line", **options).fit(X)
    two = PreferenceIsolationForest("line", n_jobs=2, **options).fit(X)
    assert np.array_equal(one.forest_.trees.nodes, two.forest_.trees.nodes)
    assert np.array_equal(one.scores_, two.scores_)
    single = np.concatenate([one.anomaly_score(X[i : i + 1]) for i in range(20)])
    assert np.array_equal(single, one.scores_[:20])
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.anomaly_score(X), one.scores_)


def test_hashing_separates_anomalies_as_cells_do():
    X, y = make_lines(3, sizes=100, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    detector = PreferenceIsolationForest("line", forest="ruzhash", random_state=0).fit(X)
    assert detector.scores_[y == 0].mean() > detector.scores_[y > 0].mean() + 0.1
    flagged = detector.labels_ < 0
    assert (flagged & (y == 0)).sum() > 0.8 * flagged.sum() > 0


def test_sparse_and_dense_rows_give_the_same_scores():
    import scipy.sparse

    table = random_table(50, 20, 0, False)
    dense = RuzHashForest(n_estimators=10, random_state=0).fit(table)
    sparse = RuzHashForest(n_estimators=10, random_state=0).fit(scipy.sparse.csr_array(table))
    assert np.array_equal(dense.scores_, sparse.scores_)
    # One unit for all columns does not matter.
    other = RuzHashForest(n_estimators=10, random_state=0).fit(4 * table)
    assert np.array_equal(dense.scores_, other.scores_)


def test_rows_of_zeros_alone_have_equal_scores():
    forest = RuzHashForest(n_estimators=5, random_state=0).fit(np.zeros((10, 3)))
    assert len(np.unique(forest.scores_)) == 1


def test_a_device_and_a_metric_that_do_not_apply_are_errors():
    with pytest.raises(ValueError, match="forest='ruzhash' stands for metric='ruzicka', got"):
        PreferenceIsolationForest("line", forest="ruzhash", metric="cosine").fit(X)
    with pytest.raises(ValueError, match="forest must be one of 'voronoi', 'ruzhash'"):
        PreferenceIsolationForest("line", forest="hash").fit(X)
    with pytest.raises(ValueError, match="branching must be an integer of at least 2, got 1"):
        PreferenceIsolationForest("line", forest="ruzhash", branching=1).fit(X)
    with pytest.raises(ValueError, match="Negative values in data"):
        RuzHashForest().fit(-np.ones((5, 2)))


@pytest.mark.parametrize(
    "make",
    [lambda **p: PreferenceIsolationForest("line", forest="ruzhash", **p), RuzHashForest],
)
def test_only_the_cpu_hashes(make):
    pytest.importorskip("torch")
    points = np.abs(X)
    with pytest.raises(ValueError, match="forest 'ruzhash' is computed on the CPU only"):
        make(device="torch").fit(points)
    assert np.array_equal(
        make(device="auto", n_estimators=4, random_state=0).fit(points).scores_,
        make(n_estimators=4, random_state=0).fit(points).scores_,
    )
