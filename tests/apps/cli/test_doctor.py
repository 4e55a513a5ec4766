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


def doctor_output(capsys, *args):
    code = cli.main(["doctor", *args])
    return code, capsys.readouterr().out


def test_the_doctor_prints_versions_cores_cache_gpu_and_data(capsys, monkeypatch, tmp_path):
    (tmp_path / "synthetic2d").mkdir()
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    code, printed = doctor_output(capsys)
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
        assert part in printed


def test_json_is_one_object(capsys):
    code, printed = doctor_output(capsys, "--json")
    answer = json.loads(printed)
    assert code == 0
    assert answer["works"] is True
    assert answer["core"]["numba"] == {"version": numba.__version__}
    extras = {"plots", "cli", "vision", "cloud", "data", "dask", "gpu", "sql", "remote", "serve"}
    assert set(answer["extras"]) == extras
    assert answer["threads"]["cores"] == os.cpu_count()
    assert answer["compile_cache"]["writable"] == os.access(answer["compile_cache"]["folder"], 2)
    assert answer["data"]["known"] == {"synthetic2d": 7, "adelaidermf": 38}


def test_available_data_are_counted(monkeypatch, tmp_path):
    from piforest.datasets.published import data_file

    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    for name in ("stair3", "barrsmith"):
        data_file(name).parent.mkdir(parents=True)
        data_file(name).write_text("")
    found = doctor._data()["found"]
    assert found == {"synthetic2d": ["stair3"], "adelaidermf": ["barrsmith"]}


def test_missing_packages_come_with_the_command_that_installs_them(capsys, monkeypatch):
    real = importlib.util.find_spec
    missing = ("cv2", "lazrs", "torch")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name in missing else real(name, *a)
    )
    code, printed = doctor_output(capsys)
    assert code == 0
    assert "opencv-python-headless missing: pip install 'piforest[vision]'" in printed
    assert "lazrs missing: pip install 'piforest[cloud]'" in printed
    assert "torch missing: pip install 'piforest[gpu]'" in printed
    assert "gpu           none: torch is missing" in printed


def test_a_broken_dependency_is_reported_and_fails(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    code, printed = doctor_output(capsys)
    assert code == 1
    assert "joblib        BROKEN: ModuleNotFoundError" in printed
    assert "piforest does NOT work. Try: pip install" in printed
    code, printed = doctor_output(capsys, "--json")
    assert code == 1
    assert json.loads(printed)["works"] is False


def test_a_detector_that_fails_is_reported(capsys, monkeypatch):
    def fails(self, *args, **kwargs):
        raise RuntimeError("no\ncompiler")

    monkeypatch.setattr(piforest.PreferenceIsolationForest, "fit", fails)
    code, printed = doctor_output(capsys)
    assert code == 1
    assert "piforest does NOT work: RuntimeError: no compiler." in printed


def test_a_read_only_cache_is_reported(capsys, monkeypatch):
    def fails(**options):
        raise PermissionError("read-only")

    monkeypatch.setattr(tempfile, "TemporaryFile", fails)
    code, printed = doctor_output(capsys)
    assert code == 0
    assert "NOT writable: every run compiles again" in printed


def test_a_cache_folder_that_does_not_exist_yet_can_be_writable(tmp_path):
    assert doctor._writable(str(tmp_path / "deeper" / "still"))
    assert list(tmp_path.iterdir()) == []
