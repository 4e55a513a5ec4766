"""Standard input and standard output of the commands."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import polars as pl
import pytest

from cli_runs import line_scene, put_lines, rows_of, run
from piforest.apps import cli

QUICK = ["--family", "line", "--models", "300", "--trees", "10"]


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    return put_lines(tmp_path_factory.mktemp("pipes") / "lines.csv", *line_scene())


def feed(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


@pytest.mark.slow
def test_rows_go_to_standard_output_and_the_summary_to_standard_error(points, tmp_path, capsys):
    code, out, err = run(capsys, "detect", points, *QUICK, "--out", "-")
    assert code == 0
    assert "anomalies" in err
    assert "wrote" not in err
    assert run(capsys, "detect", points, *QUICK, "--out", tmp_path / "o.csv")[0] == 0
    assert out == (tmp_path / "o.csv").read_text()
    code, again, err = run(capsys, "detect", points, *QUICK, "--out", "/dev/stdout", "--quiet")
    assert (code, again, err) == (0, out, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_a_table_or_json_lines(name, points, tmp_path, capsys, monkeypatch):
    feed(monkeypatch, points.read_bytes())
    code, table, err = run(capsys, "detect", name, *QUICK, "--out", "-")
    assert code == 0
    assert "of standard input" in err
    rows = [{**row, "x": float(row["x"]), "y": float(row["y"])} for row in rows_of(points)]
    feed(monkeypatch, "\n".join(map(json.dumps, rows)).encode())
    code, lines, _ = run(capsys, "detect", name, *QUICK, "--out", "-")
    assert code == 0
    found = [json.loads(line) for line in lines.splitlines()]
    expected = [row.split(",")[-4:-2] for row in table.splitlines()[1:]]
    assert [[str(row["score"]), str(int(row["anomaly"]))] for row in found] == expected


@pytest.mark.slow
def test_commands_in_a_pipe(points, tmp_path):
    def piforest(*arguments):
        command = [sys.executable, "-m", "piforest", *map(str, arguments)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    model = tmp_path / "m.pif"
    detect = piforest("detect", "-", *QUICK, "--out", "/dev/stdout", "--model", model, "--quiet")
    scored, _ = detect.communicate(points.read_bytes())
    assert detect.returncode == 0
    score = piforest("score", "/dev/stdin", "--model", model, "--out", "-", "--quiet")
    again, _ = score.communicate(scored)
    assert score.returncode == 0
    assert scored.startswith(b"id,x,y,note,score,anomaly,structure,distance\ns000,")
    assert scored.count(b"\n") == 258
    rows = [line.split(",") for line in again.decode().splitlines()]
    names = ["score", "anomaly", "structure", "distance"]
    assert rows[0][-8:] == [*names, *(f"piforest_{name}" for name in names)]
    assert all(row[-8:-4] == row[-4:] for row in rows[1:])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_without_a_suffix_is_text(points, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(f"cat {points} > {tmp_path / 'pipe'}", shell=True):
        code, printed, _ = run(capsys, "detect", tmp_path / "pipe", *QUICK)
    assert code == 0
    assert "257 in columns x, y" in printed


def test_another_format_keeps_its_own_on_standard_output(points, tmp_path, capfdbinary):
    frame = pl.read_csv(points).select("x", "y")
    frame.write_parquet(tmp_path / "a.parquet")
    assert cli.main(["detect", str(tmp_path / "a.parquet"), *QUICK, "--out", "-"]) == 0
    found = pl.read_parquet(io.BytesIO(capfdbinary.readouterr().out))
    assert found.columns == ["x", "y", "score", "anomaly", "structure", "distance"]


def test_binary_content_is_not_printed_on_a_terminal(points, tmp_path, capsys, monkeypatch):
    pl.read_csv(points).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    code, out, err = run(capsys, "detect", tmp_path / "a.parquet", *QUICK, "--out", "-")
    assert (code, out) == (1, "")
    assert "--out - would print a .parquet file, which is no text, on the terminal" in err


def test_json_and_rows_on_standard_output_exclude_each_other(points, capsys):
    for command in (["detect", points, *QUICK], ["score", points, "--model", "no.pif"]):
        code, out, err = run(capsys, *command, "--out", "-", "--json")
        assert (code, out) == (2, "")
        assert "--json and --out - both write to standard output" in err
        code, _, err = run(capsys, *command, "--rows")
        assert code == 2
        assert "--rows adds the rows to the JSON object: use it with --json." in err


def test_json_has_all_rows_on_request(points, tmp_path, capsys):
    model, out = tmp_path / "m.pif", tmp_path / "o.csv"
    command = ["detect", points, *QUICK, "--json", "--rows", "--model", model, "--out", out]
    code, printed, _ = run(capsys, *command)
    assert code == 0
    rows, written = json.loads(printed)["scored_rows"], rows_of(out)
    assert [row["row"] for row in rows] == list(range(1, len(written) + 1))
    assert [row["score"] for row in rows] == [float(row["score"]) for row in written]
    assert [row["anomaly"] for row in rows] == [row["anomaly"] == "1" for row in written]
    assert rows[0]["values"]["x"] == float(written[0]["x"])
    _, printed, _ = run(capsys, "score", points, "--model", model, "--json", "--rows")
    scored = json.loads(printed)["scored_rows"]
    assert [row["score"] for row in scored] == [row["score"] for row in rows]
    top = sorted(scored, key=lambda row: (-row["score"], row["row"]))[:10]
    assert json.loads(printed)["most_anomalous"] == top


def test_what_is_on_standard_input_is_named(capsys, monkeypatch):
    for content, said in (
        (b"", "standard input is empty."),
        (b"\x1f\x8b\x08", "standard input is compressed by gzip; decompress it first"),
        (b'{"x": 1}\n{"x":\n', "standard input: line 2 is no JSON object"),
        (b"x,y\n1,2\n3\n", "standard input: row 2 has 1 cell, not 2"),
    ):
        feed(monkeypatch, content)
        code, out, err = run(capsys, "detect", "-", *QUICK, "--out", "-")
        assert (code, out) == (1, "")
        assert said in err
        assert len(err.splitlines()) == 1
