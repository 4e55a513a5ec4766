"""Options of commands that detect in windows."""

from __future__ import annotations

import argparse
from typing import Any

from ._options import jobs, positive


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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--force", action="store_true", help="overwrite existing output files")
    parser.add_argument(
        "--jobs", type=jobs, default=-1, metavar="N",
        help="number of threads, -1 for all cores; does not change results (default: %(default)s)",
    )  # fmt: skip
