"""`piforest reproduce`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._options import add_seed, count, folder, jobs, names
from ._output import Output

HELP = "reproduce the tables and figures of the paper"
DESCRIPTION = (
    "Run the experiments of the paper and write its tables and figures to one page, with our "
    "numbers beside the published ones. Takes about half an hour on two cores. An interrupted run "
    "can be continued."
)
# The names in piforest.reproduction.reproduce, repeated here because its import takes a second.
_PARTS = ("synthetic", "homography", "fundamental", "share", "variants", "figures", "pairs")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=folder, default=Path("reproduction"), metavar="FOLDER",
        help="folder of the page and the finished cells (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=_parts, default=list(_PARTS), metavar="NAMES",
        help=f"some of {','.join(_PARTS)}, separated by commas (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--beyond", action="store_true",
        help="also evaluate what goes beyond the paper, on its datasets and on synthetic scenes, "
        "in beyond.html",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a few datasets, two runs")
    parser.add_argument("--runs", type=count, help="number of runs (default: 10, with --quick 2)")
    add_seed(parser)
    parser.add_argument(
        "--jobs", type=jobs, default=-1,
        help="number of processes, -1 for all cores (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace, output: Output) -> None:
    from ...reproduction.reproduce import reproduce

    reproduce(
        args.out,
        only=[*args.only, "beyond"] if args.beyond else args.only,
        runs=args.runs,
        quick=args.quick,
        seed=args.seed,
        n_jobs=args.jobs,
        log=output.say,
    )


def _parts(text: str) -> list[str]:
    parts = names(text)
    for name in parts:
        if name not in _PARTS:
            raise argparse.ArgumentTypeError(f"{name!r} must be one of {', '.join(_PARTS)}")
    return parts
