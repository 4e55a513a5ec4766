"""Two images of a synthetic scene, with true and false matches between them.

The scene consists of textured rectangles in space, seen by a pinhole camera before and after the
camera or the rectangles move. Examples and tests with images then need no download.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

from .._random import Stream
from .._validation import check_integer
from ..protocols import Floats
from ..typing import RandomStateLike
from ._render import Rng, Sizes, as_bunch, checked, documents

_HEIGHT, _WIDTH = 480, 640
_CAMERA = np.array([[700.0, 0, _WIDTH / 2], [0, 700, _HEIGHT / 2], [0, 0, 1]])
_TEXTURE = 256


class _Patch(NamedTuple):
    """A textured rectangle: corner + u across + v down, u and v in [0, 1]."""

    corner: Floats
    across: Floats
    down: Floats
    texture: Floats

    def moved(self, R: Floats, t: Floats) -> _Patch:
        return _Patch(R @ self.corner + t, R @ self.across, R @ self.down, self.texture)


@documents(in_columns=True)
def make_plane_pair(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.3,
    random_state: RandomStateLike = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """A wall of planes seen from two positions: matches of each plane satisfy one homography.

    Rows are (x1, y1, x2, y2) in pixels; both ends of an anomaly are uniform in their images. The
    Bunch also has images, two arrays (480, 640, 3).

    >>> pair = make_plane_pair(2, sizes=40, anomaly_share=0.2, random_state=0)
    >>> pair.data.shape, pair.images[0].shape
    ((100, 4), (480, 640, 3))
    """
    k = check_integer("n_structures", n_structures, 1)
    stream = Stream.from_random_state(random_state).child("planes")
    walls = []
    for i in range(k):
        rng = stream.child(i).generator()
        width = 4.4 / k
        turn = _rotation([0, 1, 0], rng.uniform(0.25, 0.7) * (-1) ** i)
        centre = np.array([-2.2 + (i + 0.5) * width, 0, 6 + rng.uniform(-0.4, 0.4)])
        across, down = turn @ [width / np.cos(0.3), 0, 0], np.array([0.0, 3.4, 0])
        corner = centre - (across + down) / 2
        walls.append([_Patch(corner, across, down, _texture(rng))])
    step = _rotation([0.1, 1, 0.05], 0.1), np.array([-0.8, 0.08, 0.25])
    moved = [[patch.moved(*step) for patch in wall] for wall in walls]
    options = (sizes, noise, anomaly_share, return_X_y, as_frame)
    return _pair(walls, moved, stream, options, family="homography")


@documents(in_columns=True)
def make_motion_pair(
    n_structures: int = 3,
    *,
    sizes: Sizes = 60,
    noise: float = 0.5,
    anomaly_share: float = 0.3,
    random_state: RandomStateLike = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Boxes that move independently: matches of each box satisfy one fundamental matrix.

    Rows and images are as in `make_plane_pair`.

    >>> make_motion_pair(2, random_state=0).family
    'fundamental'
    """
    k = check_integer("n_structures", n_structures, 1)
    stream = Stream.from_random_state(random_state).child("motions")
    boxes, moved = [], []
    for i in range(k):
        rng = stream.child(i).generator()
        centre = np.array([-2.0 + 4.0 * (i + 0.5) / k, rng.uniform(-0.3, 0.3), 5.5])
        box = _box(centre, min(1.6, 2.9 / k), rng)
        R = _rotation(rng.normal(size=3), rng.uniform(0.12, 0.25) * rng.choice([-1, 1]))
        shift = rng.uniform([-0.25, -0.3, -0.6], [0.25, 0.3, 0.6])
        boxes.append(box)
        moved.append([patch.moved(R, centre - R @ centre + shift) for patch in box])
    options = (sizes, noise, anomaly_share, return_X_y, as_frame)
    return _pair(boxes, moved, stream, options, family="fundamental")


def _box(centre: Floats, side: float, rng: Rng) -> list[_Patch]:
    """The three faces of a cube that are visible from the front and above."""
    turn = _rotation([1, 0, 0], rng.uniform(0.4, 0.6)) @ _rotation([0, 1, 0], rng.uniform(0.5, 1.0))
    x, y, z = side * turn.T
    left = centre - (x + y + z) / 2
    front, right, top = (left, x, y), (left + x, z, y), (left, x, z)
    return [_Patch(*face, _texture(rng)) for face in (front, right, top)]


