"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import argparse
import ast
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class UsageError(ValueError):
    """Options that are valid one by one but not together; exit code 2."""


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that detects or scores."""
    add_printing(parser)
    add_jobs(parser)
    parser.add_argument(
        "--device", default="cpu", metavar="NAME",
        help="cpu; cuda or cuda:1, a GPU through PyTorch; auto, a GPU if there is one (default: "
        "%(default)s)",
    )  # fmt: skip


def add_printing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--force", action="store_true", help="overwrite existing output files")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=jobs, default=-1, metavar="N",
        help="number of threads, -1 for all cores; does not change results (default: %(default)s)",
    )  # fmt: skip


def add_family_option(group: Any, example: str = "degree=2") -> None:
    group.add_argument(
        "--option", type=option, action="append", default=[], metavar="NAME=VALUE",
        help=f"an option of the family, such as {example}; may be repeated",
    )  # fmt: skip


def add_sigma(group: Any, what: str) -> None:
    """what: the noise, and its unit."""
    group.add_argument(
        "--sigma", type=auto_or_positive, default="auto", metavar="NUMBER",
        help=f"{what} (default: estimated)",
    )  # fmt: skip


def add_contamination(group: Any, what: str) -> None:
    """what: the anomalies, in words."""
    group.add_argument(
        "--contamination", type=auto_or_share, default="auto", metavar="SHARE",
        help=f"share of {what} (default: the threshold is chosen automatically)",
    )  # fmt: skip


def add_seed(parser: argparse.ArgumentParser, default: int = 0) -> None:
    parser.add_argument(
        "--seed", type=seed, default=default, help="random seed (default: %(default)s)"
    )


def names_given(args: argparse.Namespace, options: Sequence[str]) -> dict[str, str]:
    """The files that these options name, by the option."""
    given = {name: getattr(args, name) for name in options}
    return {name: str(path) for name, path in given.items() if path is not None}


def jobs(text: str) -> int:
    return -1 if text == "-1" else _integer(text, 1, "an integer of at least 1, or -1")


def count(text: str) -> int:
    return _integer(text, 1, "an integer of at least 1")


def seed(text: str) -> int:
    return _integer(text, 0, "an integer from 0 to 2**32 - 1", 2**32)


def _integer(text: str, least: int, rule: str, end: float = float("inf")) -> int:
    if not text.isdecimal() or not least <= int(text) < end:
        raise argparse.ArgumentTypeError(f"{text!r} must be {rule}")
    return int(text)


def auto_or_positive(text: str) -> str | float:
    """ "auto" or a number above 0."""
    return text if text == "auto" else _between(text, float("inf"), "a number above 0, or 'auto'")


def positive(text: str) -> float:
    return _between(text, float("inf"), "a number above 0")


def auto_or_share(text: str) -> str | float:
    """ "auto" or a number between 0 and 1."""
    return text if text == "auto" else _between(text, 1, "between 0 and 1, or 'auto'")


def share(text: str) -> float:
    """A number between 0 and 1."""
    return _between(text, 1, "between 0 and 1")


def score(text: str) -> float:
    """An anomaly score, above 0 and at most 1."""
    return _between(text, math.nextafter(1, 2), "above 0 and at most 1, as scores are")


def _between(text: str, end: float, rule: str) -> float:
    """A number between 0 and `end`."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value < end:
        raise argparse.ArgumentTypeError(f"{text!r} must be {rule}")
    return value


def names(text: str) -> list[str]:
    """Names separated by commas."""
    listed = [name.strip() for name in text.split(",")]
    if not all(listed):
        raise argparse.ArgumentTypeError(f"{text!r} must be names separated by commas")
    return listed


def option(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is a Python literal or text."""
    name, mark, value = text.partition("=")
    if not (name.strip().isidentifier() and mark and value):
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=VALUE, such as degree=2")
    known = {"true": True, "false": False}
    if value.lower() in known:
        return name.strip(), known[value.lower()]
    try:
        return name.strip(), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name.strip(), value


def file(text: str) -> Path:
    if text == "-":
        raise argparse.ArgumentTypeError(
            "'-' is not a file; only FILE and --out can be streams: give a name"
        )
    return file_or_stream(text)


def file_or_stream(text: str) -> Path:
    """A file, or "-" for standard output."""
    if not text:
        raise argparse.ArgumentTypeError("the file name must not be empty")
    return Path(text)


def page(text: str) -> Path:
    return _with_suffix(text, (".html", ".htm"))


def json_file(text: str) -> Path:
    return _with_suffix(text, (".json",))


def folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the folder name must not be empty")
    return Path(text)


def picture(text: str) -> Path:
    return _with_suffix(text, (".png", ".jpg", ".jpeg", ".svg", ".pdf"))


def _with_suffix(text: str, suffixes: tuple[str, ...]) -> Path:
    path = Path(text)
    if path.suffix.lower() not in suffixes:
        *most, last = suffixes
        listed = f"{', '.join(most)} or {last}" if most else last
        raise argparse.ArgumentTypeError(f"{text!r} must end in {listed}")
    return path
