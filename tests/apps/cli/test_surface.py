"""`piforest surface`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from cli_runs import run


@pytest.fixture
def depth(tmp_path):
    v, u = np.mgrid[:40, :60]
    values = 20 + 0.1 * u + 0.002 * v**2
    values += 0.05 * np.random.default_rng(0).normal(size=values.shape)
    values[20:30, 40:52] -= 2
    path = tmp_path / "depth.npy"
    np.save(path, values)
    return path


@pytest.mark.slow
def test_a_picture_a_table_and_scores_are_written(capsys, tmp_path, depth):
    pytest.importorskip("matplotlib")
    outputs = [tmp_path / name for name in ("out.png", "table.csv", "scores.npy")]
    code, out, _ = run(
        capsys, "surface", depth, "--out", outputs[0], "--table", outputs[1], "--scores", outputs[2]
    )
    assert code == 0
    assert "map         60 x 40 pixels of depth.npy, 100 % valid" in out
    assert "wrote" in out
    assert outputs[0].read_bytes()[:4] == b"\x89PNG"
    with open(outputs[1], newline="") as file:
        first = next(csv.DictReader(file))
    assert abs(int(first["left"]) - 40) <= 2
    assert float(first["depth"]) == pytest.approx(-2, abs=0.2)
    assert np.load(outputs[2]).shape == (40, 60)


@pytest.mark.slow
def test_json_has_the_defects(capsys, tmp_path, depth):
    table = tmp_path / "t.json"
    code, out, _ = run(capsys, "surface", depth, "--json", "--table", table)
    found = json.loads(out)
    assert code == 0
    assert found["defects"] == json.loads(table.read_text())
    assert found["threshold_source"] == "automatic"
    assert found["windows"] > 1


def test_a_map_without_valid_pixels_is_an_error(capsys, tmp_path):
    np.save(tmp_path / "none.npy", np.zeros((30, 30), np.uint16))
    code, _, err = run(capsys, "surface", tmp_path / "none.npy")
    assert code == 1
    assert "the map has 0 valid pixels" in err


def test_outputs_of_other_formats_are_refused(capsys, tmp_path, depth):
    code, _, err = run(capsys, "surface", depth, "--table", tmp_path / "t.xlsx")
    assert code == 2
    assert "--table must end in .csv or .json" in err
    with pytest.raises(SystemExit):
        run(capsys, "surface", depth, "--window", "-3")
    assert "must be a number above 0" in capsys.readouterr().err
