from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

import piforest
from piforest._kernels.jit import seconds_compiling
from piforest.apps import cli, demo


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.slow
def test_the_demo_prints_and_draws(tmp_path, capsys):
    out = tmp_path / "demo.png"
    assert cli.main(["demo", "--out", str(out), "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    for part in (
        "isolation forest",
        "LOF",
        "piforest",
        "most anomalous points",
        "Done in",
        str(out),
    ):
        assert part in printed
    assert out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["demo.png"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_demos_detector_beats_the_others(seed):
    aucs = demo.run(None, seed, lambda text: None)
    assert aucs["piforest"] == max(aucs.values())


@pytest.mark.slow
def test_the_demo_can_draw_vectors_and_skip_the_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "--no-picture"]) == 0
    assert list(tmp_path.iterdir()) == []
    assert cli.main(["demo", "--out", "scene.svg"]) == 0
    assert "<svg" in (tmp_path / "scene.svg").read_text()


@pytest.mark.slow
def test_the_demo_without_matplotlib_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["demo", "--out", str(tmp_path / "demo.png")]) == 0
    assert "pip install 'piforest[plots]'" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_error_of_one_line(tmp_path, capsys):
    assert cli.main(["demo", "--out", str(tmp_path / "a" / "demo.png")]) == 1
    printed = capsys.readouterr().err
    assert "there is no folder" in printed
    assert printed.count("\n") == 1


def test_a_file_that_cannot_be_written_is_an_error_before_the_work(tmp_path, capsys):
    (tmp_path / "folder.png").mkdir()
    assert cli.main(["demo", "--out", str(tmp_path / "folder.png")]) == 1
    captured = capsys.readouterr()
    assert "it is a folder" in captured.err
    assert captured.out == ""


def test_bad_commands_exit_with_two(capsys):
    assert cli.main([]) == 2
    for arguments in (
        ["demo", "--out", "demo.gif"],
        ["demmo"],
        ["demo", "--seed", "x"],
        ["demo", "--seed", "-5"],
    ):
        with pytest.raises(SystemExit) as stopped:
            cli.main(arguments)
        assert stopped.value.code == 2
    assert "must end in .png, .jpg, .jpeg, .svg or .pdf" in capsys.readouterr().err


def test_an_interruption_is_one_line(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "piforest: interrupted\n"


def test_the_module_runs_like_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "piforest", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"piforest {piforest.__version__}\n"


HEAVY = "numpy numba scipy sklearn matplotlib joblib pandas"


def test_import_and_help_load_nothing_heavy():
    code = (
        "import sys, piforest, piforest.apps.cli\n"
        "try: piforest.apps.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY.split()!r} if name in sys.modules], file=sys.stderr)"
    )
    assert python(code).stderr.strip() == "[]"


@pytest.mark.slow
def test_using_the_detector_loads_no_picture_library():
    code = (
        "import sys, piforest; piforest.PreferenceIsolationForest('line'); "
        "print('matplotlib' in sys.modules)"
    )
    assert python(code).stdout.strip() == "False"


def test_public_names_are_listed_and_lazy():
    assert set(piforest.__all__) <= set(dir(piforest))
    for name in piforest.__all__:
        assert getattr(piforest, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = piforest.nothing


@pytest.mark.slow
def test_kernels_work_where_no_cache_can_be_written():
    code = (
        "import numba, numpy as np\n"
        "real = numba.njit\n"
        "def refusing(**options):\n"
        "    if options.get('cache'):\n"
        "        raise RuntimeError('cannot cache function: no locator available')\n"
        "    return real(**options)\n"
        "numba.njit = refusing\n"
        "from piforest._kernels.dense import lp_distances\n"
        "numba.njit = real\n"
        "out = np.empty((1, 1)); lp_distances(np.ones((1, 2)), np.zeros((1, 2)), 1, out)\n"
        "print(out[0, 0], lp_distances.stats.cache_path)"
    )
    result = python(code)
    assert result.stdout.strip() == "2.0 None", result.stderr


@pytest.mark.slow
def test_kernels_work_where_the_cache_is_taken_away(tmp_path):
    code = (
        "import numpy as np, pathlib, shutil, sys\n"
        "from piforest._kernels.dense import lp_distances\n"
        "from piforest._kernels.jit import seconds_compiling\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "shutil.rmtree(folder); folder.write_text('no folder')\n"
        "out = np.empty((1, 1)); lp_distances(np.ones((1, 2)), np.zeros((1, 2)), 1, out)\n"
        "print(out[0, 0], lp_distances.stats.cache_path.startswith(str(folder)),\n"
        "      seconds_compiling() > 0)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "cache")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.stdout.strip() == "2.0 True True", result.stderr


@pytest.mark.slow
def test_compiling_has_a_line_of_its_own_the_first_time(tmp_path):
    code = (
        "import numpy as np\n"
        "from piforest import VoronoiForest\n"
        "VoronoiForest('euclidean', verbose=1).fit(np.eye(5))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for first in (True, False):
        command = [sys.executable, "-c", code]
        result = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=True
        )
        assert ("piforest: compiling, " in result.stderr) == first
        assert "piforest: 100 trees, " in result.stderr


def test_code_of_others_compiles_beside_ours():
    space = {}
    exec("def f(x): return x + 1", {"__builtins__": __builtins__}, space)
    assert space["f"].__module__ is None
    before = seconds_compiling()
    assert numba.njit(space["f"])(3) == 4
    assert seconds_compiling() == before
