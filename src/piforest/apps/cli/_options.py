"""Options that several commands share, and what their values must look like."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path
from typing import Any


class Misunderstood(ValueError):
    """Options that cannot be meant, found after they were parsed one by one."""


PICTURES = (".png", ".svg", ".pdf")


def add_common(parser: argparse.ArgumentParser) -> None:
    """What every command that detects or scores has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object, for machines")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument(
        "--force", action="store_true", help="overwrite output files that are there already"
    )
    parser.add_argument(
        "--jobs", type=jobs, default=-1, metavar="N",
        help="threads, -1 for all cores; results do not depend on it (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--device", default="cpu", metavar="NAME",
        help="what computes: cpu; cuda or cuda:1, a GPU through PyTorch; auto, a GPU where there "
        "is one (default: %(default)s)",
    )  # fmt: skip


def add_seed(parser: argparse.ArgumentParser, default: int = 0) -> None:
    parser.add_argument(
        "--seed", type=seed, default=default, help="one seed, one answer (default: %(default)s)"
    )


def jobs(text: str) -> int:
    if text != "-1" and (not text.isdecimal() or int(text) < 1):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1, or -1")
    return int(text)


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 0 to 2**32 - 1")
    return int(text)


def auto_or_positive(text: str) -> str | float:
    """ "auto" or a number above 0."""
    if text == "auto":
        return text
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0, or 'auto'")
    return value


def auto_or_share(text: str) -> str | float:
    """ "auto" or a number between 0 and 1."""
    if text == "auto":
        return text
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be between 0 and 1, or 'auto'")
    return value


def names(text: str) -> list[str]:
    """Names separated by commas."""
    listed = [name.strip() for name in text.split(",")]
    if not all(listed):
        raise argparse.ArgumentTypeError(f"{text!r} must be names separated by commas")
    return listed


def option(text: str) -> tuple[str, Any]:
    """NAME=VALUE, the value as Python writes it, or text."""
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
    if not text:
        raise argparse.ArgumentTypeError("a file must have a name")
    if text == "-":
        raise argparse.ArgumentTypeError(
            "'-' is no file, and nothing but FILE can be a stream: give a name, such as out.csv"
        )
    return Path(text)


def page(text: str) -> Path:
    return _ending(text, (".html", ".htm"))


def folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a folder must have a name")
    return Path(text)


def picture(text: str) -> Path:
    return _ending(text, PICTURES)


def _ending(text: str, endings: tuple[str, ...]) -> Path:
    path = Path(text)
    if path.suffix.lower() not in endings:
        *most, last = endings
        raise argparse.ArgumentTypeError(f"{text!r} must end in {', '.join(most)} or {last}")
    return path


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
