from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from piforest import PreferenceEmbedding
from piforest._kernels import preferences as compiled
from piforest._kernels.preferences import collect_gaussian, exclude_outside, fixed_point
from piforest._random import Stream
from piforest._rows import sparse_rows, stack, stacked_csr
from piforest.families import extent, get_family, list_families
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.models.residuals import block_rows
from piforest.preferences import (
    Gaussian,
    Preferences,
    _limits,
    is_built_in_kernel,
    resolve_kernel,
)
from piforest.sampling import get_sampler
from scenes import on_one_model


def models_of(name, X, n_models=60, sigma=0.1, weight=None):
    models, _ = draw_models(X, get_family(name), get_sampler("uniform"), n_models, Stream(1))
    m = len(models)
    weight = np.ones(m) if weight is None else weight
    return replace(models, scale=np.full(m, sigma), weight=weight)


def noisy(name, n=45, noise=0.3):
    X = on_one_model(name, n)
    return X + np.random.default_rng(2).normal(0, noise, X.shape)


def embed(X, models, kernel, membership=None):
    return Preferences(models, kernel, membership).rows_of(X)


def dense(rows):
    return (rows.to_csr().toarray() * 127).round().astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("name", list_families())
@pytest.mark.parametrize("kernel", ["gaussian", "paper", "binary"])
def test_preferences_equal_the_naive_ones(name, kernel):
    sigma = 0.05 * extent(get_family(name), on_one_model(name))
    X = noisy(name, noise=sigma)
    models = models_of(name, X, sigma=sigma)
    P = embed(X, [models], resolve_kernel(kernel))
    expected = naive.preferences(naive.residuals(name, X, models.params), sigma, kernel)
    assert 0 < np.count_nonzero(expected) < expected.size
    assert np.array_equal(dense(P), expected)


def test_the_compiled_gaussian_equals_the_formula():
    """A million entries. Preferences for models of little weight round to 0, or are 1 only for
    points on the model: 127 / 254 rounds to 1."""
    X = noisy("line", n=500)
    rng = np.random.default_rng(3)
    weight = rng.uniform(0, 1, 2000) ** 4
    weight[:4] = 1, 0, 1 / 254, 1 / 254 - 1e-17
    weight[4:8] = 1 / 254 + 1e-15, 1 / 254 - 1e-9, 1 / 255, 1e-300
    models = models_of("line", X, n_models=2000, sigma=0.4, weight=weight)
    fast, formula = (embed(X, [models], kernel) for kernel in (Gaussian(), _Formula()))
    assert (fast.counts > 0).all()
    assert np.isin([0, 2], fast.indices).all()
    assert not np.isin([1, 5, 6, 7], fast.indices).any()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(fast, name), getattr(formula, name))


class _Formula(Gaussian):
    """The same kernel as a subclass, for which the compiled code is not used."""


def test_columns_are_sorted_and_zeros_are_not_stored():
    X = noisy("line")
    P = embed(X, [models_of("line", X, sigma=0.3)], resolve_kernel("gaussian"))
    assert (P.data > 0).all()
    for i in range(len(P)):
        columns = P.indices[P.indptr[i] : P.indptr[i + 1]].astype(int)
        assert (np.diff(columns) > 0).all()


def test_preferences_that_round_to_zero_are_dropped():
    X = noisy("line")
    models = models_of("line", X, sigma=0.4)
    faint = embed(X, [models], lambda_kernel(lambda r, s: np.where(r < 0.1, 1.0, 1e-3)))
    strong = embed(X, [models], lambda_kernel(lambda r, s: np.where(r < 0.1, 1.0, 0.5)))
    kept = dense(strong)
    kept[kept < 127] = 0
    assert np.array_equal(dense(faint), kept)


def lambda_kernel(function):
    return resolve_kernel(function)


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 33])
def test_a_row_does_not_depend_on_its_batch(rows):
    X = noisy("circle")
    models = models_of("circle", X)
    whole = embed(X, [models], resolve_kernel("gaussian"))
    part = embed(X[5 : 5 + rows], [models], resolve_kernel("gaussian"))
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(part, name), getattr(whole[5 : 5 + rows], name))


