"""Rotations of a calibrated camera, from two matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._calibrated import Calibrated, rays
from ._family import Scene
from .homography import transfer_error

# Two rays coincide if the angle between them is below this, in radians: a thousandth of a pixel
# in a typical image.
FLAT = 1e-6


@dataclass(frozen=True)
class Rotation(Calibrated):
    """Images of a camera that rotates without translation, or of distant points. Rows are
    (x1, y1, x2, y2) in normalised coordinates, (pixel - centre) / focal length; parameters are the
    rows of a rotation R, x2 ~ R x1. `matrices` returns R.

    The model of a sample is the least-squares rotation between its rays; it goes through the
    sample only if both pairs of rays form the same angle. The residual is that of homographies,
    in normalised coordinates. A sample is degenerate if its two points coincide in an image.
    """

    name: ClassVar[str] = "rotation"
    n_points = 2
    matrix_name, matrix_equation = "R", "x2 ~ R x1"
    scene = Scene("make_rotation_pair", 2, "two rotations of a camera")

    def codimension(self, d: int) -> int:
        return 2

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        # The bisector and the difference of two rays determine a frame that is symmetric in them.
        along = rays(samples)
        frames = np.empty((len(samples), 2, 3, 3))
        between = along[:, :, 0] + along[:, :, 1]
        apart = along[:, :, 0] - along[:, :, 1]
        size = np.sqrt(np.sum(apart**2, axis=2, keepdims=True))
        valid = np.all(size > FLAT, axis=(1, 2))
        frames[:, :, 0] = between / np.sqrt(np.sum(between**2, axis=2, keepdims=True))
        frames[:, :, 1] = apart / np.where(size > FLAT, size, np.inf)
        frames[:, :, 2] = np.cross(frames[:, :, 0], frames[:, :, 1])
        R = np.sum(frames[:, 1, :, :, None] * frames[:, 0, :, None, :], axis=1)
        return R.reshape(-1, 1, 9), valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        inverse = [theta[i] for i in (0, 3, 6, 1, 4, 7, 2, 5, 8)]
        return transfer_error(x, theta, inverse, xp)
