"""Scenes of planes, spheres, cylinders, cones and subspaces among uniform anomalies.

If rows have normals, those of anomalies have random directions.

The default noise is smaller than for lines, because surfaces fill a larger share of their box: with
a noise of .01 many anomalies lie on a surface by chance, so that even the true spheres or cylinders
do not tell them.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from .._validation import check_flag, check_integer, check_not_below_zero
from ..protocols import Floats
from ._render import Drawing, Options, Rng, Sizes, synthetic_scene, uniform

_XYZ = ["x", "y", "z"]
_NORMAL = ["nx", "ny", "nz"]


@synthetic_scene("solids")
def make_planes(
    n_structures: int = 3,
    *,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Square pieces of random planes across the cube [-1, 1]^3, and uniform anomalies.

    >>> make_planes(3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (200, 3)
    """

    def plane(size: int, rng: Rng) -> Floats:
        across, up, normal = _random_rotation(rng)
        at = rng.uniform(-1, 1, (size, 2))
        off = rng.uniform(-0.5, 0.5) + rng.normal(0, noise, (size, 1))
        return np.asarray(at @ np.stack([across, up]) + off * normal)

    return Drawing(plane, _XYZ)


@synthetic_scene("solids")
def make_spheres(
    n_structures: int = 3,
    *,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Spheres of random radii with centres in [-1, 1]^3.

    Few uniform samples of four points lie on one sphere: the scene is easier for samplers that take
    neighbours.

    >>> X, y = make_spheres(2, sizes=[80, 40], random_state=0, return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 3), [0, 1, 2])
    """

    def sphere(size: int, rng: Rng) -> Floats:
        centre, radius = rng.uniform(-1, 1, 3), rng.uniform(0.3, 1.0)
        out = _directions(size, rng)
        return np.asarray(centre + (radius + rng.normal(0, noise, (size, 1))) * out)

    return Drawing(sphere, _XYZ)


@synthetic_scene("solids")
def make_cylinders(
    n_structures: int = 3,
    *,
    normals: bool = False,
    normal_noise: float = 0.03,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Cylinders of length 2 and random radii across [-1, 1]^3.

    Without normals, uniform samples of five points rarely lie on one of several cylinders: the
    scene is easier for samplers that take neighbours.

    Parameters
    ----------
    normals : bool
        If True, rows are (x, y, z, nx, ny, nz) with outward unit normals.
    normal_noise : float
        The standard deviation of each coordinate of a normal, approximately its error in radians.

    >>> make_cylinders(2, sizes=60, normals=True, random_state=0).data.shape
    (200, 6)
    """
    check_flag("normals", normals)
    check_not_below_zero("normal_noise", normal_noise)

    def cylinder(size: int, rng: Rng) -> Floats:
        turn, radius = _random_rotation(rng), rng.uniform(0.2, 0.5)
        middle = rng.uniform(-0.5, 0.5, 2) @ turn[:2]
        angle, along = rng.uniform(0, 2 * np.pi, size), rng.uniform(-1, 1, (size, 1))
        out = np.column_stack([np.cos(angle), np.sin(angle)]) @ turn[:2]
        points = middle + (radius + rng.normal(0, noise, (size, 1))) * out + along * turn[2]
        return np.hstack([points, _add_normal_noise(out, normal_noise, rng)]) if normals else points

    return Drawing(cylinder, _XYZ + _NORMAL, _oriented) if normals else Drawing(cylinder, _XYZ)


@synthetic_scene("solids")
def make_cones(
    n_structures: int = 3,
    *,
    normal_noise: float = 0.03,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Cones of length 2 and half angles of 15 to 35 degrees, evenly covered, with normals.

    Parameters
    ----------
    normal_noise : float
        The standard deviation of each coordinate of a normal, approximately its error in radians.

    >>> make_cones(2, sizes=60, random_state=0).feature_names
    ['x', 'y', 'z', 'nx', 'ny', 'nz']
    """
    check_not_below_zero("normal_noise", normal_noise)

    def cone(size: int, rng: Rng) -> Floats:
        turn, half = _random_rotation(rng), np.radians(rng.uniform(15, 35))
        apex = rng.uniform(-0.5, 0.5, 2) @ turn[:2] - turn[2]
        angle, along = rng.uniform(0, 2 * np.pi, size), 2 * np.sqrt(rng.uniform(0, 1, (size, 1)))
        out = np.column_stack([np.cos(angle), np.sin(angle)]) @ turn[:2]
        normal = np.cos(half) * out - np.sin(half) * turn[2]
        points = apex + along * (turn[2] + np.tan(half) * out)
        points = points + rng.normal(0, noise, (size, 1)) * normal
        return np.hstack([points, _add_normal_noise(normal, normal_noise, rng)])

    return Drawing(cone, _XYZ + _NORMAL, _oriented)


@synthetic_scene("solids")
def make_subspaces(
    n_structures: int = 3,
    *,
    dimension: int = 2,
    n_features: int = 6,
    affine: bool = True,
    sizes: Sizes = 100,
    noise: float = 0.005,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Cubes of side 2 in random subspaces of n_features dimensions.

    Parameters
    ----------
    dimension : int
        The dimension of the subspaces, less than n_features.
    n_features : int
        The number of columns.
    affine : bool
        If True, the distance to the origin is up to 1; if False, it is 0.
    noise : float
        The standard deviation of each coordinate orthogonal to the structure; the distance is
        about sqrt(n_features - dimension) times as large.

    >>> make_subspaces(2, dimension=3, n_features=10, random_state=0).data.shape
    (333, 10)
    """
    r, d = check_integer("dimension", dimension, 1), check_integer("n_features", n_features, 2)
    check_flag("affine", affine)
    if r >= d:
        raise ValueError(f"dimension must be less than n_features ({d}), got {r}.")

    def subspace(size: int, rng: Rng) -> Floats:
        turn = _random_rotation(rng, d)
        middle = rng.uniform(0, 1) * turn[r] if affine else np.zeros(d)
        off = rng.normal(0, noise, (size, d - r)) @ turn[r:]
        return np.asarray(middle + rng.uniform(-1, 1, (size, r)) @ turn[:r] + off)

    return Drawing(subspace, [f"x{c + 1}" for c in range(d)])


def _random_rotation(rng: Rng, d: int = 3) -> Floats:
    """A random orthogonal matrix (d, d)."""
    return np.asarray(np.linalg.qr(rng.normal(size=(d, d)))[0].T)


def _directions(size: int, rng: Rng) -> Floats:
    way = rng.normal(size=(size, 3))
    return np.asarray(way / np.sqrt(np.sum(way**2, axis=1, keepdims=True)))


def _add_normal_noise(normals: Floats, noise: float, rng: Rng) -> Floats:
    rough = normals + rng.normal(0, noise, normals.shape)
    return np.asarray(rough / np.sqrt(np.sum(rough**2, axis=1, keepdims=True)))


def _oriented(size: int, rng: Rng, low: Floats, high: Floats) -> Floats:
    anomalies = uniform(size, rng, low, high)
    anomalies[:, 3:] = _directions(size, rng)
    return anomalies
