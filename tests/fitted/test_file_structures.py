"""Structures in model files: the same bits after loading, and nothing is measured again."""

from __future__ import annotations

import numpy as np
import pytest

import piforest
from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines
from piforest.fitted.file_versions import VERSION
from piforest.io.archive import read_archive, write_archive

X = make_lines(2, sizes=40, noise=0.01, anomaly_share=0.3, random_state=0).data
SMALL = {"n_models": 90, "n_estimators": 4, "random_state": 0}
DETECTORS = {
    "line": PreferenceIsolationForest("line", **SMALL),
    "two families": PreferenceIsolationForest(["circle", "line"], **SMALL),
    "a pool of 60": PreferenceIsolationForest("line", pool_size=60, **SMALL),
    "paper": PreferenceIsolationForest.paper("line", sigma=0.01, **SMALL),
    "scaled": PreferenceIsolationForest("line", scale_columns=True, **SMALL),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    for name, detector in DETECTORS.items():
        detector.fit(X).save(folder / f"{name}.pif")
    return folder


def not_again(*args, **kwargs):
    raise AssertionError("structures are searched again")


@pytest.mark.parametrize("name", DETECTORS)
def test_structures_and_assignments_are_the_same_bits_and_not_found_again(name, saved, monkeypatch):
    detector, loaded = DETECTORS[name], piforest.load(saved / f"{name}.pif")
    monkeypatch.setattr("piforest.findings.find_structures", not_again)
    monkeypatch.setattr("piforest.findings.Findings._band_counts", not_again)
    assert detector.structures_
    for before, after in zip(detector.structures_, loaded.structures_, strict=True):
        assert before.as_dict() == after.as_dict()
        assert np.array_equal(before.params, after.params)
        assert np.array_equal(before.members, after.members)
    for before, after in zip(
        detector.assign(X, return_distance=True),
        loaded.assign(X, return_distance=True),
        strict=True,
    ):
        assert np.array_equal(before, after)
    assert np.array_equal(loaded.structure_labels_, detector.structure_labels_)
    assert loaded.found_structure_ == detector.found_structure_


def test_a_file_of_the_version_before_has_none_and_they_are_found(saved, tmp_path):
    header, arrays = read_archive(saved / "line.pif")
    header = {name: value for name, value in header.items() if name != "has_structures"}
    kept = {name: a for name, a in arrays.items() if not name.startswith(("structures", "greedy"))}
    write_archive(tmp_path / "m.pif", {**header, "version": 3}, kept, 3)
    loaded = piforest.load(tmp_path / "m.pif")
    assert [each.as_dict() for each in loaded.structures_] == [
        each.as_dict() for each in DETECTORS["line"].structures_
    ]


def test_a_forest_without_models_stores_none(tmp_path):
    VoronoiForest("euclidean", n_estimators=4, random_state=0).fit(X).save(tmp_path / "m.pif")
    header, arrays = read_archive(tmp_path / "m.pif")
    assert header["has_structures"] is False
    assert not [name for name in arrays if name.startswith(("structures", "greedy"))]


def put(name, at, value):
    return lambda arrays: arrays[name].__setitem__(at, value)


def converted(name, dtype):
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})


def shortened(name):
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


def many(arrays):
    n = 1001
    arrays["greedy.family"] = np.zeros(n, np.int64)
    arrays["greedy.values"] = np.ones((n, 3))
    arrays["greedy.0.params"] = np.ones((n, 3))


ARRAYS = {
    "a family that is not there": put("structures.family", 0, 1),
    "a negative family": put("structures.family", 0, -1),
    "another type of family": converted("structures.family", np.int32),
    "a table of families": lambda arrays: arrays.update(
        {"structures.family": arrays["structures.family"][None]}
    ),
    "a half-width of 0": put("structures.values", (0, 0), 0.0),
    "a negative sigma": put("structures.values", (0, 1), -1.0),
    "a sigma that is no number": put("structures.values", (0, 1), np.nan),
    "infinite evidence": put("structures.values", (0, 2), np.inf),
    "values of another type": converted("structures.values", np.float32),
    "too few values": shortened("structures.values"),
    "infinite parameters": put("structures.0.params", (0, 0), np.inf),
    "too few parameters": shortened("structures.0.params"),
    "parameters of another type": converted("structures.0.params", np.float32),
    "parameters of another length": lambda arrays: arrays.update(
        {"structures.0.params": arrays["structures.0.params"][:, :2]}
    ),
    "a first member that is not the first": put("structures.starts", 0, 1),
    "starts that descend": put("structures.starts", 1, 2**62),
    "an end that is not the last": put("structures.starts", -1, 1),
    "too few starts": shortened("structures.starts"),
    "starts of another type": converted("structures.starts", np.int32),
    "a member that is no row": put("structures.members", 0, len(X)),
    "a negative member": put("structures.members", 0, -1),
    "a member of two structures": lambda arrays: arrays["structures.members"].__setitem__(
        0, arrays["structures.members"][-1]
    ),
    "members out of order": lambda arrays: arrays["structures.members"].__setitem__(
        [0, 1], arrays["structures.members"][[1, 0]]
    ),
    "members of another type": converted("structures.members", np.int32),
    "more than a thousand": many,
    "a structure of the threshold without evidence": put("greedy.values", (0, 2), np.nan),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_structures_that_do_not_fit_are_refused(what, saved, tmp_path):
    header, arrays = read_archive(saved / "line.pif")
    arrays = {part: array.copy() for part, array in arrays.items()}
    ARRAYS[what](arrays)
    write_archive(tmp_path / "m.pif", header, arrays, VERSION)
    with pytest.raises(ValueError, match=r"m\.pif is not .* damaged: its structures do not fit"):
        piforest.load(tmp_path / "m.pif")


@pytest.mark.parametrize("name", ["structures.family", "structures.members", "greedy.values"])
def test_missing_parts_are_named(name, saved, tmp_path):
    header, arrays = read_archive(saved / "line.pif")
    kept = {part: array for part, array in arrays.items() if part != name}
    write_archive(tmp_path / "m.pif", header, kept, VERSION)
    with pytest.raises(ValueError, match=f"it has no '{name}'"):
        piforest.load(tmp_path / "m.pif")


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_a_flag_of_another_type_is_refused(value, saved, tmp_path):
    header, arrays = read_archive(saved / "line.pif")
    write_archive(tmp_path / "m.pif", {**header, "has_structures": value}, arrays, VERSION)
    with pytest.raises(ValueError, match="bad has_structures"):
        piforest.load(tmp_path / "m.pif")
