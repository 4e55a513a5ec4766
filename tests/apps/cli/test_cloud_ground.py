"""`piforest cloud --ground`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cli_runs import run
from piforest.io.tables import read_table
from piforest.terrain import find_ground


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 40, (2, 1600))
    z = np.where((abs(x - 20) < 6) & (abs(y - 20) < 6), 6.0, 0.0)
    path = tmp_path_factory.mktemp("ground") / "scan.xyz"
    np.savetxt(path, np.column_stack([x, y, z]))
    return path


def test_the_output_has_ground_height_and_classes(scan, tmp_path, capsys):
    out = tmp_path / "out.las"
    code, said, _ = run(capsys, "cloud", scan, "--ground", "--json", "--out", out, "--classify")
    assert code == 0
    X = np.loadtxt(scan)
    expected = find_ground(X)
    assert json.loads(said)["ground"] == expected.is_ground.sum()
    table = read_table(out)
    assert np.array_equal(table.numbers(["ground"])[:, 0] > 0, expected.is_ground)
    assert np.array_equal(table.numbers(["classification"])[:, 0] == 2, expected.is_ground)
    np.testing.assert_allclose(table.numbers(["height"])[:, 0], expected.height, atol=1e-3)


def test_the_summary_says_how_much_is_ground(scan, capsys):
    code, said, _ = run(capsys, "cloud", scan, "--ground", "--cell", 3)
    assert code == 0
    assert "cells       of 3, tolerance 0.6" in said
    assert "surfaces, seen in" in said


def test_options_that_do_not_go_with_it_are_refused(scan, capsys):
    code, _, err = run(capsys, "cloud", scan, "--ground", "--voxel", 1)
    assert code == 2
    assert "--voxel is of a detection, not of the ground: leave it out" in err
    code, _, err = run(capsys, "cloud", scan, "--cell", 1)
    assert code == 2
    assert "--cell is the side of the cells of --ground" in err
