"""Matches with ground truth that several tests need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from piforest.vision import Camera


def right(pair, X, within=3.0):
    """(n,) which matches obey the homography of a plane, by OpenCV from the true matches."""
    import cv2

    errors = []
    for k in range(1, pair.target.max() + 1):
        true = pair.data[pair.target == k]
        H, _ = cv2.findHomography(true[:, :2], true[:, 2:])
        moved = cv2.perspectiveTransform(X[None, :, :2], H)[0]
        errors.append(np.linalg.norm(moved - X[:, 2:], axis=1))
    return np.min(errors, axis=0) < within


class CalibratedPair(NamedTuple):
    X: np.ndarray
    """(n, 4) matches in pixels; the last `wrong` of them are false"""
    true: np.ndarray
    """(n,) which matches are true"""
    cameras: tuple[Camera, Camera]
    R: np.ndarray
    t: np.ndarray


def rotation(axis, degrees):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def calibrated_pair(seed=0, n=150, wrong=50, noise=0.3, t=(0.8, 0.1, 0.1), plane=False,
                    cameras=None):  # fmt: skip
    """Points in space seen by two cameras of known pose, in pixels, with false matches."""
    rng = np.random.default_rng(seed)
    cameras = cameras or (Camera(700, 720, 330, 250), Camera(900, 880, 310, 235))
    R, t = rotation([0.2, 1, 0.1], 8), np.asarray(t, float)
    points = rng.uniform([-2, -1.5, 4], [2, 1.5, 8], (n, 3))
    if plane:
        points[:, 2] = 5 + 0.3 * points[:, 0] - 0.2 * points[:, 1]
    views = []
    for camera, seen in zip(cameras, (points, points @ R.T + t)):
        pixels = camera.distort(seen[:, :2] / seen[:, 2:])
        pixels = pixels * [camera.fx, camera.fy] + [camera.cx, camera.cy]
        views.append(pixels + rng.normal(0, noise, (n, 2)))
    X = np.concatenate([np.column_stack(views), rng.uniform(0, 600, (wrong, 4))])
    return CalibratedPair(X, np.arange(n + wrong) < n, cameras, R, t / (np.linalg.norm(t) or 1))
