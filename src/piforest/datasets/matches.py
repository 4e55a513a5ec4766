"""Matches between two images or two point clouds, and line segments, with ground truth.

All take the same options, and all return a Bunch with data (n, d), target (n,): 0 for
anomalies, else the number of the structure, family and sigma. Structures come first,
anomalies last.

sigma is the noise of one coordinate. Both ends of a match have it, and so does the minimal
sample: residuals of true matches are about twice as large. Up to three structures and 40 %
anomalies that hardly matters; of four among 50 %, affine maps need sigma = 2 * noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._random import Stream
from .._validation import check_integer, check_not_below_zero, check_share, check_sizes
from ..protocols import Floats
from .bunches import as_bunch
from .stereo import _CAMERA, _HEIGHT, _WIDTH, Rng, _rotation, make_motion_pair

Structure = Callable[[int, Rng], Floats]
_IMAGE = np.array([_WIDTH, _HEIGHT], float)
_ENDS = ["x1", "y1", "x2", "y2"]
_CLOUDS = ["x", "y", "z", "x'", "y'", "z'"]


class _Options(NamedTuple):
    """What every scene can be asked for."""

    n_structures: int
    sizes: Any
    noise: float
    anomaly_share: float
    random_state: Any
    return_X_y: bool
    as_frame: bool


def make_affine_pair(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Patches of an image of 640 x 480 pixels, each moved by an affine map of its own.

    sizes: true matches of each structure, one number for all or one each.
    noise: standard deviation of each coordinate of a true match.
    anomaly_share: false matches over all matches; they are uniform in the box of the
    true ones.
    return_X_y: (data, target) in place of a Bunch. as_frame: pandas objects.

    >>> pair = make_affine_pair(2, sizes=30, anomaly_share=0.25, random_state=0)
    >>> pair.data.shape, pair.family
    ((80, 4), 'affinity')
    """

    def affinity(size: int, rng: Rng) -> Floats:
        return _patch(np.eye(2) + rng.uniform(-0.3, 0.3, (2, 2)), size, rng)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(affinity, options, _ENDS, "affinity")


