"""The command line: parsing and printing only.

Exit codes: 0 done, 1 the work failed, 2 the command was not understood, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__

# The names in piforest.experiments.reproduce, repeated here since importing it takes a second.
_PARTS = ("synthetic", "homography", "fundamental", "share", "variants", "figures", "pairs")


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "command"):
        parser.print_help()
        return 2
    try:
        args.command(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is left to say, nor to whom.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError) as error:
        print(f"piforest: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("piforest: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="piforest", description="Find the points that follow no pattern."
    )
    parser.add_argument("--version", action="version", version=f"piforest {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="detect the anomalies of a made scene and draw them",
        description="Draw a scene of circles among anomalies, detect them, compare and show.",
    )
    demo.add_argument(
        "--out",
        type=_picture,
        default=Path("piforest_demo.png"),
        metavar="FILE",
        help="where the picture goes, .png, .svg or .pdf (default: %(default)s)",
    )
    demo.add_argument("--no-picture", action="store_true", help="print only")
    demo.add_argument("--seed", type=_seed, default=0, help="another scene (default: %(default)s)")
    demo.set_defaults(command=_demo)
    reproduce = commands.add_parser(
        "reproduce",
        help="make the paper's tables and figures",
        description="Run the paper's experiments and write its tables and figures, with our "
        "numbers beside the printed ones, to one page. All of it takes about half an hour on two "
        "cores. An interrupted run goes on where it stopped.",
    )
    reproduce.add_argument(
        "--out", type=_folder, default=Path("reproduction"), metavar="FOLDER",
        help="where the page and the finished cells go (default: %(default)s)",
    )  # fmt: skip
    reproduce.add_argument(
        "--only", type=_parts, default=list(_PARTS), metavar="NAMES",
        help=f"some of {','.join(_PARTS)}, separated by commas (default: all)",
    )  # fmt: skip
    reproduce.add_argument(
        "--beyond", action="store_true",
        help="also what goes past the paper, on its sets and on made scenes, to beyond.html",
    )  # fmt: skip
    reproduce.add_argument("--quick", action="store_true", help="a few sets, two runs")
    reproduce.add_argument("--runs", type=_count, help="default: 10, with --quick 2")
    reproduce.add_argument("--seed", type=_seed, default=0, help="default: %(default)s")
    reproduce.add_argument(
        "--jobs", type=_jobs, default=-1, help="processes, -1 for all cores (default: %(default)s)"
    )
    reproduce.set_defaults(command=_reproduce)
    gallery = commands.add_parser(
        "gallery",
        help="show every family on a made scene of its own",
        description="Draw a scene for each family, detect, compare with isolation forest and LOF, "
        "and write a page with the pictures.",
    )
    gallery.add_argument(
        "--out", type=_folder, default=Path("families"), metavar="FOLDER",
        help="where the page and the pictures go (default: %(default)s)",
    )  # fmt: skip
    gallery.add_argument(
        "--only", metavar="NAMES", help="some families, separated by commas; no page then"
    )
    gallery.add_argument("--seed", type=_seed, default=0, help="default: %(default)s")
    gallery.set_defaults(command=_gallery)
    return parser


def _gallery(args: argparse.Namespace) -> None:
    from .experiments.gallery import gallery

    only = None if args.only is None else [name.strip() for name in args.only.split(",")]
    gallery(args.out, only, args.seed, lambda text: print(text, flush=True))


def _reproduce(args: argparse.Namespace) -> None:
    from .experiments.reproduce import reproduce

    reproduce(
        args.out,
        only=[*args.only, "beyond"] if args.beyond else args.only,
        runs=args.runs,
        quick=args.quick,
        seed=args.seed,
        n_jobs=args.jobs,
        say=lambda text: print(text, flush=True),
    )


def _demo(args: argparse.Namespace) -> None:
    from . import demo

    demo.run(None if args.no_picture else args.out, args.seed, lambda text: print(text, flush=True))


def _parts(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in _PARTS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(_PARTS)}")
    return names


def _jobs(text: str) -> int:
    if text != "-1" and (not text.isdecimal() or int(text) < 1):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1, or -1")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 0 to 2**32 - 1")
    return int(text)


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a folder must have a name")
    return Path(text)


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise argparse.ArgumentTypeError(f"{text!r} must end in .png, .svg or .pdf")
    return path
