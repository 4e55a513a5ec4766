"""The rules of the top-level conftest.py: which skips fail a run, and how they are run later."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import os
import pytest

@pytest.mark.data
def test_with_data():
    if not os.environ.get("THERE"):
        pytest.skip("no data")

@pytest.mark.parametrize("value", ["of two words", "c::d[e]"])
def test_with_parameters(value):
    if not os.environ.get("THERE"):
        pytest.skip("absent")

def test_without_data():
    pass

@pytest.mark.xfail
def test_that_is_expected_to_fail():
    assert False
"""
MODULE = """
import os
import pytest

if not os.environ.get("THERE"):
    pytest.skip("absent", allow_module_level=True)

def test_it():
    pass
"""
SKIPPED = [
    "test_it.py::test_with_data",
    "test_it.py::test_with_parameters[c::d[e]]",
    "test_it.py::test_with_parameters[of two words]",
    "test_module.py",
]
RECORD = ".pytest_cache/d/skipped/tests.txt"


@pytest.fixture(params=["0", "1"], ids=["no workers", "one worker"])
def run(request, tmp_path):
    """Runs pytest in a folder with our conftest.py; returns the exit status and the output."""
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = data: needs data\n")
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "test_module.py").write_text(MODULE)

    def runs(*arguments, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "xdist.plugin", "-n", request.param, *arguments],
            cwd=tmp_path,
            # Without the other plugins a run starts in half the time.
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return runs


@pytest.mark.slow
@pytest.mark.parametrize(("data", "expected"), [("somewhere", 1), ("", 0)])
def test_a_skipped_data_test_fails_the_run_only_where_data_are_named(run, data, expected):
    status, output = run(PIFOREST_DATA=data)
    assert status == expected, output
    assert ("must not be: ['test_it.py::test_with_data']" in output) == bool(data)


@pytest.mark.slow
def test_what_was_skipped_is_recorded_and_can_be_run_alone(run, tmp_path):
    status, output = run(PIFOREST_DATA="")
    assert status == 0, output
    recorded = (tmp_path / RECORD).read_text().splitlines()
    assert [each for each in recorded if each.startswith("test_")] == SKIPPED
    (tmp_path / RECORD).write_text("\n".join(SKIPPED))
    status, output = run("--no-skips", f"@{RECORD}", THERE="yes")
    assert status == 0, output
    assert "4 passed" in output
    assert (tmp_path / RECORD).read_text().splitlines() == SKIPPED


@pytest.mark.slow
def test_with_no_skips_every_skip_fails_the_run(run):
    status, output = run("--no-skips", PIFOREST_DATA="")
    assert status == 1, output
    assert f"Skipped, but must not be: {SKIPPED}" in output
