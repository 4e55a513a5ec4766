"""`--functions`: a family of two functions in a file."""

from __future__ import annotations

import numpy as np
import pytest

from cli_runs import line_scene, put_lines, rows_of, run
from piforest import PreferenceIsolationForest
from piforest.apps.cli._functions import family_of_file

CODE = """
import numpy as np

sample_size, n_features = 2, 2

def fit(points):
    (x0, y0), (x1, y1) = points
    slope = (y1 - y0) / (x1 - x0)
    return np.array([slope, y0 - slope * x0])

def residuals(X, params):
    return np.abs(X[:, 1] - params[0] * X[:, 0] - params[1])
"""


@pytest.mark.slow
def test_rows_are_scored_by_the_family_of_a_file(capsys, tmp_path):
    X, y = line_scene()
    table = put_lines(tmp_path / "lines.csv", X, y)
    (tmp_path / "mine.py").write_text(CODE)
    code, out, _ = run(
        capsys, "detect", table, "--functions", tmp_path / "mine.py", "--models", 300,
        "--columns", "x,y", "--out", tmp_path / "rows.csv",
    )  # fmt: skip
    assert code == 0
    assert "family mine" in out
    family = family_of_file(tmp_path / "mine.py")
    detector = PreferenceIsolationForest(family, n_models=300, random_state=0).fit(X)
    found = [float(row["score"]) for row in rows_of(tmp_path / "rows.csv")]
    assert np.array_equal(found, detector.scores_)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = (", "SyntaxError"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("def fit(points): ...", "it has no residuals"),
    ],
)
def test_a_file_that_defines_no_family_is_one_line(capsys, tmp_path, code, text):
    X, y = line_scene()
    table = put_lines(tmp_path / "lines.csv", X, y)
    (tmp_path / "mine.py").write_text(code)
    status, _, problem = run(capsys, "detect", table, "--functions", tmp_path / "mine.py")
    assert status == 1
    assert text in problem
    assert problem.count("\n") == 1


def test_functions_take_the_place_of_a_named_family(capsys, tmp_path):
    with pytest.raises(SystemExit):
        run(capsys, "detect", "a.csv", "--functions", "mine.py", "--family", "line")
    assert "not allowed with argument" in capsys.readouterr().err
