"""What drawing models needs."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..protocols import Floats


def within_box(points: Floats, low: Floats, high: Floats) -> Floats:
    """A line of points with nan in place of those outside a box."""
    inside = np.all((points >= low) & (points <= high), axis=1)
    return np.where(inside[:, None], points, np.nan)


def flat_within_box(anchor: Floats, normal: Floats, low: Floats, high: Floats) -> list[Floats]:
    """The closed polygon in which a plane cuts a box, the two ends of a line in a rectangle;
    nothing in more dimensions, or where they do not meet."""
    d = len(anchor)
    if d not in (2, 3):
        return []
    corners = []
    for along in range(d):
        if normal[along] == 0:
            continue
        others = [c for c in range(d) if c != along]
        # Where each edge of the box along this axis meets the flat.
        for ends in product(*([low[c], high[c]] for c in others)):
            point = np.zeros(d)
            point[others] = ends
            off = (point[others] - anchor[others]) @ normal[others]
            point[along] = anchor[along] - off / normal[along]
            if low[along] <= point[along] <= high[along]:
                corners.append(point)
    if len(corners) < d:
        return []
    points = np.array(corners)
    if d == 3:
        one, two = across(normal)
        middle = points.mean(axis=0)
        points = points[np.argsort(np.arctan2((points - middle) @ two, (points - middle) @ one))]
        points = np.concatenate([points, points[:1]])
    else:
        farthest = int(np.argmax(np.sum((points - points[0]) ** 2, axis=1)))
        points = points[[0, farthest]]
    return [points]


def across(axis: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors at right angles to a unit vector in space and to each other."""
    one = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    one = one / np.sqrt(np.sum(one**2))
    return one, np.cross(axis, one)


def span_of_box(anchor: Floats, axis: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """The least and the largest position of a box's corners along an axis."""
    corners = np.array(list(product(*zip(low, high))))
    along = (corners - anchor) @ axis
    return float(along.min()), float(along.max())
