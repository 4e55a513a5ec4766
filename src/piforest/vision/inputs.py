"""Points and matches in the forms that OpenCV, COLMAP and arrays have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_row_numbers
from ..protocols import Floats, Ints

__all__ = ["KeyPoint", "Match", "MatchesLike", "PointsLike"]


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


def as_rows(points1: PointsLike, points2: PointsLike, matches: MatchesLike | None) -> Floats:
    """(n, 4) the matches, rows (x1, y1, x2, y2)."""
    rows = _paired(points1, points2, matches)
    unknown = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(unknown):
        raise ValueError(
            f"{len(unknown)} of {len(rows)} matches have a coordinate that is NaN or infinite, the "
            f"first is number {unknown[0]}: leave such matches out."
        )
    return rows


def _paired(points1: PointsLike, points2: PointsLike, matches: MatchesLike | None) -> Floats:
    first, second = as_points("points1", points1), as_points("points2", points2)
    if matches is None:
        if len(first) != len(second):
            raise ValueError(
                f"points1 and points2 must have the same length without matches, got {len(first)} "
                f"and {len(second)}. Pass matches, the pairs of indices."
            )
        return np.concatenate([first, second], axis=1)
    pairs = as_pairs(matches)
    check_row_numbers("the indices of matches into points1", pairs[:, 0], len(first))
    check_row_numbers("the indices of matches into points2", pairs[:, 1], len(second))
    return np.concatenate([first[pairs[:, 0]], second[pairs[:, 1]]], axis=1)


def as_points(name: str, points: Any) -> Floats:
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


def as_pairs(matches: Any) -> Ints:
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
