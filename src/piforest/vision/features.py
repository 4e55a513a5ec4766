"""Features of two images and the matches between them, by OpenCV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_choice, check_integer
from ..protocols import Bools, Floats, Ints
from .images import ImageLike, opencv, to_grey, to_mask
from .inputs import as_points

__all__ = ["FEATURES", "Features", "Matched", "extract_features", "match_features", "match_images"]

# ORB extracts 500 features unless it is asked for more.
_MOST_ORB = 10_000
# Binary descriptors are compared by the number of bits that differ.
FEATURES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sift": (lambda cv2: cv2.SIFT_create(), "NORM_L2"),
    "orb": (lambda cv2: cv2.ORB_create(_MOST_ORB), "NORM_HAMMING"),
    "akaze": (lambda cv2: _akaze(cv2), "NORM_HAMMING"),
}


def _akaze(cv2: Any) -> Any:
    for module in (cv2, getattr(cv2, "xfeatures2d", None)):
        create: Any = getattr(module, "AKAZE_create", None)
        if create is not None:
            return create()
    raise ImportError(
        f"AKAZE is not part of OpenCV {cv2.__version__}: pip install 'opencv-python-headless<5', "
        "or opencv-contrib-python-headless instead; or use 'sift' or 'orb'."
    )


class Matched(NamedTuple):
    """The result of `match_images`, lowest ratios first.

    Attributes
    ----------
    X : ndarray of shape (n, 4)
        The matches, rows (x1, y1, x2, y2) in pixels.
    ratio : ndarray of shape (n,)
        Distance to the nearest descriptor over that to the second nearest; low = distinctive.
    """

    X: Floats
    ratio: Floats


class Features(NamedTuple):
    """The features of one image.

    Attributes
    ----------
    points : ndarray of shape (n, 2)
        In pixels.
    descriptors : ndarray of shape (n, d)
        Numbers, or bytes of bits.
    kind : str
        "sift", "orb" or "akaze".
    size : tuple of int
        Width and height of the image.
    """

    points: Floats
    descriptors: Any
    kind: str
    size: tuple[int, int]


def extract_features(
    image: ImageLike,
    kind: str = "sift",
    mask: ImageLike | ArrayLike | None = None,
    max_size: int | None = None,
) -> Features:
    """Extract the features of an image, with OpenCV.

    Parameters
    ----------
    image : str, path, or uint8 array of shape (h, w) or (h, w, 3)
        The image, grey or RGB.
    kind : {"sift", "orb", "akaze"}, default="sift"
        The features.
    mask : str, path, array-like of shape (h, w) or None, default=None
        0 where no features are wanted.
    max_size : int or None, default=None
        Larger images are made smaller first, so that their longer side has this many pixels; the
        points are those of the image as it was given.

    Returns
    -------
    Features

    Examples
    --------
    >>> from piforest.datasets import make_plane_pair
    >>> from piforest.vision import extract_features
    >>> features = extract_features(make_plane_pair(1, random_state=0).images[0], "orb")
    >>> features.descriptors.shape[1], features.size
    (32, (640, 480))
    """
    check_choice("features", kind, list(FEATURES))
    make, _ = FEATURES[kind]
    grey = to_grey(image)
    size, allowed = (grey.shape[1], grey.shape[0]), to_mask("mask", mask, grey.shape)
    small = size if max_size is None else _within(size, check_integer("max_size", max_size, 16))
    if small != size:
        cv2 = opencv()
        grey = cv2.resize(grey, small, interpolation=cv2.INTER_AREA)
        if allowed is not None:
            allowed = cv2.resize(allowed, small, interpolation=cv2.INTER_NEAREST)
    found, descriptors = make(opencv()).detectAndCompute(grey, allowed)
    points = as_points("", found) if len(found) else np.empty((0, 2))
    if small != size:
        # The middle of the first pixel is 0.
        points = (points + 0.5) * (np.array(size) / small) - 0.5
    return Features(points, descriptors, kind, size)


def _within(size: tuple[int, int], longest: int) -> tuple[int, int]:
    """The size with the longer side at most this long."""
    part = min(1.0, longest / max(size))
    return max(1, round(size[0] * part)), max(1, round(size[1] * part))


def match_images(
    image1: ImageLike,
    image2: ImageLike,
    *,
    features: str = "sift",
    ratio: float = 0.8,
    mutual: bool = True,
    mask1: ImageLike | ArrayLike | None = None,
    mask2: ImageLike | ArrayLike | None = None,
    max_size: int | None = None,
) -> Matched:
    """Match two images by their features and the ratio test, with OpenCV.

    Parameters
    ----------
    image1, image2 : str, path, or uint8 array of shape (h, w) or (h, w, 3)
        The images, grey or RGB, of any sizes.
    features : {"sift", "orb", "akaze"}, default="sift"
        The features. SIFT is the most accurate; ORB is the fastest.
    ratio : float in (0, 1], default=0.8
        Lowe's ratio test: keep a match if its descriptor is nearer than this times the second
        nearest. 1 keeps all matches but ties.
    mutual : bool, default=True
        Keep only matches that are nearest neighbours in both directions.
    mask1, mask2 : str, path, array-like of shape (h, w) or None, default=None
        0 where no features are wanted: the sky, a logo, a moving object.
    max_size : int or None, default=None
        Larger images are made smaller for their features, so that the longer side has this many
        pixels; the matches are in pixels of the images as they were given.

    Returns
    -------
    Matched
        The matches and their ratios, lowest ratios first.

    Raises
    ------
    ImportError
        If OpenCV is not installed.
    ValueError
        If an image, a mask or an option is invalid.

    Examples
    --------
    >>> from piforest.datasets import make_plane_pair
    >>> pair = make_plane_pair(2, random_state=0)
    >>> found = match_images(*pair.images, ratio=0.7)
    >>> found.X.shape[1], bool(found.ratio.max() < 0.7)
    (4, True)
    """
    _check_ratio(ratio)
    check_choice("features", features, list(FEATURES))
    opencv()
    first = extract_features(image1, features, mask1, max_size)
    second = extract_features(image2, features, mask2, max_size)
    return match_features(first, second, ratio=ratio, mutual=mutual)


def match_features(
    first: Features, second: Features, *, ratio: float = 0.8, mutual: bool = True
) -> Matched:
    """Match the features of two images.

    Parameters
    ----------
    first, second : Features
        Of `extract_features`, both of the same kind.
    ratio : float in (0, 1], default=0.8
        As in `match_images`.
    mutual : bool, default=True
        As in `match_images`.

    Returns
    -------
    Matched

    Raises
    ------
    ValueError
        If the features are of two kinds.

    Examples
    --------
    >>> from piforest.datasets import make_plane_pair
    >>> from piforest.vision import extract_features, match_features
    >>> pair = make_plane_pair(2, random_state=0)
    >>> found = match_features(*(extract_features(image) for image in pair.images))
    >>> found.X.shape[1]
    4
    """
    _check_ratio(ratio)
    if first.kind != second.kind:
        raise ValueError(f"features must be of one kind, got {first.kind!r} and {second.kind!r}.")
    if len(first.points) == 0 or len(second.points) < 2:
        return Matched(np.empty((0, 4)), np.empty(0))
    cv2 = opencv()
    matcher = cv2.BFMatcher(getattr(cv2, FEATURES[first.kind][1]))
    nearest = matcher.knnMatch(first.descriptors, second.descriptors, k=2)
    found = np.array([(m.queryIdx, m.trainIdx) for m, _ in nearest])
    best, next_best = np.array([(m.distance, n.distance) for m, n in nearest]).T
    ratios = best / np.where(next_best > 0, next_best, np.inf)
    keep = best < ratio * next_best
    if mutual:
        keep &= _are_mutual(matcher, first, second, found)
    X = np.concatenate([first.points[found[:, 0]], second.points[found[:, 1]]], axis=1)[keep]
    # A keypoint with two orientations occurs twice, and so would its match.
    order = np.argsort(ratios[keep], kind="stable")
    _, once = np.unique(X[order], axis=0, return_index=True)
    order = order[np.sort(once)]
    return Matched(X[order], ratios[keep][order])


def _are_mutual(matcher: Any, first: Features, second: Features, found: Ints) -> Bools:
    """(n,) whether the nearest of the nearest is the point itself, or a point at the same place:
    a keypoint with two orientations."""
    back = np.full(len(second.points), -1)
    for each in matcher.match(second.descriptors, first.descriptors):
        back[each.queryIdx] = each.trainIdx
    there = back[found[:, 1]]
    same_place = np.all(first.points[there] == first.points[found[:, 0]], axis=1)
    return np.asarray((there == found[:, 0]) | ((there >= 0) & same_place))


def _check_ratio(ratio: float) -> None:
    if not 0 < ratio <= 1:
        raise ValueError(f"ratio must be in (0, 1], got {ratio!r}. 0.8 is usual.")
