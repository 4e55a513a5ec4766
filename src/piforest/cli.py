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
    return parser


def _demo(args: argparse.Namespace) -> None:
    from . import demo

    demo.run(None if args.no_picture else args.out, args.seed, lambda text: print(text, flush=True))


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 0 to 2**32 - 1")
    return int(text)


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise argparse.ArgumentTypeError(f"{text!r} must end in .png, .svg or .pdf")
    return path
