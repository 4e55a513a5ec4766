"""Subspaces of any dimension in any number of dimensions, affine or through the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from .._validation import check_flag, check_integer
from ..protocols import Bools, Columns, Floats
from ._family import Family, Scene
from ._outlines import flat_within_box
from ._spans import frame, nearest_to_origin, normal_to
from .line import Line


@dataclass(frozen=True)
class Subspace(Family):
    """Subspaces of r = `dimension` dimensions. Parameters: a point and r orthonormal directions,
    p = (r + 1) d. The residual is the distance.

    affine=True: anywhere, from r + 1 points; affine=False: through the origin, from r points.
    The trajectories of a rigid motion under an affine camera, (x, y) in each of f images as
    a row of 2 f columns, lie on an affine subspace of dimension 3; the pictures of a face under
    changing light near a linear one of about 9. A sample is degenerate if it spans less than r
    dimensions.
    """

    dimension: int = 2
    affine: bool = True

    name: ClassVar[str] = "subspace"

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_flag("affine", self.affine)

    @property
    def scene(self) -> Scene:
        r, d = self.dimension, max(6, self.dimension + 1)
        about = f"three subspaces of dimension {r} in {d} columns, two of which are drawn"
        options = {"dimension": r, "n_features": d, "affine": self.affine}
        return Scene("make_subspaces", 3, about, options, columns=(0, 1), spread=2.0)

    @property
    def symmetries(self) -> frozenset[str]:
        return frozenset({"rotation", "scale"} | ({"translation"} if self.affine else set()))

    def sample_size(self, d: int) -> int:
        return self.dimension + 1 if self.affine else self.dimension

    def codimension(self, d: int) -> int:
        return d - self.dimension

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        s, _, d = samples.shape
        anchor = nearest_to_origin(samples) if self.affine else np.zeros((s, d))
        ways = samples[:, 1:] - samples[:, :1] if self.affine else samples
        directions, valid = np.array(ways, order="C"), np.zeros(s, np.bool_)
        _frames(directions, valid)
        params = np.concatenate([anchor, directions.reshape(s, -1)], axis=1)
        return params[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        d = len(x)
        V = [at - p for at, p in zip(x, theta)]
        for start in range(d, len(theta), d):
            direction = theta[start : start + d]
            along = sum(v * u for v, u in zip(V, direction))
            V = [v - along * u for v, u in zip(V, direction)]
        return xp.sqrt(sum(v * v for v in V))

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """A line, or where a plane in space cuts the box. Nothing beyond."""
        d = len(low)
        if self.dimension == 1:
            return Line().outline(params, low, high)
        normal = np.empty(d)
        if self.dimension != d - 1:
            return []
        normal_to(np.ascontiguousarray(params[d:].reshape(-1, d)), normal)
        return flat_within_box(params[:d], normal, low, high)


@jit
def _frames(ways, valid):  # type: ignore[no-untyped-def]
    """Rows of each of ways (s, r, d) to orthonormal ones, in place. O(s r^2 d)."""
    r = ways.shape[1]
    order, heights = np.empty(r, np.int64), np.empty(r)
    for i in range(ways.shape[0]):
        valid[i] = frame(ways[i], order, heights)
