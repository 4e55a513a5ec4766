"""Which models are kept, against loops over single points and models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from naive import refinement as naive
from piforest._random import Stream
from piforest._rows import SparseRows
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.models.drawing import draw_models, joined
from piforest.models.membership import sample_membership
from piforest.preferences import Gaussian
from piforest.sampling import resolve_sampler
from piforest.selection import _sparse_products, merged_weights, name_counts, representatives

X = make_lines(3, sizes=30, anomaly_share=0.3, random_state=2).data


def models_of(m=80, seed=1):
    models, _ = draw_models(X, get_family("line"), resolve_sampler("mixed"), m, Stream(seed))
    rng = np.random.default_rng(seed)
    return replace(
        models, scale=rng.uniform(0.01, 0.05, m), weight=np.round(rng.uniform(0, 1, m), 1)
    )


def test_points_name_the_models_that_they_prefer_most():
    models = models_of()
    own = np.array([[(X[s] == x).all(axis=1).any() for s in models.samples] for x in X])
    R = models.family.residuals(X, models.params)
    for q in (1, 3, 200):
        counts = name_counts([models], X, sample_membership([models]), q)
        assert counts.tolist() == naive.name_counts(R, own, models.scale, models.weight, q).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 7, 1024])
def test_the_models_that_are_compared_at_once_do_not_change_which_are_named(monkeypatch, chunk):
    models = models_of(60)
    twice = joined([models, models_of(60, 2), models])  # equal preferences, too
    membership = sample_membership([models, twice])
    expected = name_counts([models, twice], X, membership, 3)
    monkeypatch.setattr("piforest.selection._CHUNK", chunk)
    assert name_counts([models, twice], X, membership, 3).tolist() == expected.tolist()
    own = np.array([[(X[s] == x).all(axis=1).any() for s in twice.samples] for x in X])
    R = twice.family.residuals(X, twice.params)
    counts = name_counts([twice], X, sample_membership([twice]), 4)
    assert counts.tolist() == naive.name_counts(R, own, twice.scale, twice.weight, 4).tolist()


def test_products_of_sparse_preferences_are_exact():
    rng = np.random.default_rng(3)
    table = np.where(rng.random((40, 30)) < 0.2, rng.integers(1, 16, (40, 30)), 0)
    sparse = csr_array(table.astype(np.int8))
    rows = SparseRows(sparse.indptr.astype(np.int64), sparse.indices, sparse.data, 30)
    assert (_sparse_products(rows, sparse.data.astype(np.float32)) == table.T @ table).all()


def test_models_of_several_families_are_named_together():
    one, two = models_of(60, 1), models_of(50, 2)
    counts = name_counts([one, two], X, sample_membership([one, two]), 3)
    assert len(counts) == 110
    assert counts[:60].sum() > 0 < counts[60:].sum()
    assert counts.sum() <= 3 * len(X)


@pytest.mark.parametrize(("dense", "each"), [(0, 1), (10**6, 1), (10**6, 7), (10**6, 1000)])
def test_nearly_equal_models_are_merged(monkeypatch, dense, each):
    monkeypatch.setattr("piforest.selection._DENSE", dense)
    monkeypatch.setattr("piforest.selection._MERGED_EACH", each)
    models = models_of()
    twice = replace(
        models,
        params=np.asfortranarray(np.repeat(models.params, 2, axis=0)),
        samples=np.repeat(models.samples, 2, axis=0),
        scale=np.repeat(models.scale, 2),
        weight=np.repeat(models.weight, 2),
    )
    counts = np.arange(1, 161)
    same = representatives([twice], X, counts)
    R = models.family.residuals(X, twice.params)
    phi = np.where(3 * twice.scale >= R, Gaussian()(R, twice.scale), 0.0)
    steps = np.rint(np.rint(127 * phi) / 127 * 15)
    assert same.tolist() == naive.merge(steps, counts, 0.9).tolist()
    seen = steps.any(axis=0)
    assert (same[1::2] == same[::2])[seen[::2]].all()
    assert len(np.unique(same[seen])) < seen.sum() / 2 + 1


def test_merging_equal_models_changes_no_tanimoto_distance():
    rng = np.random.default_rng(0)
    P = rng.uniform(size=(20, 6))
    copies = np.array([1, 3, 2, 5, 1, 4])
    weight = merged_weights(np.ones(6), copies, np.arange(6))
    both = np.repeat(P, copies, axis=1)

    def distances(A):
        G = A @ A.T
        return 1 - G / (np.diag(G)[:, None] + np.diag(G) - G)

    np.testing.assert_allclose(distances(P * weight), distances(both), atol=1e-12)


def test_the_weight_of_a_representative_is_that_of_all_that_it_stands_for():
    weight = merged_weights(np.array([3.0, 4.0, 1.0]), np.array([1, 1, 2]), np.array([1, 1, 2]))
    assert weight.tolist() == [0.0, 5.0, np.sqrt(2.0)]
