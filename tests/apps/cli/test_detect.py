"""`piforest detect`: results, summary and outputs."""

from __future__ import annotations

import io
import json
import os
import pty
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from cli_runs import line_scene, put_lines, rows_of, run
from piforest import PreferenceIsolationForest
from piforest.datasets import make_cones, make_regressions, make_segments


@pytest.fixture(scope="module")
def scene():
    return line_scene()


@pytest.fixture
def lines(scene, tmp_path):
    return put_lines(tmp_path / "lines.csv", *scene)


def test_scores_are_written_beside_the_columns_of_the_file(lines, scene, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    code, printed, err = run(capsys, "detect", lines, "--family", "line", "--out", out)
    assert (code, err) == (0, "")
    before, after = rows_of(lines), rows_of(out)
    added = ["score", "anomaly", "structure", "distance"]
    assert list(after[0]) == ["id", "x", "y", "note", *added]
    assert [{k: row[k] for k in row if k not in added} for row in after] == before
    X, y = scene
    expected = PreferenceIsolationForest("line", random_state=0).fit(X)
    assert np.array_equal([float(row["score"]) for row in after], expected.scores_)
    flagged = np.array([row["anomaly"] for row in after])
    assert np.array_equal(flagged == "1", expected.labels_ == -1)
    labels, sigmas = expected.assign(X, return_distance=True)
    assert np.array_equal([int(row["structure"]) for row in after], labels)
    assert np.array_equal([float(row["distance"]) for row in after], sigmas)
    assert set(flagged) == {"0", "1"}
    assert roc_auc_score(y == 0, expected.scores_) > 0.95
    assert "257 in columns x, y of" in printed
    assert "structures  3" in printed
    assert f"wrote {out}" in printed


@pytest.mark.slow
def test_the_summary_lists_the_most_anomalous_rows_with_their_values(lines, scene, capsys):
    _, printed, _ = run(capsys, "detect", lines, "--family", "line")
    X, _ = scene
    worst = int(PreferenceIsolationForest("line", random_state=0).fit(X).scores_.argmax())
    first = printed.split("most anomalous rows\n")[1].splitlines()[1].split()
    assert first[0] == str(worst + 1)
    assert first[2:5] == [f"s{worst:03d}", f"{X[worst, 0]:.4f}", f"{X[worst, 1]:.4f}"]
    assert len(printed.split("most anomalous rows\n")[1].splitlines()) == 11


def test_numbers_written_with_all_digits_keep_their_exponent(scene, tmp_path, capsys):
    X, path = scene[0], tmp_path / "long.csv"
    np.savetxt(path, X, delimiter=",", header="x,y", comments="")  # 8.54...e-01
    _, printed, _ = run(capsys, "detect", path, "--family", "line")
    shown = printed.split("most anomalous rows\n")[1].splitlines()[1:]
    assert len(shown) == 10
    for line in shown:
        number, _, *values = line.split()
        assert np.allclose([float(each) for each in values], X[int(number) - 1], rtol=1e-4)


def test_json_is_one_object_and_nothing_else(lines, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    code, printed, err = run(capsys, "detect", lines, "--family", "line", "--json", "--out", out)
    answer = json.loads(printed)
    assert (code, err) == (0, "")
    assert answer["points"] == 257
    assert answer["columns"] == ["x", "y"]
    assert answer["sigma_source"] == "estimated"
    assert answer["anomalies"] == sum(row["anomaly"] == "1" for row in rows_of(out))
    assert len(answer["structures"]) == 3
    assert answer["written"] == {"out": str(out)}
    first = answer["most_anomalous"][0]
    row = rows_of(lines)[first["row"] - 1]
    assert first["values"] == {**row, "x": float(row["x"]), "y": float(row["y"])}


@pytest.mark.slow
def test_threads_change_nothing_and_seeds_do(lines, capsys):
    answers = []
    for extra in (["--jobs", "1"], ["--jobs", "2"], ["--seed", "1"]):
        answer = json.loads(run(capsys, "detect", lines, "--family", "line", "--json", *extra)[1])
        answer.pop("seconds")
        answers.append(answer)
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["tsv", "parquet", "npy", "ply", "xyz"])
def test_the_name_tells_the_format_of_the_output(ending, scene, tmp_path, capsys):
    from piforest.io.tables import read_table

    np.save(tmp_path / "points.npy", scene[0])
    out = tmp_path / f"scores.{ending}"
    assert run(capsys, "detect", tmp_path / "points.npy", "--family", "line", "--out", out)[0] == 0
    table = read_table(out)
    last = np.asarray(table.numbers())[:, -4:]
    assert len(table) == 257
    expected = PreferenceIsolationForest("line", random_state=0).fit(scene[0])
    assert last[:, 0] == pytest.approx(expected.scores_)
    assert np.array_equal(last[:, 1] == 1, expected.labels_ == -1)
    assert np.array_equal(last[:, 2], expected.structure_labels_)


def test_without_a_suffix_the_output_has_that_of_the_file(scene, tmp_path, capsys):
    np.savetxt(tmp_path / "points.tsv", scene[0], delimiter="\t")
    code, printed, _ = run(
        capsys, "detect", tmp_path / "points.tsv", "--family", "line", "--out", tmp_path / "scores"
    )
    assert code == 0
    assert "\t" in (tmp_path / "scores.tsv").read_text()
    assert "scores.tsv" in printed


@pytest.mark.slow
def test_a_file_that_has_scores_keeps_them(lines, tmp_path, capsys):
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    run(capsys, "detect", lines, "--family", "line", "--out", once)
    code, printed, _ = run(capsys, "detect", once, "--family", "line", "--out", twice, "--json")
    assert code == 0
    answer = json.loads(printed)
    assert answer["columns"] == ["x", "y"]  # the first scores are not coordinates
    names = ("score", "anomaly", "structure", "distance")
    assert answer["score_columns"] == [f"piforest_{name}" for name in names]
    for row in rows_of(twice):
        assert row["score"] == row["piforest_score"]


@pytest.mark.slow
def test_rows_without_a_number_are_an_error_or_stay_unscored(lines, tmp_path, capsys):
    text = lines.read_text().splitlines()
    text[17] = "s016,,0.5,gone"
    text[30] = "s029,0.5,nan,gone"
    lines.write_text("\n".join(text) + "\n")
    code, printed, err = run(capsys, "detect", lines, "--family", "line")
    assert (code, printed) == (1, "")
    assert "row 17 of column 'x' has no number, and 1 more" in err
    assert "--missing skip" in err
    out = tmp_path / "scores.csv"
    options = ["--family", "line", "--missing", "skip", "--out", out]
    code, printed, _ = run(capsys, "detect", lines, *options)
    assert code == 0
    assert "255 in columns x, y" in printed
    assert "2 rows lack a number" in printed
    after = rows_of(out)
    assert [k + 1 for k, row in enumerate(after) if row["score"] == ""] == [17, 30]
    assert (after[16]["anomaly"], after[16]["id"], after[28]["anomaly"]) != ("", "s016", "")


@pytest.mark.slow
def test_all_outputs_are_written(lines, tmp_path, capsys):
    files = {"out": "s.csv", "report": "r.html", "plot": "p.png", "model": "m.pif"}
    out = [f"--{name}={tmp_path / file}" for name, file in files.items()]
    code, printed, err = run(capsys, "detect", lines, "--family", "line", *out)
    assert (code, err) == (0, "")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "r.html").read_text()
    assert "piforest detect" in page
    assert "lines.csv" in page
    loaded = PreferenceIsolationForest.load(tmp_path / "m.pif")
    assert list(loaded.feature_names_in_) == ["x", "y"]
    assert {path.name for path in tmp_path.iterdir()} == {"lines.csv", *files.values()}
    for name in files.values():
        assert name in printed.splitlines()[-1]


