"""`piforest reproduce`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ._options import UsageError, add_seed, count, folder, jobs, names
from ._output import Output

HELP = "reproduce the tables and figures of the paper"
DESCRIPTION = (
    "Run the experiments of the paper and write its tables and figures to one page, with our "
    "numbers beside the published ones. Takes about half an hour on two cores. An interrupted run "
    "can be continued."
)
# The names in piforest.reproduction, repeated here because its import takes a second.
_PARTS = ("synthetic", "homography", "fundamental", "share", "variants", "figures", "pairs")
_REAL = (
    "lines", "tables", "scans", "units", "unrelated", "related", "segments", "anomalies", "scenes",
)  # fmt: skip


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=folder, default=Path("reproduction"), metavar="FOLDER",
        help="folder of the page and the finished cells (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=_parts, default=list(_PARTS), metavar="NAMES",
        help=f"some of {','.join(_PARTS)}, separated by commas (default: all), or beyond alone",
    )  # fmt: skip
    parser.add_argument(
        "--beyond", action="store_true",
        help="also evaluate what goes beyond the paper, on its datasets and on synthetic scenes, "
        "in beyond.html",
    )  # fmt: skip
    parser.add_argument(
        "--real", action="store_true",
        help="evaluate instead on real data and on noisy, rounded and scaled scenes, in "
        "real_data.html",
    )  # fmt: skip
    parser.add_argument(
        "--scenes", action="store_true",
        help="run instead on scenes by seed that stand for the paper's lines and circles, which "
        "needs no data, in scenes.html",
    )  # fmt: skip
    parser.add_argument(
        "--part", type=_real_parts, metavar="NAMES",
        help=f"with --real: some of {','.join(_REAL)}, separated by commas (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--compare", type=Path, metavar="FILE",
        help="with --real: print the means beside those of an earlier real.json",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true",
        help="a few datasets, two runs; with --real, one run of a third of the cells",
    )  # fmt: skip
    parser.add_argument(
        "--runs", type=count,
        help="number of runs (default: 10, with --quick 2), and half the number of scenes of "
        "--beyond; with --real, the most of a cell",
    )  # fmt: skip
    add_seed(parser)
    parser.add_argument(
        "--jobs", type=jobs, default=-1,
        help="number of processes, -1 for all cores (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace, output: Output) -> None:
    for name in ("part", "compare"):
        if getattr(args, name) is not None and not args.real:
            raise UsageError(f"--{name} needs --real.")
    if args.scenes and (args.real or args.beyond):
        raise UsageError("--scenes goes alone: without --real and --beyond.")
    options: dict[str, Any] = {
        "runs": args.runs,
        "quick": args.quick,
        "seed": args.seed,
        "n_jobs": args.jobs,
        "log": output.say,
    }
    if args.real:
        from ...reproduction.real.reproduce import reproduce_real

        reproduce_real(args.out, parts=args.part, compare_with=args.compare, **options)
    elif args.scenes:
        from ...reproduction.stand_ins import reproduce_scenes

        reproduce_scenes(args.out, **options)
    else:
        from ...reproduction.reproduce import reproduce

        only = list(dict.fromkeys([*args.only, "beyond"])) if args.beyond else args.only
        reproduce(args.out, only=only, **options)


def _parts(text: str) -> list[str]:
    return [text] if text == "beyond" else _known(text, _PARTS)


def _real_parts(text: str) -> list[str]:
    return _known(text, _REAL)


def _known(text: str, known: tuple[str, ...]) -> list[str]:
    parts = names(text)
    for name in parts:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name!r} must be one of {', '.join(known)}")
    return parts
