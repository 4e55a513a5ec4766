"""Print the lowest versions of dependencies in pyproject.toml, as constraints of pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def lowest_versions(pyproject: str) -> list[str]:
    """ "numpy==2.0" for "numpy>=2.0"; data frames too, which pass through the core."""
    project = tomllib.loads(pyproject)["project"]
    tested = project.get("optional-dependencies", {}).get("test", [])
    frames = [each for each in tested if each.startswith(("pandas", "polars"))]
    found = [
        re.fullmatch(r"([\w.-]+)>=([\w.]+)", each) for each in project["dependencies"] + frames
    ]
    assert all(found), f"a dependency has no lowest version: {project['dependencies']}"
    return [f"{each[1]}=={each[2]}" for each in found if each]


if __name__ == "__main__":
    print("\n".join(lowest_versions(Path("pyproject.toml").read_text())))