SCENES = {
    "polynomial_regression": make_regressions(n_features=2, random_state=0).data,
    "vanishing_point": make_segments(2, sizes=30, random_state=0).data,
    "cone": make_cones(2, sizes=60, random_state=0).data,
    "hyperplane": np.random.default_rng(0).normal(size=(60, 5)),
}


@pytest.mark.slow
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


def test_progress_is_shown_on_a_terminal_alone(lines, capsys, monkeypatch):
    command = ["detect", lines, "--family", "line"]
    assert run(capsys, *command)[2] == ""
    for extra, shown in (([], True), (["--json"], False)):
        ours, theirs = pty.openpty()
        with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", terminal)
            assert run(capsys, *command, *extra)[0] == 0
        printed = b""
        try:
            while part := os.read(ours, 4096):
                printed += part
        except OSError:
            pass  # on Linux, the end of a pseudo-terminal whose other end is closed
        os.close(ours)
        assert (b"piforest: 100 trees" in printed) == shown


@pytest.mark.slow
def test_warnings_are_one_line_without_the_place_in_the_code(tmp_path, capsys):
    X = np.random.default_rng(0).uniform(size=(40, 2))
    np.save(tmp_path / "noise.npy", X)
    code, _, err = run(capsys, "detect", tmp_path / "noise.npy", "--family", "line")
    assert code == 0
    assert err.startswith("piforest: warning: no structure of family 'line' is significant")
    assert err.count("\n") == 1
    assert ".py" not in err
    assert run(capsys, "detect", tmp_path / "noise.npy", "--family", "line", "--quiet")[2] == ""


def test_options_reach_the_family_and_the_detector(lines, tmp_path, capsys):
    code, printed, _ = run(
        capsys, "detect", lines, "--family", "line,polynomial", "--option", "degree=1",
        "--sigma", "0.02", "--contamination", "0.25", "--models", "900", "--trees", "20",
        "--model", tmp_path / "m.pif", "--json",
    )  # fmt: skip
    answer = json.loads(printed)
    assert code == 0
    assert (answer["sigma"], answer["sigma_source"], answer["drawn"]) == (0.02, "given", 900)
    assert 0 < answer["models"] < 900
    assert answer["family"] == ["line", "polynomial"]
    assert 0.2 < answer["anomalies"] / answer["points"] <= 0.25
    detector = PreferenceIsolationForest.load(tmp_path / "m.pif")
    assert detector.models_[1].family.degree == 1
    assert detector.n_estimators == 20


