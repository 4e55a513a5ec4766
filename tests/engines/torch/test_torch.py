"""Another device: PyTorch on the CPU runs the code of the GPU."""

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
from piforest.engines.torch import residuals, words  # noqa: E402

X, Y = make_lines(4, sizes=80, anomaly_share=0.4, random_state=0, return_X_y=True)
OPTIONS = {"n_models": 1000, "random_state": 0}


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(X)


def test_words_are_those_of_numpy():
    keys = np.array([0, 1, 2**63, 2**64 - 1, 12345], np.uint64)
    values = np.arange(1000, dtype=np.uint64)
    for key in keys:
        expected = _random.mix(key, values)
        found = words.mix(words.signed(key), torch.arange(1000))
        assert np.array_equal(found.numpy().view(np.uint64), expected)
        assert int(words.mix(torch.tensor([words.signed(key)]), 7)[0]) == words.signed(expected[7])
        below = words.below(found, torch.full((1000,), 17)).numpy()
        assert np.array_equal(below, _random.below(expected, 17))
        order = np.argsort(words.ordered(found).numpy(), kind="stable")
        assert np.array_equal(order, np.argsort(expected, kind="stable"))


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
def test_every_family_is_as_on_the_cpu(family):
    laws.check_family(family, "torch")


def test_pif_is_as_on_the_cpu():
    laws.check_pif("torch")


@pytest.mark.slow
def test_several_families_are_as_on_the_cpu():
    both = {"line": 2, "circle": 1}.items()
    cpu, other = (
        laws.fitted(PreferenceIsolationForest, list(both), X, device=device)
        for device in ("cpu", "torch")
    )
    assert np.array_equal(cpu.path_lengths(X), other.path_lengths(X))
    assert len(cpu.structures_) == len(other.structures_)


class Farther(Line):
    """A family of one's own, without a formula of its own."""

    def residuals(self, X, params):
        return 3 * super().residuals(X, params)


class Unsteady(Line):
    """Its last bits depend on the block that a row is in, as those of BLAS do."""

    def residuals(self, X, params):
        return super().residuals(X, params) * (1 + 1e-9 * len(X))


class Signed(Line):
    def residuals(self, X, params):
        return super().residuals(X, params) - 1


class Closer(Tanimoto):
    """A metric of one's own with the name of another."""

    def pairwise(self, A, B):
        return super().pairwise(A, B) ** 4


@pytest.mark.slow
@pytest.mark.parametrize("family", [Farther(), Unsteady()])
def test_a_family_of_ones_own_is_measured_on_the_host(family):
    cpu, other = (
        laws.fitted(PreferenceIsolationForest, family, X, device=device)
        for device in ("cpu", "torch")
    )
    assert np.array_equal(cpu.path_lengths(X), other.path_lengths(X))
    for n in (1, 33, 200):
        assert np.array_equal(other.path_lengths(X[:n]), cpu.path_lengths(X)[:n])


def test_a_family_that_breaks_its_protocol_is_told_on_every_device():
    for device in ("cpu", "torch"):
        with pytest.raises(ValueError, match="must not be negative or NaN"):
            PreferenceIsolationForest(Signed(), device=device, **OPTIONS).fit(X)


def test_kernels_of_ones_own_are_told():
    def triangle(r, sigma):
        return 1 - r / (3 * sigma)

    for cls in (PreferenceIsolationForest, PreferenceEmbedding):
        with pytest.raises(ValueError, match="is computed on the CPU only; use device='cpu', or a"):
            cls("line", kernel=triangle, device="torch", **OPTIONS).fit(X)
        cls("line", kernel=triangle, device="auto", **OPTIONS).fit(X)


def test_without_triton_nothing_is_compiled_and_that_is_told_once(monkeypatch):
    class OnGpu:
        is_cuda = True

    residuals._has_triton.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(torch, "compile", None)
    run = residuals.compiled(lambda tensor: 7)
    with pytest.warns(UserWarning, match="Triton is not installed") as told:
        assert [run(OnGpu()), run(OnGpu())] == [7, 7]
    assert len(told) == 1
    residuals._has_triton.cache_clear()


