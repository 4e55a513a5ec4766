"""piforest beside robust estimators of one motion: precision, recall and CPU time of kept matches.

    make bench-peers                           all pairs, a table in Markdown
    python benchmarks/peers.py --only johnson  the pairs whose name contains a word

The pairs of AdelaideRMF have the motion of each match, 0 for false ones. "one": the largest motion
of a pair and the false matches; "several": all. MAGSAC of OpenCV, PoseLib and pydegensac find one
motion and take a threshold in pixels, 3 by default; "repeated" removes the matches of a motion and
looks again, until fewer than 15 match. piforest is `filter_matches(family)`, nothing else given.
Graf has a published homography of its wall: how far the homography found is from it.
PIFOREST_DATA names the folder of the data. Wong et al., ICCV 2011 (AdelaideRMF).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import poselib
import pydegensac

from piforest.datasets import load_adelaidermf
from piforest.datasets.published import ADELAIDERMF
from piforest.vision import filter_matches, match_images
from piforest.vision.refine import transfer_errors

LEAST, ROUNDS = 15, 10
# Pixels; --threshold sets it.
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


PEERS: dict[str, Masks] = {"USAC_MAGSAC": magsac, "PoseLib": pose_lib, "pydegensac": degensac}
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


def adelaide(only: str) -> None:
    results: dict[tuple[str, str], dict[str, list[list[float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for family, kind, X, truth in scenes(only):
        for name, method in METHODS.items():
            results[family, kind][name].append(measure(method, X, truth, family))
    for (family, kind), found in sorted(results.items()):
        n = len(found["piforest"])
        print(f"\n{family}, {kind} motion{'s' * (kind == 'several')}: {n} pairs of AdelaideRMF\n")
        print("| | precision | recall | F1 | CPU seconds a pair |\n|---|---|---|---|---|")
        for name, values in found.items():
            p, r, seconds = np.mean(values, axis=0)
            each = np.array(values)
            f1 = np.mean(2 * each[:, 0] * each[:, 1] / np.maximum(each[:, :2].sum(axis=1), 1e-9))
            print(f"| {name} | {p:.3f} | {r:.3f} | {f1:.3f} | {seconds:.3f} |", flush=True)


def graf() -> None:
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
    print(
        f"\ngraf: {len(X)} matches, {near} of them within {LIMIT['pixels']:g} pixels of the wall\n"
    )
    print("| | median distance to the published homography | CPU seconds |\n|---|---|---|")
    for name, find in found.items():
        start = time.process_time()
        H = find()
        seconds = time.process_time() - start
        print(f"| {name} | {off(H):.2f} pixels | {seconds:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--threshold", type=float, default=3.0, metavar="PIXELS")
    asked = parser.parse_args()
    only, LIMIT["pixels"] = asked.only, asked.threshold
    cv2.setNumThreads(1)
    warnings.simplefilter("ignore")  # piforest warns where no motion stands out
    X = np.random.default_rng(0).uniform(0, 500, (60, 4))
    for family in ("homography", "fundamental"):
        forest(X, family)  # compiles
    adelaide(only)
    if "graf".startswith(only):
        graf()


if __name__ == "__main__":
    main()