@pytest.mark.parametrize("kernel", ["gaussian", "paper"])
def test_arrays_grow_if_preferences_are_denser_than_expected(kernel, monkeypatch):
    X = noisy("circle", 100, noise=0.1)
    models = models_of("circle", X, sigma=2.0)
    expected = naive.preferences(naive.residuals("circle", X, models.params), 2.0, kernel)
    monkeypatch.setattr("piforest.models.residuals._TABLE_BYTES", 0)  # eight rows at a time
    monkeypatch.setattr("piforest.preferences._INITIAL_SHARE", 0)
    monkeypatch.setattr("piforest.preferences._BATCH_ENTRIES", 500)
    found = embed(X, [models], resolve_kernel(kernel))
    assert len(found.data) > 4 * 8 * len(models)
    assert np.array_equal(dense(found), expected)


def test_blocks_of_any_density_are_stacked():
    rng = np.random.default_rng(0)
    blocks = [rng.integers(0, 3, (20, 50)) * (rng.random((20, 50)) < p) for p in (0, 0.1, 1, 0.5)]
    whole = np.vstack(blocks).astype(float)
    stacked = stack((sparse_rows(block) for block in blocks), len(whole))
    one = sparse_rows(whole)
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(stacked, name), getattr(one, name))
    csr = stacked_csr((sparse_rows(block) for block in blocks), len(whole))
    assert np.array_equal(csr.toarray(), whole.astype(np.float32))
    assert csr.indices.dtype == csr.indptr.dtype == np.int32


def test_families_are_called_with_blocks_of_one_size():
    sizes = []

    class Spy(type(get_family("line"))):
        def residuals(self, X, params):
            sizes.append(len(X))
            return super().residuals(X, params)

    X = noisy("line", 45)
    models = models_of("line", X)
    spied = replace(models, family=Spy())
    embed(X, [spied], resolve_kernel("gaussian"))
    embed(X[:3], [spied], resolve_kernel("gaussian"))
    assert set(sizes) == {block_rows([models])}


def test_preferences_of_several_families_are_concatenated():
    X = noisy("circle")
    line, circle = models_of("line", X, 20), models_of("circle", X, 30)
    both = dense(embed(X, [line, circle], resolve_kernel("gaussian")))
    assert np.array_equal(both[:, :20], dense(embed(X, [line], resolve_kernel("gaussian"))))
    assert np.array_equal(both[:, 20:], dense(embed(X, [circle], resolve_kernel("gaussian"))))


def test_weights_are_relative_to_the_largest():
    X = noisy("circle")
    weight = np.linspace(0.1, 5, 60)
    weighted = dense(embed(X, [models_of("circle", X, weight=weight)], resolve_kernel("binary")))
    plain = dense(embed(X, [models_of("circle", X)], resolve_kernel("binary")))
    expected = np.where(plain > 0, np.floor(127 * weight / 5 + 0.5), 0)
    assert np.array_equal(weighted, expected)


@pytest.mark.slow
def test_many_models_need_wider_columns():
    X = noisy("line", 20)
    models = models_of("line", X, 70_000, sigma=0.05)
    P = embed(X, [models], resolve_kernel("binary"))
    assert P.indices.dtype == np.int32
    R = models.family.residuals(X, models.params)
    assert np.array_equal(dense(P) > 0, R <= 3 * 0.05)


def test_no_rows_have_no_preferences():
    X = noisy("line")
    assert len(embed(X[:0], [models_of("line", X)], resolve_kernel("gaussian"))) == 0


def test_indexing_rows_equals_indexing_the_dense_matrix():
    X = noisy("line")
    P = embed(X, [models_of("line", X, sigma=0.3)], resolve_kernel("gaussian"))
    chosen = np.array([7, 3, 3, 40, 0])
    assert np.array_equal(dense(P[chosen]), dense(P)[chosen])
    assert np.array_equal(dense(P[10:20]), dense(P)[10:20])
    assert len(P[50:60]) == 0


def test_invalid_kernels_are_rejected():
    with pytest.raises(ValueError, match=r"must return values in \[0, 1\], got \[-1, 2\]"):
        resolve_kernel(lambda r, sigma: 2 - r / sigma)
    with pytest.raises(ValueError, match="must not increase with r"):
        resolve_kernel(lambda r, sigma: 0.5 + 0.1 * np.sin(r / sigma))
    with pytest.raises(ValueError, match="kernel must be one of 'binary', 'gaussian', 'paper'"):
        resolve_kernel("gausian")
    with pytest.raises(ValueError, match="function"):
        resolve_kernel(3.0)


