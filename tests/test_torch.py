"""Another device: PyTorch on the CPU runs the code of the GPU."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse

from piforest import PIF, PreferenceEmbedding, PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines
from piforest.families import list_families

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'piforest[gpu]'", exc_type=ImportError
)
torch.set_num_threads(1)

import device_laws as laws  # noqa: E402
from piforest import _random  # noqa: E402
from piforest._device import resolve_device  # noqa: E402
from piforest._torch import words  # noqa: E402

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


@pytest.mark.parametrize("family", list_families())
def test_every_family_is_as_on_the_cpu(family):
    laws.check_family(family, "torch")


def test_pif_is_as_on_the_cpu():
    laws.check_pif("torch")


def test_several_families_are_as_on_the_cpu():
    both = {"line": 2, "circle": 1}.items()
    cpu, other = (
        laws.fitted(PreferenceIsolationForest, list(both), X, device=device)
        for device in ("cpu", "torch")
    )
    assert np.array_equal(cpu.path_lengths(X), other.path_lengths(X))
    assert len(cpu.structures_) == len(other.structures_)


def test_a_family_of_ones_own_is_measured_on_the_host():
    class Own:
        """A line without a formula."""

        def __init__(self):
            from piforest.families import get_family

            self._line = get_family("line")
            self.name, self.n_features, self.max_models = "own", None, 1
            self.symmetries = frozenset()

        def __getattr__(self, name):
            if name in ("formula", "prepared") or name.startswith("_"):
                raise AttributeError(name)
            return getattr(self._line, name)

    own = Own()
    cpu, other = (
        laws.fitted(PreferenceIsolationForest, own, X, device=device) for device in ("cpu", "torch")
    )
    assert np.array_equal(cpu.path_lengths(X), other.path_lengths(X))


def test_a_score_does_not_depend_on_the_block(detector, monkeypatch):
    whole = detector.path_lengths(X)
    scores = detector.anomaly_score(X)
    monkeypatch.setattr(detector._on_device, "_rows", 32)
    assert np.array_equal(detector.path_lengths(X), whole)
    assert np.array_equal(detector.anomaly_score(X[:5]), scores[:5])


def test_a_full_device_gets_smaller_blocks_and_one_warning(monkeypatch):
    detector = PreferenceIsolationForest("line", device="torch", **OPTIONS).fit(X)
    expected = detector.anomaly_score(X)
    embed = detector._on_device.preferences.embed

    def greedy(block):
        if len(block) > 64:
            raise torch.OutOfMemoryError("full")
        return embed(block)

    monkeypatch.setattr(detector._on_device.preferences, "embed", greedy)
    with pytest.warns(UserWarning, match="no memory for blocks of") as told:
        found = detector.anomaly_score(X)
    assert len(told) == 1
    assert np.array_equal(found, expected)


def test_a_device_without_any_memory_is_told(detector, monkeypatch):
    def full(block):
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(detector._on_device.preferences, "embed", full)
    monkeypatch.setattr(detector._on_device, "_rows", 32)
    with pytest.raises(MemoryError, match="no memory for 32 rows; use device='cpu'"):
        detector.anomaly_score(X)


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


def test_tensors_of_float32_are_taken(detector):
    ours = detector.anomaly_score(torch.as_tensor(X, dtype=torch.float32))
    assert np.array_equal(ours.numpy(), detector.anomaly_score(X.astype(np.float32)))


def test_bad_tensors_are_told(detector):
    with pytest.raises(ValueError, match=r"rows with 2 columns, as in fit; got shape \(3, 5\)"):
        detector.anomaly_score(torch.zeros(3, 5))
    with pytest.raises(ValueError, match="NaN or infinity"):
        detector.anomaly_score(torch.full((3, 2), torch.nan))
    with pytest.raises(ValueError, match="at least 1 row"):
        detector.anomaly_score(torch.zeros(0, 2))


def test_a_model_moves_between_devices(detector, tmp_path):
    expected = detector.path_lengths(X)
    detector.save(tmp_path / "model.pif")
    loaded = PreferenceIsolationForest.load(tmp_path / "model.pif")
    assert loaded.device == "torch"
    copied = pickle.loads(pickle.dumps(detector))
    assert "_on_device" not in vars(copied)
    for model in (loaded, copied):
        assert np.array_equal(model.path_lengths(X), expected)
        assert np.array_equal(model.set_params(device="cpu").path_lengths(X), expected)


def test_a_fitted_pool_is_the_same_on_the_host():
    cpu, other = (
        PIF("line", sigma=0.01, device=device, **OPTIONS).fit(X) for device in ("cpu", "torch")
    )
    for name in ("indptr", "indices", "data"):
        ours, theirs = (getattr(each.forest_.pool, name) for each in (cpu, other))
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    assert np.allclose(cpu.scores_, other.scores_, rtol=1e-14)


def test_more_points_than_the_subset_are_fitted_the_same():
    many = make_lines(4, sizes=8000, anomaly_share=0.4, random_state=0).data
    assert len(many) > 50_000
    cpu, other = (
        laws.fitted(PIF, "line", many, sigma=0.01, device=device, n_models=100, pool_size=64)
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
    with pytest.raises(ValueError, match="metric 'ruzicka' is computed on the CPU only"):
        PreferenceIsolationForest("line", metric="ruzicka", device="torch", **OPTIONS).fit(X)

    with pytest.raises(ValueError, match="metric 'tanimoto' is computed on the CPU only"):
        VoronoiForest(device="torch").fit(np.abs(X))
    with pytest.raises(ValueError, match=r"a device takes dense rows; use device='cpu', or X.toa"):
        VoronoiForest("euclidean", device="torch").fit(scipy.sparse.csr_array(X))


def test_auto_takes_the_cpu_for_what_a_device_cannot_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto", able=False) is None
    assert str(resolve_device("auto")) == "cuda"
    forest = VoronoiForest("chebyshev", device="auto", random_state=0).fit(X)
    assert np.array_equal(forest.anomaly_score(X), forest.scores_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_voronoi_forests_are_as_on_the_cpu(metric):
    laws.check_vectors("torch", metric)


def test_voronoi_forests_take_tensors():
    forest = VoronoiForest("euclidean", random_state=0).fit(torch.as_tensor(X))
    found = forest.anomaly_score(torch.as_tensor(X))
    assert np.array_equal(found.numpy(), forest.scores_)
