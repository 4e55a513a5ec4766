"""docs/command_line.md: what it shows is what the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import console_pages
from piforest.apps import cli

PAGE = (Path(__file__).parents[3] / "docs" / "command_line.md").read_text()


def flat(value):
    """All numbers of a JSON value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for each in value for number in flat(each)]
    return [value] if isinstance(value, (int, float)) else []


@pytest.mark.slow
def test_every_example_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    pytest.importorskip("cv2")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(import csv.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    exec(code, {})
    assert console_pages.check(PAGE, capsys) >= 7
    (surface,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    found = json.loads((tmp_path / "surfaces.json").read_text())["surfaces"][0]
    listed = json.loads(surface)
    assert set(listed) == set(found) - {"hull"}, "which the page only names"
    found = {name: found[name] for name in listed}
    assert flat(listed) == pytest.approx(flat(found), rel=1e-3, abs=1e-4)
    (rows,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert (tmp_path / "scores.csv").read_text().startswith(rows)


def test_every_command_and_exit_code_is_on_the_page():
    for command in cli.COMMANDS:
        assert re.search(rf"`(piforest )?{command}[ `]", PAGE), command
    for line in re.findall(r"^  (\d+)  +(\w+)", cli._EPILOG, re.MULTILINE):
        assert f"| {line[0]} |" in PAGE
