"""Print the lowest version of each core dependency in pyproject.toml, as constraints of pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def lowest_versions(pyproject: str) -> list[str]:
    """ "numpy==1.26" for "numpy>=1.26"."""
    dependencies = tomllib.loads(pyproject)["project"]["dependencies"]
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", each) for each in dependencies]
    assert all(found), f"a dependency has no lowest version: {dependencies}"
    return [f"{each[1]}=={each[2]}" for each in found if each]


if __name__ == "__main__":
    print("\n".join(lowest_versions(Path("pyproject.toml").read_text())))