def make_similarity_pair(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Patches of an image, each turned, scaled and shifted; options as in `make_affine_pair`.

    >>> make_similarity_pair(random_state=0).family
    'similarity'
    """

    def similarity(size: int, rng: Rng) -> Floats:
        scale, angle = np.exp(rng.uniform(-0.4, 0.4)), rng.uniform(-0.8, 0.8)
        return _patch(scale * _rotation([0, 0, 1], angle)[:2, :2], size, rng)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(similarity, options, _ENDS, "similarity")


def make_translation_pair(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Patches of an image, each shifted; options as in `make_affine_pair`.

    >>> make_translation_pair(random_state=0).family
    'translation'
    """

    def translation(size: int, rng: Rng) -> Floats:
        return _patch(np.eye(2), size, rng)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(translation, options, _ENDS, "translation")


def make_affine_motion_pair(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Bodies that turn and move on their own, seen from afar, so that matches of each obey one
    affine fundamental matrix; options as in `make_affine_pair`.

    >>> make_affine_motion_pair(random_state=0).family
    'affine_fundamental'
    """

    def body(size: int, rng: Rng) -> Floats:
        points = rng.uniform(-100, 100, (size, 3))
        turned = points @ _rotation(rng.normal(size=3), rng.uniform(0.3, 0.8)).T
        centre = rng.uniform(0.2, 0.8, 2) * _IMAGE
        shift = rng.uniform(-60, 60, 2)
        return np.concatenate([centre + points[:, :2], centre + shift + turned[:, :2]], axis=1)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(body, options, _ENDS, "affine_fundamental")


def make_essential_pair(
    n_structures: int = 2,
    *,
    sizes: Any = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.3,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """`make_motion_pair` for a calibrated camera: rows in normalised coordinates.

    Options as there, noise in pixels; sigma of the Bunch is the noise in normalised
    coordinates, the 700th part.

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


def make_rotation_pair(
    n_structures: int = 2,
    *,
    sizes: Any = 60,
    noise: float = 0.001,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Far points seen by a calibrated camera that only turns; several structures are several
    turns, as of a rig whose cameras move on their own. Rows in normalised coordinates; options
    as in `make_affine_pair`.

    >>> make_rotation_pair(random_state=0).family
    'rotation'
    """

    def turn(size: int, rng: Rng) -> Floats:
        rays = np.column_stack([rng.uniform(-0.5, 0.5, (size, 2)), np.ones(size)])
        turned = rays @ _rotation(rng.normal(size=3), rng.uniform(0.1, 0.4)).T
        return np.concatenate([rays[:, :2], turned[:, :2] / turned[:, 2:]], axis=1)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(turn, options, _ENDS, "rotation")


def make_rigid_matches(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Bodies in a cube of side 2, each with a rigid motion of its own: rows (x, y, z, x', y', z').

    Options as in `make_affine_pair`.

    >>> make_rigid_matches(random_state=0).data.shape
    (300, 6)
    """

    def body(size: int, rng: Rng) -> Floats:
        return _body(1.0, rng.uniform(0.3, 1.5), size, rng)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(body, options, _CLOUDS, "rigid")


def make_similarity3d_matches(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Bodies that turn, move and grow or shrink; options as in `make_affine_pair`.

    >>> make_similarity3d_matches(random_state=0).family
    'similarity3d'
    """

    def body(size: int, rng: Rng) -> Floats:
        return _body(np.exp(rng.uniform(-0.5, 0.5)), rng.uniform(0.3, 1.5), size, rng)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(body, options, _CLOUDS, "similarity3d")


def make_translation3d_matches(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Bodies that move without turning; options as in `make_affine_pair`.

    >>> make_translation3d_matches(random_state=0).family
    'translation3d'
    """

    def body(size: int, rng: Rng) -> Floats:
        return _body(1.0, 0.0, size, rng)

    options = _Options(
        n_structures, sizes, noise, anomaly_share, random_state, return_X_y, as_frame
    )
    return _scene(body, options, _CLOUDS, "translation3d")


def make_segments(
    n_structures: int = 3,
    *,
    sizes: Any = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.4,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Segments of 60 to 150 pixels in an image of 640 x 480 that point to vanishing points, each
    in a direction of its own and 400 to 4000 pixels from the centre, and segments that
    point anywhere. Options as in `make_affine_pair`.

    >>> make_segments(2, sizes=30, random_state=0).data.shape
    (100, 4)
    """
    k = check_integer("n_structures", n_structures, 1)
    stream = Stream.from_random_state(random_state).child("vanishing points")
    away = (np.arange(k) + stream.child("turn").generator().uniform()) * np.pi / k
    far = 400 * 10 ** stream.child("far").generator().uniform(0, 1, k)
    points = iter(_IMAGE / 2 + far[:, None] * np.column_stack([np.cos(away), np.sin(away)]))

    def bundle(size: int, rng: Rng) -> Floats:
        return _segments(size, rng, next(points))

    options = _Options(k, sizes, noise, anomaly_share, random_state, return_X_y, as_frame)
    return _scene(bundle, options, _ENDS, "vanishing_point", anomalies=_segments)


def _patch(A: Floats, size: int, rng: Rng) -> Floats:
    """Matches of a square patch that A moves about its centre, and a shift."""
    centre, shift = rng.uniform(0.2, 0.8, 2) * _IMAGE, rng.uniform(-60, 60, 2)
    points = rng.uniform(-100, 100, (size, 2))
    return np.concatenate([centre + points, centre + shift + points @ A.T], axis=1)


def _body(scale: float, angle: float, size: int, rng: Rng) -> Floats:
    """Matches of a cube that is turned and scaled about its centre, and shifted."""
    centre, shift = rng.uniform(-0.6, 0.6, 3), rng.uniform(-0.5, 0.5, 3)
    points = rng.uniform(-0.4, 0.4, (size, 3))
    moved = scale * points @ _rotation(rng.normal(size=3), angle).T
    return np.concatenate([centre + points, centre + shift + moved], axis=1)


def _segments(size: int, rng: Rng, point: Floats | None = None) -> Floats:
    """Segments with their middles in the image that point to a point, or anywhere."""
    middle, half = rng.uniform(0, _IMAGE, (size, 2)), rng.uniform(30, 75, (size, 1))
    angle = rng.uniform(0, 2 * np.pi, size)
    along = np.column_stack([np.cos(angle), np.sin(angle)])
    if point is not None:
        along = (point - middle) / np.sqrt(np.sum((point - middle) ** 2, axis=1, keepdims=True))
    return np.concatenate([middle - half * along, middle + half * along], axis=1)


def _scene(
    draw: Structure,
    options: _Options,
    columns: list[str],
    family: str,
    anomalies: Structure | None = None,
) -> Any:
    """Structures with noise in every column, then anomalies, uniform in their box by default."""
    k = check_integer("n_structures", options.n_structures, 1)
    counts = check_sizes("sizes", options.sizes, k)
    noise = check_not_below_zero("noise", options.noise)
    share = check_share("anomaly_share", options.anomaly_share)
    stream = Stream.from_random_state(options.random_state).child(family)
    parts = []
    for i, size in enumerate(counts):
        rng = stream.child(i).generator()
        rows = draw(size, rng)
        parts.append(rows + rng.normal(0, noise, rows.shape))
    normal = np.concatenate(parts)
    labels = np.repeat(np.arange(1, k + 1), counts)
    n_false = round(len(labels) * share / (1 - share))
    rng = stream.child("anomalies").generator()
    if anomalies is None:
        box = normal.min(axis=0), normal.max(axis=0)
        false = rng.uniform(*box, (n_false, normal.shape[1]))
    else:
        false = anomalies(n_false, rng)
    return as_bunch(
        np.concatenate([normal, false]),
        np.concatenate([labels, np.zeros(n_false, labels.dtype)]),
        columns,
        options.return_X_y,
        options.as_frame,
        family=family,
        sigma=noise,
    )
