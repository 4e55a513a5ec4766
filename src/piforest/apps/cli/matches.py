"""`piforest matches`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._detecting import add_detector, detect_and_write, families_from
from ._input import Points
from ._options import UsageError, add_common, add_seed, file, names
from ._output import Output
from ._plots import draw_matches
from ._writing import add_outputs, check_outputs, with_default_suffix

if TYPE_CHECKING:
    from ...io.tables import Table

HELP = "find the false matches between two images"
DESCRIPTION = (
    "Match two images (SIFT and the ratio test), or read matches from a file, and find those that "
    "follow no motion of a family: fundamental matrices for rigid bodies, homographies for planes."
)
_RATIO = 0.8


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("image1", type=file, metavar="A.jpg", help="the first image")
    parser.add_argument("image2", type=file, metavar="B.jpg", help="the second image, of any size")
    group = parser.add_argument_group("matching")
    group.add_argument(
        "--ratio", type=_ratio, metavar="SHARE",
        help="keep a match if its descriptor is nearer than this times the second nearest "
        f"(default: {_RATIO})",
    )  # fmt: skip
    group.add_argument("--mutual", action="store_true", help="keep only mutual nearest neighbours")
    group.add_argument(
        "--matches", type=file, metavar="FILE",
        help="read the matches from a table with the columns x1, y1, x2, y2 in pixels, or from a "
        "COLMAP database (.db)",
    )  # fmt: skip
    group.add_argument(
        "--pair", type=_pair, metavar="NAME,NAME",
        help="names of the images in the COLMAP database (default: their file names)",
    )  # fmt: skip
    add_detector(parser, "fundamental")
    add_outputs(
        parser,
        "the matches: x1, y1, x2, y2 in pixels, the ratio of descriptors, score and anomaly",
        "both images side by side, with matches coloured by score",
        "--draw",
    )
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    import numpy as np

    from ...io.tables import with_scores
    from ...io.tables.matches import MATCH
    from ...vision import read_image

    args.out = with_default_suffix(args.out, "matches.csv")
    _check_options(args)
    check_outputs(args, output)
    families = families_from(args)
    _check_families(families)
    images = [read_image(args.image1), read_image(args.image2)]
    table, how = _matches(args, images)
    X = table.numbers(MATCH)
    points = Points(table, list(MATCH), X, table.rows, np.ones(len(X), bool))
    detect_and_write(
        args,
        output,
        families,
        points,
        heading=f"matches     {len(X):,} {how}",
        shown=table.columns,
        about={"images": [str(args.image1), str(args.image2)], "matching": how},
        add_scores=with_scores,
        draw=lambda path, found: draw_matches(
            path, images, X, found.scores, found.summary["threshold"]
        ),
        images=images,
    )


def _matches(args: argparse.Namespace, images: list[Any]) -> tuple[Table, str]:
    """The matches, and a description of their origin."""
    from ...io.tables import Table, read_matches
    from ...io.tables.matches import MATCH
    from ...vision import match_images

    between = f"between {args.image1.name} and {args.image2.name}"
    if args.matches is not None:
        pair = args.pair
        if pair is None and args.matches.suffix.lower() == ".db":
            pair = (args.image1.name, args.image2.name)
        table = read_matches(args.matches, pair=pair)
        table.check_complete(MATCH, "remove such rows, or fill them")
        _check_inside(table.numbers(MATCH), images, args.matches)
        return table, f"of {args.matches} {between}"
    ratio = _RATIO if args.ratio is None else args.ratio
    found = match_images(*images, ratio=ratio, mutual=args.mutual)
    if not len(found.X):
        raise ValueError(
            f"there are no matches {between}: no pair of features passes the ratio test at "
            f"{ratio:g}. Do the images show the same scene? --ratio 0.9 keeps more."
        )
    columns = {**dict(zip(MATCH, found.X.T)), "ratio": found.ratio}
    how = f"{between}, SIFT, ratio below {ratio:g}" + (", mutual" if args.mutual else "")
    return Table(columns, f"{args.image1.name} and {args.image2.name}", points=MATCH), how


def _check_options(args: argparse.Namespace) -> None:
    if args.matches is None and args.pair is not None:
        raise UsageError("--pair selects images of a COLMAP database: use it with --matches.")
    for name, given in (("ratio", args.ratio is not None), ("mutual", args.mutual)):
        if args.matches is not None and given:
            raise UsageError(
                f"--{name} applies to matching, but the matches are read from {args.matches}: omit "
                f"--{name} or --matches."
            )


def _check_families(families: list[Any]) -> None:
    from ...vision import match_families

    for family in families:
        if family.name not in match_families():
            raise ValueError(
                f"family {family.name!r} does not take matches between images; families that do: "
                f"{', '.join(match_families())}."
            )


def _check_inside(X: Any, images: list[Any], path: Path) -> None:
    """Warn of matches outside of the images: they belong to other images or sizes."""
    import numpy as np

    from ..._validation import warn_user

    sizes = np.array([size for image in images for size in image.shape[1::-1]])
    outside = int(np.any((X < -1) | (sizes + 1 < X), axis=1).sum())
    if outside:
        shown = " and ".join(f"{image.shape[1]} x {image.shape[0]}" for image in images)
        warn_user(
            f"{outside} of {len(X)} matches of {path} lie outside the images ({shown} pixels); "
            "do they belong to images of another size?"
        )


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0, at most 1")
    return value


def _pair(text: str) -> tuple[str, str]:
    listed = names(text)
    if len(listed) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} must be two names separated by a comma")
    return listed[0], listed[1]
