"""Hyperplanes in any number of dimensions, and planes in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._charts import plane_coordinates
from ._describe import Description, ends_along, flat, rectangle
from ._family import SPACE, Family, Scene
from ._outlines import flat_within_box
from ._refits import Frame, principal, with_one
from ._spans import FLAT, frame, nearest_to_origin, normal_to


@dataclass(frozen=True)
class Hyperplane(Family):
    """Hyperplanes in d >= 2 dimensions, from d points. Parameters are a point and a unit normal,
    p = 2 d. The residual is the distance.

    A sample is degenerate if its points span fewer than d - 1 dimensions.
    """

    name: ClassVar[str] = "hyperplane"
    scene = Scene("make_planes", 3, "the same planes: any number of columns")

    def sample_size(self, d: int) -> int:
        return d

    def codimension(self, d: int) -> int:
        return 1 if d > 1 else 0

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        s, _, d = samples.shape
        if d == 3:
            normal, valid = _by_cross_product(samples)
        else:
            normal, valid = np.zeros((s, d)), np.zeros(s, np.bool_)
            _normals(np.ascontiguousarray(samples), normal, valid)
        params = np.concatenate([nearest_to_origin(samples), normal], axis=1)
        return params[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        normal = theta[len(x) :]
        return abs(sum((at - p) * u for at, p, u in zip(x, theta, normal)))

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        """In the plane and in space: coordinates within the hyperplane."""
        off = [at - p for at, p in zip(x, theta)]
        if len(x) == 2:
            return (off[1] * theta[2] - off[0] * theta[3],)
        return plane_coordinates(off, theta[3:], xp) if len(x) == 3 else ()

    def lift(self, Z: Floats) -> Floats:
        return with_one(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        mean, values, vectors, valid = principal(S)
        params = np.concatenate([frame.restored(mean), vectors[:, :, 0]], axis=1)
        return params, valid & (values[:, 1] > 1e-14)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        anchor, normal = np.split(params, 2)
        return flat(anchor, normal, names, digits)

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        anchor, normal = np.split(params, 2)
        if len(anchor) == 2:
            return ends_along(X, anchor, np.array([-normal[1], normal[0]]))
        return rectangle(X, anchor, normal) if len(anchor) == 3 else {}

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """Return the intersection with the box in two and three dimensions, else nothing."""
        anchor, normal = np.split(params, 2)
        return flat_within_box(anchor, normal, low, high)


@dataclass(frozen=True)
class Plane(Hyperplane):
    """Planes in space, from three points: `Hyperplane` with three columns."""

    name: ClassVar[str] = "plane"
    scene = Scene("make_planes", 3, "three planes in space")
    layout = SPACE


def _by_cross_product(samples: Floats) -> tuple[Floats, Bools]:
    a, b = samples[:, 1] - samples[:, 0], samples[:, 2] - samples[:, 0]
    normal = np.cross(a, b)
    area = np.sqrt(np.sum(normal**2, axis=1))
    sides2 = np.stack([np.sum(side**2, axis=1) for side in (a, b, a - b)])
    # Twice the area is the longest side times the corresponding height.
    valid = area > FLAT * np.max(sides2, axis=0)
    return normal / np.where(valid, area, 1)[:, None], valid


@jit
def _normals(samples, normals, valid):  # type: ignore[no-untyped-def]
    """Fill normals (s, d) of samples (s, d, d). O(s d^3)."""
    d = samples.shape[2]
    V, order, heights = np.empty((d - 1, d)), np.empty(d - 1, np.int64), np.empty(d - 1)
    for i in range(samples.shape[0]):
        for a in range(d - 1):
            for c in range(d):
                V[a, c] = samples[i, a + 1, c] - samples[i, 0, c]
        if frame(V, order, heights):
            normal_to(V, normals[i])
            valid[i] = True