def test_a_fit_that_finds_the_device_full_says_so(monkeypatch):
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
def test_a_full_device_gets_smaller_blocks_and_one_warning(monkeypatch):
    detector = PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(X)
    expected = detector.anomaly_score(X)
    embed = on_device(detector).preferences.embed

    def greedy(block):
        if len(block) > 64:
            raise torch.OutOfMemoryError("full")
        return embed(block)

    monkeypatch.setattr(on_device(detector).preferences, "embed", greedy)
    with pytest.warns(UserWarning, match="no memory for blocks of") as told:
        found = detector.anomaly_score(X)
    assert len(told) == 1
    assert np.array_equal(found, expected)


def test_a_device_without_any_memory_is_told(detector, monkeypatch):
    def full(block):
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(on_device(detector).preferences, "embed", full)
    monkeypatch.setattr(on_device(detector), "_rows", 32)
    with pytest.raises(MemoryError, match="no memory for 32 rows; use device='cpu'"):
        detector.anomaly_score(X)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "torch"])
def test_tensors_go_in_and_come_out(device):
    tensor = torch.as_tensor(X)
    detector = PreferenceIsolationForest("line", device=device, **OPTIONS).fit(tensor)
    for name in ("anomaly_score", "score_samples", "decision_function", "p_values", "predict"):
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
def test_tensors_of_any_real_numbers_are_taken(detector, dtype):
    tensor = (torch.as_tensor(X) * 8).to(dtype)
    expected = detector.anomaly_score(tensor.double().numpy())
    assert np.array_equal(detector.anomaly_score(tensor).numpy(), expected)
    again = PreferenceIsolationForest("line", **OPTIONS)
    assert torch.is_tensor(again.fit_predict(tensor))


def test_arrays_that_cannot_be_written_to_are_taken_without_a_warning(detector):
    still = X.copy()
    still.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(still)
        assert np.array_equal(again.anomaly_score(still), detector.anomaly_score(X))


def test_bad_tensors_are_told(detector):
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


def test_a_fitted_pool_is_the_same_on_the_host():
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
def test_more_points_than_the_subset_are_fitted_the_same():
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
def test_an_unknown_device_is_told(cls):
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda', 'cuda:N', 'auto' or"):
        cls("line", device="gpu").fit(X)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_missing_gpu_is_told():
    with pytest.raises(ValueError, match="PyTorch sees no GPU here; device='auto' takes what"):
        PreferenceIsolationForest("line", device="cuda").fit(X)
    assert resolve_device("auto") is None


def test_missing_pytorch_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'piforest\[gpu\]'"):
        resolve_device("cuda")
    assert resolve_device("auto") is None


def test_metrics_of_the_cpu_alone_are_told():
    with pytest.raises(ValueError, match="metric 'tanimoto' is computed on the CPU only"):
        PreferenceIsolationForest("line", metric=Closer(), device="torch", **OPTIONS).fit(X)
    with pytest.raises(ValueError, match="metric 'ruzicka' is computed on the CPU only"):
        PreferenceIsolationForest("line", metric="ruzicka", device="torch", **OPTIONS).fit(X)

    with pytest.raises(ValueError, match="metric 'tanimoto' is computed on the CPU only"):
        VoronoiForest(device="torch").fit(np.abs(X))
    with pytest.raises(ValueError, match=r"a device takes dense rows; use device='cpu', or X.toa"):
        VoronoiForest("euclidean", device="torch").fit(scipy.sparse.csr_array(X))


def test_auto_takes_the_cpu_for_what_a_device_cannot_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto", ValueError("on the CPU only")) is None
    assert str(resolve_device("auto")) == "cuda"
    forest = VoronoiForest("chebyshev", device="auto", random_state=0).fit(X)
    assert np.array_equal(forest.anomaly_score(X), forest.scores_)
    sparse = scipy.sparse.csr_array(X)
    forest = VoronoiForest("euclidean", device="auto", random_state=0).fit(sparse)
    assert np.array_equal(forest.anomaly_score(sparse), forest.scores_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_voronoi_forests_are_as_on_the_cpu(metric):
    laws.check_vectors("torch", metric)


def test_voronoi_forests_take_tensors():
    forest = VoronoiForest("euclidean", random_state=0).fit(torch.as_tensor(X))
    found = forest.anomaly_score(torch.as_tensor(X))
    assert np.array_equal(found.numpy(), forest.scores_)
