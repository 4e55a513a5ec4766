"""Matches of photos of different scenes, where there is nothing, and of true pairs."""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets import data_folder
from ...protocols import Floats
from ...vision import match_images
from .cases import Case, Values
from .measures import UNKNOWN, fit, measure

RUNS = 5
SCENES = {"aloe": ("aloeL.jpg", "aloeR.jpg"), "graf": ("grafA.png", "grafB.png"),
          "leuven": ("leuvenA.jpg", "leuvenB.jpg")}  # fmt: skip
FAMILIES = ("fundamental", "homography")
_KINDS = {False: "not mutual", True: "mutual"}
ROWS, DISPARITY = 2.0, 230.0  # pixels: a true match of the rectified pair aloe
NEAR, FAR = 5.0, 20.0  # pixels from where the homography of graf takes a point
_MAGSAC = 1.5, 0.999, 10_000  # threshold in pixels, confidence, iterations


def unrelated_cases() -> list[Case]:
    pairs = [
        (one, two)
        for a, b in combinations(SCENES, 2)
        for one in SCENES[a]
        for two in SCENES[b]
        if _present(one, two)
    ]
    return [
        Case(
            "unrelated", f"{family}, {_KINDS[mutual]}",
            f"{Path(one).stem}, {Path(two).stem}, {_KINDS[mutual]}, {family}", run,
            partial(_unrelated, one, two, mutual, family),
        )
        for one, two in pairs
        for mutual in _KINDS
        for family in FAMILIES
        for run in range(RUNS)
    ]  # fmt: skip


def related_cases() -> list[Case]:
    pairs = [("aloe", "fundamental"), ("graf", "homography"), ("leuven", "fundamental")]
    return [
        Case("related", name, f"{name}, {family}", run, partial(_related, name, family))
        for name, family in pairs
        if _present(*SCENES[name])
        for run in range(RUNS)
    ]


def _present(*names: str) -> bool:
    return all((data_folder() / "images" / name).is_file() for name in names)


@cache
def matches(one: str, two: str, mutual: bool = False) -> Floats:
    """Rows (x1, y1, x2, y2); if not mutual, several may share a point of the second image."""
    folder = data_folder() / "images"
    return match_images(folder / one, folder / two, mutual=mutual).X


def truth_of(name: str, X: Floats) -> Any:
    """1 for true matches, 0 for false ones, UNKNOWN for others; None without truth."""
    if name == "aloe":
        disparity = X[:, 0] - X[:, 2]
        rows = np.abs(X[:, 1] - X[:, 3]) < ROWS
        return (rows & (disparity > 0) & (disparity < DISPARITY)).astype(np.int64)
    if name == "graf":
        H = np.linalg.inv(np.loadtxt(data_folder() / "images" / "graf_model.txt"))
        x, y, w = H @ np.column_stack([X[:, :2], np.ones(len(X))]).T
        distance = np.hypot(x / w - X[:, 2], y / w - X[:, 3])
        return np.where(distance <= NEAR, 1, np.where(distance > FAR, 0, UNKNOWN))
    return None


def _unrelated(one: str, two: str, mutual: bool, family: str, seed: int) -> Values:
    return measure(fit(family, matches(one, two, mutual), seed))


def _related(name: str, family: str, seed: int) -> Values:
    X = matches(*SCENES[name])
    y, fitted = truth_of(name, X), fit(family, matches(*SCENES[name]), seed)
    kept, theirs = fitted.detector.labels_ == 1, magsac(X, family)
    values = {**measure(fitted, y), "kept": float(kept.sum()), "agreement": np.mean(kept == theirs)}
    if y is None:
        return values
    for kind, at in (("true", y == 1), ("false", y == 0)):
        values[f"{kind} kept"] = float(kept[at].sum())
        values[f"{kind} kept by MAGSAC"] = float(theirs[at].sum())
    if name == "aloe":
        values["more true"] = values["true kept"] - values["true kept by MAGSAC"]
        values["more false"] = values["false kept"] - values["false kept by MAGSAC"]
    return values


def magsac(X: Floats, family: str) -> Any:
    """(n,) which matches OpenCV keeps."""
    import cv2

    threshold, confidence, iterations = _MAGSAC
    one, two = np.ascontiguousarray(X[:, :2]), np.ascontiguousarray(X[:, 2:])
    cv2.setRNGSeed(0)
    if family == "homography":
        _, mask = cv2.findHomography(
            one, two, cv2.USAC_MAGSAC, threshold, None, iterations, confidence
        )
    else:
        _, mask = cv2.findFundamentalMat(
            one, two, cv2.USAC_MAGSAC, threshold, confidence, iterations
        )
    return mask.ravel() > 0
