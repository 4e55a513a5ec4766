"""The tests mirror the source."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "piforest"
# Compiled code is tested where it is called from.
PACKAGES = sorted(
    path.parent.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("__init__.py")
    if path.parent not in (SOURCE, SOURCE / "_kernels")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_a_folder_of_tests(package):
    assert list((TESTS / package).rglob("test_*.py"))
