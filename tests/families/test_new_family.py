"""A new family is one file and one line: everything else reads the registry."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from piforest._random import Stream
from piforest._registry import Registry
from piforest.apps.cli import main
from piforest.checks import check_family
from piforest.families import FAMILIES, get_family, list_families, null_rows
from piforest.reproduction.gallery import gallery

FILE = '''
"""Laws y = a / x + b of two columns, from two points."""

import numpy as np

from piforest.datasets import Drawing, synthetic_scene
from piforest.families import Family, Scene
from piforest.protocols import RowLayout


@synthetic_scene("reciprocals")
def make_reciprocals(
    n_structures=2, *, sizes=150, noise=0.005, anomaly_share=0.4, random_state=None,
    return_X_y=False, as_frame=False,
):
    """Reciprocal laws over [0.3, 2].

    >>> make_reciprocals(random_state=0).data.shape
    (500, 2)
    """

    def law(size, rng):
        a, b, x = rng.uniform(0.2, 1), rng.uniform(-1, 1), rng.uniform(0.3, 2, size)
        return np.column_stack([x, a / x + b + rng.normal(0, noise, size)])

    return Drawing(law)


class Reciprocal(Family):
    """Laws y = a / x + b for x > 0. Parameters: a and b. The residual is measured along y.

    A sample is degenerate if x is not above 0, or the same for both points.
    """

    name = "reciprocal"
    n_points = 2
    layout = RowLayout("points", ("x", "y"))
    symmetries = frozenset({"scale"})
    scene = Scene(make_reciprocals, 2, "two reciprocal laws")

    def __repr__(self):
        return "Reciprocal()"

    def solve(self, samples):
        (x1, y1), (x2, y2) = samples[:, 0].T, samples[:, 1].T
        lowest, apart = np.minimum(x1, x2), np.abs(x1 - x2)
        valid = (lowest > 0) & (apart > 1e-6 * lowest)
        with np.errstate(all="ignore"):
            a = (y1 - y2) / (1 / x1 - 1 / x2)
            params = np.stack([a, y1 - a / x1], axis=1)
        return np.where(valid[:, None], params, 0.0)[:, None], valid[:, None]

    def formula(self, x, theta, xp):
        off = abs(x[1] - theta[0] / x[0] - theta[1])
        return xp.where((x[0] > 0) & (off >= 0), off, np.inf)

    def outline(self, params, low, high):
        x = np.linspace(max(low[0], 1e-3), high[0], 500)
        points = np.column_stack([x, params[0] / x + params[1]])
        inside = (points[:, 1] >= low[1]) & (points[:, 1] <= high[1])
        return [np.where(inside[:, None], points, np.nan)]
'''
LINE = ("reciprocal", "reciprocal_family:Reciprocal")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the file is, with the line in the registry."""
    (tmp_path / "reciprocal_family.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(FAMILIES.entries, *LINE)
    yield tmp_path
    sys.modules.pop("reciprocal_family", None)


def test_the_laws_know_it(folder):
    assert "reciprocal" in list_families()
    assert check_family("reciprocal")[0].startswith("rows are stable")
    family = get_family("reciprocal")
    X = family.scene.make(random_state=0).data
    assert null_rows(family, X, 9, Stream(0)).shape == (9, 2)


@pytest.mark.slow
def test_the_command_line_knows_it(folder, capsys):
    assert main(["families"]) == 0
    assert "reciprocal" in capsys.readouterr().out
    assert main(["families", "reciprocal"]) == 0
    told = capsys.readouterr().out
    assert "a row     (x, y)" in told
    assert "Laws y = a / x + b for x > 0." in told
    scene = get_family("reciprocal").scene.make(random_state=0)
    table, out = folder / "points.csv", folder / "scores.csv"
    np.savetxt(table, scene.data, delimiter=",", header="x,y", comments="")
    assert main(["detect", str(table), "--family", "reciprocal", "--out", str(out)]) == 0
    scored = np.genfromtxt(out, delimiter=",", names=True)
    flagged = scored["anomaly"] == 1
    assert np.mean(flagged == (scene.target == 0)) > 0.9


@pytest.mark.slow
def test_the_gallery_and_the_table_of_the_docs_know_it(folder, monkeypatch):
    # A registry of two: entries that are deleted and restored would come back in another order.
    two = {name: FAMILIES.entries[name] for name in ("line", "reciprocal")}
    monkeypatch.setattr("piforest.reproduction.gallery.FAMILIES", Registry("family", two))
    shown = gallery(folder / "families", say=lambda _: None)
    assert [each.name for each in shown] == ["line", "reciprocal"]
    assert shown[-1].aucs["default"] > 0.95
    assert (folder / "families" / "reciprocal.png").read_bytes()[:4] == b"\x89PNG"
    page = (folder / "families" / "index.md").read_text()
    assert "| [reciprocal](#reciprocal) | (x, y) | 500 |" in page
    assert "![two reciprocal laws: the scene, scores, structures](reciprocal.png)" in page
    assert "Laws y = a / x + b for x > 0." in page


@pytest.mark.slow
def test_every_test_that_runs_over_the_registry_runs_on_it(folder):
    """The contracts, the formulas, the null: collected from the registry, in another process."""
    tests = Path(__file__).parent
    code = (
        "import sys, pytest\n"
        "from piforest.families import FAMILIES\n"
        f"FAMILIES.entries[{LINE[0]!r}] = {LINE[1]!r}\n"
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    chosen = [
        tests.parent / "checks" / "test_contracts.py",
        tests / "test_formulas.py",
        tests / "test_null.py",
    ]
    command = [sys.executable, "-c", code, *map(str, chosen), "-k", "reciprocal or Reciprocal",
               "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tests.parent.parent,
        env={"PYTHONPATH": ":".join([str(folder), *filter(None, sys.path)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    passed = next(word for word in done.stdout.split("\n")[::-1] if "passed" in word)
    assert int(passed.split()[0]) >= 12
