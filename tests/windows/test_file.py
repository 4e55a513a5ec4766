"""Model files of windows: the same results, and an error for everything that is out of range."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import piforest
from cli_runs import run
from piforest import LocalPreferenceIsolationForest, PreferenceIsolationForest
from piforest.families import get_family
from piforest.fitted.file_versions import VERSION
from piforest.io.archive import read_archive, write_archive


def sine(n=500, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4 * np.pi, n)
    X = np.column_stack([x, 3 * np.sin(x) + 0.05 * rng.normal(size=n)])
    X[:30, 1] = rng.uniform(-3, 3, 30)
    return pd.DataFrame(X, columns=["t", "value"])


@pytest.fixture(scope="module")
def fitted():
    options = {"n_models": 100, "n_estimators": 8, "coordinates": ["t"], "random_state": 0}
    return LocalPreferenceIsolationForest(["line", "circle"], **options).fit(sine())


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("windows") / "m.pif"
    fitted.save(path)
    return path


@pytest.mark.slow
def test_a_saved_model_gives_the_same_results(fitted, saved):
    X = sine()
    for loaded in (piforest.load(saved), LocalPreferenceIsolationForest.load(saved)):
        assert type(loaded) is LocalPreferenceIsolationForest
        assert np.array_equal(loaded.anomaly_score(X), fitted.anomaly_score(X))
        assert np.array_equal(loaded.labels_, fitted.labels_)
        assert loaded.threshold_ == fitted.threshold_
        assert loaded.sigma_ == fitted.sigma_
        assert loaded.feature_names_in_.tolist() == ["t", "value"]
        assert np.array_equal(loaded.null_scores_, fitted.null_scores_)
        assert str(loaded.explain(X[:5])) == str(fitted.explain(X[:5]))
        assert str(loaded.structures_) == str(fitted.structures_)
        assert str(loaded.diagnosis_) == str(fitted.diagnosis_)
        assert loaded.get_params() == fitted.get_params()


def test_files_without_weights_have_those_of_their_time(saved, tmp_path):
    header, arrays = read_archive(saved)
    del arrays["windows.weight"]
    write_archive(tmp_path / "earlier.pif", header, arrays, VERSION)
    windows = piforest.load(tmp_path / "earlier.pif").windows_
    assert [w.weight for w in windows] == [w.explained**4 * 0.5**w.size + 1e-6 for w in windows]


def test_a_loaded_model_is_saved_as_it_was(saved, tmp_path):
    piforest.load(saved).save(tmp_path / "again.pif")
    first, second = read_archive(saved), read_archive(tmp_path / "again.pif")
    assert first[0] == second[0]
    assert first[1].keys() == second[1].keys()
    assert all(np.array_equal(first[1][name], second[1][name]) for name in first[1])


@pytest.mark.slow
def test_another_class_is_refused(saved, tmp_path):
    with pytest.raises(ValueError, match="holds a LocalPreferenceIsolationForest, not a"):
        PreferenceIsolationForest.load(saved)
    line = PreferenceIsolationForest("line", n_models=50, random_state=0).fit(sine(60).to_numpy())
    line.save(tmp_path / "line.pif")
    with pytest.raises(ValueError, match="holds a PreferenceIsolationForest, not a Local"):
        LocalPreferenceIsolationForest.load(tmp_path / "line.pif")
    with pytest.raises(ValueError, match="leave family out"):
        piforest.load(saved, family="line")


class Custom(type(get_family("line"))):
    """A family that is not in the registry."""


def test_a_custom_family_is_refused(tmp_path):
    detector = LocalPreferenceIsolationForest(
        Custom(), n_models=50, n_estimators=4, coordinates=[0], random_state=0
    ).fit(sine(200).to_numpy())
    with pytest.raises(ValueError, match="pickle"):
        detector.save(tmp_path / "m.pif")
    assert not (tmp_path / "m.pif").exists()


def put(name, at, value):
    def change(header, arrays):
        arrays[name][at] = value

    return change


def cast(name, dtype):
    def change(header, arrays):
        arrays[name] = arrays[name].astype(dtype)

    return change


def cut(name):
    def change(header, arrays):
        arrays[name] = arrays[name][:-1]

    return change


def within(**values):
    return lambda header, arrays: header["windows"].update(values)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("windows.places", (0, 0), 99), "windows have no place"),
        (put("windows.places", (-1, 1), 2**61), "windows have no place"),
        (put("windows.places", (1, 1), -1), "windows have no place"),
        (put("windows.explained", 0, np.nan), "windows have no place"),
        (cast("windows.explained", np.float32), "windows have no place"),
        (cut("windows.places"), "windows have no place"),
        (put("windows.weight", 0, 0.0), "bad weights"),
        (put("windows.weight", 0, np.nan), "bad weights"),
        (cut("windows.weight"), "bad weights"),
        (put("coordinates", 0, 2), "bad coordinates"),
        (cast("features", np.int32), "bad features"),
        (put("subset", (0, 0), np.inf), "bad subset"),
        (cut("subset"), "bad n_training"),
        (put("tilings.counts", (0, 0), 0), "bad tilings"),
        (put("tilings.low", (0, 0), np.nan), "bad tilings"),
        (within(tilings=[[1.0, 1e-9]]), "bad tilings"),
        (within(each=[]), "bad windows"),
        (within(key=-1), "bad key"),
        (within(sigma=-1.0), "bad sigma"),
        (within(sigma_source="felt"), "bad sigma_source"),
        (within(n_training=2**60), "bad n_training"),
        (cut("each.forest.seed"), "forest.seed do not fit the windows"),
        (put("shapes.forest.seed", (0, 0), -2), "forest.seed do not fit the windows"),
        (put("shapes.forest.seed", (0, 0), 2**40), "forest.seed do not fit the windows"),
        (put("each.forest.seed", 1, 10**6), "its trees are not valid"),
        (put("each.forest.first_child", 0, 10**6), "its trees are not valid"),
        (put("each.models.0.params", 0, np.nan), "its models have bad values"),
        (put("each.structure.numbers", 0, -1.0), "structures do not fit"),
        (put("each.structure.family", 0, 9), "structures do not fit"),
        (lambda header, arrays: header.update(threshold="0.5"), "bad threshold"),
        (lambda header, arrays: header["params"].update(n_jobs=0), "bad n_jobs"),
        (lambda header, arrays: header["params"].update(widnow=1), "widnow"),
        (lambda header, arrays: header["windows"]["common"].update(soft=1), "bad soft"),
        (lambda header, arrays: arrays.pop("subset"), "it has no 'subset'"),
    ],
)
def test_a_value_out_of_range_is_an_error_that_names_the_file(saved, tmp_path, change, reason):
    header, arrays = read_archive(saved)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    write_archive(tmp_path / "bad.pif", header, arrays, VERSION)
    with pytest.raises(ValueError, match=reason) as error:
        piforest.load(tmp_path / "bad.pif")
    assert "bad.pif" in str(error.value)


def test_the_command_line_scores_with_windows(fitted, saved, tmp_path, capsys):
    table, out = tmp_path / "rows.csv", tmp_path / "scored.csv"
    sine().to_csv(table, index=False)
    assert run(capsys, "score", table, "--model", saved, "--out", out)[0] == 0
    written = pd.read_csv(out)
    rows = pd.read_csv(table, float_precision="round_trip")
    assert np.allclose(written["score"], fitted.anomaly_score(rows))


def test_the_command_line_scores_with_windows_on_a_device(fitted, saved, tmp_path, capsys):
    pytest.importorskip("torch")
    table, out = tmp_path / "rows.csv", tmp_path / "scored.csv"
    sine().to_csv(table, index=False)
    code, _, err = run(capsys, "score", table, "--model", saved, "--device", "torch", "--out", out)
    assert (code, err) == (0, "")
    expected = fitted.anomaly_score(pd.read_csv(table))
    assert np.allclose(pd.read_csv(out)["score"], expected, atol=1e-9)
