from __future__ import annotations

import csv
import errno
import io
import json
import os
import pty
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest, cli
from piforest.datasets import make_cones, make_lines, make_regressions, make_segments


@pytest.fixture(scope="module")
def scene():
    X, y = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].round(4), y[order]


@pytest.fixture
def lines(scene, tmp_path):
    """A table as people have them: text around the numbers, in no order."""
    X, y = scene
    path = tmp_path / "lines.csv"
    rows = [
        f's{k:03d},{x:.4f},{v:.4f},"on line {t}, or none"'
        for k, ((x, v), t) in enumerate(zip(X, y))
    ]
    path.write_text("\n".join(["id,x,y,note", *rows]) + "\n")
    return path


def run(capsys, *arguments):
    """The exit code, standard output and standard error of a command."""
    code = cli.main([str(each) for each in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def rows_of(path, **options):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, **options))


def test_scores_stand_beside_the_columns_of_the_file(lines, scene, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    code, told, err = run(capsys, "detect", lines, "--family", "line", "--out", out)
    assert (code, err) == (0, "")
    before, after = rows_of(lines), rows_of(out)
    assert list(after[0]) == ["id", "x", "y", "note", "score", "anomaly"]
    assert [{k: row[k] for k in row if k not in ("score", "anomaly")} for row in after] == before
    X, y = scene
    expected = PreferenceIsolationForest("line", random_state=0).fit(X)
    assert np.array_equal([float(row["score"]) for row in after], expected.scores_)
    flagged = np.array([row["anomaly"] for row in after])
    assert np.array_equal(flagged == "1", expected.labels_ == -1)
    assert set(flagged) == {"0", "1"}
    assert roc_auc_score(y == 0, expected.scores_) > 0.95
    assert "257 in columns x, y of" in told
    assert "structures  3" in told
    assert f"wrote {out}" in told


def test_the_summary_lists_the_most_anomalous_rows_with_their_values(lines, scene, capsys):
    _, told, _ = run(capsys, "detect", lines, "--family", "line")
    X, _ = scene
    worst = int(PreferenceIsolationForest("line", random_state=0).fit(X).scores_.argmax())
    first = told.split("most anomalous rows\n")[1].splitlines()[1].split()
    assert first[0] == str(worst + 1)
    assert first[2:5] == [f"s{worst:03d}", f"{X[worst, 0]:.4f}", f"{X[worst, 1]:.4f}"]
    assert len(told.split("most anomalous rows\n")[1].splitlines()) == 11


def test_json_is_one_object_and_nothing_else(lines, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    code, told, err = run(capsys, "detect", lines, "--family", "line", "--json", "--out", out)
    answer = json.loads(told)
    assert (code, err) == (0, "")
    assert answer["points"] == 257
    assert answer["columns"] == ["x", "y"]
    assert answer["sigma_source"] == "estimated"
    assert answer["anomalies"] == sum(row["anomaly"] == "1" for row in rows_of(out))
    assert len(answer["structures"]) == 3
    assert answer["written"] == {"out": str(out)}
    first = answer["most_anomalous"][0]
    assert rows_of(lines)[first["row"] - 1] == first["values"]


def test_threads_change_nothing_and_seeds_do(lines, capsys):
    answers = []
    for extra in (["--jobs", "1"], ["--jobs", "2"], ["--seed", "1"]):
        answer = json.loads(run(capsys, "detect", lines, "--family", "line", "--json", *extra)[1])
        answer.pop("seconds")
        answers.append(answer)
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


def test_another_device_finds_the_same(lines, tmp_path, capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    answers = []
    for device in ("cpu", "torch"):
        model, out = tmp_path / f"{device}.pif", tmp_path / f"{device}.csv"
        options = ["--device", device, "--json", "--model", model, "--out", out]
        answer = json.loads(run(capsys, "detect", lines, "--family", "line", *options)[1])
        answers.append((answer["anomalies"], answer["sigma"], len(answer["structures"])))
        scored = tmp_path / f"again_{device}.csv"
        assert run(capsys, "score", lines, "--model", model, "--out", scored, "--quiet")[0] == 0
        assert [row["anomaly"] for row in rows_of(scored)] == [r["anomaly"] for r in rows_of(out)]
    assert answers[0] == answers[1]


def test_an_unknown_device_is_told(lines, capsys):
    code, _, err = run(capsys, "detect", lines, "--family", "line", "--device", "gpu")
    assert code == 1
    assert "device must be 'cpu', 'cuda', 'cuda:N', 'auto' or 'torch', got 'gpu'." in err


def test_quiet_prints_nothing(lines, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    assert run(capsys, "detect", lines, "--family", "line", "--quiet", "--out", out) == (0, "", "")
    assert out.exists()


def test_standard_input_is_read_as_text(lines, tmp_path, capsys, monkeypatch):
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(lines.read_bytes())))
    monkeypatch.setattr(sys, "stdin", piped)
    out = tmp_path / "scores"
    code, _, err = run(capsys, "detect", "-", "--family", "line", "--out", out)
    assert (code, err) == (0, "")
    assert len(rows_of(tmp_path / "scores.csv")) == 257


@pytest.mark.parametrize("ending", ["tsv", "parquet", "npy", "ply", "xyz"])
def test_the_name_tells_the_format_of_the_output(ending, scene, tmp_path, capsys):
    from piforest.files import read_table

    np.save(tmp_path / "points.npy", scene[0])
    out = tmp_path / f"scores.{ending}"
    assert run(capsys, "detect", tmp_path / "points.npy", "--family", "line", "--out", out)[0] == 0
    table = read_table(out)
    last = np.asarray(table.numbers())[:, -2:]
    assert len(table) == 257
    expected = PreferenceIsolationForest("line", random_state=0).fit(scene[0])
    assert last[:, 0] == pytest.approx(expected.scores_)
    assert np.array_equal(last[:, 1] == 1, expected.labels_ == -1)


def test_without_an_ending_the_output_has_that_of_the_file(scene, tmp_path, capsys):
    np.savetxt(tmp_path / "points.tsv", scene[0], delimiter="\t")
    code, told, _ = run(
        capsys, "detect", tmp_path / "points.tsv", "--family", "line", "--out", tmp_path / "scores"
    )
    assert code == 0
    assert "\t" in (tmp_path / "scores.tsv").read_text()
    assert "scores.tsv" in told


def test_a_file_that_has_a_score_keeps_it(lines, tmp_path, capsys):
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    run(capsys, "detect", lines, "--family", "line", "--out", once)
    code, told, _ = run(capsys, "detect", once, "--family", "line", "--out", twice, "--json")
    assert code == 0
    answer = json.loads(told)
    assert answer["columns"] == ["x", "y"]  # the first answer is no coordinate
    assert answer["score_columns"] == ["piforest_score", "piforest_anomaly"]
    for row in rows_of(twice):
        assert row["score"] == row["piforest_score"]


def test_rows_without_a_number_are_an_error_or_stay_unscored(lines, tmp_path, capsys):
    text = lines.read_text().splitlines()
    text[17] = "s016,,0.5,gone"
    text[30] = "s029,0.5,nan,gone"
    lines.write_text("\n".join(text) + "\n")
    code, told, err = run(capsys, "detect", lines, "--family", "line")
    assert (code, told) == (1, "")
    assert "row 17 of column 'x' has no number, and 1 more" in err
    assert "--drop-missing" in err
    out = tmp_path / "scores.csv"
    code, told, _ = run(capsys, "detect", lines, "--family", "line", "--drop-missing", "--out", out)
    assert code == 0
    assert "255 in columns x, y" in told
    assert "2 rows lack a number" in told
    after = rows_of(out)
    assert [k + 1 for k, row in enumerate(after) if row["score"] == ""] == [17, 30]
    assert (after[16]["anomaly"], after[16]["id"], after[28]["anomaly"]) != ("", "s016", "")


def test_all_outputs_are_written(lines, tmp_path, capsys):
    files = {"out": "s.csv", "report": "r.html", "plot": "p.png", "model": "m.pif"}
    out = [f"--{name}={tmp_path / file}" for name, file in files.items()]
    code, told, err = run(capsys, "detect", lines, "--family", "line", *out)
    assert (code, err) == (0, "")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "r.html").read_text()
    assert "piforest detect" in page
    assert "lines.csv" in page
    loaded = PreferenceIsolationForest.load(tmp_path / "m.pif")
    assert list(loaded.feature_names_in_) == ["x", "y"]
    assert {path.name for path in tmp_path.iterdir()} == {"lines.csv", *files.values()}
    for name in files.values():
        assert name in told.splitlines()[-1]


SCENES = {
    "polynomial_regression": make_regressions(n_features=2, random_state=0).data,
    "vanishing_point": make_segments(2, sizes=30, random_state=0).data,
    "cone": make_cones(2, sizes=60, random_state=0).data,
    "hyperplane": np.random.default_rng(0).normal(size=(60, 5)),
}


@pytest.mark.filterwarnings("ignore:no structure")
@pytest.mark.parametrize("family", SCENES)
def test_rows_of_every_kind_can_be_drawn(family, tmp_path, capsys):
    np.save(tmp_path / "points.npy", SCENES[family])
    plot = tmp_path / "p.png"
    code, _, err = run(
        capsys, "detect", tmp_path / "points.npy", "--family", family, "--plot", plot, "--quiet"
    )
    assert (code, err) == (0, "")
    assert plot.stat().st_size > 10_000


CASES = {
    "no file": (None, [], "nothing.csv: there is no such file"),
    "an empty file": ("", [], "is empty"),
    "a header alone": ("x,y\n", [], "no rows"),
    "text among numbers": ("x,y\n1,2\n3,abc\n4,5\n", [], r"row 2 of column 'y' is 'abc', not a"),
    "one row": ("x,y\n1,2\n", [], "1 row with all of its numbers, at least 2 are needed"),
    "the same point": ("x,y\n" + "1,1\n" * 6, [], "all 6 points are identical"),
    "no such column": ("x,y\n1,2\n3,4\n", ["--columns", "x,z"], "no column 'z'"),
    "too few points": ("x,y\n1,2\n3,4\n", ["--family", "circle"], "at least 3 points, got 2"),
    "too many columns": (
        "a,b,c\n1,2,3\n4,5,6\n7,8,9\n", ["--family", "circle"], "needs 2 columns, and .* has 3",
    ),
    "no such family": ("x,y\n1,2\n3,4\n", ["--family", "lin"], "Did you mean 'line'"),
    "no such option": ("x,y\n1,2\n3,4\n", ["--option", "degree=2"], "no option 'degree'"),
    "options of none of them": (
        "x,y\n1,2\n3,4\n", ["--family", "line,circle", "--option", "degree=2"],
        "none of the families line, circle has an option 'degree'",
    ),
    "an unknown format": ("x,y\n1,2\n3,4\n", ["--out", "a.xlsx"], "a.xlsx: a name must end in"),
    "a format that is only read": ("x,y\n1,2\n3,4\n", ["--out", "a.mat"], "a.mat: .mat files are"),
    "no folder": ("x,y\n1,2\n3,4\n", ["--out", "a/b.csv"], "there is no folder a"),
    "one name for two": (
        "x,y\n1,2\n3,4\n", ["--out", "a.csv", "--model", "./a.csv"], "named for two outputs",
    ),
    "text in an array": (
        "i,x,y\na,1,2\nb,3,4\nc,5,7\n", ["--out", "a.npy"], "row 1 of column 'i' is 'a'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_line(name, tmp_path, capsys, monkeypatch):
    text, extra, message = CASES[name]
    monkeypatch.chdir(tmp_path)
    file = "nothing.csv" if text is None else "points.csv"
    if text is not None:
        (tmp_path / file).write_text(text)
    family = [] if "--family" in extra else ["--family", "line"]
    code, told, err = run(capsys, "detect", file, *family, *extra)
    assert code == 1
    assert told == "" or name == "the same point"  # which the first models tell
    assert err.startswith("piforest: ")
    assert err.count("\n") == 1
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(err)
    assert [path.name for path in tmp_path.iterdir()] in ([], [file])


@pytest.mark.parametrize(
    "arguments",
    [[], ["--family", "line", "--sigma", "0"], ["--family", "line", "--contamination", "2"],
     ["--family", "line", "--plot", "a.gif"], ["--family", "line", "--report", "a.txt"],
     ["--family", "line", "--option", "degree"]],
)  # fmt: skip
def test_a_command_that_is_not_understood_exits_with_two(arguments, lines):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["detect", str(lines), *arguments])
    assert stopped.value.code == 2


def nothing_is_fitted(monkeypatch):
    def fit(self, X):
        raise AssertionError("the work began")

    monkeypatch.setattr(PreferenceIsolationForest, "fit", fit)


@pytest.mark.parametrize("option", ["--out", "--report", "--plot", "--model"])
def test_no_file_is_overwritten_unasked_and_that_is_said_before_the_work(
    option, lines, tmp_path, capsys, monkeypatch
):
    name = {"--out": "a.csv", "--report": "a.html", "--plot": "a.png", "--model": "a.pif"}[option]
    (tmp_path / name).write_text("mine")
    with monkeypatch.context() as patched:
        nothing_is_fitted(patched)
        code, _, err = run(capsys, "detect", lines, "--family", "line", option, tmp_path / name)
    assert code == 1
    assert "is there already; --force overwrites it" in err
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
def test_a_missing_extra_is_said_before_the_work(
    module, extra, arguments, scene, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", scene[0])
    nothing_is_fitted(monkeypatch)
    for name in [each for each in sys.modules if each.split(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    code, _, err = run(capsys, "detect", "points.npy", "--family", "line", *arguments)
    assert code == 1
    assert f"pip install 'piforest[{extra}]'" in err
    assert err.count("\n") == 1


def test_a_full_disk_leaves_no_half_file(lines, tmp_path, capsys, monkeypatch):
    from piforest.files import text

    whole = text.writer.write

    def full(self, table):
        whole(self, table)
        if len(table) > 1:  # not the rehearsal
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(text.writer, "write", full)
    code, _, err = run(
        capsys, "detect", lines, "--family", "line", "--out", tmp_path / "scores.csv"
    )
    assert code == 1
    assert "No space left on device" in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["lines.csv"]


def test_an_interruption_while_writing_leaves_no_half_file(lines, tmp_path, capsys, monkeypatch):
    from piforest.files import text

    whole = text.writer.write
    calls = []

    def interrupted(self, table):
        whole(self, table)
        calls.append(len(table))
        if len(table) > 1:  # not the rehearsal
            raise KeyboardInterrupt

    monkeypatch.setattr(text.writer, "write", interrupted)
    code, _, err = run(
        capsys, "detect", lines, "--family", "line", "--out", tmp_path / "scores.csv"
    )
    assert (code, err) == (130, "piforest: interrupted\n")
    assert calls == [1, 257]
    assert [path.name for path in tmp_path.iterdir()] == ["lines.csv"]


def test_ctrl_c_ends_a_run_with_130_and_no_file(tmp_path):
    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(200_000, 3)))
    command = [sys.executable, "-m", "piforest", "detect", "many.npy", "--family", "plane",
               "--out", "scores.csv", "--plot", "p.png", "--model", "m.pif"]  # fmt: skip
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "200,000 in columns" in running.stdout.readline()  # the work begins
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (130, "piforest: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["many.npy"]


def test_a_reader_that_has_seen_enough_does_not_cost_the_files(lines, tmp_path):
    out = tmp_path / "scores.csv"
    command = f"{sys.executable} -m piforest detect {lines} --family line --out {out} | head -n 1"
    told = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert told.stdout.count("\n") == 1
    assert told.stderr == ""
    assert len(rows_of(out)) == 257


def test_progress_is_shown_on_a_terminal_alone(lines):
    command = [sys.executable, "-m", "piforest", "detect", str(lines), "--family", "line"]
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert plain.stderr == ""
    for extra, shown in (([], True), (["--json"], False)):
        ours, theirs = pty.openpty()
        subprocess.run(
            [*command, *extra], stdout=subprocess.PIPE, stderr=theirs, text=True, check=True
        )
        os.close(theirs)
        told = b""
        try:
            while part := os.read(ours, 4096):
                told += part
        except OSError:
            pass  # the other end is closed: so Linux says that all was read
        os.close(ours)
        assert (b"piforest: 100 trees" in told) == shown


def test_warnings_are_one_line_without_pythons_place(tmp_path, capsys):
    X = np.random.default_rng(0).uniform(size=(40, 2))
    np.save(tmp_path / "noise.npy", X)
    code, _, err = run(capsys, "detect", tmp_path / "noise.npy", "--family", "line")
    assert code == 0
    assert err.startswith("piforest: warning: no structure of family 'line' stands out")
    assert err.count("\n") == 1
    assert ".py" not in err
    assert run(capsys, "detect", tmp_path / "noise.npy", "--family", "line", "--quiet")[2] == ""


def test_options_reach_the_family_and_the_detector(lines, tmp_path, capsys):
    code, told, _ = run(
        capsys, "detect", lines, "--family", "line,polynomial", "--option", "degree=1",
        "--sigma", "0.02", "--contamination", "0.25", "--models", "900", "--trees", "20",
        "--model", tmp_path / "m.pif", "--json",
    )  # fmt: skip
    answer = json.loads(told)
    assert code == 0
    assert (answer["sigma"], answer["sigma_source"], answer["models"]) == (0.02, "given", 900)
    assert answer["family"] == ["line", "polynomial"]
    assert 0.2 < answer["anomalies"] / answer["points"] <= 0.25
    detector = PreferenceIsolationForest.load(tmp_path / "m.pif")
    assert detector.models_[1].family.degree == 1
    assert detector.n_estimators == 20
