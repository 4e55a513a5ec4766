"""Scenes of structures that end: arcs, polygons, floor plans and rooms, with ground truth."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from .._random import Stream
from .._validation import check_integer
from ..protocols import Floats
from ._render import Box, Drawing, Options, Rng, Sizes, Structure, synthetic_scene

_DOOR = 0.2


@synthetic_scene("arcs")
def make_arcs(
    n_structures: int = 4,
    *,
    sizes: Sizes = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Arcs of 60 to 200 degrees, of circles with centres in [-1, 1]^2.

    >>> make_arcs(3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (200, 2)
    """

    def arc(size: int, rng: Rng) -> Floats:
        centre, radius = rng.uniform(-1, 1, 2), rng.uniform(0.4, 1.0)
        angle = rng.uniform(0, 2 * np.pi) + np.radians(rng.uniform(60, 200)) * rng.uniform(
            0, 1, size
        )
        r = radius + rng.normal(0, noise, (size, 1))
        return np.asarray(centre + r * np.column_stack([np.cos(angle), np.sin(angle)]))

    return Drawing(arc)


@synthetic_scene("polygons")
def make_polygons(
    n_structures: int = 8,
    *,
    n_sides: int = 4,
    sizes: Sizes = 60,
    noise: float = 0.01,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Sides of convex polygons with centres in [-1, 1]^2; every side is a structure.

    Parameters
    ----------
    n_structures : int
        How many sides in all; the last polygon is open if they do not suffice.
    n_sides : int
        Sides of each polygon.

    >>> make_polygons(6, n_sides=3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (400, 2)
    """
    k, sides = check_integer("n_structures", n_structures, 1), check_integer("n_sides", n_sides, 3)
    stream = Stream.from_random_state(options.get("random_state")).child("corners")
    walls = []
    for i in range(-(-k // sides)):
        rng = stream.child(i).generator()
        angles = (np.arange(sides) + rng.uniform(-0.25, 0.25, sides) + rng.uniform()) / sides
        ring = np.column_stack([np.cos(2 * np.pi * angles), np.sin(2 * np.pi * angles)])
        corners = rng.uniform(-1, 1, 2) + rng.uniform(0.4, 1.0) * ring
        walls += list(zip(corners, np.roll(corners, -1, axis=0)))
    return Drawing([_wall(start, end, noise) for start, end in walls[:k]])


@synthetic_scene("floor plan")
def make_floor_plan(
    n_structures: int = 8,
    *,
    sizes: Sizes = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.3,
    box: Box | None = None,
    **options: Unpack[Options],
) -> Drawing:
    """Walls of a building of 2 x 1.5, turned by a random angle: four outer walls, then inner ones
    across the building, each with a door.

    Parameters
    ----------
    n_structures : int
        How many walls; of fewer than four, some outer walls.

    >>> make_floor_plan(6, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (400, 2)
    """
    k = check_integer("n_structures", n_structures, 1)
    stream = Stream.from_random_state(options.get("random_state")).child("walls")
    rng = stream.generator()
    angle, n_inner = rng.uniform(0, np.pi), max(0, k - 4)
    low, high = np.array([-1.0, -0.75]), np.array([1.0, 0.75])
    corners = np.array([[-1, -0.75], [1, -0.75], [1, 0.75], [-1, 0.75]])
    walls: list[tuple[Floats, Floats, float | None]]
    walls = [(a, b, None) for a, b in zip(corners, np.roll(corners, -1, axis=0))]
    for axis, count in enumerate(((n_inner + 1) // 2, n_inner // 2)):
        # Evenly spaced, moved by up to a quarter of a space: no two walls fall together.
        at = (np.arange(1, count + 1) + rng.uniform(-0.25, 0.25, count)) / (count + 1)
        for share in at:
            start, end = low.copy(), high.copy()
            start[axis] = end[axis] = low[axis] + share * (high - low)[axis]
            walls.append((start, end, float(rng.uniform(0.2, 0.8))))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return Drawing([_wall(turn @ a, turn @ b, noise, door) for a, b, door in walls[:k]])


@synthetic_scene("room")
def make_room(
    n_structures: int = 6,
    *,
    sizes: Sizes = 150,
    noise: float = 0.005,
    anomaly_share: float = 0.3,
    **options: Unpack[Options],
) -> Drawing:
    """A room of 2 x 1.6 x 1.2: its floor, its walls, its ceiling, then tops of tables, as points.

    Parameters
    ----------
    n_structures : int
        How many planes: floor, two walls, a table, two more walls, the ceiling, more tables.

    >>> make_room(4, sizes=50, anomaly_share=0.2, random_state=0).data.shape
    (250, 3)
    """
    k = check_integer("n_structures", n_structures, 1)
    size = np.array([2.0, 1.6, 1.2])
    stream = Stream.from_random_state(options.get("random_state")).child("furniture")
    faces: list[Structure] = [_face(size, 2, 0.0, noise), _face(size, 0, 0.0, noise)]
    faces += [_face(size, 1, 0.0, noise), _table(size, stream.child(0), noise)]
    faces += [_face(size, 0, 1.0, noise), _face(size, 1, 1.0, noise), _face(size, 2, 1.0, noise)]
    faces += [_table(size, stream.child(i), noise) for i in range(1, k - 6)]
    return Drawing(faces[:k], ["x", "y", "z"])


def _wall(start: Floats, end: Floats, noise: float, door: float | None = None) -> Structure:
    """Points between two corners, but for a door in the middle of `door` of the way."""

    def draw(size: int, rng: Rng) -> Floats:
        along = end - start
        length = np.sqrt(np.sum(along**2))
        t, off = rng.uniform(0, 1, (size, 1)), rng.normal(0, noise, (size, 1))
        if door is not None:
            gap = min(_DOOR / length, 0.4)
            t = t * (1 - gap)
            t = np.where(t > door - gap / 2, t + gap, t)
        return np.asarray(start + t * along + off * np.array([-along[1], along[0]]) / length)

    return draw


def _face(box: Floats, axis: int, share: float, noise: float) -> Structure:
    """The side of the box where one coordinate is a share of its size."""

    def draw(size: int, rng: Rng) -> Floats:
        points = rng.uniform(0, box, (size, 3))
        points[:, axis] = share * box[axis] + rng.normal(0, noise, size)
        return np.asarray(points)

    return draw


def _table(box: Floats, stream: Stream, noise: float) -> Structure:
    place = stream.generator()
    side, height = place.uniform(0.4, 0.8, 2), place.uniform(0.35, 0.65)
    corner = place.uniform(0, box[:2] - side)

    def draw(size: int, rng: Rng) -> Floats:
        flat = corner + side * rng.uniform(0, 1, (size, 2))
        return np.column_stack([flat, height + rng.normal(0, noise, size)])

    return draw
