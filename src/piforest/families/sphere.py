"""Spheres in any number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._charts import diamond_angle
from ._describe import Description, round_about
from ._family import Family, Scene
from ._outlines import within_box
from ._refits import Frame, taubin_sphere
from ._spans import frame


@dataclass(frozen=True)
class Sphere(Family):
    """Spheres in d >= 2 dimensions, from d + 1 points. Parameters are centre and radius, p = d + 1.
    The residual is geometric.

    A sample is degenerate if its points lie on a hyperplane, up to a millionth of their size.
    """

    name: ClassVar[str] = "sphere"
    scene = Scene("make_spheres", 2, "two spheres")
    chart_wraps = True

    def sample_size(self, d: int) -> int:
        return d + 1

    def codimension(self, d: int) -> int:
        return 1 if d > 1 else 0

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        s, k, _ = samples.shape
        params, valid = np.zeros((s, k)), np.zeros(s, np.bool_)
        _spheres(np.ascontiguousarray(samples), params, valid)
        return params[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        off = [at - c for at, c in zip(x, theta)]
        return abs(xp.sqrt(sum(a * a for a in off)) - theta[len(x)])

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        """The direction from the centre in the plane of the first two columns, and in space also
        the third coordinate."""
        if len(x) > 3:
            return ()
        angle = diamond_angle(x[0] - theta[0], x[1] - theta[1], xp)
        return (angle,) if len(x) == 2 else (angle, x[2] - theta[2])

    def lift(self, Z: Floats) -> Floats:
        return np.column_stack([np.sum(Z * Z, axis=1), Z, np.ones(len(Z))])

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        centre, radius, valid = taubin_sphere(S)
        return np.column_stack([frame.restored(centre), radius * frame.scale[0]]), valid

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        return round_about(params, names, digits)

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """Return a great circle for each pair of axes: three in space."""
        angle = np.linspace(0, 2 * np.pi, 200)
        lines = []
        for one, two in combinations(range(len(params) - 1), 2):
            points = np.tile(params[:-1], (len(angle), 1))
            points[:, one] += params[-1] * np.cos(angle)
            points[:, two] += params[-1] * np.sin(angle)
            lines.append(within_box(points, low, high))
        return lines


@jit
def _spheres(samples, params, valid):  # type: ignore[no-untyped-def]
    """The centre c relative to the first point satisfies a . c = a . a / 2 for the vector a to
    every other point, a triangular system in an orthonormal basis of these vectors. O(s d^3)."""
    d = samples.shape[2]
    A, Q = np.empty((d, d)), np.empty((d, d))
    order, heights, centre = np.empty(d, np.int64), np.empty(d), np.empty(d)
    for i in range(samples.shape[0]):
        for a in range(d):
            for c in range(d):
                A[a, c] = samples[i, a + 1, c] - samples[i, 0, c]
                Q[a, c] = A[a, c]
        if not frame(Q, order, heights):
            continue
        for c in range(d):
            centre[c] = 0.0
        for step in range(d):
            a, missing = order[step], 0.0
            for c in range(d):
                missing += A[a, c] * (A[a, c] / 2 - centre[c])
            for c in range(d):
                centre[c] += missing / heights[step] * Q[step, c]
        square = 0.0
        for c in range(d):
            square += centre[c] * centre[c]
            params[i, c] = samples[i, 0, c] + centre[c]
        params[i, d] = np.sqrt(square)
        valid[i] = True