def _pair(
    before: list[list[_Patch]],
    after: list[list[_Patch]],
    stream: Stream,
    options: tuple[Any, ...],
    family: str,
) -> Any:
    sizes, noise, anomaly_share, return_X_y, as_frame = options
    counts, n_false, labels = checked(len(before), sizes, noise, anomaly_share)
    images, depths = zip(*(_render([p for s in view for p in s]) for view in (before, after)))
    rng = stream.child("matches").generator()
    true = [_matches(one, two, depths, size, rng) for one, two, size in zip(before, after, counts)]
    false = rng.uniform(0, [_WIDTH, _HEIGHT, _WIDTH, _HEIGHT], (n_false, 4))
    matches = np.concatenate(true)
    return as_bunch(
        np.concatenate([matches + rng.normal(0, noise, matches.shape), false]),
        labels,
        ["x1", "y1", "x2", "y2"],
        return_X_y,
        as_frame,
        images=images,
        family=family,
        sigma=noise,
    )


def _render(patches: list[_Patch]) -> tuple[NDArray[np.uint8], Floats]:
    """An image and the depth of each pixel."""
    depth = np.full((_HEIGHT, _WIDTH), np.inf)
    picture = np.full((_HEIGHT, _WIDTH, 3), 30.0)
    for patch in patches:
        # A point of the patch is M (u, v, 1), its depth times the homogeneous pixel.
        M = _CAMERA @ np.column_stack([patch.across, patch.down, patch.corner])
        window = _window(M)
        y, x = np.mgrid[window]
        u, v, near = np.linalg.solve(M, np.stack([x.ravel(), y.ravel(), np.ones(x.size)]))
        far = 1 / near
        u, v = u * far, v * far
        in_front = (far > 0) & (far < depth[window].ravel())
        shown = in_front & (np.abs(u - 0.5) <= 0.5) & (np.abs(v - 0.5) <= 0.5)
        pixels = y.ravel()[shown], x.ravel()[shown]
        depth[pixels] = far[shown]
        at = np.stack([v[shown], u[shown]]) * (_TEXTURE - 1)
        for channel in range(3):
            picture[*pixels, channel] = scipy.ndimage.map_coordinates(
                patch.texture[:, :, channel], at, order=1
            )
    return np.clip(picture, 0, 255).astype(np.uint8), depth


def _window(M: Floats) -> tuple[slice, slice]:
    """Rows and columns of the pixels between the corners of a patch, all of which lie in front of
    the camera; a pixel wider, against rounding."""
    corners = M @ np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    ends = corners[:2] / corners[2]
    left, top = np.maximum(0, np.floor(ends.min(axis=1)) - 1).astype(int)
    right, bottom = np.maximum(0, np.ceil(ends.max(axis=1)) + 2).astype(int)
    return slice(top, min(bottom, _HEIGHT)), slice(left, min(right, _WIDTH))


def _matches(before: list[_Patch], after: list[_Patch], depths: Any, size: int, rng: Rng) -> Floats:
    """`size` points of a structure that are visible in both images, rows (x1, y1, x2, y2)."""
    areas = np.array([np.linalg.norm(np.cross(p.across, p.down)) for p in before])
    found: list[Floats] = []
    for _ in range(1000):
        face = rng.choice(len(before), p=areas / areas.sum())
        uv = rng.uniform(0.03, 0.97, (10 + size // 4, 2))
        ends, seen = zip(
            *(_project(side[face], uv, depth) for side, depth in zip((before, after), depths))
        )
        rows = np.concatenate(ends, axis=1)[seen[0] & seen[1]]
        # A few from each face, so that all visible faces contribute.
        found.append(rows[: 1 + size // 20])
        if sum(map(len, found)) >= size:
            return np.concatenate(found)[:size]
    raise ValueError("a structure is hardly visible in both images; use another random_state.")


def _project(patch: _Patch, uv: Floats, depth: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The image coordinates of points of a patch, and a mask of the visible points."""
    points = patch.corner + uv[:, :1] * patch.across + uv[:, 1:] * patch.down
    image = points @ _CAMERA.T
    ends = image[:, :2] / image[:, 2:]
    column, row = np.rint(ends).astype(int).T
    inside = (column >= 0) & (column < _WIDTH) & (row >= 0) & (row < _HEIGHT)
    nearest = depth[row.clip(0, _HEIGHT - 1), column.clip(0, _WIDTH - 1)]
    return ends, inside & (image[:, 2] < 1.02 * nearest)


def _texture(rng: Rng) -> Floats:
    """A random texture with features to match: noise at several scales, and spots."""
    grey = np.zeros((_TEXTURE, _TEXTURE))
    for cells in (4, 16, 64):
        grid = rng.normal(size=(cells + 1, cells + 1))
        grey += scipy.ndimage.zoom(grid, _TEXTURE / (cells + 1), order=1) * (4 / cells) ** 0.3
    grey = 128 + 45 * (grey - grey.mean()) / grey.std()
    hue = rng.uniform(0.6, 1.1, 3)
    return np.asarray(grey[:, :, None] * hue)


def _rotation(axis: Any, angle: float) -> Floats:
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
