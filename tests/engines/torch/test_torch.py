"""The torch engine, with PyTorch on the CPU running the code of the GPU."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse

from piforest import PreferenceEmbedding, PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines
from piforest.families import list_families
from piforest.families.line import Line
from piforest.metrics.overlap import Tanimoto

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'piforest[gpu]'", exc_type=ImportError
)
torch.set_num_threads(1)

import device_laws as laws  # noqa: E402
from piforest import _random  # noqa: E402
from piforest.engines import choose_engine  # noqa: E402
from piforest.engines.devices import resolve_device  # noqa: E402
from piforest.engines.torch import random as torch_random  # noqa: E402
from piforest.engines.torch import residuals  # noqa: E402

X, Y = make_lines(4, sizes=80, anomaly_share=0.4, random_state=0, return_X_y=True)
OPTIONS = {"n_models": 1000, "random_state": 0}


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(X)


def test_random_bits_equal_those_of_numpy():
    keys = np.array([0, 1, 2**63, 2**64 - 1, 12345], np.uint64)
    values = np.arange(1000, dtype=np.uint64)
    mix, signed = torch_random.mix, torch_random.signed
    for key in keys:
        expected = _random.mix(key, values)
        bits = mix(signed(key), torch.arange(1000))
        assert np.array_equal(bits.numpy().view(np.uint64), expected)
        assert int(mix(torch.tensor([signed(key)]), 7)[0]) == signed(expected[7])
        below = torch_random.below(bits, torch.full((1000,), 17)).numpy()
        assert np.array_equal(below, _random.below(expected, 17))
        order = np.argsort(torch_random.unsigned_order(bits).numpy(), kind="stable")
        assert np.array_equal(order, np.argsort(expected, kind="stable"))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["tanimoto", "jaccard", "cosine"])
@pytest.mark.parametrize("branching", [2, 5])
@pytest.mark.parametrize("path", ["soft", "depth"])
def test_equal_preferences_give_equal_trees_and_path_lengths(metric, branching, path):
    laws.check_same_bits("torch", metric, branching, path)


@pytest.mark.parametrize("kernel", ["binary", "paper"])
def test_kernels_give_the_same_path_lengths(kernel):
    laws.check_same_bits("torch", kernel=kernel)


@pytest.mark.slow
@pytest.mark.parametrize("family", list_families())
def test_every_family_gives_the_results_of_the_cpu(family):
    laws.check_family(family, "torch")


def test_the_algorithm_of_the_paper_gives_the_results_of_the_cpu():
    laws.check_pif("torch")


@pytest.mark.slow
def test_several_families_give_the_results_of_the_cpu():
    both = {"line": 2, "circle": 1}.items()
    cpu, other = (
        laws.fitted(PreferenceIsolationForest, list(both), X, device=device)
        for device in ("cpu", "torch")
    )
    assert np.array_equal(cpu.path_lengths(X), other.path_lengths(X))
    assert len(cpu.structures_) == len(other.structures_)


class Farther(Line):
    """A custom family without a formula for its residuals."""

    def residuals(self, X, params):
        return 3 * super().residuals(X, params)


class Unstable(Line):
    """Last bits depend on the block of a row, as those of BLAS do."""

    def residuals(self, X, params):
        return super().residuals(X, params) * (1 + 1e-9 * len(X))


class Signed(Line):
    def residuals(self, X, params):
        return super().residuals(X, params) - 1


class Closer(Tanimoto):
    """A custom metric with the name of a built-in one."""

    def pairwise(self, A, B):
        return super().pairwise(A, B) ** 4


@pytest.mark.slow
@pytest.mark.parametrize("family", [Farther(), Unstable()])
def test_residuals_of_a_custom_family_are_computed_on_the_host(family):
    cpu, other = (
        laws.fitted(PreferenceIsolationForest, family, X, device=device)
        for device in ("cpu", "torch")
    )
    assert np.array_equal(cpu.path_lengths(X), other.path_lengths(X))
    for n in (1, 33, 200):
        assert np.array_equal(other.path_lengths(X[:n]), cpu.path_lengths(X)[:n])


def test_invalid_residuals_of_a_custom_family_raise_an_error_on_every_device():
    for device in ("cpu", "torch"):
        with pytest.raises(ValueError, match="must not be negative or NaN"):
            PreferenceIsolationForest(Signed(), device=device, **OPTIONS).fit(X)


def test_custom_kernels_raise_an_error():
    def triangle(r, sigma):
        return 1 - r / (3 * sigma)

    for cls in (PreferenceIsolationForest, PreferenceEmbedding):
        with pytest.raises(ValueError, match="is computed on the CPU only; use device='cpu', or a"):
            cls("line", kernel=triangle, device="torch", **OPTIONS).fit(X)
        cls("line", kernel=triangle, device="auto", **OPTIONS).fit(X)


def test_without_triton_nothing_is_compiled_and_one_warning_is_issued(monkeypatch):
    class OnGpu:
        is_cuda = True

    residuals.has_triton.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(torch, "compile", None)
    run = residuals.compiled(lambda tensor: 7)
    with pytest.warns(UserWarning, match="Triton is not installed") as issued:
        assert [run(OnGpu()), run(OnGpu())] == [7, 7]
    assert len(issued) == 1
    residuals.has_triton.cache_clear()


def test_few_models_are_not_compiled(monkeypatch):
    class OnGpu:
        is_cuda = True

    monkeypatch.setattr(residuals, "has_triton", lambda: True)
    monkeypatch.setattr(residuals, "_with_unique_code", lambda function: function)
    monkeypatch.setattr(torch, "compile", lambda function, **options: lambda *args: "compiled")
    run = residuals.compiled(lambda X, theta: "eager", residuals._has_many_models)
    found = [run(OnGpu(), np.empty((3, m))) for m in (16, residuals.FEW_MODELS, 256)]
    assert found == ["eager", "eager", "compiled"]


def test_a_fit_on_a_full_device_raises_a_clear_error(monkeypatch):
    def full(*args):
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr("piforest.engines.torch.scorer.grow", full)
    with pytest.raises(MemoryError, match="no memory left for this fit; use device='cpu', or"):
        PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(X)


def on_device(detector):
    return choose_engine(X, "torch", None, 0).scorer(detector.fitted_)


@pytest.mark.slow
def test_a_score_does_not_depend_on_the_block(detector, monkeypatch):
    whole = detector.path_lengths(X)
    scores = detector.anomaly_score(X)
    monkeypatch.setattr(on_device(detector), "_rows", 32)
    assert np.array_equal(detector.path_lengths(X), whole)
    assert np.array_equal(detector.anomaly_score(X[:5]), scores[:5])


@pytest.mark.slow
def test_blocks_shrink_on_a_full_device_with_one_warning(monkeypatch):
    detector = PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(X)
    expected = detector.anomaly_score(X)
    embed = on_device(detector).preferences.embed

    def limited(block):
        if len(block) > 64:
            raise torch.OutOfMemoryError("full")
        return embed(block)

    monkeypatch.setattr(on_device(detector).preferences, "embed", limited)
    with pytest.warns(UserWarning, match="no memory for blocks of") as issued:
        scores = detector.anomaly_score(X)
    assert len(issued) == 1
    assert np.array_equal(scores, expected)


def test_a_device_without_memory_raises_an_error(detector, monkeypatch):
    def full(block):
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(on_device(detector).preferences, "embed", full)
    monkeypatch.setattr(on_device(detector), "_rows", 32)
    with pytest.raises(MemoryError, match="no memory for 32 rows; use device='cpu'"):
        detector.anomaly_score(X)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "torch"])
def test_tensors_give_tensors(device):
    tensor = torch.as_tensor(X)
    detector = PreferenceIsolationForest("line", device=device, **OPTIONS).fit(tensor)
    names = ("anomaly_score", "score_samples", "decision_function", "p_values", "predict", "assign")
    for name in names:
        ours, theirs = getattr(detector, name)(tensor), getattr(detector, name)(X)
        assert torch.is_tensor(ours), name
        assert isinstance(theirs, np.ndarray), name
        assert np.array_equal(ours.numpy(), theirs), name
    assert detector.path_lengths(tensor).shape == (len(X), 100)
    P = detector.embedding_.transform(tensor)
    assert P.layout == torch.sparse_csr
    assert np.array_equal(P.to_dense().numpy(), detector.embedding_.transform(X).toarray())
    assert str(detector.explain(tensor[:1])[0]) == str(detector.explain(X[:1])[0])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32])
def test_tensors_of_any_real_type_are_accepted(detector, dtype):
    tensor = (torch.as_tensor(X) * 8).to(dtype)
    expected = detector.anomaly_score(tensor.double().numpy())
    assert np.array_equal(detector.anomaly_score(tensor).numpy(), expected)
    again = PreferenceIsolationForest("line", **OPTIONS)
    assert torch.is_tensor(again.fit_predict(tensor))


def test_read_only_arrays_are_accepted_without_a_warning(detector):
    read_only = X.copy()
    read_only.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(read_only)
        assert np.array_equal(again.anomaly_score(read_only), detector.anomaly_score(X))


def test_invalid_tensors_raise_an_error(detector):
    with pytest.raises(ValueError, match=r"rows with 2 columns, as in fit; got shape \(3, 5\)"):
        detector.anomaly_score(torch.zeros(3, 5))
    with pytest.raises(ValueError, match="dense tensor of real numbers, got complex numbers"):
        detector.anomaly_score(torch.zeros(3, 2, dtype=torch.complex64))
    with pytest.raises(ValueError, match=r"dense tensor of real numbers, got torch\.sparse_coo"):
        detector.anomaly_score(torch.zeros(3, 2).to_sparse())
    with pytest.raises(ValueError, match=r"X must be a dense tensor, got torch\.sparse_coo"):
        PreferenceIsolationForest("line").fit(torch.eye(5).to_sparse())
    with pytest.raises(ValueError, match="NaN or infinity"):
        detector.anomaly_score(torch.full((3, 2), torch.nan))
    with pytest.raises(ValueError, match="at least 1 row"):
        detector.anomaly_score(torch.zeros(0, 2))


def test_a_model_moves_between_devices(detector, tmp_path):
    expected = detector.path_lengths(X)
    detector.save(tmp_path / "model.pif")
    loaded = PreferenceIsolationForest.load(tmp_path / "model.pif")
    assert loaded.device == loaded.embedding_.device == "cpu"
    copied = pickle.loads(pickle.dumps(detector))
    assert "_on_device" not in vars(copied)
    for model in (loaded, copied):
        for device in ("torch", "cpu", "torch"):
            assert np.array_equal(model.set_params(device=device).path_lengths(X), expected)


def test_a_pool_fitted_on_a_device_equals_that_of_the_cpu():
    cpu, other = (
        PreferenceIsolationForest.paper("line", sigma=0.01, device=device, **OPTIONS).fit(X)
        for device in ("cpu", "torch")
    )
    for name in ("indptr", "indices", "data"):
        ours, theirs = (getattr(each.forest_.pool, name) for each in (cpu, other))
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    assert np.allclose(cpu.scores_, other.scores_, rtol=1e-14)


@pytest.mark.slow
def test_more_points_than_the_subset_give_the_threshold_of_the_cpu():
    many = make_lines(4, sizes=8000, anomaly_share=0.4, random_state=0).data
    assert len(many) > 50_000
    cpu, other = (
        laws.fitted(
            PreferenceIsolationForest.paper,
            "line",
            many,
            sigma=0.01,
            device=device,
            n_models=100,
            pool_size=64,
        )
        for device in ("cpu", "torch")
    )
    assert np.isclose(cpu.offset_, other.offset_, rtol=1e-12)


@pytest.mark.parametrize("cls", [PreferenceIsolationForest, PreferenceEmbedding])
def test_an_unknown_device_raises_an_error(cls):
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda', 'cuda:N', 'auto' or"):
        cls("line", device="gpu").fit(X)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_missing_gpu_raises_an_error():
    with pytest.raises(ValueError, match="PyTorch finds no GPU here; device='auto' uses a GPU if"):
        PreferenceIsolationForest("line", device="cuda").fit(X)
    assert resolve_device("auto") is None


def test_missing_pytorch_raises_an_error(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'piforest\[gpu\]'"):
        resolve_device("cuda")
    assert resolve_device("auto") is None


def test_metrics_that_only_the_cpu_supports_raise_an_error():
    with pytest.raises(ValueError, match="metric 'tanimoto' is computed on the CPU only"):
        PreferenceIsolationForest("line", metric=Closer(), device="torch", **OPTIONS).fit(X)
    with pytest.raises(ValueError, match="metric 'ruzicka' is computed on the CPU only"):
        PreferenceIsolationForest("line", metric="ruzicka", device="torch", **OPTIONS).fit(X)

    with pytest.raises(ValueError, match="metric 'tanimoto' is computed on the CPU only"):
        VoronoiForest(device="torch").fit(np.abs(X))
    with pytest.raises(ValueError, match=r"a device needs dense rows; use device='cpu', or X.toa"):
        VoronoiForest("euclidean", device="torch").fit(scipy.sparse.csr_array(X))


def test_auto_uses_the_cpu_if_a_device_does_not_support_the_computation(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto", ValueError("on the CPU only")) is None
    assert str(resolve_device("auto")) == "cuda"
    forest = VoronoiForest("chebyshev", device="auto", random_state=0).fit(X)
    assert np.array_equal(forest.anomaly_score(X), forest.scores_)
    sparse = scipy.sparse.csr_array(X)
    forest = VoronoiForest("euclidean", device="auto", random_state=0).fit(sparse)
    assert np.array_equal(forest.anomaly_score(sparse), forest.scores_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_voronoi_forests_give_the_results_of_the_cpu(metric):
    laws.check_vectors("torch", metric)


def test_voronoi_forests_accept_tensors():
    forest = VoronoiForest("euclidean", random_state=0).fit(torch.as_tensor(X))
    scores = forest.anomaly_score(torch.as_tensor(X))
    assert np.array_equal(scores.numpy(), forest.scores_)
