"""`piforest sample`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._options import add_seed, folder
from ._output import Output

HELP = "write a small file to try a command on"
DESCRIPTION = (
    "Write a sample: a table, two photos, a scan or points, with the command to try on it. "
    "Without a NAME, list the samples. The same seed writes the same file."
)
# The names in piforest.apps.samples, repeated here because its import takes a second.
_NAMES = ("table", "photos", "scan", "points")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", choices=_NAMES, metavar="NAME", help=", ".join(_NAMES))
    parser.add_argument(
        "--out", type=folder, default=Path(), metavar="FOLDER",
        help="folder of the files (default: this one)",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_seed(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ..samples import SAMPLES

    if args.name is None:
        for name, each in SAMPLES.items():
            output.say(f"{name:8}{', '.join(each.files)}: {each.about}")
        output.say("\n`piforest sample NAME` writes one.")
        output.result({"samples": {name: each.about for name, each in SAMPLES.items()}})
        return
    sample = SAMPLES[args.name]
    paths = [args.out / name for name in sample.files]
    output.check_new(*paths)
    sample.write(paths, args.seed)
    output.say(f"wrote {', '.join(map(str, paths))}: {sample.about}\n\ntry\n  {sample.command}")
    output.result({"files": list(map(str, paths)), "about": sample.about, "try": sample.command})
