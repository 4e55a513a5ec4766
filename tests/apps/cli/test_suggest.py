"""`piforest suggest`, and `piforest detect` without a family."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cli_runs import line_scene, put_lines, run


@pytest.fixture
def lines(tmp_path):
    return put_lines(tmp_path / "lines.csv", *line_scene())


@pytest.mark.slow
def test_suggest_prints_the_table_and_draws_it(lines, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "families.png"
    code, out, _ = run(capsys, "suggest", lines, "--draw", picture)
    assert code == 0
    assert "3 structures of family line explain" in out
    assert picture.stat().st_size > 0
    code, _, err = run(capsys, "suggest", lines, "--draw", picture)
    assert code == 1
    assert "already exists" in err


@pytest.mark.slow
def test_detect_without_a_family_goes_on_with_the_winner(lines, capsys):
    code, out, _ = run(capsys, "detect", lines, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["family"] == ["line"]
    assert found["proposals"]["found"]
    assert found["proposals"]["proposals"][0]["family"] == "line"


@pytest.mark.slow
def test_candidates_limit_the_table(lines, capsys):
    code, out, _ = run(capsys, "suggest", lines, "--candidates", "line,circle", "--json")
    assert code == 0
    listed = {each["family"] for each in json.loads(out)["proposals"]}
    assert listed == {"line", "circle"}


def test_options_without_a_family_are_a_usage_error(lines, capsys):
    code, _, err = run(capsys, "detect", lines, "--option", "degree=2")
    assert code == 2
    assert "--option needs --family" in err


@pytest.mark.slow
def test_detect_says_nothing_is_there_if_no_family_explains_the_rows(tmp_path, capsys):
    """The levels of the last column are no laws; columns have their names."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(200, 3)), rng.integers(0, 2, 200)])
    path = tmp_path / "codes.csv"
    np.savetxt(path, rows, delimiter=",", header="width,height,weight,code", comments="")
    code, out, err = run(capsys, "detect", path, "--json")
    assert code == 0
    found = json.loads(out)
    assert not found["proposals"]["found"]
    assert not found["found_structure"]
    assert found["anomalies"] == 0
    (levels,) = (each for each in found["diagnosis"] if each["code"] == "categorical_columns")
    assert levels["text"].startswith("code: few different values")
    assert "no point is flagged" in err


@pytest.mark.slow
def test_warnings_name_the_columns(lines, tmp_path, capsys):
    path = tmp_path / "units.csv"
    rows = np.column_stack([[1000.0, 1.0]] * 200).T * np.random.default_rng(0).normal(size=(200, 2))
    np.savetxt(path, rows, delimiter=",", header="x,y", comments="")
    _, _, err = run(capsys, "detect", path, "--family", "line", "--no-scale-columns")
    assert "x varies" in err
    assert "times as much as y" in err


@pytest.mark.slow
def test_suggest_names_what_it_leaves_out_and_takes_groups(tmp_path, capsys):
    path = put_lines(tmp_path / "lines.csv", *line_scene())
    code, out, _ = run(capsys, "suggest", path, "--candidates", "line")
    assert code == 0
    assert "left out    id (text), note (text)" in out
    code, out, _ = run(capsys, "suggest", path, "--candidates", "line", "--groups", "note")
    assert code == 0
    assert "left out    id (text), note (groups)" in out
    code, _, err = run(capsys, "suggest", path, "--groups", "shop")
    assert code == 1
    assert "has no column 'shop'" in err
