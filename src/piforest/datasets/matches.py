"""Matches between two images or two point clouds, and line segments, with ground truth.

sigma is the noise of one coordinate. Both ends of a match and the minimal sample are noisy, so the
residuals of true matches are about twice as large. This hardly matters for up to three structures
and 40 % anomalies; for four structures and 50 % anomalies, affine maps need sigma = 2 * noise.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from .._random import Stream
from .._validation import check_integer
from ..protocols import Floats
from ..typing import RandomStateLike
from ._render import Drawing, Options, Rng, Sizes, as_bunch, documents, synthetic_scene
from .stereo import _CAMERA, _HEIGHT, _WIDTH, _rotation, make_motion_pair

_IMAGE = np.array([_WIDTH, _HEIGHT], float)
_ENDS = ["x1", "y1", "x2", "y2"]
_CLOUDS = ["x", "y", "z", "x'", "y'", "z'"]


@synthetic_scene(family="affinity")
def make_affine_pair(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Patches of an image of 640 x 480 pixels, each transformed by a different affine map.

    >>> pair = make_affine_pair(2, sizes=30, anomaly_share=0.25, random_state=0)
    >>> pair.data.shape, pair.family
    ((80, 4), 'affinity')
    """
    return Drawing(
        lambda size, rng: _patch(np.eye(2) + rng.uniform(-0.3, 0.3, (2, 2)), size, rng), _ENDS
    )


