"""Filtered matches beside robust estimators of one motion: precision, recall and CPU time.

The pairs of AdelaideRMF have the motion of each match, 0 for false ones. "one": the largest motion
of a pair and the false matches; "several": all. MAGSAC of OpenCV, PoseLib, pydegensac and pymagsac
find one motion and take a threshold in pixels, 3 by default; "repeated" removes the matches of a
motion and looks again, until fewer than 15 match. piforest is `filter_matches(family)`, nothing
else given. Graf has a published homography of its wall: how far the homography found is from it.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import poselib
import pydegensac
import pymagsac

from piforest.datasets import load_adelaidermf
from piforest.datasets.published import ADELAIDERMF
from piforest.vision import filter_matches, match_images
from piforest.vision.refine import transfer_errors

LEAST, ROUNDS = 15, 10
# Pixels, of all peers.
LIMIT = {"pixels": 3.0}
Masks = Callable[[np.ndarray, str], np.ndarray]


def magsac(X: np.ndarray, family: str) -> np.ndarray:
    one, two = np.ascontiguousarray(X[:, :2]), np.ascontiguousarray(X[:, 2:])
    find = cv2.findHomography if family == "homography" else cv2.findFundamentalMat
    options = {} if family == "homography" else {"confidence": 0.999}
    try:
        _, mask = find(one, two, cv2.USAC_MAGSAC, LIMIT["pixels"], maxIters=10_000, **options)
    except cv2.error:  # no model at all
        mask = None
    return np.zeros(len(X), bool) if mask is None else mask.ravel() > 0


def pose_lib(X: np.ndarray, family: str) -> np.ndarray:
    if family == "homography":
        _, info = poselib.estimate_homography(
            X[:, :2], X[:, 2:], {"max_reproj_error": LIMIT["pixels"]}, {}
        )
    else:
        _, info = poselib.estimate_fundamental(
            X[:, :2], X[:, 2:], {"max_epipolar_error": LIMIT["pixels"]}, {}
        )
    return np.array(info["inliers"], bool)


def degensac(X: np.ndarray, family: str) -> np.ndarray:
    name = "findHomography" if family == "homography" else "findFundamentalMatrix"
    _, mask = getattr(pydegensac, name)(X[:, :2], X[:, 2:], LIMIT["pixels"], 0.999, 10_000)
    return np.asarray(mask, bool)


def magsac_plus_plus(X: np.ndarray, family: str) -> np.ndarray:
    """pymagsac, whose matches must be in the order of their quality or drawn uniformly."""
    width, height = X.reshape(-1, 2).max(axis=0) + 1
    name = "findHomography" if family == "homography" else "findFundamentalMatrix"
    _, mask = getattr(pymagsac, name)(
        np.ascontiguousarray(X), width, height, width, height, np.ones(len(X)), sampler=0,
        sigma_th=LIMIT["pixels"], conf=0.999, max_iters=10_000,
    )  # fmt: skip
    return np.asarray(mask, bool)


def repeated(once: Masks) -> Masks:
    """Look for a motion among the matches that are left, again and again."""

    def masks(X: np.ndarray, family: str) -> np.ndarray:
        kept = np.zeros(len(X), bool)
        for _ in range(ROUNDS):
            rest = np.flatnonzero(~kept)
            if len(rest) < LEAST:
                break
            found = once(X[rest], family)
            if found.sum() < LEAST:
                break
            kept[rest[found]] = True
        return kept

    return masks


def forest(X: np.ndarray, family: str) -> np.ndarray:
    return filter_matches(X[:, :2], X[:, 2:], family=family, n_jobs=1, random_state=0).mask


PEERS: dict[str, Masks] = {
    "USAC_MAGSAC": magsac,
    "PoseLib": pose_lib,
    "pydegensac": degensac,
    "pymagsac": magsac_plus_plus,
}
REPEATED = {f"{name}, repeated": repeated(each) for name, each in PEERS.items()}
METHODS: dict[str, Masks] = {"piforest": forest, **PEERS, **REPEATED}


def scenes(only: str) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Family, one or several, matches and their motions."""
    for name in ADELAIDERMF:
        if only in name:
            pair = load_adelaidermf(name)
            sizes = np.bincount(pair.target)[1:]
            one = (pair.target == 0) | (pair.target == 1 + int(np.argmax(sizes)))
            yield pair.family, "one", pair.data[one], pair.target[one]
            if len(sizes) > 1:
                yield pair.family, "several", pair.data, pair.target


