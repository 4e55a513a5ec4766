"""Vanishing points of line segments, from two segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._describe import Description, vector
from ._family import SEGMENTS, Family, Scene

# A segment is a point if it is shorter than this share of the size of its sample; two lines
# coincide if their homogeneous coordinates, relative to that size, differ by less.
FLAT = 1e-6


@dataclass(frozen=True)
class VanishingPoint(Family):
    """Intersections of the images of parallel edges, also at infinity. Rows (x1, y1, x2, y2) are
    the end points of segments; parameters are a point c, a vector V and a number w. The vanishing
    point is c + V / w, or the direction V if w is 0.

    The residual is the distance of the end points from the line through the midpoint of the
    segment and the vanishing point, the same for both. It is at most half the length, so segments
    of a few sigmas fit every model: remove them. A sample is degenerate if both segments lie on
    one line, or if one of them is a point.
    """

    name: ClassVar[str] = "vanishing_point"
    n_points = 2
    scene = Scene("make_segments", 3, "edges in three directions")
    # A translation or rotation acts on each end point, not on the four columns as one vector.
    symmetries = frozenset({"scale"})
    layout = SEGMENTS

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        ends = samples.reshape(-1, 4, 2)
        steps = ends - ends[:, :1]
        mean = np.sum(steps, axis=1) / 4
        around = steps - mean[:, None]
        size = np.sqrt(np.sum(around**2, axis=(1, 2)))
        around /= np.where(size > 0, size, np.inf)[:, None, None]
        (a1, b1, c1, length1), (a2, b2, c2, length2) = _line(around[:, :2]), _line(around[:, 2:])
        V = np.stack([b1 * c2 - c1 * b2, c1 * a2 - a1 * c2, a1 * b2 - b1 * a2], axis=1)
        norm = np.sqrt(np.sum(V**2, axis=1))
        valid = (length1 > FLAT) & (length2 > FLAT) & (norm > FLAT)
        V /= np.where(valid, norm, np.inf)[:, None]
        V[:, 2] /= np.where(valid, size, np.inf)
        return np.concatenate([ends[:, 0] + mean, V], axis=1)[:, None], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        x1, y1, x2, y2 = x
        cx, cy, vx, vy, w = theta
        hx, hy = (x2 - x1) / 2, (y2 - y1) / 2
        mx, my = x1 + hx, y1 + hy
        dx, dy = vx - w * (mx - cx), vy - w * (my - cy)
        length = xp.sqrt(dx * dx + dy * dy)
        # If the midpoint is the vanishing point, the residual is 0.
        return xp.where(length > 0, abs(hx * dy - hy * dx) / length, 0.0)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        centre, towards, w = params[:2], params[2:4], float(params[4])
        with np.errstate(all="ignore"):
            point = centre + towards / w
        if not np.isfinite(point).all():
            direction = towards / np.linalg.norm(towards)
            text = f"edges are parallel to {vector(direction, digits)}"
            return Description({"direction": direction.tolist()}, text)
        return Description({"point": point.tolist()}, f"edges meet at {vector(point, digits)}")


def _line(ends: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Lines a x + b y + c = 0 through two ends (s, 2, 2), with unit normals, and the lengths."""
    x, y = (ends[:, 1] - ends[:, 0]).T
    length = np.sqrt(x * x + y * y)
    over = np.where(length > 0, length, np.inf)
    a, b = -y / over, x / over
    return a, b, -(a * ends[:, 0, 0] + b * ends[:, 0, 1]), length
