"""Translations between two images or two point clouds, from one match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._describe import Description, vector
from ._family import CLOUDS, IMAGES, Family, Scene
from ._refits import Frame, with_one


@dataclass(frozen=True)
class _Shift(Family):
    """Base class of both families: the parameters are the translation."""

    n_points = 1
    # Not rotation: if one view is rotated alone, the translation differs for every match.
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

    def matrices(self, params: Floats) -> Floats:
        """Return T (m, k + 1, k + 1) with x2 = T x1, for translations in k dimensions."""
        k = params.shape[1]
        T = np.tile(np.eye(k + 1), (len(params), 1, 1))
        T[:, :k, k] = params
        return T

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        half = len(names) // 2
        start, end = (f"({', '.join(part)})" for part in (names[:half], names[half:]))
        text = f"{end} = {start} + {vector(params, digits)}"
        return Description({"translation": params.tolist()}, text)

    def lift(self, Z: Floats) -> Floats:
        return with_one(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        valid = S[:, -1, -1] > 0
        mean = frame.restored(S[:, :-1, -1] / np.where(valid, S[:, -1, -1], 1.0)[:, None])
        half = mean.shape[1] // 2
        return mean[:, half:] - mean[:, :half], valid


@dataclass(frozen=True)
class Translation(_Shift):
    """Translations of an image. Rows are (x1, y1, x2, y2); the parameters are t, x2 = x1 + t. The
    residual is |x2 - x1 - t|, the same in both images. No sample is degenerate."""

    name: ClassVar[str] = "translation"
    scene = Scene("make_translation_pair", 3, "three translations")
    layout = IMAGES


@dataclass(frozen=True)
class Translation3D(_Shift):
    """Translations of a point cloud. Rows are (x, y, z, x', y', z'); the parameters are t,
    x' = x + t. The residual is |x' - x - t|, the same in both clouds. No sample is degenerate."""

    name: ClassVar[str] = "translation3d"
    scene = Scene("make_translation3d_matches", 3, "three translations of a point cloud")
    layout = CLOUDS
