"""Rotation and translation between two calibrated cameras."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Bools, Floats

__all__ = ["Pose", "relative_pose"]


class Pose(NamedTuple):
    """The second camera in the frame of the first: a point at x is at R x + t in its frame.

    Attributes
    ----------
    R : ndarray of shape (3, 3)
        The rotation.
    t : ndarray of shape (3,)
        The direction of the translation, of unit length: images do not determine its length.
    in_front : ndarray of bool of shape (n,)
        Whether a match is in front of both cameras.
    parallax : float
        The median angle between the two rays of a match, in degrees. Near 0, t is not
        determined.
    """

    R: Floats
    t: Floats
    in_front: Bools
    parallax: float


def relative_pose(E: ArrayLike, X: ArrayLike) -> Pose:
    """Relative pose of two cameras from an essential matrix and its matches.

    Of the four poses that have this matrix, the one with the most matches in front of both
    cameras.

    Parameters
    ----------
    E : array-like of shape (3, 3)
        The essential matrix, x2' E x1 = 0.
    X : array-like of shape (n, 4)
        The matches that follow it, in normalised coordinates; see `Camera.normalise`.

    Returns
    -------
    Pose

    Raises
    ------
    ValueError
        If the shapes are others, or there are no matches.

    Examples
    --------
    >>> from piforest.vision import relative_pose
    >>> points = np.array([[0, 0, 4.0], [1, 1, 5], [-1, 1, 6], [0.5, -1, 3]])
    >>> moved = points + [1, 0, 0]  # the second camera is 1 to the left: t = (1, 0, 0)
    >>> X = np.column_stack([points[:, :2] / points[:, 2:], moved[:, :2] / moved[:, 2:]])
    >>> pose = relative_pose([[0, 0, 0], [0, 0, -1], [0, 1, 0]], X)
    >>> pose.R.round(6).tolist() == np.eye(3).tolist(), pose.t.round(6).tolist()
    (True, [1.0, 0.0, 0.0])
    """
    matrix, rows = np.asarray(E, np.float64), np.asarray(X, np.float64)
    if matrix.shape != (3, 3) or rows.ndim != 2 or rows.shape[1] != 4 or not len(rows):
        raise ValueError(
            f"relative_pose takes E (3, 3) and matches (n, 4), got {matrix.shape} and {rows.shape}."
        )
    U, _, Vt = np.linalg.svd(matrix)
    U, Vt = U * np.sign(np.linalg.det(U)), Vt * np.sign(np.linalg.det(Vt))
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    first, second = _rays(rows)
    best: Pose | None = None
    for R in (U @ turn @ Vt, U @ turn.T @ Vt):
        for t in (U[:, 2], -U[:, 2]):
            front = _in_front(R, t, first, second)
            if best is None or front.sum() > best.in_front.sum():
                best = Pose(R, t, front, _parallax(R, first, second))
    assert best is not None
    return best


def best_rotation(X: Floats) -> Floats:
    """(3, 3) the rotation that maps the rays of the first image to those of the second, by least
    squares."""
    first, second = _rays(X)
    U, _, Vt = np.linalg.svd(second.T @ first)
    return np.asarray(U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt)


def _rays(X: Floats) -> tuple[Floats, Floats]:
    """Unit vectors (n, 3) of both images."""
    both = (np.column_stack([X[:, k : k + 2], np.ones(len(X))]) for k in (0, 2))
    first, second = (rays / np.linalg.norm(rays, axis=1, keepdims=True) for rays in both)
    return first, second


def _in_front(R: Floats, t: Floats, first: Floats, second: Floats) -> Bools:
    """(n,) the signs of both depths in depth2 * second = depth1 * R first + t."""
    turned = first @ R.T
    across = np.cross(second, turned)
    depth1 = -np.sum(across * np.cross(second, t), axis=1)
    depth2 = -np.sum(across * np.cross(turned, t), axis=1)
    return np.asarray((depth1 > 0) & (depth2 > 0))


def _parallax(R: Floats, first: Floats, second: Floats) -> float:
    turned = first @ R.T
    sines = np.linalg.norm(np.cross(turned, second), axis=1)
    return float(np.degrees(np.median(np.arctan2(sines, np.sum(turned * second, axis=1)))))
