"""Matches between two images: which of them follow no motion that the others follow.

>>> from piforest.datasets import make_plane_pair
>>> from piforest.vision import filter_matches, match_images
>>> pair = make_plane_pair(2, random_state=0)
>>> found = match_images(*pair.images)  # SIFT and the ratio test, by OpenCV
>>> kept = filter_matches(found.X[:, :2], found.X[:, 2:], family="homography", random_state=0)
>>> kept.mask.shape == kept.scores.shape == (len(found.X),)
True
>>> good = found.X[kept.mask]  # rows (x1, y1, x2, y2) in pixels

A keypoint of OpenCV has its origin in the centre of the upper left pixel; so have we.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._validation import check_row_numbers
from .estimators import PreferenceIsolationForest
from .families import FAMILIES, get_family, layout_of
from .protocols import Bools, Floats, Ints

__all__ = ["Filtered", "Matched", "filter_matches", "match_families", "match_images", "read_image"]


class Filtered(NamedTuple):
    """What `filter_matches` found of n matches."""

    mask: Bools
    """(n,) True for matches to keep"""
    scores: Floats
    """(n,) anomaly scores in (0, 1], high = anomalous"""
    X: Floats
    """(n, 4) the matches, rows (x1, y1, x2, y2)"""
    detector: PreferenceIsolationForest
    """fitted to X; `detector.structures_` are the motions, `detector.explain(X)` the reasons"""


class Matched(NamedTuple):
    """What `match_images` found, best descriptors first."""

    X: Floats
    """(n, 4) rows (x1, y1, x2, y2) in pixels"""
    ratio: Floats
    """(n,) distance to the nearest descriptor over that to the second nearest; low = distinct"""


def filter_matches(
    points1: Any,
    points2: Any,
    matches: Any = None,
    *,
    family: Any = "fundamental",
    sigma: Any = "auto",
    contamination: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
    **options: Any,
) -> Filtered:
    """Tell the matches between two images that follow a motion from those that follow none.

    Parameters
    ----------
    points1, points2 : arrays (n1, 2) and (n2, 2), or sequences of cv2.KeyPoint
        Points of each image, in pixels.
    matches : None, sequence of cv2.DMatch, or integers (n, 2)
        Which belong together: pairs of indices, as COLMAP has them, or OpenCV's matches (also
        lists of them, as `knnMatch` gives; the first of each counts). None: row i of one and
        row i of the other.
    family : str or ModelFamily, default="fundamental"
        What a motion is: "fundamental" for bodies in space, "homography" for planes or a camera
        that turns, "affinity", "similarity", "translation", "affine_fundamental"; "essential"
        and "rotation" for normalised coordinates.
    sigma, contamination, n_jobs, random_state, **options
        As in `PreferenceIsolationForest`.

    Examples
    --------
    >>> from piforest.datasets import make_motion_pair
    >>> pair = make_motion_pair(2, random_state=0)
    >>> kept = filter_matches(pair.data[:, :2], pair.data[:, 2:], random_state=0)
    >>> float(np.mean(pair.target[kept.mask] > 0).round(2))  # of what is kept, true matches
    1.0

    With indices into the points of each image, as COLMAP stores them:

    >>> points1, points2 = pair.data[:, :2], pair.data[::-1, 2:]
    >>> pairs = [(i, len(points2) - 1 - i) for i in range(len(points1))]
    >>> again = filter_matches(points1, points2, pairs, random_state=0)
    >>> bool((again.scores == kept.scores).all())
    True
    """
    first, second = _points("points1", points1), _points("points2", points2)
    if matches is None:
        if len(first) != len(second):
            raise ValueError(
                f"points1 has {len(first)} points and points2 has {len(second)}; without matches "
                "row i of one belongs to row i of the other. Pass matches, the pairs of indices."
            )
        X = np.concatenate([first, second], axis=1)
    else:
        pairs = _pairs(matches)
        check_row_numbers("the indices of matches into points1", pairs[:, 0], len(first))
        check_row_numbers("the indices of matches into points2", pairs[:, 1], len(second))
        X = np.concatenate([first[pairs[:, 0]], second[pairs[:, 1]]], axis=1)
    if not len(X):
        raise ValueError("there are no matches to filter, got 0.")
    detector = PreferenceIsolationForest(
        family,
        sigma=sigma,
        contamination=contamination,
        n_jobs=n_jobs,
        random_state=random_state,
        **options,
    ).fit(X)
    return Filtered(detector.labels_ == 1, detector.scores_, X, detector)


def match_images(image1: Any, image2: Any, *, ratio: float = 0.8, mutual: bool = False) -> Matched:
    """SIFT matches between two images that pass the ratio test, by OpenCV.

    image1, image2: paths, or arrays (h, w) or (h, w, 3) of bytes, RGB; of any two sizes.
    ratio: in (0, 1], Lowe's test: a match is kept where its descriptor is nearer than this times
    the second nearest; 1 keeps all but ties. mutual: keep only matches that are nearest both ways.

    >>> from piforest.datasets import make_plane_pair
    >>> pair = make_plane_pair(2, random_state=0)
    >>> found = match_images(*pair.images, ratio=0.7, mutual=True)
    >>> found.X.shape[1], bool(found.ratio.max() < 0.7)
    (4, True)
    """
    if not 0 < ratio <= 1:
        raise ValueError(f"ratio must be in (0, 1], got {ratio!r}. 0.8 is usual.")
    cv2 = _opencv()
    sift = cv2.SIFT_create()
    (points1, words1), (points2, words2) = (
        sift.detectAndCompute(_grey(each), None) for each in (image1, image2)
    )
    if len(points1) == 0 or len(points2) < 2:
        return Matched(np.empty((0, 4)), np.empty(0))
    nearest = cv2.BFMatcher(cv2.NORM_L2).knnMatch(words1, words2, k=2)
    found = np.array([(m.queryIdx, m.trainIdx) for m, _ in nearest])
    best, second = np.array([(m.distance, n.distance) for m, n in nearest]).T
    ratios = best / np.where(second > 0, second, np.inf)
    keep = best < ratio * second
    if mutual:
        back = cv2.BFMatcher(cv2.NORM_L2).match(words2, words1)
        nearest_of = {m.queryIdx: m.trainIdx for m in back}
        keep &= np.array([nearest_of[there] == here for here, there in found])
    X = np.concatenate(
        [_points("", points1)[found[:, 0]], _points("", points2)[found[:, 1]]], axis=1
    )[keep]
    # A keypoint with two orientations stands twice, and so would its match.
    order = np.argsort(ratios[keep], kind="stable")
    _, once = np.unique(X[order], axis=0, return_index=True)
    order = order[np.sort(once)]
    return Matched(X[order], ratios[keep][order])


def read_image(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """(h, w, 3) RGB bytes of an image file, turned as its camera says."""
    cv2 = _opencv()
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no image {path}.")
    data = np.frombuffer(Path(path).read_bytes(), np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
    if image is None:
        raise ValueError(f"{path} is no image that OpenCV can read (JPEG, PNG, TIFF, ...).")
    return np.ascontiguousarray(image[:, :, ::-1])


def match_families() -> list[str]:
    """The families whose rows are matches (x1, y1, x2, y2) between two images.

    >>> "homography" in match_families(), "line" in match_families()
    (True, False)
    """
    listed = ((name, get_family(name)) for name in FAMILIES.names())
    return [n for n, each in listed if each.n_features == 4 and layout_of(each).kind == "matches"]


def _opencv() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise ImportError("images need OpenCV: pip install 'piforest[vision]'") from error
    return cv2


def _grey(image: Any) -> NDArray[np.uint8]:
    """(h, w) bytes."""
    if isinstance(image, (str, PathLike)):
        image = read_image(image)
    image = np.asarray(image)
    fits = image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)
    if image.dtype != np.uint8 or not fits or not image.size:
        raise ValueError(
            "an image must be a path or an array (h, w) or (h, w, 3) of bytes (uint8), got "
            f"{image.dtype} {image.shape}."
        )
    if image.ndim == 2:
        return np.asarray(image)
    cv2 = _opencv()
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY))


def _points(name: str, points: Any) -> Floats:
    """(n, 2) from an array, also OpenCV's (n, 1, 2), or from keypoints."""
    if not hasattr(points, "shape") and len(points) and hasattr(points[0], "pt"):
        return np.array([point.pt for point in points], np.float64)
    array = np.asarray(points, np.float64)
    if array.ndim == 3 and array.shape[1] == 1:
        array = array[:, 0]
    if array.size == 0:
        return np.empty((0, 2))
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must be points (n, 2) in pixels or a list of cv2.KeyPoint, got shape "
            f"{array.shape}."
        )
    return array


def _pairs(matches: Any) -> Ints:
    """(n, 2) indices, from pairs or from OpenCV's matches."""
    rows = [each[0] if _is_list_of_matches(each) else each for each in matches]
    if rows and hasattr(rows[0], "queryIdx"):
        rows = [(each.queryIdx, each.trainIdx) for each in rows]
    array = np.asarray(rows)
    if array.size == 0:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            "matches must be pairs of indices (n, 2) or a list of cv2.DMatch, got shape "
            f"{array.shape}."
        )
    return array


def _is_list_of_matches(each: Any) -> bool:
    return isinstance(each, (list, tuple)) and len(each) > 0 and hasattr(each[0], "queryIdx")
