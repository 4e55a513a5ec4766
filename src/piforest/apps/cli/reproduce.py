"""`piforest reproduce`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._options import add_seed, count, folder, jobs, names
from ._output import Output

HELP = "make the paper's tables and figures"
DESCRIPTION = (
    "Run the paper's experiments and write its tables and figures, with our numbers beside the "
    "printed ones, to one page. All of it takes about half an hour on two cores. An interrupted "
    "run goes on where it stopped."
)
# The names in piforest.reproduction.reproduce, repeated here since importing it takes a second.
_PARTS = ("synthetic", "homography", "fundamental", "share", "variants", "figures", "pairs")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=folder, default=Path("reproduction"), metavar="FOLDER",
        help="where the page and the finished cells go (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=_parts, default=list(_PARTS), metavar="NAMES",
        help=f"some of {','.join(_PARTS)}, separated by commas (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--beyond", action="store_true",
        help="also what goes past the paper, on its sets and on made scenes, to beyond.html",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a few sets, two runs")
    parser.add_argument("--runs", type=count, help="default: 10, with --quick 2")
    add_seed(parser)
    parser.add_argument(
        "--jobs", type=jobs, default=-1, help="processes, -1 for all cores (default: %(default)s)"
    )


def run(args: argparse.Namespace, output: Output) -> None:
    from ...reproduction.reproduce import reproduce

    reproduce(
        args.out,
        only=[*args.only, "beyond"] if args.beyond else args.only,
        runs=args.runs,
        quick=args.quick,
        seed=args.seed,
        n_jobs=args.jobs,
        say=output.say,
    )


def _parts(text: str) -> list[str]:
    parts = names(text)
    for name in parts:
        if name not in _PARTS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(_PARTS)}")
    return parts
