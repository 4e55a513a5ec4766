"""`piforest series`."""

import json

import numpy as np
import pytest

from cli_runs import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    load = 3 * np.sin(np.arange(400) / 40)
    values = np.column_stack([load, 2 * load]) + 0.05 * rng.normal(size=(400, 2))
    values[200:220, 1] += 4
    path = tmp_path / "pump.csv"
    lines = [
        f"2024-01-31T{k // 60:02}:{k % 60:02}:00,{a!r},{b!r},4"
        for k, (a, b) in enumerate(values.tolist())
    ]
    path.write_text("\n".join(["when,flow,speed,level", *lines]) + "\n")
    return path


@pytest.mark.slow
def test_the_runs_are_printed_and_written(capsys, table, tmp_path):
    pytest.importorskip("matplotlib")
    outputs = [tmp_path / name for name in ("runs.png", "runs.csv", "scored.csv")]
    code, out, _ = run(
        capsys, "series", table, "--time", "when", "--min-rows", 5, "--out", outputs[0],
        "--table", outputs[1], "--scores", outputs[2],
    )  # fmt: skip
    assert code == 0
    assert "left out    level (constant)" in out
    assert "2024-01-31T03:20:00 to 2024-01-31T03:39:00, 20 rows" in out
    assert outputs[0].read_bytes().startswith(b"\x89PNG")
    header, first = outputs[1].read_text().splitlines()
    assert header == "start,end,rows,peak,score,channel,shift,reason"
    assert first.startswith("2024-01-31T03:20:00,2024-01-31T03:39:00,20,")
    assert outputs[2].read_text().splitlines()[0] == "when,flow,speed,level,score,anomaly"


def test_json_holds_the_same_runs_as_the_table(capsys, table, tmp_path):
    path = tmp_path / "runs.json"
    code, out, _ = run(
        capsys, "series", table, "--time", "when", "--columns", "flow,speed", "--json",
        "--table", path, "--reference", 150, "--smooth", 3,
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["runs"] == json.loads(path.read_text())
    assert found["threshold_source"] == "reference"
    assert found["channels"] == ["flow", "speed"]


@pytest.mark.slow
def test_an_option_of_the_family_is_taken(capsys, table):
    code, out, _ = run(
        capsys, "series", table, "--time", "when", "--columns", "flow,speed", "--family",
        "linear_regression", "--option", "target=1", "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["family"] == "linear_regression"


def test_bad_input_is_one_line(capsys, table, tmp_path):
    assert run(capsys, "series", table, "--time", "none")[0] == 1
    code, _, err = run(capsys, "series", table, "--time", "when", "--columns", "when,flow")
    assert code == 2
    assert "is the time, not a channel" in err
    code, _, err = run(capsys, "series", table, "--time", "when", "--table", tmp_path / "t.xlsx")
    assert code == 2
    assert "--table must end in .csv or .json" in err
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    code, _, err = run(capsys, "series", table, "--time", "when")
    assert code == 1
    assert "times must not run backwards: times[1" in err


@pytest.mark.slow
def test_rows_that_lack_a_number_are_an_error_or_skipped(capsys, table):
    lines = table.read_text().splitlines()
    lines[51] = lines[51].split(",")[0] + ",,1,4"
    table.write_text("\n".join(lines))
    assert run(capsys, "series", table, "--time", "when")[0] == 1
    code, out, _ = run(capsys, "series", table, "--time", "when", "--missing", "skip", "--json")
    assert code == 0
    assert json.loads(out)["skipped_rows"] == 1
