from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from piforest import VoronoiForest
from piforest._kernels.sparse import mirror
from piforest._rows import SparseRows, as_rows, sparse_rows
from piforest.metrics import get_metric, list_metrics, overlap, resolve_metric
from piforest.metrics.custom import Precomputed
from piforest.metrics.overlap import Tanimoto

rows = arrays(
    float,
    st.tuples(st.integers(1, 6), st.just(5)),
    elements=st.sampled_from([0, 0, 0.25, 0.7, 1, 3]),
)
NAIVE = sorted(naive.DISTANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAIVE)
@given(A=rows, B=rows)
def test_distances_equal_the_naive_ones(name, A, B):
    metric = get_metric(name)
    np.testing.assert_allclose(metric.pairwise(A, B), naive.table(name, A, B), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in list_metrics() if n != "precomputed"])
@given(A=rows, B=rows)
def test_sparse_and_dense_rows_agree(name, A, B):
    metric = get_metric(name)
    sparse = metric.pairwise(scipy.sparse.csr_array(A), scipy.sparse.csr_array(B))
    np.testing.assert_allclose(sparse, metric.pairwise(A, B), atol=1e-12)


def fixed_point(P):
    csr = scipy.sparse.csr_array(P)
    return SparseRows(
        csr.indptr.astype(np.int64),
        csr.indices.astype(np.uint16),
        csr.data.astype(np.int8),
        P.shape[1],
    )


integers = arrays(
    np.int64, st.tuples(st.integers(1, 6), st.just(5)), elements=st.sampled_from([0, 0, 1, 50, 127])
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tanimoto", "jaccard", "ruzicka"])
@given(A=integers, B=integers)
def test_fixed_point_distances_equal_the_naive_ones_to_the_last_bit(name, A, B):
    ours = get_metric(name).pairwise(fixed_point(A), fixed_point(B))
    assert np.array_equal(ours, naive.table(name, A, B))


@pytest.mark.slow
@given(A=integers, B=integers)
def test_binary_preferences_make_tanimoto_exactly_jaccard(A, B):
    A, B = fixed_point(127 * (A > 0)), fixed_point(127 * (B > 0))
    tanimoto, jaccard = get_metric("tanimoto"), get_metric("jaccard")
    assert np.array_equal(tanimoto.pairwise(A, B), jaccard.pairwise(A, B))


@given(A=rows)
def test_jaccard_treats_every_non_zero_as_one(A):
    metric = get_metric("jaccard")
    assert np.array_equal(metric.pairwise(A, A), metric.pairwise(A > 0, A > 0))


def test_sums_over_very_many_models_do_not_overflow():
    m = 200_000
    full = SparseRows(np.array([0, m]), np.arange(m, dtype=np.int32), np.full(m, 127, np.int8), m)
    assert get_metric("tanimoto").pairwise(full, full)[0, 0] == 0.0


def test_rows_of_pools_beyond_16_bits_are_numbered_correctly():
    n = 70_000
    pool = SparseRows(np.arange(n + 1), np.arange(n).astype(np.int32), np.full(n, 127, np.int8), n)
    D = get_metric("tanimoto").pairwise(pool[[3, 69_999]], pool)
    assert np.array_equal(np.nonzero(D == 0), [[0, 1], [3, 69_999]])


def test_equal_float_rows_have_distance_zero():
    A = np.random.default_rng(0).uniform(size=(5, 1000))
    for name in ("tanimoto", "ruzicka", "euclidean", "manhattan"):
        assert (np.diag(get_metric(name).pairwise(A, A.copy())) == 0).all(), name


def test_tanimoto_obeys_the_triangle_inequality_on_preferences():
    P = np.random.default_rng(0).uniform(size=(25, 30)) * (
        np.random.default_rng(1).uniform(size=(25, 30)) < 0.4
    )
    D = get_metric("tanimoto").pairwise(P, P)
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-12).all()


@pytest.mark.parametrize("name", ["euclidean", "manhattan"])
def test_dense_and_sparse_rows_mix_without_losing_digits(name):
    A = np.random.default_rng(0).uniform(size=(6, 3)) + 1e6
    metric = get_metric(name)
    expected = metric.pairwise(A, A)
    for left, right in ((A, scipy.sparse.csr_array(A)), (scipy.sparse.csr_array(A), A)):
        assert np.array_equal(metric.pairwise(left, right), expected)


def test_preparing_a_pool_changes_nothing():
    P = np.random.default_rng(0).uniform(size=(25, 30))
    metric = get_metric("tanimoto")
    assert np.array_equal(metric.pairwise(P, metric.prepare(P)), metric.pairwise(P, P))


@pytest.mark.parametrize("name", ["tanimoto", "jaccard", "ruzicka"])
def test_negative_entries_are_rejected(name):
    with pytest.raises(ValueError, match=f"metric='{name}' needs entries of at least 0, got"):
        get_metric(name).pairwise([[1.0, -2.0]], [[1.0, 2.0]])


def test_sparse_input_is_not_changed():
    X = scipy.sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    X.data[0] = 0.0  # an explicit zero
    assert len(sparse_rows(X).data) == 1
    assert X.nnz == 2


