"""The options of cameras."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ._options import UsageError, auto_or_positive, file

if TYPE_CHECKING:
    from ...io.cameras import Camera
    from ...io.matches import MatchFile, Pair

CALIBRATED = ("essential", "rotation")


def add_cameras(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "cameras",
        "With a camera, essential and rotation take pixels, and R and t are computed. A COLMAP "
        "database has its own cameras.",
    )
    group.add_argument(
        "--focal", type=_focal, metavar="PIXELS",
        help="the focal length; the principal point is the middle of the image",
    )  # fmt: skip
    group.add_argument(
        "--K", type=_numbers, action="append", metavar="FX,FY,CX,CY",
        help="the camera; twice, if that of the second image is another one",
    )  # fmt: skip
    group.add_argument(
        "--calibration", type=file, action="append", metavar="FILE",
        help="a file with the camera: COLMAP's cameras.txt, YAML of OpenCV or ROS, JSON, or text "
        "with K; twice, if that of the second image is another one",
    )  # fmt: skip


def check_cameras(args: argparse.Namespace) -> None:
    """At most one way to say it, and at most twice."""
    given = [name for name in ("focal", "K", "calibration") if getattr(args, name) is not None]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} both give the camera: omit one.")
    if len(args.K or ()) > 2 or len(args.calibration or ()) > 2:
        raise UsageError("there are two images: give at most two cameras.")


def given_cameras(args: argparse.Namespace) -> list[Camera]:
    """The cameras of --K and --calibration: none, one, or two."""
    from ...io.cameras import Camera, read_calibration

    if args.K is not None:
        return [Camera.of(each) for each in args.K]
    found = [(path, camera) for path in args.calibration or () for camera in read_calibration(path)]
    if len(found) > 2:
        raise ValueError(
            f"{found[0][0]} holds {len(found)} cameras, and there are two images: give a file with "
            "one or two."
        )
    return [camera for _, camera in found]


def cameras_of(
    args: argparse.Namespace,
    family: str,
    sizes: list[tuple[int, int]] | None,
    given: tuple[MatchFile, Pair] | None,
) -> tuple[Camera, Camera] | None:
    """The cameras of two images. sizes: (width, height) of the images, if they are known; given:
    the file of the matches, and the pair."""
    from ...io.cameras import Camera

    listed = given_cameras(args)
    if listed:
        return listed[0], listed[-1]
    if args.focal is not None:
        if sizes is None:
            raise UsageError("--focal needs the images, for their middle; use --K instead.")
        # COLMAP counts pixels from their upper left corner, OpenCV from their middle.
        corner = 0 if given is not None and hasattr(given[0], "image_size") else 1
        first, second = (
            Camera(args.focal, args.focal, (width - corner) / 2, (height - corner) / 2)
            for width, height in sizes
        )
        return first, second
    if given is None or family not in CALIBRATED:
        return None
    file, pair = given
    one, other = (file.camera(name) for name in pair)
    return None if one is None or other is None else (one, other)


def _focal(text: str) -> float:
    value = auto_or_positive(text)
    if isinstance(value, str):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0")
    return value


def _numbers(text: str) -> list[float]:
    try:
        values = [float(each) for each in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 4:
        raise argparse.ArgumentTypeError(f"{text!r} must be four numbers fx,fy,cx,cy")
    return values
