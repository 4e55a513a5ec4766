"""The rule of conftest.py: with PIFOREST_DATA set, a skipped data test fails the run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.mark.data
def test_with_data():
    pytest.skip("no data")

def test_without_data():
    pass
"""


@pytest.mark.parametrize("workers", ["0", "1"])
@pytest.mark.parametrize(("data", "code"), [("somewhere", 1), ("", 0)])
def test_a_skipped_data_test_fails_only_if_the_data_folder_is_set(tmp_path, data, code, workers):
    shutil.copy(Path(__file__).parent / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = data: needs data\n")
    (tmp_path / "test_it.py").write_text(TEST)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PIFOREST_DATA": data},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code, result.stdout
