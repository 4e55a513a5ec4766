"""`piforest demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._options import add_seed, picture
from ._output import Output

HELP = "detect the anomalies of a synthetic scene and draw them"
DESCRIPTION = "Generate circles and anomalies, detect them, compare methods and draw the result."


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=picture, default=Path("piforest_demo.png"), metavar="FILE",
        help="file of the figure, .png, .svg or .pdf (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--no-picture", action="store_true", help="do not draw a figure")
    add_seed(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from .. import demo

    demo.run(None if args.no_picture else args.out, args.seed, output.say)
