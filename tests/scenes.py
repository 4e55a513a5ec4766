"""Small scenes whose models are known exactly."""

from __future__ import annotations

from functools import cache

import numpy as np

from piforest.families import get_family, layout_of, list_families

# Models as they are drawn.
RAW = {"concentrate": False, "refit": False, "select": False, "bound": False}


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


def ellipse_points(n=40, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    turn = rotation([0, 0, 1], 0.6)[:2, :2]
    return rng.normal(size=2) + np.column_stack([4 * np.cos(angle), 2 * np.sin(angle)]) @ turn.T


def parabola_points(n=40, seed=0, angle=0.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, n)
    turn = rotation([0, 0, 1], angle)[:2, :2]
    return np.column_stack([x, 0.7 * x**2 - x + 2]) @ turn.T


def linear_table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, (n, 2))
    return np.column_stack([x, 2 * x[:, 0] - 0.5 * x[:, 1] + 4])


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


def cylinder_points(n=40, seed=0, normals=False):
    rng = np.random.default_rng(seed)
    angle, along, R = rng.uniform(0, 2 * np.pi, n), rng.uniform(-4, 4, n), rotation([1, 2, 3], 1)
    out = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    points = rng.normal(size=3) + (3 * out + along[:, None] * [0, 0, 1]) @ R.T
    return np.hstack([points, out @ R.T]) if normals else points


def cone_points(n=40, seed=0):
    """With normals, half of them inward."""
    rng = np.random.default_rng(seed)
    angle, along, R = (
        rng.uniform(0, 2 * np.pi, n),
        rng.uniform(1, 6, (n, 1)),
        rotation([1, 2, 3], 1),
    )
    out, axis = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle]), np.array([0, 0, 1])
    points = rng.normal(size=3) + along * (axis + 0.7 * out) @ R.T
    return np.hstack([points, rng.choice([-1, 1], (n, 1)) * (out - 0.7 * axis) @ R.T])


def moved(family, X, shift):
    """Rows elsewhere; normals are no places."""
    places = 3 if layout_of(family).kind == "oriented points" else X.shape[1]
    return X + shift * (np.arange(X.shape[1]) < places)


def affine_matches(n=40, seed=0, A=((1.1, 0.3), (-0.2, 0.8))):
    """Exact matches of one affine map of the image plane, in pixels."""
    points = np.random.default_rng(seed).uniform(0, 600, (n, 2))
    return np.concatenate([points, points @ np.transpose(A) + [30, -20]], axis=1)


def affine_motion_matches(n=40, seed=0):
    """Exact matches of rigid points under one motion, seen by two affine cameras."""
    rng = np.random.default_rng(seed)
    cameras = np.random.default_rng(9).normal(size=(4, 3))
    return 300 + 100 * rng.uniform(-1, 1, (n, 3)) @ cameras.T


def cloud_matches(n=40, seed=0, scale=1.0, angle=0.8):
    """Exact matches of two point clouds under one motion."""
    points = np.random.default_rng(seed).uniform(-10, 10, (n, 3))
    moved = scale * points @ rotation([0.3, -1, 0.5], angle).T + [4, -2, 7]
    return np.concatenate([points, moved], axis=1)


def scaled_cloud_matches(n=40, seed=0):
    return cloud_matches(n, seed, 0.7)


def segments(n=40, seed=0, point=(900.0, 150.0)):
    """Segments of lines through one point."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, 600, (n, 2))
    return np.concatenate([start, start + rng.uniform(0.1, 0.3, (n, 1)) * (point - start)], axis=1)


# The origin and the scale of calibrated matches are fixed.
CALIBRATED = [
    name for name in list_families() if not {"translation", "scale"} & get_family(name).symmetries
]


def calibrated_matches(n=40, seed=0, t=(0.5, 0.2, 0.3)):
    """Exact matches of a very wide camera that turns and moves by t, in normalised coordinates."""
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-3, 3, (n, 2)), rng.uniform(0.5, 1.5, n)])
    moved = points @ rotation([0.02, 0.03, 1], 0.3).T + np.asarray(t)
    return np.concatenate([points[:, :2] / points[:, 2:], moved[:, :2] / moved[:, 2:]], axis=1)


@cache
def _scene(name):
    return get_family(name).scene.make(random_state=0)


def scene(name):
    """The scene of a family: rows, the structure of each. It is drawn once, and copied."""
    return _scene(name).data.copy(), _scene(name).target.copy()


def on_one_model(name, n=40, seed=0):
    """Rows that lie on one model of the family. They are drawn once, and copied."""
    return _on_one_model(name, n, seed).copy()


@cache
def _on_one_model(name, n, seed):
    return get_family(name).scene.on_one_model(n, seed)


def two_laws(d, n, seed=0, noise=0.03, shares=(0.45, 0.45)):
    """A table of d columns whose last follows one of several linear laws, else is random; and the
    law of each row, 0 for none."""
    rng = np.random.default_rng(seed)
    target = rng.choice(1 + len(shares), n, p=[1 - sum(shares), *shares])
    x, laws = rng.normal(size=(n, d - 1)), rng.normal(size=(1 + len(shares), d - 1))
    y = np.sum(x * laws[target], axis=1) / np.sqrt(d - 1) + rng.normal(0, noise, n)
    y[target == 0] = rng.uniform(y.min(), y.max(), np.sum(target == 0))
    return np.column_stack([x, y]), target
