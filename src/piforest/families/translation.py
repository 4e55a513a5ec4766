"""Shifts between two images or two point clouds, from one match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._family import CLOUDS, IMAGES, Family, Scene


@dataclass(frozen=True)
class _Shift(Family):
    """What both families share: the parameters are the shift."""

    n_points = 1
    # Not rotation: the two views do not turn on their own, one shift would become another
    # for every match.
    symmetries = frozenset({"translation", "scale"})

    def codimension(self, d: int) -> int:
        return d // 2

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        half = samples.shape[2] // 2
        params = samples[:, :, half:] - samples[:, :, :half]
        return params, np.ones(params.shape[:2], np.bool_)

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        half = len(x) // 2
        off = [end - start - t for start, end, t in zip(x, x[half:], theta)]
        return xp.sqrt(sum(a * a for a in off))


@dataclass(frozen=True)
class Translation(_Shift):
    """Shifts of an image. Rows (x1, y1, x2, y2); parameters: t, x2 = x1 + t. The residual is
    |x2 - x1 - t|, the same in both images. No sample is degenerate."""

    name: ClassVar[str] = "translation"
    scene = Scene("make_translation_pair", 3, "three shifts")
    layout = IMAGES


@dataclass(frozen=True)
class Translation3D(_Shift):
    """Shifts of a point cloud. Rows (x, y, z, x', y', z'); parameters: t, x' = x + t. The
    residual is |x' - x - t|, the same in both clouds. No sample is degenerate."""

    name: ClassVar[str] = "translation3d"
    scene = Scene("make_translation3d_matches", 3, "shifts of a point cloud")
    layout = CLOUDS
