"""`piforest doctor`."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile

import numba

import piforest
from piforest.apps import cli
from piforest.apps.cli import doctor


def asked(capsys, *args):
    code = cli.main(["doctor", *args])
    return code, capsys.readouterr().out


def test_the_doctor_tells_versions_cores_cache_gpu_and_data(capsys, monkeypatch, tmp_path):
    (tmp_path / "synthetic2d").mkdir()
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    code, told = asked(capsys)
    assert code == 0
    for part in (
        f"piforest      {piforest.__version__}",
        f"numba         {numba.__version__}",
        "[cli]",
        "cores",
        "compile cache",
        "gpu",
        f"data          {tmp_path}: 0 of 7 synthetic2d, 0 of 38 adelaidermf",
        f"PIFOREST_DATA is {tmp_path}",
        "piforest works.",
    ):
        assert part in told


def test_machines_get_the_same_as_one_object(capsys):
    code, told = asked(capsys, "--json")
    answer = json.loads(told)
    assert code == 0
    assert answer["works"] is True
    assert answer["core"]["numba"] == {"version": numba.__version__}
    assert set(answer["extras"]) == {"plots", "cli", "vision", "cloud", "data", "dask", "gpu"}
    assert answer["threads"]["cores"] == os.cpu_count()
    assert answer["compile_cache"]["writable"] == os.access(answer["compile_cache"]["folder"], 2)
    assert answer["data"]["known"] == {"synthetic2d": 7, "adelaidermf": 38}


def test_data_that_are_there_are_counted(monkeypatch, tmp_path):
    from piforest.datasets.published import data_file

    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    for name in ("stair3", "barrsmith"):
        data_file(name).parent.mkdir(parents=True)
        data_file(name).write_text("")
    found = doctor._data()["found"]
    assert found == {"synthetic2d": ["stair3"], "adelaidermf": ["barrsmith"]}


def test_what_is_missing_comes_with_the_line_that_installs_it(capsys, monkeypatch):
    real = importlib.util.find_spec
    lost = ("cv2", "lazrs", "torch")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name in lost else real(name, *a)
    )
    code, told = asked(capsys)
    assert code == 0
    assert "opencv-python-headless missing: pip install 'piforest[vision]'" in told
    assert "lazrs missing: pip install 'piforest[cloud]'" in told
    assert "torch missing: pip install 'piforest[gpu]'" in told
    assert "gpu           none: torch is missing" in told


def test_a_broken_core_is_told_and_fails(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    code, told = asked(capsys)
    assert code == 1
    assert "joblib        BROKEN: ModuleNotFoundError" in told
    assert "piforest does NOT work. Try: pip install" in told
    code, told = asked(capsys, "--json")
    assert code == 1
    assert json.loads(told)["works"] is False


def test_a_detector_that_fails_is_told(capsys, monkeypatch):
    def fails(self, *args, **kwargs):
        raise RuntimeError("no\ncompiler")

    monkeypatch.setattr(piforest.PreferenceIsolationForest, "fit", fails)
    code, told = asked(capsys)
    assert code == 1
    assert "piforest does NOT work: RuntimeError: no compiler." in told


def test_a_read_only_cache_is_told(capsys, monkeypatch):
    def fails(**options):
        raise PermissionError("read-only")

    monkeypatch.setattr(tempfile, "TemporaryFile", fails)
    code, told = asked(capsys)
    assert code == 0
    assert "NOT writable: every run compiles anew" in told


def test_a_cache_folder_that_is_not_there_yet_can_be_made(tmp_path):
    assert doctor._writable(str(tmp_path / "deeper" / "still"))
    assert list(tmp_path.iterdir()) == []
