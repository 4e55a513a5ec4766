"""`piforest demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._options import add_seed, picture
from ._output import Output

HELP = "detect the anomalies of a made scene and draw them"
DESCRIPTION = "Draw a scene of circles among anomalies, detect them, compare and show."


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=picture, default=Path("piforest_demo.png"), metavar="FILE",
        help="where the picture goes, .png, .svg or .pdf (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--no-picture", action="store_true", help="print only")
    add_seed(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from .. import demo

    demo.run(None if args.no_picture else args.out, args.seed, output.say)
