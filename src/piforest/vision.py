"""Matches between two images: tell true matches from false ones.

>>> from piforest.datasets import make_plane_pair
>>> from piforest.vision import filter_matches, match_images
>>> pair = make_plane_pair(2, random_state=0)
>>> found = match_images(*pair.images)  # SIFT and the ratio test, by OpenCV
>>> kept = filter_matches(found.X[:, :2], found.X[:, 2:], family="homography", random_state=0)
>>> kept.mask.shape == kept.scores.shape == (len(found.X),)
True
>>> good = found.X[kept.mask]  # rows (x1, y1, x2, y2) in pixels

As in OpenCV, the origin of pixel coordinates is the centre of the upper left pixel.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._validation import check_row_numbers
from .estimators import PreferenceIsolationForest
from .families import FAMILIES, get_family, layout_of
from .protocols import Bools, Floats, Ints
from .typing import ContaminationLike, FamilyLike, RandomStateLike, SigmaLike

__all__ = [
    "Filtered",
    "ImageLike",
    "KeyPoint",
    "Match",
    "Matched",
    "MatchesLike",
    "PointsLike",
    "filter_matches",
    "match_families",
    "match_images",
    "read_image",
]


class KeyPoint(Protocol):
    """A point of an image, such as cv2.KeyPoint."""

    @property
    def pt(self) -> Sequence[float]:
        """(x, y) in pixels."""
        ...


class Match(Protocol):
    """Two matched points, such as cv2.DMatch."""

    @property
    def queryIdx(self) -> int:
        """The index of the point in the first image."""
        ...

    @property
    def trainIdx(self) -> int:
        """The index of the point in the second image."""
        ...


PointsLike: TypeAlias = ArrayLike | Sequence[KeyPoint]
MatchesLike: TypeAlias = ArrayLike | Sequence[Match] | Sequence[Sequence[Match]]
ImageLike: TypeAlias = str | PathLike[str] | NDArray[np.uint8]


class Filtered(NamedTuple):
    """The result of `filter_matches` for n matches.

    Attributes
    ----------
    mask : ndarray of bool of shape (n,)
        True for matches to keep.
    scores : ndarray of shape (n,)
        Anomaly scores in (0, 1], high = anomalous.
    X : ndarray of shape (n, 4)
        The matches, rows (x1, y1, x2, y2).
    detector : PreferenceIsolationForest
        The detector fitted to X: its `structures_` are the motions.
    """

    mask: Bools
    scores: Floats
    X: Floats
    detector: PreferenceIsolationForest


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


def filter_matches(
    points1: PointsLike,
    points2: PointsLike,
    matches: MatchesLike | None = None,
    *,
    family: FamilyLike = "fundamental",
    sigma: SigmaLike = "auto",
    contamination: ContaminationLike = "auto",
    n_jobs: int | None = None,
    random_state: RandomStateLike = None,
    **options: Any,  # the other parameters of PreferenceIsolationForest
) -> Filtered:
    """Separate the matches between two images that follow a motion from the others.

    Parameters
    ----------
    points1, points2 : array-like of shape (n1, 2) and (n2, 2), or sequence of cv2.KeyPoint
        Points of each image, in pixels.
    matches : array-like of int of shape (n, 2), sequence of cv2.DMatch or None, default=None
        Pairs of indices, as in COLMAP, or matches of OpenCV; of the lists that `knnMatch`
        returns, the first match of each. None matches row i of `points1` with row i of
        `points2`.
    family : str or ModelFamily, default="fundamental"
        The motions: "fundamental" for rigid bodies, "homography" for planes or a rotating
        camera, "affinity", "similarity", "translation", "affine_fundamental"; "essential" and
        "rotation" for normalised coordinates.
    sigma : float or "auto", default="auto"
        The noise of the matches, in pixels.
    contamination : float in (0, 1) or "auto", default="auto"
        The share of false matches.
    n_jobs : int or None, default=None
        The number of threads.
    random_state : int, RandomState, Generator or None, default=None
        The seed.
    **options
        Other parameters of `PreferenceIsolationForest`.

    Returns
    -------
    Filtered
        The mask of kept matches, their scores, the matches as rows and the fitted detector.

    Raises
    ------
    ValueError
        If there are no matches, or if points and matches do not fit together.

    Examples
    --------
    >>> from piforest.datasets import make_motion_pair
    >>> pair = make_motion_pair(2, random_state=0)
    >>> kept = filter_matches(pair.data[:, :2], pair.data[:, 2:], random_state=0)
    >>> float(np.mean(pair.target[kept.mask] > 0).round(2))  # share of true matches
    1.0

    With pairs of indices, as COLMAP stores them:

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
                f"points1 and points2 must have the same length without matches, got {len(first)} "
                f"and {len(second)}. Pass matches, the pairs of indices."
            )
        X = np.concatenate([first, second], axis=1)
    else:
        pairs = _pairs(matches)
        check_row_numbers("the indices of matches into points1", pairs[:, 0], len(first))
        check_row_numbers("the indices of matches into points2", pairs[:, 1], len(second))
        X = np.concatenate([first[pairs[:, 0]], second[pairs[:, 1]]], axis=1)
    if not len(X):
        raise ValueError("at least one match is needed, got 0.")
    detector = PreferenceIsolationForest(
        family,
        sigma=sigma,
        contamination=contamination,
        n_jobs=n_jobs,
        random_state=random_state,
        **options,
    ).fit(X)
    return Filtered(detector.labels_ == 1, detector.scores_, X, detector)