@pytest.mark.parametrize("name", [n for n in list_metrics() if n != "precomputed"])
def test_rows_with_different_numbers_of_columns_are_rejected(name):
    with pytest.raises(ValueError, match="column"):
        get_metric(name).pairwise(np.ones((2, 30)), np.ones((2, 3)))


def test_minkowski_takes_a_power():
    A, B = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    assert get_metric("minkowski", p=2).pairwise(A, B)[0, 0] == pytest.approx(5)
    with pytest.raises(ValueError, match="p must be a finite number above 0, got 0"):
        get_metric("minkowski", p=0)


def test_callables_receive_the_rows_and_their_errors_name_them():
    metric = resolve_metric(lambda a, b: abs(len(a) - len(b)))
    strings = np.array(["a", "bbb"], dtype=object)
    assert metric.pairwise(strings, strings).tolist() == [[0, 2], [2, 0]]

    def wrong(a, b):
        return -1.0

    with pytest.raises(ValueError, match=r"must not be negative, metric wrong\(a, b\) gives -1"):
        resolve_metric(wrong).pairwise(strings, strings)
    with pytest.raises(ValueError, match="must not give NaN"):
        resolve_metric(lambda a, b: float("nan")).pairwise(strings, strings)


def test_metrics_resolve_names_objects_and_functions():
    metric = Precomputed()
    assert resolve_metric(metric) is metric
    with pytest.raises(ValueError, match="Did you mean 'tanimoto'"):
        resolve_metric("tanimotto")
    with pytest.raises(ValueError, match="function d"):
        resolve_metric(3)


def test_precomputed_rows_are_looked_up():
    D = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(get_metric("precomputed").pairwise(D, [2, 0]), D[:, [2, 0]])


def test_rows_take_the_layout_of_the_metric():
    X = scipy.sparse.csr_array(np.eye(3))
    assert isinstance(as_rows(get_metric("tanimoto"), X), SparseRows)
    assert isinstance(as_rows(get_metric("chebyshev"), X), np.ndarray)
    assert isinstance(as_rows(get_metric("euclidean"), np.eye(3)), np.ndarray)


def _some_dense(rng, n, columns=90, only=None):
    """Fixed-point rows; the columns have entries in 90 %, 10 % or 1 % of the rows, a third each."""
    share = np.repeat([0.9, 0.1, 0.01], columns // 3)
    X = rng.integers(1, 128, (n, columns)) * (rng.uniform(size=(n, columns)) < share)
    X = X if only is None else only * (X > 0)
    X[n // 2] = 0
    rows = sparse_rows(X)
    return X, SparseRows(rows.indptr, rows.indices, rows.data.astype(np.int8), columns)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", ["tanimoto", "jaccard", "ruzicka", "cosine"])
def test_the_upper_half_of_the_pool_distances_gives_all_of_them(name, exact):
    X, rows = _some_dense(np.random.default_rng(0), 70)
    metric = get_metric(name)
    index = metric.prepare(rows if exact else X.astype(float))
    whole = metric.pairwise(index.pool, index)
    D = np.empty((70, 70))
    for start in range(0, 70, 16):
        D[start : start + 16, start:] = metric.upper(index, start, min(start + 16, 70))
    mirror(D)
    assert np.array_equal(D, whole)


def test_a_subclass_with_other_distances_is_fitted_with_them():
    class Squared(Tanimoto):
        name = "squared"

        def pairwise(self, A, B):
            return super().pairwise(A, B) ** 2

    X = np.random.default_rng(0).uniform(size=(60, 8))
    forest = VoronoiForest(Squared(), n_estimators=10, random_state=0).fit(X)
    assert np.array_equal(forest.scores_, forest.anomaly_score(X))


@pytest.mark.parametrize("only", [None, 1, 127])
@pytest.mark.parametrize("share", [0.0, 1 / 16, 1.0])
def test_dense_columns_do_not_change_any_bit(monkeypatch, share, only):
    """All, some or none of the columns are dense; values differ or are binary."""
    monkeypatch.setattr(overlap, "_DENSE_SHARE", share)
    monkeypatch.setattr(overlap, "_PACKED_SHARE", share)
    rng = np.random.default_rng(1)
    (A, rows), (B, pool) = (_some_dense(rng, n, columns=900, only=only) for n in (33, 127))
    index = Tanimoto().prepare(pool)
    dense = np.count_nonzero(index.slot >= 0)
    assert {0.0: dense > 600, 1.0: dense == 0}.get(share, 300 <= dense < 900)
    expected = [[naive.tanimoto(a, b) for b in B] for a in A]
    assert np.array_equal(Tanimoto().pairwise(rows, index), expected)
    # Rows of other values, and floats, with the same pool.
    (C, others), weights = _some_dense(rng, 9, columns=900), rng.uniform(size=900)
    expected = [[naive.tanimoto(c, b) for b in B] for c in C]
    assert np.array_equal(Tanimoto().pairwise(others, index), expected)
    expected = [[naive.tanimoto(c * weights, b) for b in B] for c in C]
    np.testing.assert_allclose(Tanimoto().pairwise(C * weights, index), expected, atol=1e-12)
