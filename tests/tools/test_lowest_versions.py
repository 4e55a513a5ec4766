"""The lowest versions that are tested are those of pyproject.toml."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("lowest", ROOT / "tools" / "lowest_versions.py")
lowest = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lowest)


def test_every_core_dependency_has_a_lowest_version():
    names = [
        each.split("==")[0]
        for each in lowest.lowest_versions((ROOT / "pyproject.toml").read_text())
    ]
    assert names == ["numpy", "scipy", "scikit-learn", "numba", "joblib", "pandas", "polars"]


def test_a_dependency_without_one_is_an_error():
    with pytest.raises(AssertionError, match="no lowest version"):
        lowest.lowest_versions('[project]\ndependencies = ["numpy"]\n')
