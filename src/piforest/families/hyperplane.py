"""Hyperplanes in any number of dimensions, and planes in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._namespace import tensors_too
from ._solids import flat_within_box
from ._spans import FLAT, frame, nearest_to_origin, normal_to


@dataclass(frozen=True)
class Hyperplane:
    """Hyperplanes in d >= 2 dimensions, from d points. Parameters: a point and a unit normal,
    p = 2 d. The residual is the distance.

    A sample is degenerate if its points span less than a hyperplane.
    """

    name: ClassVar[str] = "hyperplane"
    n_features: ClassVar[int | None] = None
    row: ClassVar[str] = "of coordinates"
    max_models: ClassVar[int] = 1
    symmetries: ClassVar[frozenset[str]] = frozenset({"translation", "rotation", "scale"})

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

    @tensors_too
    def residuals(self, X: Floats, params: Floats) -> Floats:
        out = np.empty((len(X), len(params)))
        columns = np.ascontiguousarray(params.T)
        if X.shape[1] == 3:
            _distances_3d(X, columns, out)
        else:
            _distances(X, columns, out)
        return out

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        normal = theta[len(x) :]
        return abs(sum((at - p) * u for at, p, u in zip(x, theta, normal)))

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """In the plane and in space: where it cuts the box. Nothing beyond."""
        anchor, normal = np.split(params, 2)
        return flat_within_box(anchor, normal, low, high)


@dataclass(frozen=True)
class Plane(Hyperplane):
    """Planes in space, from three points: `Hyperplane` with three columns."""

    name: ClassVar[str] = "plane"
    n_features: ClassVar[int | None] = 3
    row: ClassVar[str] = "(x, y, z)"


def _by_cross_product(samples: Floats) -> tuple[Floats, Bools]:
    a, b = samples[:, 1] - samples[:, 0], samples[:, 2] - samples[:, 0]
    normal = np.cross(a, b)
    area = np.sqrt(np.sum(normal**2, axis=1))
    sides2 = np.stack([np.sum(side**2, axis=1) for side in (a, b, a - b)])
    # Twice the area is the longest side times the height on it.
    valid = area > FLAT * np.max(sides2, axis=0)
    return normal / np.where(valid, area, 1)[:, None], valid


@jit
def _normals(samples, normals, valid):  # type: ignore[no-untyped-def]
    """Normals (s, d) of samples (s, d, d). O(s d^3)."""
    d = samples.shape[2]
    V, order, heights = np.empty((d - 1, d)), np.empty(d - 1, np.int64), np.empty(d - 1)
    for i in range(samples.shape[0]):
        for a in range(d - 1):
            for c in range(d):
                V[a, c] = samples[i, a + 1, c] - samples[i, 0, c]
        if frame(V, order, heights):
            normal_to(V, normals[i])
            valid[i] = True


@jit
def _distances_3d(X, params, out):  # type: ignore[no-untyped-def]
    """O(n m), params (6, m)."""
    for i in range(X.shape[0]):
        x, y, z = X[i, 0], X[i, 1], X[i, 2]
        for j in range(out.shape[1]):
            out[i, j] = abs(
                (x - params[0, j]) * params[3, j]
                + (y - params[1, j]) * params[4, j]
                + (z - params[2, j]) * params[5, j]
            )


@jit
def _distances(X, params, out):  # type: ignore[no-untyped-def]
    """|(x - point) . normal|. O(n m d), params (2 d, m)."""
    d = X.shape[1]
    for i in range(X.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for c in range(d):
            for j in range(out.shape[1]):
                out[i, j] += (X[i, c] - params[c, j]) * params[d + c, j]
        for j in range(out.shape[1]):
            out[i, j] = abs(out[i, j])