def test_formulas_of_cells_are_written_as_they_stood(scene, tmp_path, capsys):
    X, _ = scene
    cells = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "'=1"]
    rows = [f"{x},{y},{cells[k % len(cells)]}" for k, (x, y) in enumerate(X)]
    (tmp_path / "a.csv").write_text("\n".join(["x,y,note", *rows]) + "\n")
    code, _, err = run(
        capsys, "detect", tmp_path / "a.csv", "--family", "line", "--columns", "x,y", "--out",
        tmp_path / "out.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert [row["note"] for row in rows_of(tmp_path / "out.csv")][:5] == cells


@pytest.mark.slow
def test_a_file_without_structure_gives_a_plain_answer_and_success(tmp_path, capsys):
    file, model = tmp_path / "noise.csv", tmp_path / "m.pif"
    X = np.random.default_rng(0).uniform(size=(80, 2))
    np.savetxt(file, X, delimiter=",", header="x,y", comments="")
    call = ("detect", file, "--family", "line", "--model", model)
    code, printed, err = run(capsys, *call)
    assert code == 0
    assert "anomalies   none of 80: no structure was found, so that no row is flagged" in printed
    assert "to know\n  no_structure: No line stands out from chance in 80 points" in printed
    assert err.count("piforest: warning: no structure of family 'line'") == 1
    code, printed, _ = run(capsys, *call, "--json", "--force")
    result = json.loads(printed)
    assert (code, result["found_structure"], result["anomalies"]) == (0, False, 0)
    assert result["threshold_source"] == "no structure"
    assert [each["code"] for each in result["diagnosis"]] == ["no_structure"]
    code, printed, _ = run(capsys, "score", file, "--model", model)
    assert code == 0
    assert "none of 80: no structure was found" in printed
    code, printed, _ = run(capsys, "explain", file, "--model", model, "--json")
    result = json.loads(printed)
    assert (code, result["found_structure"], result["anomaly"]) == (0, False, False)
    code, printed, _ = run(capsys, "detect", file, "--family", "line", "--contamination", "0.1")
    assert "anomalies   8 of 80 (10 %) score above" in printed


def test_a_threshold_from_the_report_can_be_repeated(lines, capsys):
    code, printed, _ = run(
        capsys, "detect", lines, "--family", "line", "--threshold", "0.7", "--json"
    )
    assert code == 0
    summary = json.loads(printed)
    assert summary["threshold"] == 0.7
    assert summary["threshold_source"] == "given"
    both = ["--threshold", "0.7", "--contamination", "0.1"]
    code, _, problem = run(capsys, "detect", lines, "--family", "line", *both)
    assert code == 2
    assert "both choose the threshold" in problem


@pytest.mark.slow
def test_anomalies_belong_to_no_structure_at_any_threshold(lines, tmp_path, capsys, monkeypatch):
    from piforest import plots

    drawn = []
    monkeypatch.setattr(plots, "plot_structures", lambda X, found, *_, **__: drawn.append(found))
    for rule in (["--threshold", "0.6"], ["--contamination", "0.5"], []):
        files = ["--out", tmp_path / "rows.csv", "--plot", tmp_path / "p.png", "--force"]
        words = ["--family", "line", *rule, *files, "--json"]
        code, printed, _ = run(capsys, "detect", lines, *words)
        assert code == 0
        rows = rows_of(tmp_path / "rows.csv")
        kept = [int(row["structure"]) for row in rows if row["anomaly"] == "0"]
        assert all(row["structure"] == "-1" for row in rows if row["anomaly"] == "1")
        members = [each["members"] for each in json.loads(printed)["structures"]]
        assert members == [kept.count(k) for k in range(len(members))]
        assert [each.support for each in drawn[-1]] == members


@pytest.mark.slow
def test_structures_of_rows_are_in_json_with_equations_and_pieces(lines, capsys):
    code, printed, _ = run(
        capsys, "detect", lines, "--family", "line", "--connected", "--json", "--rows",
        "--false-alarm-rate", "0.2",
    )  # fmt: skip
    assert code == 0
    answer = json.loads(printed)
    assert answer["threshold_source"] == "false alarm rate"
    for each in answer["structures"]:
        assert each["equation"].count(" = ") == 1
        assert {"normal", "offset"} <= set(each["parameters"])
        assert {"ends", "bounds"} <= set(each["extent"])
        assert sum(piece["members"] for piece in each["pieces"]) == each["members"]
    parents = {piece["piece"]: k for k, each in enumerate(answer["structures"])
               for piece in each["pieces"]}  # fmt: skip
    for row in answer["scored_rows"]:
        assert row["structure"] == parents.get(row["piece"], -1)
        assert row["distance"] >= 0
        assert row["structure"] == -1 or not row["anomaly"]
    both = ["--false-alarm-rate", "0.1", "--contamination", "0.1"]
    code, _, problem = run(capsys, "detect", lines, "--family", "line", *both)
    assert code == 2
    assert "--contamination and --false-alarm-rate both choose the threshold" in problem
