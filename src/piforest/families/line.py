"""Lines in any number of dimensions, from two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._namespace import tensors_too


@dataclass(frozen=True)
class Line:
    """Lines in d >= 2 dimensions. Parameters: a point and a unit direction, p = 2 d."""

    name: ClassVar[str] = "line"
    n_features: ClassVar[int | None] = None
    row: ClassVar[str] = "of coordinates"
    max_models: ClassVar[int] = 1
    symmetries: ClassVar[frozenset[str]] = frozenset({"translation", "rotation", "scale"})

    def sample_size(self, d: int) -> int:
        return 2

    def codimension(self, d: int) -> int:
        return d - 1

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        start, end = samples[:, 0], samples[:, 1]
        direction = end - start
        # The point nearer to the origin is the one with more digits to measure from: a far
        # one, a fill value say, would swallow those of every other point.
        nearer = np.sum(start**2, axis=1) <= np.sum(end**2, axis=1)
        anchor = np.where(nearer[:, None], start, end)
        length = np.sqrt(np.sum(direction**2, axis=1))
        valid = length > 0
        direction = direction / np.where(valid, length, 1)[:, None]
        return np.concatenate([anchor, direction], axis=1)[:, None, :], valid[:, None]

    @tensors_too
    def residuals(self, X: Floats, params: Floats) -> Floats:
        out = np.empty((len(X), len(params)))
        columns = np.ascontiguousarray(params.T)
        if X.shape[1] == 2:
            _distances_2d(X, columns, out)
        else:
            _distances(X, columns, out)
        return out

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        if len(x) == 2:
            px, py, ux, uy = theta
            return abs(ux * (x[1] - py) - uy * (x[0] - px))
        off = [at - p for at, p in zip(x, theta)]
        direction = theta[len(x) :]
        along = sum(a * u for a, u in zip(off, direction))
        across = [a - along * u for a, u in zip(off, direction)]
        return xp.sqrt(sum(a * a for a in across))

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        anchor, direction = np.split(params, 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([low - anchor, high - anchor]) / direction, axis=0)
        start, stop = np.nanmax(ends[0]), np.nanmin(ends[1])
        if not start < stop:
            return []
        return [anchor + np.array([[start], [stop]]) * direction]


@jit
def _distances_2d(X, params, out):  # type: ignore[no-untyped-def]
    """|cross product with the direction|. O(n m), params (4, m)."""
    px, py, ux, uy = params[0], params[1], params[2], params[3]
    for i in range(X.shape[0]):
        x, y = X[i, 0], X[i, 1]
        for j in range(out.shape[1]):
            out[i, j] = abs(ux[j] * (y - py[j]) - uy[j] * (x - px[j]))


@jit
def _distances(X, params, out):  # type: ignore[no-untyped-def]
    """|x - p minus its part along the direction|. O(n m d), params (2 d, m)."""
    d = X.shape[1]
    along = np.empty(out.shape[1])
    for i in range(X.shape[0]):
        along[:] = 0.0
        for c in range(d):
            for j in range(out.shape[1]):
                along[j] += (X[i, c] - params[c, j]) * params[d + c, j]
        out[i, :] = 0.0
        for c in range(d):
            for j in range(out.shape[1]):
                across = X[i, c] - params[c, j] - along[j] * params[d + c, j]
                out[i, j] += across * across
        for j in range(out.shape[1]):
            out[i, j] = np.sqrt(out[i, j])
