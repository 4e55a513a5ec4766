"""`piforest gallery`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._options import add_seed, folder, names
from ._output import Output

HELP = "show every family on a synthetic scene"
DESCRIPTION = (
    "Generate a scene for each family, detect its anomalies, compare with isolation forest and "
    "LOF, and write a page with figures."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=folder, default=Path("families"), metavar="FOLDER",
        help="folder of the page and the figures (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=names, metavar="NAMES",
        help="only these families, separated by commas, and no page",
    )  # fmt: skip
    add_seed(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...reproduction.gallery import gallery

    gallery(args.out, args.only, args.seed, output.say)
