"""`piforest watch`."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from cli_runs import run
from piforest import PreferenceIsolationForest, StreamingPreferenceIsolationForest

OPTIONS = ["--window", "100"]


def lines(n, header=True, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    y = np.where(rng.random(n) < 0.1, rng.uniform(0, 1, n), x + rng.normal(0, 0.01, n))
    rows = [f"s{k},{a:.5f},{b:.5f}" for k, (a, b) in enumerate(zip(x, y))]
    return ["id,x,y", *rows] if header else rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A file, and the scores and labels of its rows."""
    path = tmp_path_factory.mktemp("watch") / "rows.csv"
    path.write_text("\n".join(lines(80)) + "\n")
    X = np.array([[float(cell) for cell in row.split(",")[1:]] for row in lines(80)[1:]])
    detector = StreamingPreferenceIsolationForest("line", window=100, random_state=0)
    return path, *detector.score_learn(X, return_labels=True)


def expected(whole, rows):
    _, scores, labels = whole
    return [
        row + (",," if label == 0 else f",{float(score)!r},{int(label == -1)}")
        for row, score, label in zip(rows, scores, labels)
    ]


@pytest.mark.slow
def test_the_lines_come_back_with_score_and_verdict(whole, capsys):
    code, out, err = run(capsys, "watch", whole[0], *OPTIONS)
    assert code == 0
    assert out.splitlines() == ["id,x,y,score,anomaly", *expected(whole, lines(80)[1:])]
    assert "80 rows" in err


@pytest.mark.slow
def test_json_lines_have_the_scores_of_csv(whole, capsys, monkeypatch):
    cells = [row.split(",") for row in lines(80)[1:]]
    text = "\n".join(json.dumps({"x": float(x), "y": float(y)}) for _, x, y in cells)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, _ = run(capsys, "watch", "-", *OPTIONS, "--quiet")
    assert code == 0
    found = [json.loads(line)["score"] for line in out.splitlines()]
    np.testing.assert_array_equal(np.array(found, float), whole[1])


def test_a_broken_line_is_told_and_not_learned(whole, tmp_path, capsys):
    rows = lines(80)
    rows[40:40] = ["broken", "a,1,nan", ""]
    (tmp_path / "rows.csv").write_text("\r\n".join(rows))
    code, out, err = run(capsys, "watch", tmp_path / "rows.csv", *OPTIONS)
    assert code == 0
    assert "line 41: 1 cells instead of 3; no score" in err
    assert "line 42: y is 'nan', not a number; no score" in err
    assert "2 broken lines" in err
    kept = out.splitlines()
    assert kept[40:42] == ["broken,,", "a,1,nan,,"]
    del kept[40:42]
    assert kept[1:] == expected(whole, lines(80)[1:])


@pytest.mark.slow
def test_interrupted_and_resumed_is_as_uninterrupted(whole, tmp_path, capsys):
    rows, state = lines(80), tmp_path / "state.pif"
    parts = rows[:34], [rows[0], *rows[34:60]], [rows[0], *rows[60:]]
    found = []
    for k, part in enumerate(parts):
        (tmp_path / "part.csv").write_text("\n".join(part))
        command = ["watch", tmp_path / "part.csv", "--state", state, *(OPTIONS if k == 0 else [])]
        code, out, err = run(capsys, *command)
        assert code == 0
        found += out.splitlines()[1:]
    assert found == expected(whole, rows[1:])
    assert f"{state} holds the state of 80" in err


@pytest.mark.slow
def test_a_signal_saves_the_state_and_lines_come_as_they_are_sent(whole, tmp_path):
    rows, state = lines(80), tmp_path / "state.pif"

    def start():
        command = [sys.executable, "-u", "-m", "piforest", "watch", "-", "--state", state]
        return subprocess.Popen(
            [*map(str, command), *OPTIONS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ},
        )  # fmt: skip

    found = []
    for number, part in ((signal.SIGTERM, rows[1:50]), (signal.SIGINT, rows[50:])):
        process = start()
        process.stdin.write("\n".join([rows[0], *part]) + "\n")
        process.stdin.flush()
        # The lines come before the input ends.
        assert process.stdout.readline() == "id,x,y,score,anomaly\n"
        found += [process.stdout.readline().rstrip("\n") for _ in part]
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 128 + number
        assert f"stopped by signal {int(number)}" in err
    assert found == expected(whole, rows[1:])


@pytest.mark.slow
def test_a_state_of_another_model_or_of_other_columns_is_refused(whole, tmp_path, capsys):
    state = tmp_path / "state.pif"
    assert run(capsys, "watch", whole[0], *OPTIONS, "--state", state)[0] == 0
    before = state.read_bytes()
    code, _, err = run(capsys, "watch", whole[0], "--family", "circle", "--state", state)
    assert code == 1
    assert "is the state of another model: its family is Line(" in err
    code, _, err = run(capsys, "watch", whole[0], "--window", "200", "--state", state)
    assert code == 1
    assert "its window is 100, not 200. Leave --window out" in err
    code, _, err = run(capsys, "watch", whole[0], "--columns", "y,x", "--state", state)
    assert code == 1
    assert "was saved for the columns x, y, and the stream has y, x" in err
    assert state.read_bytes() == before
    model = tmp_path / "model.pif"
    X = np.random.default_rng(0).random((50, 2))
    PreferenceIsolationForest(sigma=0.1, n_models=50, n_estimators=2).fit(X).save(model)
    code, _, err = run(capsys, "watch", whole[0], "--state", model)
    assert code == 1
    assert "holds a PreferenceIsolationForest, not the state of a Streaming" in err


def test_wrong_options_are_told_before_a_row_is_read(whole, capsys):
    code, _, err = run(capsys, "watch", whole[0], "--window", "5")
    assert code == 1
    assert "window must be an integer of at least 50" in err
    code, _, err = run(capsys, "watch", whole[0], "--delimiter", "ab")
    assert code == 2
    assert "--delimiter must be one character" in err
    code, _, err = run(capsys, "watch", whole[0], "--family", "lines")
    assert code == 1
    assert "Did you mean 'line'" in err
    code, _, err = run(capsys, "watch", "no such file")
    assert code == 1
    assert "no such file" in err.lower()


@pytest.mark.slow
def test_the_view_tells_rows_threshold_and_structures(whole, capsys):
    code, _, err = run(capsys, "watch", whole[0], *OPTIONS, "--show")
    assert code == 0
    assert "rows        80, " in err
    assert "threshold   0." in err
    assert "structures  1" in err
    assert "line, " in err


@pytest.mark.slow
def test_a_target_may_be_named(tmp_path, capsys):
    path, state = tmp_path / "rows.csv", tmp_path / "state.pif"
    path.write_text("\n".join(lines(45)))
    command = ["watch", path, *OPTIONS, "--family", "linear_regression", "--option", "target=x"]
    code, out, _ = run(capsys, *command, "--state", state)
    assert code == 0
    assert run(capsys, *command, "--state", state)[0] == 0
    assert out.splitlines()[-1].count(",") == 4
