"""Epipolar geometries of distant scenes (affine cameras), from four matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._family import IMAGES, Family, Scene

# Three differences of matches determine no hyperplane if their volume, relative to the product
# of their lengths, is below this. The same bound applies to the part of the normal in each
# image: below it, the points of the other image are collinear.
FLAT = 1e-6


@dataclass(frozen=True)
class AffineFundamental(Family):
    """Affine epipolar geometries: rigid motions seen from a large distance. Rows are
    (x1, y1, x2, y2); parameters are a match c and a unit normal N, both in four dimensions, with
    N (x - c) = 0. `matrices` returns F with x2' F x1 = 0.

    The residual is the geometric distance to that hyperplane, |N (x - c)|. A sample is degenerate
    if its matches lie in a plane of the four-dimensional space, for instance because one occurs
    twice, or if they are collinear in one image.
    """

    name: ClassVar[str] = "affine_fundamental"
    n_points = 4
    scene = Scene("make_affine_motion_pair", 2, "two distant rigid motions")
    layout = IMAGES
    matrix_name, matrix_equation = "F", "x2' F x1 = 0"
    matrix_up_to_scale = True

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        steps = samples[:, 1:] - samples[:, :1]
        centre = samples[:, 0] + np.sum(steps, axis=1) / 4
        length = np.sqrt(np.sum(steps**2, axis=2, keepdims=True))
        a, b, c = np.moveaxis(steps / np.where(length > 0, length, np.inf), 1, 0)
        # Each entry of the normal is a 3 x 3 minor of the differences.
        normal = np.stack(
            [_minor(a, b, c, 1, 2, 3), -_minor(a, b, c, 0, 2, 3),
             _minor(a, b, c, 0, 1, 3), -_minor(a, b, c, 0, 1, 2)], axis=1
        )  # fmt: skip
        volume = np.sqrt(np.sum(normal**2, axis=1))
        valid = volume > FLAT
        normal /= np.where(valid, volume, np.inf)[:, None]
        for view in (normal[:, :2], normal[:, 2:]):
            valid &= np.sum(view**2, axis=1) > FLAT**2
        return np.concatenate([centre, normal], axis=1)[:, None], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        x1, y1, x2, y2 = (at - c for at, c in zip(x, theta))
        n1, n2, n3, n4 = theta[4:]
        return abs((x1 * n1 + y1 * n2) + (x2 * n3 + y2 * n4))

    def matrices(self, params: Floats) -> Floats:
        """Return F (m, 3, 3) in image coordinates: zero except for its last row and column."""
        centre, normal = params[:, :4], params[:, 4:]
        F = np.zeros((len(params), 3, 3))
        F[:, 2, :2], F[:, :2, 2] = normal[:, :2], normal[:, 2:]
        F[:, 2, 2] = -np.sum(centre * normal, axis=1)
        return F


def _minor(a: Floats, b: Floats, c: Floats, i: int, j: int, k: int) -> Floats:
    """Determinant of the columns i, j, k of the rows a, b, c."""
    return np.asarray(
        a[:, i] * (b[:, j] * c[:, k] - b[:, k] * c[:, j])
        - a[:, j] * (b[:, i] * c[:, k] - b[:, k] * c[:, i])
        + a[:, k] * (b[:, i] * c[:, j] - b[:, j] * c[:, i])
    )
