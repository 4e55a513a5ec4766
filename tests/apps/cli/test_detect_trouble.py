"""Errors of `piforest detect`: one line, an exit code, and no partial file."""

from __future__ import annotations

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cli_runs import line_scene, put_lines, rows_of, run
from piforest import PreferenceIsolationForest
from piforest.apps import cli


@pytest.fixture(scope="module")
def scene():
    return line_scene()


@pytest.fixture
def lines(scene, tmp_path):
    return put_lines(tmp_path / "lines.csv", *scene)


CASES = {
    "no file": (None, [], "nothing.csv: there is no such file"),
    "an empty file": ("", [], "is empty"),
    "a header alone": ("x,y\n", [], "no rows"),
    "text among numbers": ("x,y\n1,2\n3,abc\n4,5\n", [], r"row 2 of column 'y' is 'abc', not a"),
    "one row": ("x,y\n1,2\n", [], "points.csv has 1 row, at least 2 are needed"),
    "the same point": ("x,y\n" + "1,1\n" * 6, [], "all 6 points are identical"),
    "no such column": ("x,y\n1,2\n3,4\n", ["--columns", "x,z"], "no column 'z'"),
    "too few points": ("x,y\n1,2\n3,4\n", ["--family", "circle"], "at least 3 points, got 2"),
    "too many columns": (
        "a,b,c\n1,2,3\n4,5,6\n7,8,9\n", ["--family", "circle"], "needs 2 columns, and .* has 3",
    ),
    "no such family": (
        "x,y\n1,2\n3,4\n", ["--family", "linear"], "Did you mean 'linear_regression'",
    ),
    "no such option": ("x,y\n1,2\n3,4\n", ["--option", "degree=2"], "no option 'degree'"),
    "options of none of them": (
        "x,y\n1,2\n3,4\n", ["--family", "line,circle", "--option", "degree=2"],
        "none of the families line, circle has an option 'degree'",
    ),
    "an unknown format": ("x,y\n1,2\n3,4\n", ["--out", "a.ods"], "a.ods: a name must end in"),
    "a format that is only read": ("x,y\n1,2\n3,4\n", ["--out", "a.mat"], "a.mat: .mat files are"),
    "no folder": ("x,y\n1,2\n3,4\n", ["--out", "a/b.csv"], "there is no folder a"),
    "one name for two": (
        "x,y\n1,2\n3,4\n", ["--out", "a.csv", "--model", "./a.csv"], "is the name of two outputs",
    ),
    "text in an array": (
        "i,x,y\na,1,2\nb,3,4\nc,5,7\n", ["--out", "a.npy"], "row 1 of column 'i' is 'a'",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_line(name, tmp_path, capsys, monkeypatch):
    text, extra, message = CASES[name]
    monkeypatch.chdir(tmp_path)
    file = "nothing.csv" if text is None else "points.csv"
    if text is not None:
        (tmp_path / file).write_text(text)
    family = [] if "--family" in extra else ["--family", "line"]
    code, printed, err = run(capsys, "detect", file, *family, *extra)
    assert code == (2 if name == "no such family" else 1)
    assert printed == "" or name == "the same point"  # found by the first models
    assert err.startswith("piforest: ")
    assert err.count("\n") == 1
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(err)
    assert [path.name for path in tmp_path.iterdir()] in ([], [file])


@pytest.mark.parametrize(
    "arguments",
    [["--family", "line", "--sigma", "0"], ["--family", "line", "--contamination", "2"],
     ["--family", "line", "--plot", "a.gif"], ["--family", "line", "--report", "a.txt"],
     ["--family", "line", "--option", "degree"]],
)  # fmt: skip
def test_an_invalid_command_line_exits_with_two(arguments, lines):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["detect", str(lines), *arguments])
    assert stopped.value.code == 2


def forbid_fitting(monkeypatch):
    def fit(self, X):
        raise AssertionError("a detector was fitted")

    monkeypatch.setattr(PreferenceIsolationForest, "fit", fit)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--out", "--report", "--plot", "--model"])
def test_no_file_is_overwritten_unasked_and_that_is_said_before_the_work(
    option, lines, tmp_path, capsys, monkeypatch
):
    name = {"--out": "a.csv", "--report": "a.html", "--plot": "a.png", "--model": "a.pif"}[option]
    (tmp_path / name).write_text("mine")
    with monkeypatch.context() as patched:
        forbid_fitting(patched)
        code, _, err = run(capsys, "detect", lines, "--family", "line", option, tmp_path / name)
    assert code == 1
    assert "already exists; --force overwrites it" in err
    assert (tmp_path / name).read_text() == "mine"
    code, _, _ = run(
        capsys, "detect", lines, "--family", "line", option, tmp_path / name, "--force"
    )
    assert code == 0
    assert (tmp_path / name).read_bytes()[:4] != b"mine"


@pytest.mark.parametrize(
    ("module", "extra", "arguments"),
    [("matplotlib", "plots", ["--plot", "a.png"]), ("pyarrow", "cli", ["--out", "a.parquet"]),
     ("laspy", "cloud", ["--out", "a.laz"])],
)  # fmt: skip
def test_a_missing_extra_is_an_error_before_the_work(
    module, extra, arguments, scene, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", scene[0])
    forbid_fitting(monkeypatch)
    for name in [each for each in sys.modules if each.split(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    code, _, err = run(capsys, "detect", "points.npy", "--family", "line", *arguments)
    assert code == 1
    assert f"pip install 'piforest[{extra}]'" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_full_disk_leaves_no_partial_file(lines, tmp_path, capsys, monkeypatch):
    from piforest.io.tables import text

    whole = text.writer.write

    def full(self, table):
        whole(self, table)
        if len(table) > 1:  # not the dry run
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(text.writer, "write", full)
    code, _, err = run(
        capsys, "detect", lines, "--family", "line", "--out", tmp_path / "scores.csv"
    )
    assert code == 1
    assert err == f"piforest: cannot write {tmp_path / 'scores.csv'}: No space left on device.\n"
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["lines.csv"]


@pytest.mark.slow
def test_an_interruption_while_writing_leaves_no_partial_file(lines, tmp_path, capsys, monkeypatch):
    from piforest.io.tables import text

    whole = text.writer.write
    calls = []

    def interrupted(self, table):
        whole(self, table)
        calls.append(len(table))
        if len(table) > 1:  # not the dry run
            raise KeyboardInterrupt

    monkeypatch.setattr(text.writer, "write", interrupted)
    code, _, err = run(
        capsys, "detect", lines, "--family", "line", "--out", tmp_path / "scores.csv"
    )
    assert (code, err) == (130, "piforest: interrupted\n")
    assert calls == [1, 257]
    assert [path.name for path in tmp_path.iterdir()] == ["lines.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_ends_a_run_with_its_code_and_no_file(sent, code, message, tmp_path):
    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(200_000, 3)))
    command = [sys.executable, "-m", "piforest", "detect", "many.npy", "--family", "plane",
               "--out", "scores.csv", "--plot", "p.png", "--model", "m.pif"]  # fmt: skip
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "200,000 in columns" in running.stdout.readline()  # the work begins
    running.send_signal(sent)
    _, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (code, f"piforest: {message}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["many.npy"]


SLOW_SCORE = """
import sys, time
from piforest.apps import cli
from piforest.io.tables import text
whole = text.writer.write
def slow(self, table):
    whole(self, table)
    self.file.flush()
    if len(table) > 1:  # not the dry run
        print("writing", flush=True)
        time.sleep(60)
text.writer.write = slow
sys.exit(cli.main(sys.argv[1:]))
"""


def writing(lines, tmp_path):
    """A process that is in the middle of its output."""
    detector = PreferenceIsolationForest("line", n_models=50, n_estimators=5, random_state=0)
    np.savetxt(tmp_path / "few.csv", line_scene()[0][:50], delimiter=",")
    detector.fit(line_scene()[0]).save(tmp_path / "m.pif")
    command = [sys.executable, "-c", SLOW_SCORE, "score", tmp_path / "few.csv", "--model",
               tmp_path / "m.pif", "--out", tmp_path / "out.csv", "--quiet"]  # fmt: skip
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "writing\n"
    return running


def hidden(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_temporary_files_of_killed_runs_are_removed_and_of_live_runs_are_kept(
    lines, tmp_path, capsys
):
    out = tmp_path / "out.csv"
    dead, live = writing(lines, tmp_path), writing(lines, tmp_path)
    try:
        assert len(hidden(tmp_path)) == 2
        dead.kill()
        dead.communicate(timeout=60)
        assert not out.exists()
        again = ["score", tmp_path / "few.csv", "--model", tmp_path / "m.pif", "--out"]
        assert run(capsys, *again, tmp_path / "other.csv")[0] == 0
        assert len(hidden(tmp_path)) == 2, "one has another name"
        assert run(capsys, *again, out)[0] == 0
        assert len(hidden(tmp_path)) == 1, "the live one"
        assert hidden(tmp_path)[0].stat().st_size > 0
        out.unlink()
    finally:
        live.terminate()
        _, err = live.communicate(timeout=60)
    # A run that is told to end removes its own.
    assert (live.returncode, err) == (143, "piforest: terminated\n")
    assert not hidden(tmp_path)
    assert not out.exists()


@pytest.mark.slow
def test_a_signal_handler_of_the_caller_is_kept(lines, capsys):
    ours = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        handler = signal.getsignal(signal.SIGTERM)
        assert run(capsys, "detect", lines, "--family", "line", "--quiet")[0] == 0
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, ours)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--out", "/dev/null"], ["--out", "/dev/null", "--model", "/dev/null"]]
)
def test_outputs_to_dev_null_are_written_there(options, lines, tmp_path, capsys):
    command = ["detect", lines, "--family", "line", "--out", "/dev/null", *options]
    code, printed, err = run(capsys, *command)
    assert (code, err) == (0, "")
    assert "wrote /dev/null" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["lines.csv"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--out", "--model"])
def test_a_full_device_is_an_error(option, lines, capsys):
    code, _, err = run(capsys, "detect", lines, "--family", "line", option, "/dev/full")
    assert (code, err) == (1, "piforest: cannot write /dev/full: No space left on device.\n")


@pytest.mark.slow
def test_a_name_that_is_not_utf_8_is_an_error_before_the_work(lines, tmp_path):
    bad = os.fsencode(tmp_path) + b"/\xff.csv"
    shutil.copy(lines, bad)
    for arguments in ([bad], [lines, "--out", os.fsencode(tmp_path) + b"/out\xff.csv"]):
        command = [sys.executable, "-m", "piforest", "detect", *arguments, "--family", "line"]
        result = subprocess.run(command, capture_output=True, check=False)
        assert (result.returncode, result.stdout) == (2, b"")
        assert result.stderr.count(b"\n") == 1
        assert b"is not UTF-8 text; rename the file" in result.stderr


def test_characters_that_standard_output_lacks_are_escaped(lines, tmp_path, monkeypatch):
    odd = tmp_path / "linïen.csv"
    odd.write_bytes(lines.read_bytes())
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "ascii", write_through=True))
    assert cli.main(["detect", str(odd), "--family", "line", "--json"]) == 0
    assert b"lin\\xefen.csv" in printed.getvalue()


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_does_not_cost_the_files(lines, tmp_path):
    out = tmp_path / "scores.csv"
    command = f"{sys.executable} -m piforest detect {lines} --family line --out {out} | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""
    assert len(rows_of(out)) == 257


def test_an_unknown_device_is_an_error(lines, capsys):
    code, _, err = run(capsys, "detect", lines, "--family", "line", "--device", "gpu")
    assert code == 1
    assert "device must be 'cpu', 'cuda', 'cuda:N', 'auto' or 'torch', got 'gpu'." in err
