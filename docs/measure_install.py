"""Measure what an installation costs, and put it into install.md.

    make dist && python docs/measure_install.py

The sizes are those of the files in dist. Import times are medians of fresh processes; sizes of
dependencies are those of their installed files, without what they need in turn.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).parent / "install.md"
_MARKS = "<!-- {}: python docs/measure_install.py -->\n", "<!-- end {} -->\n"
_REPEATS = 7
IMPORTS = ("import piforest", "from piforest import PreferenceIsolationForest")


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = PAGE.read_text()
    for name, lines in {
        "costs": [*_files(), *_imports()],
        "core": [_needed(line) for line in project["dependencies"]],
        "extras": _extras(),
    }.items():
        start, end = (mark.format(name) for mark in _MARKS)
        before, rest = text.split(start)
        head = rest.splitlines()[:2]
        text = before + start + "\n".join([*head, *lines]) + "\n" + end + rest.split(end)[1]
    PAGE.write_text(text)


def _files() -> list[str]:
    found = sorted((ROOT / "dist").glob("*.whl")) + sorted((ROOT / "dist").glob("*.tar.gz"))
    if len(found) != 2:
        raise FileNotFoundError("dist must hold one wheel and one source distribution: make dist")
    names = ("wheel", "source distribution")
    return [f"| {n} | {path.stat().st_size / 1e6:.1f} MB |" for n, path in zip(names, found)]


def _imports() -> list[str]:
    return [f"| `{name}` | {_seconds(name):.2f} CPU s |" for name in IMPORTS]


def _seconds(code: str) -> float:
    """CPU time of a statement in a fresh process, files in the cache of the system."""
    timed = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
    run = [
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True).stdout)
        for _ in range(_REPEATS)
    ]
    return statistics.median(run)


def _needed(requirement: str) -> str:
    name = re.split(r"[<>=\[]", requirement)[0]
    lowest = requirement.partition(">=")[2]
    return f"| {name} | {lowest} | {distribution(name).version} | {_megabytes(name)} |"


def _megabytes(name: str) -> str:
    try:
        files = distribution(name).files or []
    except PackageNotFoundError:
        return "not installed"
    size = sum(path.stat().st_size for each in files if (path := Path(each.locate())).is_file())
    return f"{size / 1e6:.0f} MB" if size >= 5e5 else "below 1 MB"


def _extras() -> list[str]:
    """The extras for users, with the comment above each in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text().split("[project.optional-dependencies]\n")[1]
    rows, comment = [], ""
    for line in text.splitlines():
        if line.startswith("# "):
            comment = f"{comment} {line[2:]}".strip()
        elif found := re.match(r"(\w+) = \[(.*)\]$", line):
            if found[1] != "all":
                rows.append(f"| `{found[1]}` | {comment} | {found[2].replace(chr(34), '')} |")
            comment = ""
        elif re.match(r"\w+ = \[$", line):  # test, docs, dev: for work on piforest
            comment = ""
        if line.startswith("["):
            break
    return rows


if __name__ == "__main__":
    main()
