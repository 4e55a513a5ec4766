"""What commands print: text, or one JSON object."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from ...io.atomic import check_writable, is_device, is_standard_output
from ...io.remote import exists, shown, url_of
from ._options import UsageError

# The line of a summary if the model flags nothing, by the source of its threshold.
NOTHING_FLAGGED = {
    "no structure": "anomalies   none of {n:,}: no structure was found, so that no row is flagged",
    "units differ": "anomalies   none of {n:,}: the units of the columns differ, so that no row is "
    "flagged",
    "too many beyond": "anomalies   none of {n:,}: too many rows are beyond the structures, so "
    "that no row is flagged",
}


class Output:
    """What one command prints, according to --json and --quiet: on standard output, or on standard
    error if the rows go to standard output (--out -)."""

    def __init__(self, args: argparse.Namespace) -> None:
        out = getattr(args, "out", None)
        self.rows_on_stdout = out is not None and is_standard_output(out)
        self.json = getattr(args, "json", False)
        self.quiet = getattr(args, "quiet", False)
        self.force = getattr(args, "force", False)

    def say(self, text: str = "") -> None:
        """Print a line of text, unless --json or --quiet is given."""
        if not (self.json or self.quiet):
            _print(text, sys.stderr if self.rows_on_stdout else sys.stdout)

    def result(self, summary: dict[str, Any]) -> None:
        """Print the result as JSON, if --json is given."""
        if self.json:
            text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
            _print(text, sys.stdout)

    def finish(self, summary: dict[str, Any], written: dict[str, str]) -> None:
        """Name the files that were written, and print the result as JSON, if --json is given."""
        if written and not self.rows_on_stdout:
            self.say("\nwrote " + ", ".join(written.values()))
        self.result({**summary, "written": written})

    def keep(self, **found: Any) -> None:
        """Keep the results of a command as objects, for a program that runs it; prints nothing."""

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
        if self.json and self.rows_on_stdout:
            raise UsageError(
                "--json and --out - both write to standard output: give --out a name, or put the "
                "rows into the JSON object with --rows."
            )
        seen: set[str] = set()
        for path in paths:
            if path is None:
                continue
            check_writable(path)
            if is_device(path):
                continue
            url = url_of(path)
            target = url or os.path.realpath(path)
            if target in seen:
                raise ValueError(f"{path} is the name of two outputs; give them different names.")
            seen.add(target)
            if (path.exists() if url is None else exists(url)) and not self.force:
                raise FileExistsError(f"{shown(path)} already exists; --force overwrites it.")


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


def _print(text: str, stream: TextIO) -> None:
    try:
        try:
            print(text, file=stream, flush=True)
        except UnicodeEncodeError:  # a terminal that lacks a letter; JSON escapes alike
            encoding = stream.encoding
            text = text.encode(encoding, "backslashreplace").decode(encoding)
            print(text, file=stream, flush=True)
    except BrokenPipeError:
        # The reader has closed the pipe, such as `head`; the output files are still written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