def test_a_kernel_that_is_invalid_at_other_scales_is_rejected():
    X = noisy("line")
    kernel = resolve_kernel(lambda r, sigma: np.exp(-r) + (sigma < 0.5))
    with pytest.raises(ValueError, match=r"must return values in \[0, 1\]"):
        embed(X, [models_of("line", X)], kernel)


def test_the_cutoff_of_a_kernel_is_used():
    class Wide:
        cutoff = 5.0

        def __call__(self, r, sigma):
            return np.exp(-r / sigma)

    X = noisy("line")
    models = models_of("line", X, sigma=0.1)
    R = models.family.residuals(X, models.params)
    P = dense(embed(X, [models], resolve_kernel(Wide())))
    assert np.array_equal(P > 0, (R <= 0.5) & (np.floor(127 * np.exp(-R / 0.1) + 0.5) > 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", list_families())
def test_in_sample_preferences_are_identified_by_content(name):
    X = noisy(name)
    X[7] = X[30]
    models = models_of(name, X, sigma=0.4)
    membership = sample_membership([models])
    P = embed(X, [models], resolve_kernel("gaussian"), membership)
    everything = naive.preferences(naive.residuals(name, X, models.params), 0.4, "gaussian")
    expected = naive.without_in_sample_preferences(everything, X, models.samples)
    assert np.array_equal(dense(P), expected)
    assert expected.sum() < everything.sum()
    assert np.array_equal(dense(P)[7], dense(P)[30])
    # A new row keeps all preferences, even if it differs from a sample in one bit only.
    near = np.nextafter(X, np.inf)
    assert (np.diff(membership.of(near)) == 0).all()
    assert (np.diff(membership.of(-np.abs(X) * 0.0), axis=0) == 0).all()


def test_in_sample_preferences_of_several_families_are_numbered_consecutively():
    X = noisy("circle")
    line, circle = models_of("line", X, 20), models_of("circle", X, 30)
    gaussian = resolve_kernel("gaussian")
    both = dense(embed(X, [line, circle], gaussian, sample_membership([line, circle])))
    for part, columns in ((line, slice(0, 20)), (circle, slice(20, 50))):
        assert np.array_equal(
            both[:, columns], dense(embed(X, [part], gaussian, sample_membership([part])))
        )


def test_a_kernel_that_ignores_its_argument_is_rejected():
    X = noisy("line", 60)
    embedding = PreferenceEmbedding("line", kernel=lambda r, sigma: np.ones(100), n_models=90)
    with pytest.raises(ValueError, match=r"kernel .*\(r, sigma\) must have shape"):
        embedding.fit(X).transform(X)


@pytest.mark.parametrize("bad", [np.nextafter(1, 2), -5e-324, np.nan, np.inf])
def test_the_first_value_outside_of_the_unit_interval_is_noticed(bad):
    def left(phi):
        n = len(phi)
        columns, values = np.arange(n, dtype=np.uint16), np.empty(n, np.int8)
        unit = np.full(n, 127.0)
        return fixed_point(np.array(phi), unit, np.array([n]), columns, values)

    assert left([1.0, 0.0, 0.5]) == 2  # the zero is removed
    assert left([1.0, 0.0, bad]) == -1


def test_rows_are_the_same_alone_and_among_many_blocks():
    X = np.random.default_rng(0).uniform(size=(9000, 2))
    embedding = PreferenceEmbedding("line", n_models=12, random_state=0).fit(X[:300])
    whole = embedding.transform(X)
    for rows in (slice(0, 1), slice(4000, 4003), slice(8999, 9000)):
        assert (embedding.transform(X[rows]) != whole[rows]).nnz == 0


def test_the_exponential_is_accurate_to_a_few_bits():
    m = 4001
    z, ones, none = np.linspace(0, 3, m), np.ones(m), np.zeros(1, np.int64)
    near = np.zeros(-(-m // 8) * 8, np.uint8)
    workspace = near, near.view(np.uint64), np.empty(m // 8 + 2, np.uint32)
    powers, columns, values = np.empty(m), np.empty(m, np.uint16), np.empty(m, np.int8)
    collect_gaussian(
        z[None], 3 * ones, ones, 127 * ones, none, none, none[:0], *workspace, powers,
        np.empty(1, np.int64), columns, values,
    )  # fmt: skip
    np.testing.assert_allclose(powers, np.exp(-(z**2) / 2), rtol=5e-15)


def test_kernels_that_every_engine_can_compute():
    assert is_built_in_kernel("gaussian")
    assert is_built_in_kernel(Gaussian())
    assert not is_built_in_kernel(lambda r, sigma: np.exp(-r / sigma))


def cell(u, low, size, b):
    """The last of b cells whose start is not above u, else the first."""
    starts = [k for k in range(b) if (u - low) / size * b >= k]
    return max(starts, default=0)


@pytest.mark.parametrize("axes", [1, 2])
def test_a_point_outside_the_cells_of_a_model_is_infinitely_far(axes):
    rng, b, m = np.random.default_rng(0), 4, 3
    low, size = rng.normal(size=(m, 2)), rng.uniform(1, 2, (m, 2))
    if axes == 1:
        size[:, 1] = np.inf
    # Before the first cell, the start, the middle and the end of each, behind the last.
    places = np.concatenate([[-7.0, -0.01], np.arange(0, 4.5, 0.5), [4.01, 9.0, np.nan]]) / b
    u, v = np.meshgrid(places, places if axes == 2 else [0.5])
    U, V = (low[:, k] + each.reshape(-1, 1) * size[:, k] for k, each in enumerate((u, v)))
    if axes == 1:
        V = U
    cells = rng.uniform(size=(m, b**axes)) < 0.5
    R, limit = rng.uniform(0, 1, U.shape), np.full(m, 0.7)
    R[0] = limit
    expected = R.copy()
    for i, j in np.ndindex(R.shape):
        c = cell(U[i, j], low[j, 0], size[j, 0], b)
        if axes == 2:
            c = c * b + cell(V[i, j], low[j, 1], size[j, 1], b)
        if R[i, j] <= limit[j] and not cells[j, c]:
            expected[i, j] = np.inf
    exclude_outside(R, limit, U, V, low, size, b, cells)
    assert np.isinf(expected).any()
    np.testing.assert_array_equal(R, expected)


@pytest.mark.parametrize("kernel", [Gaussian(), _Formula()])
def test_all_entries_fit_into_the_workspace(kernel, monkeypatch):
    """Run as Python, which notices what is written beyond an array; each residual is an entry."""
    interpret(monkeypatch)
    monkeypatch.setattr("piforest.preferences._INITIAL_SHARE", 0)
    X = noisy("line", 9)
    for m in (7, 8, 200):
        models = models_of("line", X, m, sigma=1e3)
        monkeypatch.setattr("piforest.models.residuals._TABLE_BYTES", 0)
        assert (embed(X, [models], kernel).counts == m).all()


def interpret(monkeypatch):
    """Replace compiled functions by the Python that they are compiled from."""
    for name in ("_within", "_without_zeros"):
        monkeypatch.setattr(compiled, name, getattr(compiled, name).py_func)
    for name in ("collect", "collect_gaussian", "fixed_point"):
        monkeypatch.setattr(f"piforest.preferences.{name}", getattr(compiled, name).py_func)


def test_limits_of_the_gaussian_are_where_preferences_round_to_zero():
    """unit exp(-z^2 / 2) is half a step at z = sqrt(2 ln(2 unit)); others end at their cutoff."""
    scale, unit = np.array([2.0, 2.0, 2.0, 2.0, 4.0]), np.array([127.0, 5.0, 0.5, 0.49, 5.0])
    found = _limits(Gaussian(), scale, unit)
    assert found[0] == 6.0
    np.testing.assert_allclose(found[[1, 4]], np.sqrt(2 * np.log(10.0)) * scale[[1, 4]], rtol=1e-9)
    assert 0 < found[2] < 1e-5
    assert found[3] < 0
    assert _limits(_Formula(), scale, unit).tolist() == (3 * scale).tolist()
