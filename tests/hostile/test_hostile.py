"""Every file that was ever a find is tried again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")
for each in ("cv2", "laspy", "pyarrow"):
    pytest.importorskip(each)

from fuzz.child import Child  # noqa: E402

FOLDER = Path(__file__).parent
_OTHERS = {"README.md", "open.txt", "test_hostile.py"}
FILES = sorted(path for path in FOLDER.iterdir() if path.is_file() and path.name not in _OTHERS)
# Files that are valid; what was made of them was not. A device in a file is ignored.
VALID = {
    "device_from_a_file.pif", "flags_with_nulls.parquet", "nan_for_las.xyz", "signalling_nan.npy",
    "too_large_for_las.ply", "user_id_no_ascii.las",
}  # fmt: skip
OPEN = (FOLDER / "open.txt").read_text().split()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Of all files; the child is started again where one kills it."""
    work = tmp_path_factory.mktemp("hostile")
    found, child = {}, Child(work)
    try:
        for path in FILES:
            found[path.name] = child.run(path)
            if child.ended():
                child.end()
                child = Child(work)
    finally:
        child.end()
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_a_hostile_file_is_read_or_refused_in_one_line(name, outcomes):
    outcome, reason, place = outcomes[name]
    as_it_should = outcome == ("read" if name in VALID else "refused")
    if name in OPEN:
        assert not as_it_should, f"{name} is mended: strike it off {FOLDER / 'open.txt'}"
    else:
        assert as_it_should, f"{outcome} {reason} {place}"


def test_open_finds_are_files():
    assert set(OPEN) <= {path.name for path in FILES}
