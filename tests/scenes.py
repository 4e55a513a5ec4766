"""Small scenes whose models are known exactly."""

from __future__ import annotations

import numpy as np


def rotation(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def line_points(n=40, seed=0, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=d) + rng.uniform(-5, 5, (n, 1)) * rng.normal(size=d)


def circle_points(n=40, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return rng.normal(size=2) + 3 * np.column_stack([np.cos(angle), np.sin(angle)])


CAMERA = np.array([[800.0, 0, 500], [0, 800, 400], [0, 0, 1]])


def project(points, R=None, t=None):
    R, t = np.eye(3) if R is None else R, np.zeros(3) if t is None else np.asarray(t)
    image = (points @ R.T + t) @ CAMERA.T
    return image[:, :2] / image[:, 2:]


def motion_matches(n=40, seed=0, flat=False):
    """Exact matches of rigid points under one motion; of a plane if flat. In pixels."""
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-2, 2, (n, 2)), rng.uniform(5, 9, n)])
    if flat:
        points[:, 2] = 6 + 0.3 * points[:, 0] - 0.2 * points[:, 1]
    R = rotation([0.2, 1, 0.1], 0.15)
    return np.concatenate([project(points), project(points, R, [0.8, 0.1, 0.2])], axis=1)


def plane_matches(n=40, seed=0):
    return motion_matches(n, seed, flat=True)


def flat_points(n=40, seed=0, d=3, r=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=d) + rng.uniform(-5, 5, (n, r)) @ rng.normal(size=(r, d))


def sphere_points(n=40, seed=0, d=3):
    rng = np.random.default_rng(seed)
    ways = rng.normal(size=(n, d))
    return rng.normal(size=d) + 3 * ways / np.linalg.norm(ways, axis=1, keepdims=True)


def on_one_model(name, n=40, seed=0):
    """Rows that lie on one model of the family."""
    return {
        "line": line_points,
        "circle": circle_points,
        "homography": plane_matches,
        "fundamental": motion_matches,
        "hyperplane": flat_points,
        "plane": flat_points,
        "sphere": sphere_points,
        "subspace": flat_points,
    }[name](n, seed)
