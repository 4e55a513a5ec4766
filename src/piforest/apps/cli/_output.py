"""What commands print: text, or one JSON object."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from ...io.atomic import check_writable, is_device


class Output:
    """Standard output of one command, according to --json and --quiet."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.json = getattr(args, "json", False)
        self.quiet = getattr(args, "quiet", False)
        self.force = getattr(args, "force", False)

    def say(self, text: str = "") -> None:
        """Print a line of text, unless --json or --quiet is given."""
        if not (self.json or self.quiet):
            _print(text)

    def result(self, summary: dict[str, Any]) -> None:
        """Print the result as JSON, if --json is given."""
        if self.json:
            _print(json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False))

    def warn(self, message: Warning | str, *_: Any) -> None:
        """Print a warning as one line; replaces `warnings.showwarning`."""
        if not self.quiet:
            print(f"piforest: warning: {' '.join(str(message).split())}", file=sys.stderr)

    @property
    def verbose(self) -> int:
        """The `verbose` of detectors: 1 on a terminal, which shows the stages."""
        return int(sys.stderr.isatty() and not (self.quiet or self.json))

    def check_new(self, *paths: Path | None) -> None:
        """Raise if an output file cannot be written, or exists without --force."""
        seen: set[str] = set()
        for path in paths:
            if path is None:
                continue
            check_writable(path)
            if is_device(path):
                continue
            target = os.path.realpath(path)
            if target in seen:
                raise ValueError(f"{path} is the name of two outputs; give them different names.")
            seen.add(target)
            if path.exists() and not self.force:
                raise FileExistsError(f"{path} already exists; --force overwrites it.")


class StatusLine:
    """One line of progress that is overwritten on a terminal; elsewhere nothing."""

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
        # The reader has closed the pipe, such as `head`; the output files are still written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
