"""`piforest matches`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ._cameras import add_cameras, check_cameras
from ._detecting import add_detector, families_from
from ._match_pair import run_pair, suggest_pair
from ._match_pairs import run_many
from ._options import UsageError, add_common, add_seed, count, file, folder, names
from ._output import Output
from ._writing import add_outputs, check_outputs

HELP = "find the false matches between images"
DESCRIPTION = (
    "Match two images, or all images of a folder, or read matches from a file, and find those that "
    "follow no motion of a family: fundamental matrices for rigid bodies, homographies for planes. "
    "Without --family, the families of motions are compared first, and the best is taken; many "
    "pairs have fundamental matrices by default. "
    "A COLMAP database or matches of hloc are filtered pair by pair, and written back with --out."
)
_DATABASES = (".db", ".sqlite")
_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
_MANY = (*_DATABASES, ".h5", ".hdf5")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs", type=file, nargs="+", metavar="INPUT",
        help="two images; or one folder of images; or one file of matches: a COLMAP database "
        "(.db), matches of hloc (.h5), of LightGlue, SuperGlue or LoFTR (.npz), or a table",
    )  # fmt: skip
    _add_matching(parser)
    _add_given(parser)
    parser.add_argument(
        "--suggest", action="store_true",
        help="compare the families of motions of one pair, as without --family, and stop",
    )  # fmt: skip
    add_cameras(parser)
    _add_many(parser)
    add_detector(parser, "auto", scalable=False)
    add_outputs(
        parser,
        "the matches, with score, anomaly, structure and distance; or, with the ending of the file "
        "of matches, a copy of it with the kept ones",
        "both images side by side: anomalies, and the motions by colour",
        "--draw",
    )
    add_seed(parser)
    add_common(parser)


def _add_matching(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("matching")
    group.add_argument(
        "--features", choices=("sift", "orb", "akaze"), help="the features (default: sift)"
    )
    group.add_argument(
        "--ratio", type=_ratio, metavar="SHARE",
        help="keep a match if its descriptor is nearer than this times the second nearest "
        "(default: 0.8)",
    )  # fmt: skip
    group.add_argument(
        "--no-mutual", action="store_true",
        help="keep matches that are nearest neighbours in one direction only",
    )  # fmt: skip
    group.add_argument(
        "--max-size", type=count, metavar="PIXELS",
        help="make images smaller for their features, so that the longer side has this many "
        "pixels; matches stay in pixels of the files (default: as they are)",
    )  # fmt: skip
    group.add_argument(
        "--mask", type=file, action="append", metavar="FILE",
        help="an image that is black where no features are wanted; twice, for both images",
    )  # fmt: skip
    group.add_argument(
        "--masks", type=folder, metavar="FOLDER",
        help="masks of a folder of images, each named as its image, with or without .png behind it",
    )  # fmt: skip


def _add_given(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("given matches")
    group.add_argument(
        "--matches", type=file, metavar="FILE", help="read the matches of the two images from FILE"
    )
    group.add_argument(
        "--keypoints", type=file, metavar="FILE",
        help="the keypoints that matches of hloc refer to, .h5",
    )  # fmt: skip
    group.add_argument(
        "--pair", type=_pair, metavar="NAME,NAME",
        help="names of the two images in the file of matches (default: their file names)",
    )  # fmt: skip
    group.add_argument(
        "--columns", type=names, metavar="NAMES",
        help="the columns of a table in place of x1,y1,x2,y2",
    )  # fmt: skip
    group.add_argument(
        "--array", metavar="NAME", help="name of the array of rows x1, y1, x2, y2 in a .npz or .mat"
    )
    group.add_argument(
        "--quality", nargs="?", const=True, metavar="COLUMN",
        help="draw samples in proportion to the scores of the matches, or to a column of a table",
    )  # fmt: skip


def _add_many(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("many pairs")
    group.add_argument(
        "--pairs", choices=("all", "sequence"), default="all",
        help="of a folder of images: all pairs, or each image with the next ones by name "
        "(default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--overlap", type=count, metavar="N",
        help="with --pairs sequence: how many next ones (default: 1)",
    )  # fmt: skip
    group.add_argument(
        "--keep", choices=("all", "largest"), default="all",
        help="matches of all motions, or of the one with the most matches, the static scene "
        "(default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--least", type=count, default=15, metavar="N",
        help="pairs with fewer matches are not examined (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--table", type=file, metavar="FILE", help="a table of the pairs, such as pairs.csv"
    )
    group.add_argument(
        "--in-place", action="store_true",
        help="write the two-view geometries into the COLMAP database itself",
    )  # fmt: skip


def run(args: argparse.Namespace, output: Output) -> None:
    many = _is_many(args)
    _check_options(args, many)
    check_cameras(args)
    if args.suggest:
        suggest_pair(args, output)
        return
    if many and args.family == ["auto"]:
        args.family = ["fundamental"]
    families = families_from(args)
    _check_families(families)
    if many:
        run_many(args, output)
        return
    check_outputs(args, output)
    run_pair(args, output, families)


def _is_many(args: argparse.Namespace) -> bool:
    if len(args.inputs) > 2:
        raise UsageError(
            f"{len(args.inputs)} inputs are too many: name two images, a folder of images, or a "
            "file of matches."
        )
    one: Path = args.inputs[0]
    if len(args.inputs) == 1 and one.suffix.lower() in _PICTURES and one.is_file():
        raise UsageError(f"{one} is one image; name two, or a folder of images.")
    return (
        len(args.inputs) == 1
        and args.pair is None
        and (one.is_dir() or one.suffix.lower() in _MANY)
    )


def _check_options(args: argparse.Namespace, many: bool) -> None:
    one = args.inputs[0] if len(args.inputs) == 1 else None
    images = one is not None and one.is_dir()
    given = args.matches is not None or (one is not None and not images)
    if one is not None and args.matches is not None:
        raise UsageError("--matches belongs to two images: name both, or the file alone.")
    options = {
        "features": args.features, "ratio": args.ratio, "no-mutual": args.no_mutual or None,
        "mask": args.mask, "masks": args.masks,
        "max-size": args.max_size,
    }  # fmt: skip
    for name, value in options.items():
        if given and value is not None:
            source = args.matches if one is None else one
            raise UsageError(
                f"--{name} applies to matching, but the matches are read from {source}: omit "
                f"--{name}" + (" or --matches." if one is None else ".")
            )
    for name, value in {"pair": args.pair, "keypoints": args.keypoints, "columns": args.columns,
                        "array": args.array}.items():  # fmt: skip
        if value is not None and not given:
            raise UsageError(f"--{name} belongs to a file of matches: use it with --matches.")
    if args.mask is not None and (images or len(args.mask) > 2):
        raise UsageError("--mask takes the masks of two images; --masks FOLDER those of a folder.")
    if args.masks is not None and not images:
        raise UsageError("--masks is a folder for a folder of images; --mask takes one mask.")
    if args.quality not in (None, True) and many:
        raise UsageError("--quality takes a column of a table; without a name, any scores.")
    if args.suggest and (many or args.family != ["auto"]):
        raise UsageError("--suggest compares the families of one pair: name two images, or --pair "
                         "of a file of matches, and no --family.")  # fmt: skip
    for name in ("out", "report", "model"):
        if args.suggest and getattr(args, name) is not None:
            raise UsageError(f"--suggest fits nothing that --{name} could hold; it takes --plot.")
    _check_many(args, many, images)


def _check_many(args: argparse.Namespace, many: bool, images: bool) -> None:
    if args.overlap is not None and args.pairs != "sequence":
        raise UsageError("--overlap belongs to --pairs sequence.")
    for name in ("report", "plot", "model", "connected"):
        if many and getattr(args, name):
            raise UsageError(
                f"--{name} is of one pair: name two images, or --pair of a file of matches."
            )
    unused = {
        "pairs": args.pairs != "all" and not images,
        "table": args.table is not None and not many,
        "in-place": args.in_place and not many,
    }
    for name, is_unused in unused.items():
        if is_unused:
            raise UsageError(f"--{name} is for many pairs: a folder of images, a database, hloc.")
    if args.in_place and (args.inputs[0].suffix.lower() not in _DATABASES or args.out is not None):
        raise UsageError("--in-place changes a COLMAP database (.db); --out writes a copy instead.")


def _check_families(families: list[Any]) -> None:
    from ...vision import match_families

    for family in families:
        if family.name not in match_families():
            raise ValueError(
                f"family {family.name!r} does not take matches between images; families that do: "
                f"{', '.join(match_families())}."
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
