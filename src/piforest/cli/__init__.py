"""The command line: parsing and printing only, one file a command.

Exit codes: 0 done, 1 the work failed, 2 the command was not understood, 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ._output import Output

# One module each, in the order of the help. A command is a module with HELP (a line for the
# list), DESCRIPTION, add(parser) and run(args, output); it imports what is slow in `run`.
COMMANDS = ("demo", "reproduce", "gallery")


def main(argv: Sequence[str] | None = None) -> int:
    parser = make_parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "run"):
        parser.print_help()
        return 2
    try:
        code = args.run(args, Output(args))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is left to say, nor to whom.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"piforest: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("piforest: interrupted", file=sys.stderr)
        return 130
    return int(code or 0)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="piforest", description="Find the points that follow no pattern."
    )
    parser.add_argument("--version", action="version", version=f"piforest {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f".{name}", __name__)
        command = commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add(command)
        command.set_defaults(run=module.run)
    return parser
