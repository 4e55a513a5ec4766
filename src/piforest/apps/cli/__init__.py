"""The command line: parsing and printing only, one module per command."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ... import __version__
from ._options import UsageError
from ._output import Output

# One module each, in the order of the help. A command is a module with HELP (one line),
# DESCRIPTION, add(parser) and run(args, output); slow imports belong in `run`.
COMMANDS = (
    "detect",
    "suggest",
    "matches",
    "cloud",
    "surface",
    "series",
    "score",
    "watch",
    "serve",
    "studio",
    "explain",
    "families",
    "sample",
    "demo",
    "reproduce",
    "gallery",
    "doctor",
    "completion",
)

_EPILOG = """\
exit codes:
  0    success
  1    failure; one line on standard error gives the reason
  2    invalid command line
  130  interrupted (Ctrl-C); no partial file is left
  143  terminated by SIGTERM; no partial file is left
"""


def main(
    argv: Sequence[str] | None = None, make_output: Callable[[argparse.Namespace], Output] = Output
) -> int:
    """Run a command and return its exit code. make_output: what prints, or keeps, the result."""
    parser = make_parser()
    given = sys.argv[1:] if argv is None else list(argv)
    args = parser.parse_args(given)
    if not hasattr(args, "run"):
        parser.print_help()
        return 2
    args.command_line = _without_passwords(shlex.join(["piforest", *given]))
    output = make_output(args)
    try:
        _check_encoding(given)
        with _orderly_end(), warnings.catch_warnings():
            warnings.showwarning = output.warn  # type: ignore[assignment]
            code = args.run(args, output)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has closed it: no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UsageError as error:
        print(f"piforest: {_one_line(error)}", file=sys.stderr)
        return 2
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"piforest: {_one_line(error)}", file=sys.stderr)
        return 1
    except _Terminated:
        print("piforest: terminated", file=sys.stderr)
        return 143
    except KeyboardInterrupt:
        print("piforest: interrupted", file=sys.stderr)
        return 130
    return int(code or 0)


class _Terminated(KeyboardInterrupt):
    """SIGTERM; a KeyboardInterrupt, so that libraries clean up as after Ctrl-C."""


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Raise `_Terminated` at the first SIGTERM, so that temporary files are removed."""

    def end(*_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # ignore further ones while cleaning up
        raise _Terminated

    default = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not default or threading.current_thread() is not threading.main_thread():
        yield  # the program that runs the command handles signals
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _check_encoding(arguments: Sequence[str]) -> None:
    """Reject names that cannot be printed, or put into a report, before the work."""
    for each in arguments:
        try:
            each.encode()
        except UnicodeEncodeError:
            raw = os.fsencode(each)
            raise UsageError(f"{raw!r} is not UTF-8 text; rename the file.") from None


def _without_passwords(command: str) -> str:
    """A command for the report: the password of a URL is not repeated there."""
    return re.sub(r"(\w://[^\s:/@]*):[^\s/@]*@", r"\1:***@", command)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="piforest",
        description="Find the points that follow no pattern.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"piforest {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in COMMANDS:
        module: Any = importlib.import_module(f".{name}", __name__)
        command = commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add(command)
        command.set_defaults(run=module.run)
    return parser


def _one_line(error: BaseException) -> str:
    """The message of an error on one line."""
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    return " ".join(str(error).split()) or type(error).__name__
