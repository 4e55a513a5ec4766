"""Pages that show commands and what they print, compared with what they print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

from piforest.apps import cli


def check(page, capsys):
    """Run the commands of a page in the current folder; how many there are.

    What a page shows may end with a line of three dots.
    """
    commands = list(shown(page))
    for command, printed in commands:
        if " | " in command or not command.startswith("piforest "):
            output = output_of_shell(command)
        else:
            assert cli.main(shlex.split(command)[1:]) == 0, command
            output = capsys.readouterr().out
        printed, output = comparable(printed, command), comparable(output, command)
        if printed.endswith("...\n"):
            assert output.startswith(printed.removesuffix("...\n")), command
        else:
            assert output == printed, command
    return len(commands)


def shown(page):
    """(command, what the page says that it prints), in the order of the page."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def comparable(text, command):
    """The text without times; for images without numbers, which depend on OpenCV."""
    text = re.sub(r"^time .*$", "time", text, flags=re.MULTILINE)
    if command.startswith("piforest matches"):
        text = re.sub(r" +", " ", re.sub(r"[\d.,]+", "#", text.split("structures")[0]))
    return text


def output_of_shell(command):
    here = f'piforest() {{ {shlex.quote(sys.executable)} -m piforest "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", here], capture_output=True, text=True, check=True).stdout
