"""Planes in scans of a depth camera, whose depth is rounded."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from ...datasets import data_folder
from ...io.tables import read_table
from ...protocols import Floats
from .cases import Case, Values
from .measures import fit, measure

RUNS = 3


def cases() -> list[Case]:
    return [
        Case("scans", path.stem, path.stem, run, partial(_measure, path))
        for path in sorted((data_folder() / "scans").glob("*.ply"))
        for run in range(RUNS)
    ]


def points_of(path: Path) -> Floats:
    return read_table(path).numbers(["x", "y", "z"])


def depth_step(X: Floats) -> float:
    """The median difference of adjacent depths: most of them follow each other."""
    return float(np.median(np.diff(np.unique(X[:, 2]))))


def _measure(path: Path, seed: int) -> Values:
    X = points_of(path)
    fitted = fit("plane", X, seed)
    structures, values = fitted.detector.structures_, measure(fitted)
    values["explained"] = sum(each.support for each in structures) / min(len(X), 50_000)
    if structures:
        narrowest = min(each.half_width for each in structures)
        values["narrowest"] = narrowest / depth_step(X)
    return values