@synthetic_scene(family="similarity")
def make_similarity_pair(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Patches of an image, each rotated, scaled and translated.

    >>> make_similarity_pair(random_state=0).family
    'similarity'
    """

    def similarity(size: int, rng: Rng) -> Floats:
        scale, angle = np.exp(rng.uniform(-0.4, 0.4)), rng.uniform(-0.8, 0.8)
        return _patch(scale * _rotation([0, 0, 1], angle)[:2, :2], size, rng)

    return Drawing(similarity, _ENDS)


@synthetic_scene(family="translation")
def make_translation_pair(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Patches of an image, each translated.

    >>> make_translation_pair(random_state=0).family
    'translation'
    """
    return Drawing(partial(_patch, np.eye(2)), _ENDS)


@synthetic_scene(family="affine_fundamental")
def make_affine_motion_pair(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Rigid bodies that move independently, seen from a large distance: the matches of each satisfy
    one affine fundamental matrix.

    >>> make_affine_motion_pair(random_state=0).family
    'affine_fundamental'
    """

    def body(size: int, rng: Rng) -> Floats:
        points = rng.uniform(-100, 100, (size, 3))
        turned = points @ _rotation(rng.normal(size=3), rng.uniform(0.3, 0.8)).T
        centre = rng.uniform(0.2, 0.8, 2) * _IMAGE
        shift = rng.uniform(-60, 60, 2)
        return np.concatenate([centre + points[:, :2], centre + shift + turned[:, :2]], axis=1)

    return Drawing(body, _ENDS)


@documents(in_columns=True)
def make_essential_pair(
    n_structures: int = 2,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.3,
    random_state: RandomStateLike = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """`make_motion_pair` for a calibrated camera: rows in normalised coordinates.

    sigma of the Bunch is the noise in normalised coordinates, noise / 700.

    Parameters
    ----------
    noise : float
        The standard deviation of each coordinate of a match, in pixels.

    >>> pair = make_essential_pair(random_state=0)
    >>> pair.family, bool(abs(pair.data).max() < 1)
    ('essential', True)
    """
    pair = make_motion_pair(
        n_structures,
        sizes=sizes,
        noise=noise,
        anomaly_share=anomaly_share,
        random_state=random_state,
    )
    focal, centre = _CAMERA[0, 0], _CAMERA[:2, 2]
    return as_bunch(
        (pair.data - np.tile(centre, 2)) / focal,
        pair.target,
        _ENDS,
        return_X_y,
        as_frame,
        images=pair.images,
        family="essential",
        sigma=noise / focal,
    )


@synthetic_scene(family="rotation")
def make_rotation_pair(
    n_structures: int = 2,
    *,
    sizes: Sizes = 60,
    noise: float = 0.001,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Distant points seen by a rotating calibrated camera, in normalised coordinates.

    Each structure is another rotation, as of several cameras that rotate independently.

    >>> make_rotation_pair(random_state=0).family
    'rotation'
    """

    def turn(size: int, rng: Rng) -> Floats:
        rays = np.column_stack([rng.uniform(-0.5, 0.5, (size, 2)), np.ones(size)])
        turned = rays @ _rotation(rng.normal(size=3), rng.uniform(0.1, 0.4)).T
        return np.concatenate([rays[:, :2], turned[:, :2] / turned[:, 2:]], axis=1)

    return Drawing(turn, _ENDS)


@synthetic_scene(family="rigid")
def make_rigid_matches(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Bodies in a cube of side 2, each with a different rigid motion: rows (x, y, z, x', y', z').

    >>> make_rigid_matches(random_state=0).data.shape
    (300, 6)
    """
    return Drawing(lambda size, rng: _body(1.0, rng.uniform(0.3, 1.5), size, rng), _CLOUDS)


@synthetic_scene(family="similarity3d")
def make_similarity3d_matches(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Bodies that are rotated, translated and scaled.

    >>> make_similarity3d_matches(random_state=0).family
    'similarity3d'
    """

    def body(size: int, rng: Rng) -> Floats:
        return _body(np.exp(rng.uniform(-0.5, 0.5)), rng.uniform(0.3, 1.5), size, rng)

    return Drawing(body, _CLOUDS)


@synthetic_scene(family="translation3d")
def make_translation3d_matches(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Bodies that are translated.

    >>> make_translation3d_matches(random_state=0).family
    'translation3d'
    """
    return Drawing(partial(_body, 1.0, 0.0), _CLOUDS)


@synthetic_scene(family="vanishing_point")
def make_segments(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    **options: Unpack[Options],
) -> Drawing:
    """Segments of 60 to 150 pixels in an image of 640 x 480 that point to vanishing points, and
    segments of random directions. The vanishing points lie in different directions, 400 to 4000
    pixels from the centre.

    >>> make_segments(2, sizes=30, random_state=0).data.shape
    (100, 4)
    """
    k = check_integer("n_structures", n_structures, 1)
    stream = Stream.from_random_state(options.get("random_state")).child("vanishing points")
    away = (np.arange(k) + stream.child("turn").generator().uniform()) * np.pi / k
    far = 400 * 10 ** stream.child("far").generator().uniform(0, 1, k)
    points = iter(_IMAGE / 2 + far[:, None] * np.column_stack([np.cos(away), np.sin(away)]))

    def bundle(size: int, rng: Rng) -> Floats:
        return _segments(size, rng, next(points))

    return Drawing(bundle, _ENDS, lambda size, rng, low, high: _segments(size, rng))


def _patch(A: Floats, size: int, rng: Rng) -> Floats:
    """Matches of a square patch that A transforms about its centre, and a translation."""
    centre, shift = rng.uniform(0.2, 0.8, 2) * _IMAGE, rng.uniform(-60, 60, 2)
    points = rng.uniform(-100, 100, (size, 2))
    return np.concatenate([centre + points, centre + shift + points @ A.T], axis=1)


def _body(scale: float, angle: float, size: int, rng: Rng) -> Floats:
    """Matches of a cube that is rotated and scaled about its centre, and translated."""
    centre, shift = rng.uniform(-0.6, 0.6, 3), rng.uniform(-0.5, 0.5, 3)
    points = rng.uniform(-0.4, 0.4, (size, 3))
    moved = scale * points @ _rotation(rng.normal(size=3), angle).T
    return np.concatenate([centre + points, centre + shift + moved], axis=1)


def _segments(size: int, rng: Rng, point: Floats | None = None) -> Floats:
    """Segments with midpoints in the image that point to a given point, or in random directions."""
    middle, half = rng.uniform(0, _IMAGE, (size, 2)), rng.uniform(30, 75, (size, 1))
    angle = rng.uniform(0, 2 * np.pi, size)
    along = np.column_stack([np.cos(angle), np.sin(angle)])
    if point is not None:
        along = (point - middle) / np.sqrt(np.sum((point - middle) ** 2, axis=1, keepdims=True))
    return np.concatenate([middle - half * along, middle + half * along], axis=1)
