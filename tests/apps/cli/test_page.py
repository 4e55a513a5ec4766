"""docs/command_line.md: what it shows is what the commands print."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from piforest.apps import cli

PAGE = (Path(__file__).parents[3] / "docs" / "command_line.md").read_text()


def shown():
    """(command, what the page says that it prints), in the order of the page."""
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def comparable(text, command):
    """The text without times; for images without numbers, which depend on OpenCV."""
    text = re.sub(r"^time .*$", "time", text, flags=re.MULTILINE)
    if command.startswith("piforest matches"):
        text = re.sub(r" +", " ", re.sub(r"[\d.,]+", "#", text.split("structures")[0]))
    return text


def flat(value):
    """All numbers of a JSON value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for each in value for number in flat(each)]
    return [value] if isinstance(value, (int, float)) else []


def output_of_pipe(command):
    here = f'piforest() {{ {shlex.quote(sys.executable)} -m piforest "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", here], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_every_example_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    pytest.importorskip("cv2")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(import csv.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    exec(code, {})
    commands = list(shown())
    assert len(commands) >= 7
    for command, printed in commands:
        if " | " in command:
            output = output_of_pipe(command)
        else:
            assert cli.main(shlex.split(command)[1:]) == 0
            output = capsys.readouterr().out
        if printed.endswith("...\n"):
            assert output.startswith(printed.removesuffix("...\n"))
        else:
            assert comparable(output, command) == comparable(printed, command)
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
