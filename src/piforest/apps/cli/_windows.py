"""Shared by commands that detect in windows: their options, their summary, their tables."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io.atomic import atomic_write
from ._options import UsageError, add_jobs, add_printing, positive
from ._output import Output
from ._writing import check_installed

if TYPE_CHECKING:
    from ...estimators import LocalPreferenceIsolationForest


def add_window(group: Any, unit: str) -> None:
    group.add_argument(
        "--window", type=sides, default="auto", metavar="SIDE",
        help=f"side of the windows in {unit}, or several separated by commas (default: the whole "
        "range, a half, a quarter and an eighth, as long as windows have enough rows)",
    )  # fmt: skip


def sides(text: str) -> str | list[float]:
    """ "auto", or numbers above 0 separated by commas."""
    if text == "auto":
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(0 < value < float("inf") for value in values):
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a number above 0, several separated by commas, or 'auto'"
        )
    return values


def add_threshold(group: Any) -> None:
    group.add_argument(
        "--threshold", type=positive, metavar="SCORE",
        help="flag what scores above this, in place of a share; scores of different files are not "
        "comparable, so choose it by an earlier result of the same file",
    )  # fmt: skip


def add_threads(parser: argparse.ArgumentParser) -> None:
    """The options of every command, without the device: windows are computed on the CPU."""
    add_printing(parser)
    add_jobs(parser)


def check_outputs(
    args: argparse.Namespace, output: Output, suffixes: Mapping[str, Sequence[str]]
) -> None:
    """Raise before the work if an output could not be written. suffixes: by option."""
    output.check_new(args.out, args.table, args.scores)
    if args.out is not None:
        check_installed("matplotlib", "pictures need matplotlib: pip install 'piforest[plots]'")
    for name, known in suffixes.items():
        path = getattr(args, name)
        if path is not None and path.suffix.lower() not in known:
            raise UsageError(f"--{name} must end in {' or '.join(known)}, got {path.name}.")


def window_summary(detector: LocalPreferenceIsolationForest) -> dict[str, Any]:
    """The windows and the noise in them, as in JSON."""
    return {
        "windows": len(detector.windows_),
        "window_sides": [float(each.side) for each in detector.fitted_.tilings],
        "sigma": float(detector.sigma_),
        "sigma_source": detector.sigma_source_,
    }


def write_records(path: Path, records: list[dict[str, Any]], names: Sequence[str]) -> None:
    """Write records as .json, or as .csv with columns of these names."""
    if path.suffix.lower() == ".json":
        text = json.dumps(records, indent=2, allow_nan=False) + "\n"
    else:
        lines = io.StringIO()
        writer = csv.DictWriter(lines, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        text = lines.getvalue()
    with atomic_write(path) as file:
        file.write(text.encode())
