"""Completion scripts for bash, zsh and fish, without dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Option(NamedTuple):
    names: tuple[str, ...]
    help: str
    takes_value: bool
    values: tuple[str, ...]
    """possible values; empty for a file or a number"""
    several: bool
    """whether values can be joined by commas"""


class Command(NamedTuple):
    name: str
    help: str
    options: tuple[Option, ...]
    arguments: tuple[str, ...] | None
    """possible arguments; empty for files, None for no arguments"""


def bash(commands: Sequence[Command]) -> str:
    """With `-o default`, an empty COMPREPLY completes files. Works with bash 3.2, as on macOS."""
    cases = "\n".join(_bash_case(each) for each in commands)
    names = " ".join(each.name for each in commands)
    return f"""\
_piforest() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" command="" word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$word" in
            -*) ;;
            *) command="$word"; break ;;
        esac
    done
    COMPREPLY=()
    case "$command" in
        "") COMPREPLY=($(compgen -W "{names} --help --version" -- "$cur")) ;;
{cases}
    esac
}}
complete -o default -F _piforest piforest"""


def _bash_case(command: Command) -> str:
    lines = [f"        {command.name})", '            case "$prev" in']
    for option in command.options:
        if not option.takes_value:
            continue
        start, reply = "|".join(option.names), ""
        if option.values and option.several:
            reply = (
                'local before=""; [[ "$cur" == *,* ]] && before="${cur%,*},"; COMPREPLY=($(compgen '
                f'-P "$before" -W "{" ".join(option.values)}" -- "${{cur##*,}}")); '
            )
        elif option.values:
            reply = f'COMPREPLY=($(compgen -W "{" ".join(option.values)}" -- "$cur")); '
        lines.append(f"                {start}) {reply}return ;;")
    flags = " ".join(name for option in command.options for name in option.names)
    words = " ".join(command.arguments or ())
    lines += [
        "            esac",
        '            case "$cur" in',
        f'                -*) COMPREPLY=($(compgen -W "{flags}" -- "$cur")) ;;',
        f'                *) COMPREPLY=($(compgen -W "{words}" -- "$cur")) ;;',
        "            esac",
        "            ;;",
    ]
    return "\n".join(lines)


def zsh(commands: Sequence[Command]) -> str:
    listed = "\n".join(f"        '{each.name}:{_zsh_text(each.help)}'" for each in commands)
    cases = "\n".join(_zsh_case(each) for each in commands)
    return f"""\
#compdef piforest
_piforest() {{
    local curcontext="$curcontext" state line
    local -a commands
    commands=(
{listed}
    )
    _arguments -C '--help[show help]' '--version[show the version]' '1: :->command' '*:: :->rest'
    case "$state" in
        command) _describe command commands ;;
        rest)
            case "$line[1]" in
{cases}
            esac
            ;;
    esac
}}
if [[ "$funcstack[1]" == _piforest ]]; then _piforest "$@"; else compdef _piforest piforest; fi"""


def _zsh_case(command: Command) -> str:
    specs = []
    for option in command.options:
        what = ""
        if option.takes_value:
            what = ": :_files"
            if option.values:
                kind = "_values -s , value" if option.several else "compadd --"
                what = f": :{kind} {' '.join(option.values)}"
        several = f"({' '.join(option.names)})" if len(option.names) > 1 else ""
        specs += [f"'{several}{name}[{_zsh_text(option.help)}]{what}'" for name in option.names]
    if command.arguments is not None:
        words = " ".join(command.arguments)
        specs.append(f"'*: :compadd -- {words}'" if words else "'*: :_files'")
    joined = " \\\n                        ".join(specs)
    return f"                {command.name})\n                    _arguments {joined} ;;"


def _zsh_text(text: str) -> str:
    for mark in "\\[]:":
        text = text.replace(mark, "\\" + mark)
    return text


def fish(commands: Sequence[Command]) -> str:
    first = "complete -c piforest -n __fish_use_subcommand"
    lines = [f"{first} -f -a {each.name} -d '{each.help}'" for each in commands]
    lines += [f"{first} -l help -d 'show help'", f"{first} -l version -d 'show the version'"]
    for command in commands:
        after = f"complete -c piforest -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{after} {_fish_option(option)}" for option in command.options]
        if command.arguments != ():
            lines.append(f"{after} -f -a '{' '.join(command.arguments or ())}'")
    return "\n".join(lines)


def _fish_option(option: Option) -> str:
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    )
    what = ""
    if option.values and option.several:
        what = f"-x -a '(__fish_complete_list , \"string join \\n {' '.join(option.values)}\")' "
    elif option.values:
        what = f"-x -a '{' '.join(option.values)}' "
    elif option.takes_value:
        what = "-r -F "
    return f"{names} {what}-d '{option.help}'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
