"""`piforest watch`."""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from ._options import (
    UsageError,
    add_family_option,
    add_seed,
    auto_or_positive,
    auto_or_share,
    count,
    file,
    names,
)
from ._output import Output

HELP = "score the rows of a stream as they come"
DESCRIPTION = (
    "Read CSV or JSON lines, and write the same lines with a score and a verdict as they come. The "
    "detector learns every row after it has scored it, and forgets what is older than the window. "
    "The first rows, a tenth of the window, have no score; nor have broken lines, which are not "
    "learned."
)
_READ_BYTES = 65_536
# Seconds between two views, and between two states.
_VIEW_EVERY, _SAVE_EVERY = 0.25, 60.0
_TOLD_BROKEN = 20
_KEPT_SCORES = 500


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="CSV or JSON lines; - for standard input")
    parser.add_argument("--family", metavar="NAME", help="what a structure is (default: line)")
    add_family_option(parser)
    parser.add_argument(
        "--window", type=count, metavar="N",
        help="rows that the detector remembers, at least 50 (default: 2048)",
    )  # fmt: skip
    parser.add_argument(
        "--columns", type=names, metavar="NAMES",
        help="columns of the points, separated by commas (default: the numeric ones of the first "
        "row)",
    )  # fmt: skip
    parser.add_argument(
        "--delimiter",
        metavar="CHARACTER",
        help="delimiter of CSV, 'tab' for a tab (default: found)",
    )
    parser.add_argument(
        "--sigma", type=auto_or_positive, metavar="NUMBER",
        help="noise of the structures, or auto (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--contamination", type=auto_or_share, metavar="SHARE",
        help="share of the rows to flag, or auto (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--state", type=file, metavar="STATE",
        help="go on from this file, if it exists, and save the state to it: every minute, at the "
        "end, and when the command is interrupted or terminated",
    )  # fmt: skip
    parser.add_argument("--show", action="store_true", help="a live view on standard error")
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing but the rows and errors"
    )
    add_seed(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    if args.delimiter == "tab":
        args.delimiter = "\t"
    if args.delimiter is not None and len(args.delimiter) != 1:
        raise UsageError(f"--delimiter must be one character or 'tab', got {args.delimiter!r}.")
    watcher = _Watcher(args)
    with _input(args.file) as stream, _stop_between_blocks() as stop:
        try:
            for data in _blocks(stream, stop):
                watcher.take(data)
            watcher.finish_line()
        except BrokenPipeError:
            watcher.save()
            raise
        watcher.save()
    watcher.close()
    if stop.signal is None:
        return 0
    print(f"piforest: stopped by signal {stop.signal}", file=sys.stderr)
    return 128 + stop.signal


class _Stop:
    """Whether a signal requested a stop; it interrupts only the wait for input."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.waiting = False

    def __call__(self, number: int, _: Any) -> None:
        self.signal = number
        if self.waiting:
            raise _Waiting


class _Waiting(Exception):
    """Raised out of the wait for input."""


@contextmanager
def _stop_between_blocks() -> Iterator[_Stop]:
    """Handle SIGTERM and SIGINT so that a row is either learned, or not read."""
    stop = _Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _input(name: str) -> Iterator[BinaryIO]:
    if name in ("-", "/dev/stdin"):
        yield sys.stdin.buffer
        return
    if Path(name).is_dir():
        raise IsADirectoryError(f"{name} is a folder, not a file.")
    with open(name, "rb") as stream:
        yield stream


def _blocks(stream: BinaryIO, stop: _Stop) -> Iterator[bytes]:
    """Blocks of bytes, as soon as they arrive."""
    try:
        number: int | None = stream.fileno()
    except (OSError, ValueError):
        number = None
    while stop.signal is None:
        try:
            stop.waiting = True
            if number is not None:
                select.select([number], [], [])
            stop.waiting = False
        except _Waiting:
            return
        data = os.read(number, _READ_BYTES) if number is not None else stream.read(_READ_BYTES)
        if not data:
            return
        yield data


class _Watcher:
    """The detector, the format of the lines, and what was printed."""

    def __init__(self, args: argparse.Namespace) -> None:
        import numpy as np

        from ..watching import LineFormat

        self.args, self.format = args, LineFormat(args.columns, args.delimiter)
        self.detector = _detector(args)
        self.rest, self.line = b"", 0
        self.counts = {"anomalies": 0, "broken": 0}
        self.scores = np.empty(0)
        self.started = self.saved = time.monotonic()
        self.viewed, self.view_lines, self.events = 0.0, 0, len(self._drift())
        self.n_before = getattr(self.detector, "n_seen_", 0) if self._has_rows() else 0

    def _has_rows(self) -> bool:
        return hasattr(self.detector, "stream_")

    def _drift(self) -> list[Any]:
        return self.detector.drift_ if self._has_rows() else []

    def take(self, data: bytes) -> None:
        """Score and learn the whole lines of some bytes."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        self._lines(lines)
        if time.monotonic() - self.saved > _SAVE_EVERY:
            self.save()

    def finish_line(self) -> None:
        """Process the last line if it has no line end."""
        rest, self.rest = self.rest, b""
        if rest.strip():
            self._lines([rest])

    def _lines(self, lines: list[bytes]) -> None:
        rows, out = [], []
        for raw in lines:
            self.line += 1
            text = raw.decode("utf-8", "backslashreplace").rstrip("\r").lstrip("\ufeff")
            if not text.strip():
                continue
            if not self.format.started:
                header = self.format.start(text)
                if header is not None:
                    out.append(header)
                    continue
            row = self.format.parse(text)
            if row.values is None:
                self._tell_broken(row.error)
            rows.append(row)
        scores, labels = self._scored([row.values for row in rows])
        for row, score, label in zip(rows, scores, labels):
            out.append(self.format.write(row, score, label))
        self._print(out)
        self._tell_drift()
        if self.args.show:
            self._show()

    def _scored(self, values: list[list[float] | None]) -> tuple[Any, Any]:
        import numpy as np

        scores, labels = np.full(len(values), np.nan), np.zeros(len(values), int)
        known = np.array([each is not None for each in values], bool)
        if known.any():
            self._check_columns()
            if not self._has_rows():
                self.detector.family = _with_names(self.detector.family, self.format.names)
            X = np.array([each for each in values if each is not None])
            found = self.detector.score_learn(X, return_labels=True)
            if not hasattr(self.detector, "feature_names_in_"):
                self.detector.feature_names_in_ = np.array(self.format.names, dtype=object)
            scores[known], labels[known] = found
            self.counts["anomalies"] += int(np.sum(labels == -1))
            self.scores = np.concatenate([self.scores, scores[known]])[-_KEPT_SCORES:]
        return scores, labels

    def _check_columns(self) -> None:
        saved = [str(name) for name in getattr(self.detector, "feature_names_in_", [])]
        if saved and saved != self.format.names:
            raise ValueError(
                f"{self.args.state} was saved for the columns {', '.join(saved)}, and the stream "
                f"has {', '.join(self.format.names or [])}: give the same columns, or another "
                "--state."
            )

    def _tell_broken(self, why: str) -> None:
        self.counts["broken"] += 1
        if self.counts["broken"] <= _TOLD_BROKEN and not self.args.quiet:
            print(f"piforest: line {self.line}: {why}; no score", file=sys.stderr)
            if self.counts["broken"] == _TOLD_BROKEN:
                print("piforest: further broken lines are only counted", file=sys.stderr)

    def _tell_drift(self) -> None:
        from ..watching import describe_drift

        events = self._drift()
        if not self.args.quiet and not self.args.show:
            for event in events[self.events :]:
                print(f"piforest: row {event.row:,}: {describe_drift(event)}", file=sys.stderr)
        self.events = len(events)

    def _print(self, lines: list[str]) -> None:
        if lines and not (self.args.show and sys.stdout.isatty()):
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()

    def _show(self, last: bool = False) -> None:
        """Draw the view over the one before; elsewhere than on a terminal, only the last one."""
        from ..watching import view

        now, terminal = time.monotonic(), sys.stderr.isatty()
        if not self._has_rows() or not (last or (terminal and now - self.viewed > _VIEW_EVERY)):
            return
        rate = (self.detector.n_seen_ - self.n_before) / max(now - self.started, 1e-9)
        width = shutil.get_terminal_size().columns if terminal else 80
        text = view(self.detector, self.scores, self.counts, rate, width)
        up = f"\x1b[{self.view_lines}A\x1b[J" if terminal and self.view_lines else ""
        sys.stderr.write(up + text)
        sys.stderr.flush()
        self.viewed, self.view_lines = now, text.count("\n")

    def save(self) -> None:
        """Save the state, if a file is given and rows were learned."""
        if self.args.state is not None and self._has_rows():
            self.detector.save(self.args.state)
        self.saved = time.monotonic()

    def close(self) -> None:
        """Print the final numbers."""
        if self.args.show:
            self._show(last=True)
        if self.args.quiet or not self._has_rows():
            return
        n = self.detector.n_seen_
        learned = f"{n - self.n_before:,} rows, {self.counts['anomalies']:,} anomalies"
        kept = "" if self.args.state is None else f"; {self.args.state} holds the state of {n:,}"
        broken = f", {self.counts['broken']:,} broken lines" if self.counts["broken"] else ""
        with suppress(OSError):
            print(f"piforest: {learned}{broken}{kept}", file=sys.stderr)


def _detector(args: argparse.Namespace) -> Any:
    """The detector of the state, if there is one, else a new one."""
    from ...estimators import StreamingPreferenceIsolationForest
    from ...families import get_family
    from ...streams.settings import StreamSettings

    given = {
        "window": args.window, "sigma": args.sigma, "contamination": args.contamination
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    if args.family is not None or args.option:
        given["family"] = get_family(args.family or "line", **dict(args.option))
    if args.state is None or not args.state.exists():
        detector = StreamingPreferenceIsolationForest(random_state=args.seed).set_params(**given)
        StreamSettings.from_estimator(detector)
        return detector
    detector = StreamingPreferenceIsolationForest.load(args.state)
    saved = detector.get_params(deep=False)
    saved["family"] = detector.stream_.settings.reservoir.family
    if "family" in given:
        columns = [str(each) for each in getattr(detector, "feature_names_in_", [])]
        given["family"] = _with_names(given["family"], columns)
    for name, value in given.items():
        if saved[name] != value:
            raise ValueError(
                f"{args.state} is the state of another model: its {name} is {saved[name]!r}, not "
                f"{value!r}. Leave --{name} out, or give another --state."
            )
    return detector


def _with_names(family: Any, columns: list[str] | None) -> Any:
    """The family, with the number of the column that its target names."""
    return family.with_names(columns or []) if hasattr(family, "with_names") else family