def measure(method: Masks, X: np.ndarray, truth: np.ndarray, family: str) -> list[float]:
    start = time.process_time()
    kept = method(X, family)
    seconds = time.process_time() - start
    right = (kept & (truth > 0)).sum()
    return [right / max(1, kept.sum()), right / (truth > 0).sum(), seconds]


def adelaide(only: str) -> Iterator[str]:
    """Tables in Markdown."""
    results: dict[tuple[str, str], dict[str, list[list[float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for family, kind, X, truth in scenes(only):
        for name, method in METHODS.items():
            results[family, kind][name].append(measure(method, X, truth, family))
    for (family, kind), found in sorted(results.items()):
        n = len(found["piforest"])
        yield f"### {family}, {kind} motion{'s' * (kind == 'several')}: {n} pairs\n"
        yield "| | told | precision | recall | F1 | CPU seconds a pair |\n|---|---|---|---|---|---|"
        for name, values in found.items():
            p, r, seconds = np.mean(values, axis=0)
            each = np.array(values)
            f1 = np.mean(2 * each[:, 0] * each[:, 1] / np.maximum(each[:, :2].sum(axis=1), 1e-9))
            told = "the family" if name == "piforest" else f"{LIMIT['pixels']:g} pixels"
            yield f"| {name} | {told} | {p:.3f} | {r:.3f} | {f1:.3f} | {seconds:.3f} |"
        yield ""


def graf() -> Iterator[str]:
    """How far homographies are from the published one, in pixels over the image."""
    folder = Path(os.environ["PIFOREST_DATA"]) / "images"
    truth = np.linalg.inv(np.loadtxt(folder / "graf_model.txt"))
    X = match_images(folder / "grafA.png", folder / "grafB.png").X
    one, two = X[:, :2].copy(), X[:, 2:].copy()
    grid = np.stack(np.meshgrid(np.linspace(100, 700, 9), np.linspace(100, 540, 7)), axis=-1)
    points = grid.reshape(1, -1, 2)
    target = cv2.perspectiveTransform(points, truth)[0]

    def off(H: Any) -> float:
        moved = cv2.perspectiveTransform(points, np.asarray(H, float))[0]
        return float(np.median(np.linalg.norm(moved - target, axis=1)))

    found: dict[str, Callable[[], Any]] = {
        "piforest": lambda: filter_matches(
            one, two, family="homography", n_jobs=1, random_state=0
        ).models[0],
        "USAC_MAGSAC": lambda: cv2.findHomography(one, two, cv2.USAC_MAGSAC, LIMIT["pixels"])[0],
        "PoseLib": lambda: poselib.estimate_homography(
            one, two, {"max_reproj_error": LIMIT["pixels"]}, {}
        )[0],
        "pydegensac": lambda: pydegensac.findHomography(one, two, LIMIT["pixels"])[0],
    }
    near = int((transfer_errors(truth, X) < LIMIT["pixels"]).sum())
    yield f"### graf: {len(X)} matches, {near} within {LIMIT['pixels']:g} pixels of the wall\n"
    yield "| | median distance to the published homography | CPU seconds |\n|---|---|---|"
    for name, find in found.items():
        start = time.process_time()
        H = find()
        seconds = time.process_time() - start
        yield f"| {name} | {off(H):.2f} pixels | {seconds:.3f} |"
    yield ""


def tables(only: str, pixels: float) -> Iterator[str]:
    LIMIT["pixels"] = pixels
    cv2.setNumThreads(1)
    X = np.random.default_rng(0).uniform(0, 500, (60, 4))
    for family in ("homography", "fundamental"):
        forest(X, family)  # compiles
    yield from adelaide(only)
    if "graf".startswith(only):
        yield from graf()
