"""`piforest matches` of one pair of images."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._progress import report_progress
from ._cameras import CALIBRATED, cameras_of
from ._detecting import Detection, DetectionTask, detect_and_write
from ._input import Points
from ._output import Output
from ._plots import draw_matches
from ._proposing import say_proposals
from ._writing import with_default_suffix

if TYPE_CHECKING:
    from ...io.matches import MatchFile, Pair
    from ...io.tables import Table
    from ...proposals import Proposals

RATIO = 0.8
# Normalised coordinates have other names than pixels, so that a model of one takes no other.
_NORMALISED = ("u1", "v1", "u2", "v2")


class _Matches(NamedTuple):
    """Matches and where they come from."""

    table: Table
    how: str
    """a description"""
    given: tuple[MatchFile, Pair] | None
    """the file that they are of"""


def run_pair(args: argparse.Namespace, output: Output, families: list[Any]) -> None:
    import numpy as np

    from ...io.tables import with_scores
    from ...vision.filtering import normalise_rows
    from ...vision.motions import motions_of

    start = time.perf_counter()
    images = _images(args)
    matches = _matches(args, images)
    table, columns = matches.table, list(matches.table.points)
    pixels = table.numbers(columns)
    proposals = None
    if not families:
        families, proposals = _proposed(args, output, pixels)
    calibrated = [family.name in CALIBRATED for family in families]
    cameras = cameras_of(args, families[0].name, _sizes(images, matches), matches.given)
    normalised = cameras is not None and all(calibrated)
    X = normalise_rows(pixels, cameras) if normalised else pixels
    if normalised:
        table = table.with_columns(dict(zip(_NORMALISED, X.T)))
        columns = list(_NORMALISED)
        if not isinstance(args.sigma, str):
            args.sigma /= _focal(cameras)
    quality = _quality(args, matches)
    points = Points(table, columns, X, table.rows, np.ones(len(X), bool), quality=quality)
    motions: dict[str, Any] = {}  # known when the detector is fitted

    def describe(found: Detection) -> Detection:
        structures = found.detector.structures_
        motions["labels"] = found.assigned.labels
        motions["all"] = motions_of(structures, motions["labels"], pixels, cameras)
        unit = _focal(cameras) if normalised else 1.0
        described = _with_motions(found, motions["all"], unit)
        # Features, matching and the comparison of families take most of it.
        described.summary["seconds"] = time.perf_counter() - start
        return described

    task = DetectionTask(
        heading=f"matches     {len(X):,} {matches.how}",
        shown=table.columns,
        about=_about(args, matches),
        proposals=proposals,
        add_scores=with_scores,
        draw=lambda path, found: draw_matches(
            path, images, pixels, found.scores, found.summary["threshold"], motions["labels"]
        ),
        images=None if normalised else images,
        describe=describe,
        write=_writer(args, matches, motions),
    )
    detect_and_write(args, output, families, points, task)


def suggest_pair(args: argparse.Namespace, output: Output) -> None:
    """Compare the families of motions, and stop."""
    import numpy as np

    output.check_new(args.plot)
    matches = _matches(args, _images(args))
    table, columns = matches.table, list(matches.table.points)
    X = table.numbers(columns)
    output.say(f"matches     {len(X):,} {matches.how}")
    _, proposals = _proposed(args, output, X)
    assert proposals is not None  # nothing is fitted
    points = Points(table, columns, X, table.rows, np.ones(len(X), bool))
    output.keep(args=args, points=points, proposals=proposals)
    if args.plot is not None:
        from .suggest import draw_proposals

        draw_proposals(args.plot, points, proposals, args.seed)
        output.say(f"wrote {args.plot}")
    output.result({**_about(args, matches), **proposals.to_dict(), "points": len(X)})


def _proposed(
    args: argparse.Namespace, output: Output, X: Any
) -> tuple[list[Any], Proposals | None]:
    """The families that the matches suggest, and the comparison, which is printed; those of a
    detector that is given."""
    from ..._random import Stream
    from ...families import resolve_families
    from ...vision.filtering import propose_match_family

    if getattr(args, "fitted", None) is not None:
        return [family for family, _ in resolve_families(args.fitted.family)], None
    proposals = propose_match_family(X, Stream.from_random_state(args.seed))
    say_proposals(output, proposals)
    output.say()
    return [family for family, _ in resolve_families(proposals.family)], proposals


def _images(args: argparse.Namespace) -> list[Any] | None:
    from ...vision import read_image

    if len(args.inputs) == 1:
        return None
    return [read_image(path) for path in args.inputs]


def _sizes(images: list[Any] | None, matches: _Matches) -> list[tuple[int, int]] | None:
    if images is not None:
        return [(image.shape[1], image.shape[0]) for image in images]
    size_of = getattr(matches.given[0], "image_size", None) if matches.given else None
    sizes = [size_of(name) for name in matches.given[1]] if size_of and matches.given else []
    return sizes if len(sizes) == 2 and all(sizes) else None


def _matches(args: argparse.Namespace, images: list[Any] | None) -> _Matches:
    if args.matches is not None or images is None:
        return _read(args, images)
    from ...io.matches import MATCH
    from ...io.tables import Table
    from ...vision import match_images

    report_progress("matching the images")
    first, second = args.inputs
    between = f"between {first.name} and {second.name}"
    ratio = RATIO if args.ratio is None else args.ratio
    features, mutual = args.features or "sift", not args.no_mutual
    masks = [*(args.mask or ()), None, None][:2]
    found = match_images(
        *images,
        features=features,
        ratio=ratio,
        mutual=mutual,
        mask1=masks[0],
        mask2=masks[1],
        max_size=args.max_size,
    )
    if not len(found.X):
        raise ValueError(
            f"there are no matches {between}: no pair of features passes the ratio test at "
            f"{ratio:g}. Do the images show the same scene? --ratio 0.9 keeps more."
        )
    args.out = with_default_suffix(args.out, "matches.csv")
    columns = {**dict(zip(MATCH, found.X.T)), "ratio": found.ratio}
    how = f"{between}, {features.upper()}, ratio below {ratio:g}" + (", mutual" * mutual)
    if args.max_size is not None and any(max(each.shape[:2]) > args.max_size for each in images):
        how += f", on images of at most {args.max_size:,} pixels"
    return _Matches(Table(columns, f"{first.name} and {second.name}", points=MATCH), how, None)


def _read(args: argparse.Namespace, images: list[Any] | None) -> _Matches:
    from ...io.matches import UNNAMED, check_pair, only_pair, open_matches
    from ...io.matches.table import MatchTable

    path = args.matches or args.inputs[0]
    file = open_matches(path, keypoints=args.keypoints, columns=args.columns, array=args.array)
    pair = args.pair
    named = file.pairs() != [UNNAMED]
    if pair is None and images is not None and named:
        pair = (args.inputs[0].name, args.inputs[1].name)
        check_pair(path, pair, {name for each in file.pairs() for name in each})
    pair = only_pair(file, pair)
    args.out = with_default_suffix(args.out, "matches.csv")
    found = file.read(pair)
    table = file.table if isinstance(file, MatchTable) else found.table(str(path))
    if not len(table):
        raise ValueError(f"{path} holds no matches.")
    shown = [each.name for each in args.inputs] if images is not None else list(pair)
    between = f" between {shown[0]} and {shown[1]}" if images is not None or named else ""
    if images is not None:
        _check_inside(found.X, images, path)
    return _Matches(table, f"of {path}{between}", (file, pair))


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


def _quality(args: argparse.Namespace, matches: _Matches) -> Any:
    from ...io.matches.table import quality_of

    if args.quality is None:
        return None
    names = matches.table.names
    if args.quality is not True:
        return quality_of(matches.table, args.quality)
    if "ratio" in names and matches.given is None:
        return 1 - matches.table.columns["ratio"]
    if "quality" in names:
        return quality_of(matches.table, "quality")
    raise ValueError(
        f"{matches.table.source} has no scores of matches; name a column, --quality COLUMN, or "
        "omit --quality."
    )


def _about(args: argparse.Namespace, matches: _Matches) -> dict[str, Any]:
    images = [str(path) for path in args.inputs] if len(args.inputs) == 2 else []
    return {"images": images, "matching": matches.how}


def _focal(cameras: Any) -> float:
    return float(cameras[0].focal + cameras[1].focal) / 2


def _with_motions(found: Detection, motions: Any, unit: float) -> Detection:
    """The summary with the matrices of the motions. unit: pixels in a unit of length."""
    structures = []
    known = found.detector.structures_
    for each, structure, motion in zip(found.summary["structures"], known, motions):
        more = {name: value.tolist() for name in "HFERt"
                if (value := getattr(motion, name)) is not None}  # fmt: skip
        more |= {"parallax": motion.parallax} if motion.parallax is not None else {}
        width = each["half_width"] * unit
        shown = {**each, **_refined(structure, motion)}
        structures.append({**shown, "half_width": width, **more, "note": motion.note})
    summary = {**found.summary, "sigma": found.summary["sigma"] * unit, "structures": structures}
    return found._replace(summary=summary)


def _refined(structure: Any, motion: Any) -> dict[str, Any]:
    """What JSON and text say of a map or an F that was fitted to all its matches: there is one
    matrix of a structure."""
    from dataclasses import replace

    import numpy as np

    if structure.family.name not in ("homography", "fundamental"):
        return {}
    # The matrix about the origin of both images.
    params = np.concatenate([np.zeros(4), motion.matrix.ravel()])
    found = replace(structure, params=params).as_dict()
    return {name: found[name] for name in ("equation", "parameters", "matrix", "params")}


def _writer(args: argparse.Namespace, matches: _Matches, motions: dict[str, Any]) -> Any:
    """What writes --out in the layout that the matches came in; None for a table of scores."""
    from ...io.matches import LAYOUTS
    from ...io.matches.table import MatchTable
    from ...vision.pairs import verdict_of

    if args.out is None or args.out.suffix.lower() not in LAYOUTS:
        return None
    if matches.given is None or isinstance(matches.given[0], MatchTable):
        raise ValueError(
            f"{args.out}: {args.out.suffix} files of matches are written from files of the same "
            "kind; write a table, such as .csv."
        )
    file, pair = matches.given
    file.check_writable(args.out)

    def write(path: Path, found: Detection) -> None:
        kept = found.scores <= found.summary["threshold"]
        file.write(path, {pair: verdict_of(kept, motions["labels"], motions["all"], args.keep)})

    return write
