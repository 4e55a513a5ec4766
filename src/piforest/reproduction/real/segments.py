"""Vanishing points of the line segments of photos."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from ...datasets import data_folder
from ...families import get_family
from ...io.tables import read_table
from ...protocols import Floats
from .cases import Case, Values
from .measures import UNKNOWN, fit, measure

RUNS = 3
SHORTEST = 20.0  # pixels; the ends of shorter segments are not exact enough
NEAR, FAR = 1.5, 3.0  # pixels
# The York camera: focal length over the size of a pixel, and the principal point.
_FOCAL, _CENTRE = 6.05317058975369 / 0.00896875, (307.551305282635, 251.454244960136)


def cases() -> list[Case]:
    folder = data_folder() / "segments"
    paths = [*sorted(folder.glob("nyu-*-lsd_lines.csv")), *sorted(folder.glob("yud-*-lines.txt"))]
    names = ["-".join(path.stem.split("-")[:2]) for path in paths]
    return [
        Case("segments", name, name, run, partial(_measure, path))
        for path, name in zip(paths, names)
        for run in range(RUNS)
    ]


def segments_of(path: Path) -> tuple[Floats, Any]:
    """Rows (x1, y1, x2, y2) of the long segments of an image, and their truth."""
    ends = ["point1_x", "point1_y", "point2_x", "point2_y"]
    X = read_table(path, delimiter=" ").numbers(ends)
    X = X[np.hypot(X[:, 2] - X[:, 0], X[:, 3] - X[:, 1]) >= SHORTEST]
    points = _vanishing_points(path)
    params = np.column_stack([np.zeros((len(points), 2)), points])
    residuals = get_family("vanishing_point").residuals(X, params)
    nearest, distance = residuals.argmin(axis=1), residuals.min(axis=1)
    y = np.where(distance <= NEAR, nearest + 1, UNKNOWN)
    return X, np.where(distance > FAR, 0, y)


def _vanishing_points(path: Path) -> Floats:
    """(k, 3) homogeneous, in pixels."""
    if path.name.startswith("nyu"):
        name = path.name.replace("lsd_lines", "vps")
        at = read_table(path.with_name(name), delimiter=" ").numbers(["X", "Y"])
        return np.column_stack([at, np.ones(len(at))])
    name = path.name.replace("lines.txt", "vps.mat")
    x, y, z = scipy.io.loadmat(path.with_name(name))["vp"]
    # The camera's y points up, that of the image down.
    return np.column_stack([_FOCAL * x + _CENTRE[0] * z, -_FOCAL * y + _CENTRE[1] * z, z])


def _measure(path: Path, seed: int) -> Values:
    X, y = segments_of(path)
    return measure(fit("vanishing_point", X, seed), y)
