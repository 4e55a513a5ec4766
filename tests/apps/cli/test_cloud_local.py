"""`piforest cloud --local`."""

import json

import numpy as np
import pytest

from cli_runs import run
from piforest.io.tables import read_table


@pytest.fixture
def scan(tmp_path):
    """A bumpy sheet with a few points off it."""
    rng = np.random.default_rng(0)
    xy = rng.uniform(-2, 2, (3000, 2))
    z = 0.5 * np.sin(2 * xy[:, 0]) + 0.01 * rng.normal(size=3000)
    z[:60] += rng.choice([-1, 1], 60) * rng.uniform(0.3, 0.8, 60)
    path = tmp_path / "sheet.xyz"
    np.savetxt(path, np.column_stack([xy, z]))
    return path


@pytest.mark.slow
def test_the_scan_is_scored_in_windows_and_written(capsys, scan, tmp_path):
    out = tmp_path / "scored.ply"
    code, printed, _ = run(
        capsys, "cloud", scan, "--local", "--contamination", 0.02, "--json", "--out", out
    )
    assert code == 0
    found = json.loads(printed)
    assert found["windows"] > 1
    assert found["anomalies"] == pytest.approx(60, abs=1)
    table = read_table(out)
    flagged = table.numbers(["anomaly"])[:, 0] > 0
    assert flagged.sum() == found["anomalies"]
    assert flagged[:60].mean() > 0.8
    assert {"red", "green", "blue"} <= set(table.names)


@pytest.mark.slow
def test_given_windows_and_voxels_are_used(capsys, scan):
    code, out, _ = run(capsys, "cloud", scan, "--local", "--window", "4,2", "--voxel", 0.1)
    assert code == 0
    assert "with sides of 4, 2" in out


def test_options_of_the_whole_scan_are_refused(capsys, scan, tmp_path):
    for options, name in (
        (["--surfaces", tmp_path / "s.json"], "--surfaces"),
        (["--connected"], "--connected"),
        (["--colours", "structure"], "--colours"),
    ):
        code, _, err = run(capsys, "cloud", scan, "--local", *options)
        assert code == 2
        assert f"{name} is of the whole scan" in err
    code, _, err = run(capsys, "cloud", scan, "--window", "2")
    assert code == 2
    assert "--window is the side of the cubes of --local" in err
