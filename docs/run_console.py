"""Run the commands of pages anew and put what they print below them.

python docs/run_console.py docs/start/table.md ...

Commands run in an empty folder, in the order of the page, after a Python block that says on the
page how its files are made. What a page cuts off with a line of three dots stays cut off at the
same line. tests/console_pages.py compares.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
_FILES = re.compile(r"## Files used on this page\n+```python\n(.*?)```", re.DOTALL)


def run_page(path: Path) -> None:
    page = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for code in _FILES.findall(page):
            subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
        new = _BLOCK.sub(lambda block: block[1] + _run_block(block[2], folder) + block[3], page)
    path.write_text(new)


def _run_block(block: str, folder: str) -> str:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return "".join(_run(*part.split("\n", 1), folder) for part in parts)


def _run(command: str, shown: str, folder: str) -> str:
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": here}, text=True,
        capture_output=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    lines = done.stdout.splitlines()
    if shown.endswith("...\n"):
        lines = [*lines[: shown.count("\n") - 1], "..."]
    return "\n".join([f"$ {command}", *lines, ""])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run_page(Path(name))
