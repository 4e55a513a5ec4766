"""Geometry for the outlines of models."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..protocols import Floats


def within_box(points: Floats, low: Floats, high: Floats) -> Floats:
    """Replace the points outside a box by nan."""
    inside = np.all((points >= low) & (points <= high), axis=1)
    return np.where(inside[:, None], points, np.nan)


def flat_within_box(anchor: Floats, normal: Floats, low: Floats, high: Floats) -> list[Floats]:
    """The intersection of a plane with a box, a closed polygon, or of a line with a rectangle, a
    segment. Empty in more dimensions, or if they do not intersect."""
    d = len(anchor)
    if d not in (2, 3):
        return []
    corners = []
    for along in range(d):
        if normal[along] == 0:
            continue
        others = [c for c in range(d) if c != along]
        # The intersection of the plane with each edge of the box along this axis.
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
    """Two unit vectors orthogonal to a unit vector in space and to each other."""
    one = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    one = one / np.sqrt(np.sum(one**2))
    return one, np.cross(axis, one)


def span_of_box(anchor: Floats, axis: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """The smallest and the largest coordinate of the corners of a box along an axis."""
    corners = np.array(list(product(*zip(low, high))))
    along = (corners - anchor) @ axis
    return float(along.min()), float(along.max())
