"""Runs a command of `piforest` in this process and records its results."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from .. import cli
from ..cli._output import Output
from .wording import plain


class RecordingOutput(Output):
    """The output of a command: its objects, its summary and its warnings."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.found: dict[str, Any] = {}
        self.blocks: list[dict[str, Any]] = []
        self.summary: dict[str, Any] = {}
        self.warnings: list[str] = []

    @property
    def verbose(self) -> int:
        return 1  # listeners get the percentages

    def say(self, text: str = "") -> None:
        print(text)

    def keep(self, **found: Any) -> None:
        if "block" in found:
            self.blocks.append(found)
        self.found = found

    def result(self, summary: dict[str, Any]) -> None:
        self.summary = summary

    def warn(self, message: Warning | str, *_: Any) -> None:
        text = " ".join(str(message).split())
        if text not in self.warnings:
            self.warnings.append(text)


def run_command(folder: Path, spec: dict[str, Any], warnings: list[str]) -> str | None:
    """Run the command of a job in `folder/run`, and write its result; the error, or None."""
    from .results import write_result

    recorded, error = execute(spec["argv"], folder / "run")
    if recorded is not None:
        warnings += map(plain, recorded.warnings)
    if error is not None or recorded is None:
        return error or "the command gave no result."
    write_result(folder, spec, recorded)
    return None


def execute(
    argv: list[str],
    place: Path,
    prepare: Callable[[argparse.Namespace], None] = lambda args: None,
) -> tuple[RecordingOutput | None, str | None]:
    """Run a command in a folder; return its recorded output, and the error message or None.

    prepare: changes the parsed options, such as the detector to take in place of a fit.
    """
    made: list[RecordingOutput] = []

    def make(args: argparse.Namespace) -> RecordingOutput:
        prepare(args)
        made.append(RecordingOutput(args))
        return made[0]

    os.chdir(place)
    said = _Tee(sys.stderr)
    try:
        with redirect_stderr(said):
            code = cli.main(argv, make)
    except SystemExit as end:  # argparse rejects an option or its value
        code = int(end.code or 0) if isinstance(end.code, (int, type(None))) else 2
    recorded = made[0] if made else None
    return recorded, None if code == 0 else plain(said.error())


def parsed(argv: list[str]) -> argparse.Namespace:
    """The options of a command, and its name as `command`."""
    args = cli.make_parser().parse_args(argv)
    args.command = argv[0]
    return args


class _Tee(io.TextIOBase):
    """Writes to the log, and remembers the last lines."""

    def __init__(self, log: Any) -> None:
        self.log, self.last = log, ""

    def write(self, text: str) -> int:
        self.log.write(text)
        self.last = (self.last + text)[-4000:]
        return len(text)

    def flush(self) -> None:
        self.log.flush()

    def error(self) -> str:
        """The last line of the log, without the name of the program."""
        lines = [line for line in self.last.splitlines() if line.strip()]
        text = lines[-1] if lines else "the command failed without a word."
        _, mark, rest = text.partition("error: ")
        return rest if mark else text.removeprefix("piforest: ")
