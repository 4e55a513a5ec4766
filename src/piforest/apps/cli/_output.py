"""What commands print: words for people, or one JSON object for machines."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from ...io.atomic import check_writable, is_device


class Output:
    """Standard output of one command, as --json and --quiet ask for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.json = getattr(args, "json", False)
        self.quiet = getattr(args, "quiet", False)
        self.force = getattr(args, "force", False)

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not (self.json or self.quiet):
            _print(text)

    def result(self, answer: dict[str, Any]) -> None:
        """The answer for machines; people were told it line by line."""
        if self.json:
            _print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))

    def warn(self, message: Warning | str, *_: Any) -> None:
        """A warning as one line, in place of `warnings.showwarning`."""
        if not self.quiet:
            print(f"piforest: warning: {' '.join(str(message).split())}", file=sys.stderr)

    @property
    def verbose(self) -> int:
        """The detectors' `verbose`: stages are shown on a terminal."""
        return int(sys.stderr.isatty() and not (self.quiet or self.json))

    def check_new(self, *paths: Path | None) -> None:
        """Say before the work what could not be written after it."""
        seen: set[str] = set()
        for path in paths:
            if path is None:
                continue
            check_writable(path)
            if is_device(path):
                continue
            target = os.path.realpath(path)
            if target in seen:
                raise ValueError(f"{path} is named for two outputs; give each a name of its own.")
            seen.add(target)
            if path.exists() and not self.force:
                raise FileExistsError(f"{path} is there already; --force overwrites it.")


class StatusLine:
    """One line on a terminal that is written over again; nothing elsewhere."""

    def __init__(self, output: Output) -> None:
        self.shows = bool(output.verbose)

    def show(self, text: str) -> None:
        self._write(f"\r\x1b[Kpiforest: {text}")

    def clear(self) -> None:
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if self.shows:
            sys.stderr.write(text)
            sys.stderr.flush()


def _print(text: str) -> None:
    try:
        try:
            print(text, flush=True)
        except UnicodeEncodeError:  # a terminal that lacks a letter; JSON escapes alike
            encoding = sys.stdout.encoding
            print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        # Whoever read the output has seen enough; the files that were asked for are still due.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
