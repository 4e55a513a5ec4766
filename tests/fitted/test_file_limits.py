"""The limits of model files: the last value that is accepted, and the first that is not."""

from __future__ import annotations

import copy
import zipfile
from pathlib import Path

import numpy as np
import pytest

import piforest
from piforest import PreferenceIsolationForest, VoronoiForest
from piforest._rows import SparseRows
from piforest._validation import LARGEST
from piforest.datasets import make_lines
from piforest.fitted import file_checks as checks
from piforest.fitted.family_fingerprint import _close
from piforest.fitted.file_versions import VERSION
from piforest.forest import FlatForest
from piforest.io import archive as archives
from piforest.io.archive import read_archive, write_archive
from piforest.metrics import get_metric

MODELS = Path(__file__).parents[1] / "models"
X = make_lines(2, sizes=20, noise=0.01, anomaly_share=0.3, random_state=0).data
SMALL = {"n_estimators": 3, "random_state": 0}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Header and arrays of models by name."""
    folder = tmp_path_factory.mktemp("limits")
    detectors = {
        "default": PreferenceIsolationForest("line", n_models=30, **SMALL).fit(X),
        "voronoi": VoronoiForest("euclidean", **SMALL).fit(X),
        "tanimoto": VoronoiForest("tanimoto", **SMALL).fit(np.abs(X)),
        "precomputed": VoronoiForest("precomputed", **SMALL).fit(np.abs(X[:, :1] - X[:, 0])),
    }
    for name, detector in detectors.items():
        detector.save(folder / name)
    return {name: read_archive(folder / name) for name in detectors}


@pytest.fixture
def header(stored):
    def get(name):
        return copy.deepcopy(stored[name][0])

    return get


ACCEPTED = [
    {"key": 0}, {"key": 2**64 - 1}, {"max_samples": 2}, {"n_features": None}, {"n_features": 1},
    {"feature_names": ["a", "b"]}, {"n_training": 1}, {"n_training": 2**48 - 1},
    {"max_samples": 2**40}, {"max_samples": 2**14, "branching": 3}, {"threshold": -1.5},
    {"threshold": np.nextafter(LARGEST, 0)}, {"pool": {"layout": "sparse", "n_columns": 1}},
    {"params": {"n_jobs": None}}, {"params": {"n_jobs": 1}}, {"params": {"n_jobs": -1}},
    {"params": {"n_jobs": 1024}}, {"params": {"n_jobs": -1024}},
]  # fmt: skip
REFUSED = [
    {"key": -1}, {"key": 2**64}, {"key": 0.5}, {"max_samples": 1}, {"branching": 1},
    {"n_features": 0}, {"n_features": True}, {"feature_names": ["a"]}, {"feature_names": [1, 2]},
    {"feature_names": {"a": 1, "b": 2}}, {"n_training": 0}, {"n_training": 2**48},
    {"max_samples": 2**14 + 1, "branching": 3}, {"threshold": LARGEST}, {"threshold": "0"},
    {"pool": {"layout": "sparse", "n_columns": 0}}, {"params": {"n_jobs": 0}},
    {"params": {"n_jobs": 1025}}, {"params": {"n_jobs": -1025}}, {"params": {"n_jobs": 2.0}},
    {"params": {"n_jobs": True}}, {"soft": 0}, {"threshold_source": "automatic "},
]  # fmt: skip
EMBEDDING = [
    ("sigma", [1e-9, 5], [0, -1.0, True, "1"]),
    ("n_degenerate", [0, 7], [-1, 0.0, False]),
    ("families", [[{}]], [[], {}, [1], [{}, "line"], ({},)[0]]),
    ("n_drawn", [[0], [10_000]], [[], [0, 0], 0, [-1], [True], [0.0], [2**48]]),
    ("sigma_source", ["given", "estimated", "guessed"], ["chosen"]),
    ("in_sample_preferences", [True, False], [1, None]),
]


def names_of(changes):
    return "|".join(changes.get("params", changes))


@pytest.mark.parametrize("changes", ACCEPTED, ids=str)
def test_headers_up_to_the_limits_are_accepted(changes, header):
    checks.check_header({**header("voronoi"), **changes})


@pytest.mark.parametrize("changes", REFUSED, ids=str)
def test_headers_beyond_the_limits_are_refused(changes, header):
    with pytest.raises(ValueError, match=f"its header has a bad ({names_of(changes)})"):
        checks.check_header({**header("voronoi"), **changes})


@pytest.mark.parametrize(("name", "accepted", "refused"), EMBEDDING)
def test_headers_of_embeddings(name, accepted, refused, header):
    for value in accepted:
        changed = header("default")
        changed["embedding"][name] = value
        checks.check_header(changed)
    for value in refused:
        changed = header("default")
        changed["embedding"][name] = value
        with pytest.raises(ValueError, match=f"its header has a bad {name}"):
            checks.check_header(changed)
    with pytest.raises(ValueError, match="its header has a bad embedding"):
        checks.check_header({**header("default"), "embedding": []})


@pytest.mark.parametrize("container", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_eight_levels_of_nesting(container, header):
    value = container([])
    for _ in range(5):
        value = container(value)
    checks.check_header({**header("voronoi"), "params": {"family": value}})
    with pytest.raises(ValueError, match="nested too deeply"):
        checks.check_header({**header("voronoi"), "params": {"family": container(value)}})


def leaves(n, **changes):
    """n trees of a single node."""
    arrays = {"first_child": -1, "seed": -1, "size": 2}
    nodes = {name: np.full(n, value, np.int32) for name, value in arrays.items()}
    return FlatForest(2, 2, np.arange(n + 1), **{**nodes, **changes})


def test_as_many_trees_as_are_allowed():
    checks.check_trees(leaves(2**16), 2)
    for trees, pool in ((leaves(2**16 + 1), 2), (leaves(3), 1)):
        with pytest.raises(ValueError, match="its trees are not valid"):
            checks.check_trees(trees, pool)
    checks.check_trees(leaves(1, size=np.array([0], np.int32)), 2)
    with pytest.raises(ValueError, match="its trees are not valid"):
        checks.check_trees(leaves(3, size=np.array([2, 3, 2], np.int32)), 2)
    with pytest.raises(ValueError, match="its trees are not valid"):
        checks.check_trees(leaves(3, size=np.array([2, -1, 2], np.int32)), 2)


def test_columns_of_a_sparse_pool():
    def pool(n_columns, entries):
        data = np.ones(entries)
        return SparseRows(np.array([0, entries]), np.arange(entries), data, n_columns)

    assert checks.is_narrow(pool(2**24, 3))
    assert not checks.is_narrow(pool(2**24 + 1, 3))
    assert checks.is_narrow(pool(2**24 + 64, 2**18 + 1))
    assert not checks.is_narrow(pool(2**24 + 65, 2**18 + 1))


def changed(name, at, value):
    def change(arrays):
        arrays[name][at] = value

    return change


def converted(name, dtype):
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})


def shortened(name):
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


def swapped(name, i, j):
    return lambda arrays: arrays[name].__setitem__([i, j], arrays[name][[j, i]])


N = len(X)
ARRAYS = [
    ("voronoi", "its pool", converted("pool", np.float32)),
    ("voronoi", "its pool", lambda arrays: arrays.update(pool=arrays["pool"][:, 0])),
    ("voronoi", "its pool", lambda arrays: arrays.update(pool=arrays["pool"][:, :1])),
    ("tanimoto", "its pool", changed("pool.data", 0, -1e-9)),
    ("tanimoto", "its pool", changed("pool.data", 0, np.inf)),
    ("tanimoto", "its pool", changed("pool.indptr", 0, 1)),
    ("precomputed", "its pool", changed("pool", 0, -1)),
    ("precomputed", "its pool", changed("pool", -1, N)),
    ("precomputed", "its pool", converted("pool", np.int32)),
    ("precomputed", "its pool", lambda arrays: arrays.update(pool=arrays["pool"][:, None])),
    ("voronoi", "its scores", swapped("pool.rows", 3, 4)),
    ("voronoi", "its scores", swapped("pool.rows", -1, -2)),
    ("voronoi", "its scores", changed("pool.rows", 1, 0)),
    ("voronoi", "its scores", changed("pool.rows", -1, N)),
    ("voronoi", "its scores", converted("pool.rows", np.int32)),
    ("voronoi", "its scores", converted("pool.scores", np.float32)),
    ("voronoi", "its scores", shortened("pool.scores")),
    ("voronoi", "its scores", shortened("subset.scores")),
    ("voronoi", "its scores", changed("pool.scores", -1, np.nan)),
    ("voronoi", "its scores", lambda arrays: arrays.pop("subset.scores")),
    ("voronoi", "its scores", lambda arrays: arrays.update(scores=np.ones(N + 1))),
    ("default", "its pool has no points", converted("pool.points", np.float32)),
    ("default", "its pool has no points", shortened("pool.points")),
    ("default", "its subset has no points", shortened("subset.points")),
    ("default", "its models have bad values", changed("models.0.weight", slice(None), 0.0)),
    ("default", "its models have bad values", changed("models.0.weight", 0, -1e-9)),
    ("default", "its models have bad values", changed("models.0.weight", 0, np.inf)),
    ("default", "its models have bad values", changed("models.0.scale", 0, 0.0)),
    ("default", "its models have bad values", changed("models.0.scale", 0, np.inf)),
    ("default", "its models have bad values", changed("models.0.points", (0, 0), np.nan)),
    ("default", "its models have bad values", changed("models.0.params", (0, 0), np.nan)),
    ("default", "its models do not fit together", changed("models.0.samples", (0, 0), -1)),
    ("default", "its models do not fit together", converted("models.0.samples", np.int32)),
    ("default", "its models do not fit together", converted("models.0.scale", np.float32)),
    ("default", "its models do not fit together", shortened("models.0.scale")),
    ("default", "its models do not fit together", shortened("models.0.weight")),
    ("default", "its models do not fit together", shortened("models.0.points")),
    ("default", "its models do not fit together", shortened("models.0.samples")),
    ("default", "its models do not fit the family",
     lambda arrays: arrays.update({"models.0.params": arrays["models.0.params"][:, :-1]})),
]  # fmt: skip


@pytest.mark.parametrize(("name", "reason", "change"), ARRAYS, ids=range(len(ARRAYS)))
def test_arrays_that_do_not_fit_are_refused(name, reason, change, stored, tmp_path):
    header, arrays = stored[name]
    arrays = {part: array.copy() for part, array in arrays.items()}
    change(arrays)
    write_archive(tmp_path / "m.pif", header, arrays, VERSION)
    with pytest.raises(ValueError, match=f"m.pif is not .* damaged: {reason}"):
        piforest.load(tmp_path / "m.pif")


def test_values_at_the_limits_are_accepted():
    assert checks.is_finite(np.array([-LARGEST, LARGEST]))
    assert not checks.is_finite(np.array([np.nextafter(LARGEST, np.inf)]))
    assert checks.is_finite(np.empty(0))


def test_a_pool_of_zeros_fits_a_metric_of_non_negative_rows():
    class Positive(type(get_metric("euclidean"))):
        non_negative = True

    checks.check_pool(np.zeros((3, 2)), Positive(), None, 2)
    with pytest.raises(ValueError, match="its pool"):
        checks.check_pool(np.full((3, 2), -1e-9), Positive(), None, 2)
    checks.check_pool(np.full((3, 2), -1e-9), get_metric("euclidean"), None, 2)


def test_one_row_is_a_pool():
    arrays = {
        "pool.scores": np.ones(1), "subset.scores": np.ones(3), "pool.rows": np.zeros(1, np.int64),
    }  # fmt: skip
    checks.check_scores(arrays, 1, 3)


def test_a_header_of_exactly_the_longest_length(tmp_path):
    rest = len('{"format": "piforest-model", "version": 2, "a": ""}')
    text = "x" * (archives._MAX_HEADER // 4 - rest)
    write_archive(tmp_path / "m.pif", {"a": text}, {}, VERSION)
    assert read_archive(tmp_path / "m.pif")[0]["a"] == text
    with pytest.raises(ValueError, match="a model file holds 8388608"):
        write_archive(tmp_path / "m.pif", {"a": text + "x"}, {}, VERSION)
    np.savez(tmp_path / "m.npz", header=np.array("x" * (2**21 + 1)))
    with pytest.raises(ValueError, match="header is too long"):
        read_archive(tmp_path / "m.npz")


def test_two_thousand_parts_are_allowed(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.pif", "w") as archive:
        for k in range(2000):
            archive.writestr(f"a{k}.npy", b"")
    with pytest.raises(ValueError, match="it has no 'header'"):
        read_archive(tmp_path / "m.pif")


def test_constant_arrays_are_compressed_up_to_64_mebibytes(tmp_path):
    assert archives._limit(1000) == 64 * 2**20 + 64_000
    write_archive(tmp_path / "m.pif", {}, {"a": np.zeros(2**20)}, VERSION)
    assert (tmp_path / "m.pif").stat().st_size < 2**16
    assert read_archive(tmp_path / "m.pif")[1]["a"].shape == (2**20,)


def test_reasons_are_one_line_of_at_most_300_characters():
    assert str(archives.damaged("m", "a\n b" + "x" * 400)).endswith(f"a b{'x' * 297}.")
    assert str(archives.damaged("m", ValueError())).endswith("damaged: ValueError.")


def test_the_class_of_the_paper_in_version_1_has_the_parameters_of_the_paper():
    loaded = piforest.load(MODELS / "pif.v1.pif").get_params()
    paper = PreferenceIsolationForest.paper("line", sigma=1).get_params()
    for name in ("sampler", "scale", "weighting", "in_sample_preferences", "path", "branching"):
        assert loaded[name] == paper[name]
    assert loaded["metric"] in ("tanimoto", paper["metric"])


@pytest.mark.parametrize(
    ("by_hand", "contamination", "source"),
    [(True, "auto", "given"), (False, 0.1, "contamination"), (False, "auto", "automatic"),
     ("yes", "auto", "automatic")],
)  # fmt: skip
def test_sources_of_the_threshold_in_version_1(by_hand, contamination, source, tmp_path):
    header, arrays = read_archive(MODELS / "voronoi.v1.pif")
    header["by_hand"], header["params"]["contamination"] = by_hand, contamination
    write_archive(tmp_path / "m.pif", header, arrays, 1)
    loaded = piforest.load(tmp_path / "m.pif")
    assert loaded.threshold_source_ == source
    assert loaded.threshold_ == -header["offset"]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_fingerprints_of_a_family_differ_by_a_millionth_of_the_median(size):
    expected = size * np.array([0.0, 1.0, 1.0, 1.0])
    assert _close(expected + size * np.array([0.9e-6, 0, 0, 0]), expected)
    assert not _close(expected + size * np.array([1.1e-6, 0, 0, 0]), expected)
    assert not _close(expected[:3], expected)
    nothing = np.full(2, np.inf)
    assert _close(nothing, nothing)
    assert not _close(np.zeros(2), nothing)
