"""`piforest completion`: scripts for the Tab key, generated from the parser."""

from __future__ import annotations

import argparse
from typing import Any

from ._output import Output
from ._shells import SHELLS, Command, Option

HELP = "print a completion script for your shell"
DESCRIPTION = (
    "Print a completion script. bash: add `source <(piforest completion bash)` to ~/.bashrc; "
    "zsh: add `source <(piforest completion zsh)` to ~/.zshrc, below compinit; fish: write it to "
    "~/.config/fish/completions/piforest.fish."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS))


def run(args: argparse.Namespace, output: Output) -> None:
    from . import make_parser

    output.say(SHELLS[args.shell](_commands(make_parser())))


def _commands(parser: argparse.ArgumentParser) -> list[Command]:
    # argparse has no public way to list actions; these names exist since Python 3.2.
    commands: Any = next(each for each in parser._actions if isinstance(each.choices, dict))
    helps = {each.dest: each.help or "" for each in commands._get_subactions()}
    return [_command(name, helps[name], each) for name, each in commands.choices.items()]


def _command(name: str, about: str, parser: argparse.ArgumentParser) -> Command:
    options, arguments = [], None
    for action in parser._actions:
        values, several = _values(name, action)
        if action.option_strings:
            text = _plain(action.help or "") % {"default": action.default}
            takes = action.nargs != 0
            options.append(Option(tuple(action.option_strings), text, takes, values, several))
        else:
            arguments = values
    return Command(name, _plain(about), tuple(options), arguments)


def _values(command: str, action: Any) -> tuple[tuple[str, ...], bool]:
    """Possible values, and whether several can be joined by commas."""
    from ...families import list_families

    if action.dest == "family" or (command, action.dest) == ("families", "name"):
        return tuple(list_families()), action.dest == "family"
    if action.choices:
        return tuple(action.choices), False
    return (), False


def _plain(text: str) -> str:
    """The text without characters that a shell interprets."""
    return text.replace("`", "").replace("'", "")