def match_images(
    image1: ImageLike, image2: ImageLike, *, ratio: float = 0.8, mutual: bool = False
) -> Matched:
    """Match two images by SIFT features and the ratio test, with OpenCV.

    Parameters
    ----------
    image1, image2 : str, path, or uint8 array of shape (h, w) or (h, w, 3)
        The images, grey or RGB, of any sizes.
    ratio : float in (0, 1], default=0.8
        Lowe's ratio test: keep a match if its descriptor is nearer than this times the second
        nearest. 1 keeps all matches but ties.
    mutual : bool, default=False
        Keep only matches that are nearest neighbours in both directions.

    Returns
    -------
    Matched
        The matches and their ratios, lowest ratios first.

    Raises
    ------
    ImportError
        If OpenCV is not installed.

    Examples
    --------
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
    (points1, descriptors1), (points2, descriptors2) = (
        sift.detectAndCompute(_grey(each), None) for each in (image1, image2)
    )
    if len(points1) == 0 or len(points2) < 2:
        return Matched(np.empty((0, 4)), np.empty(0))
    nearest = cv2.BFMatcher(cv2.NORM_L2).knnMatch(descriptors1, descriptors2, k=2)
    found = np.array([(m.queryIdx, m.trainIdx) for m, _ in nearest])
    best, second = np.array([(m.distance, n.distance) for m, n in nearest]).T
    ratios = best / np.where(second > 0, second, np.inf)
    keep = best < ratio * second
    if mutual:
        back = cv2.BFMatcher(cv2.NORM_L2).match(descriptors2, descriptors1)
        nearest_of = {m.queryIdx: m.trainIdx for m in back}
        keep &= np.array([nearest_of[there] == here for here, there in found])
    X = np.concatenate(
        [_points("", points1)[found[:, 0]], _points("", points2)[found[:, 1]]], axis=1
    )[keep]
    # A keypoint with two orientations occurs twice, and so would its match.
    order = np.argsort(ratios[keep], kind="stable")
    _, once = np.unique(X[order], axis=0, return_index=True)
    order = order[np.sort(once)]
    return Matched(X[order], ratios[keep][order])


def read_image(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """Read an image file.

    Parameters
    ----------
    path : str or path
        A file that OpenCV can read, such as JPEG, PNG or TIFF.

    Returns
    -------
    ndarray of uint8 of shape (h, w, 3)
        RGB, rotated as its EXIF orientation says.

    Examples
    --------
    >>> import cv2, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "grey.png"
    >>> _ = cv2.imwrite(str(path), np.full((4, 6), 9, np.uint8))
    >>> read_image(path).shape
    (4, 6, 3)
    """
    cv2 = _opencv()
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}.")
    data = np.frombuffer(Path(path).read_bytes(), np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
    if image is None:
        raise ValueError(f"{path} is not an image that OpenCV can read (JPEG, PNG, TIFF, ...).")
    return np.ascontiguousarray(image[:, :, ::-1])


def match_families() -> list[str]:
    """List the families whose rows are matches (x1, y1, x2, y2) between two images.

    Returns
    -------
    list of str

    Examples
    --------
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
    """(n, 2) points from an array, also of shape (n, 1, 2) as in OpenCV, or from keypoints."""
    if not hasattr(points, "shape") and len(points) and hasattr(points[0], "pt"):
        return np.array([point.pt for point in points], np.float64)
    array = np.asarray(points, np.float64)
    if array.ndim == 3 and array.shape[1] == 1:
        array = array[:, 0]
    if array.size == 0:
        return np.empty((0, 2))
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must have shape (n, 2) or be a sequence of cv2.KeyPoint, got shape "
            f"{array.shape}."
        )
    return array


def _pairs(matches: Any) -> Ints:
    """(n, 2) indices from pairs or from matches of OpenCV."""
    rows = [each[0] if _is_list_of_matches(each) else each for each in matches]
    if rows and hasattr(rows[0], "queryIdx"):
        rows = [(each.queryIdx, each.trainIdx) for each in rows]
    array = np.asarray(rows)
    if array.size == 0:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            "matches must be pairs of indices (n, 2) or a sequence of cv2.DMatch, got shape "
            f"{array.shape}."
        )
    return array


def _is_list_of_matches(each: Any) -> bool:
    return isinstance(each, (list, tuple)) and len(each) > 0 and hasattr(each[0], "queryIdx")
