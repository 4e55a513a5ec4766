"""Shifts between two images or two point clouds, from one match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._namespace import tensors_too


@dataclass(frozen=True)
class _Shift:
    """What both families share: the parameters are the shift."""

    max_models: ClassVar[int] = 1
    # Not rotation: the two views do not turn on their own, one shift would become another
    # for every match.
    symmetries: ClassVar[frozenset[str]] = frozenset({"translation", "scale"})
    views: ClassVar[int] = 2

    def sample_size(self, d: int) -> int:
        return 1

    def codimension(self, d: int) -> int:
        return d // 2

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        half = samples.shape[2] // 2
        params = samples[:, :, half:] - samples[:, :, :half]
        return params, np.ones(params.shape[:2], np.bool_)

    @tensors_too
    def residuals(self, X: Floats, params: Floats) -> Floats:
        out = np.empty((len(X), len(params)))
        half = X.shape[1] // 2
        _distances(X[:, half:] - X[:, :half], np.ascontiguousarray(params.T), out)
        return out

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        half = len(x) // 2
        off = [end - start - t for start, end, t in zip(x, x[half:], theta)]
        return xp.sqrt(sum(a * a for a in off))


@dataclass(frozen=True)
class Translation(_Shift):
    """Shifts of an image. Rows (x1, y1, x2, y2); parameters: t, x2 = x1 + t. The residual is
    |x2 - x1 - t|, the same in both images. No sample is degenerate."""

    name: ClassVar[str] = "translation"
    n_features: ClassVar[int | None] = 4
    row: ClassVar[str] = "(x1, y1, x2, y2)"


@dataclass(frozen=True)
class Translation3D(_Shift):
    """Shifts of a point cloud. Rows (x, y, z, x', y', z'); parameters: t, x' = x + t. The
    residual is |x' - x - t|, the same in both clouds. No sample is degenerate."""

    name: ClassVar[str] = "translation3d"
    n_features: ClassVar[int | None] = 6
    row: ClassVar[str] = "(x, y, z, x', y', z')"


@jit
def _distances(moves, t, out):  # type: ignore[no-untyped-def]
    """|move - t| for moves (n, d) and t (d, m). O(n m d)."""
    for i in range(moves.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for c in range(moves.shape[1]):
                off = moves[i, c] - t[c, j]
                total += off * off
            out[i, j] = np.sqrt(total)
