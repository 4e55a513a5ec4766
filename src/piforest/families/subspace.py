"""Subspaces of any dimension in any number of dimensions, affine or through the origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from .._validation import check_flag, check_integer
from ..protocols import Bools, Columns, Floats
from ._describe import Description, vector
from ._family import Family, Scene
from ._outlines import flat_within_box
from ._refits import Frame, principal, with_one
from ._spans import frame, nearest_to_origin, normal_to
from .line import Line


@dataclass(frozen=True)
class Subspace(Family):
    """Subspaces of r = `dimension` dimensions. Parameters are a point and r orthonormal directions,
    p = (r + 1) d. The residual is the distance.

    affine=True: affine subspaces, from r + 1 points; affine=False: subspaces through the origin,
    from r points. The trajectories of a rigid motion under an affine camera, (x, y) in each of f
    images as a row of 2 f columns, lie on an affine subspace of dimension 3; images of a face
    under varying illumination lie near a linear subspace of dimension about 9. A sample is
    degenerate if it spans fewer than r dimensions.
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
        return Scene("make_subspaces", 3, about, options, columns=(0, 1), sigma_ratio=2.0)

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
        vectors = samples[:, 1:] - samples[:, :1] if self.affine else samples
        directions, valid = np.array(vectors, order="C"), np.zeros(s, np.bool_)
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

    def lift(self, Z: Floats) -> Floats:
        return with_one(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        r, d = self.dimension, S.shape[1] - 1
        if self.affine:
            mean, values, vectors, valid = principal(S)
            anchor = frame.restored(mean)
        else:
            # Products of the coordinates themselves, not relative to the mean.
            T = np.column_stack([np.diag(frame.scale), frame.centre])
            values, vectors = np.linalg.eigh(T @ S @ T.T)
            anchor, valid = np.zeros((len(S), d)), S[:, -1, -1] > 0
        directions = vectors[:, :, ::-1][:, :, :r].transpose(0, 2, 1).reshape(len(S), -1)
        return np.concatenate([anchor, directions], axis=1), valid & (values[:, -r] > 1e-14)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        point, *directions = params.reshape(-1, len(names))
        terms = [f"t{k} {vector(each, digits)}" for k, each in enumerate(directions, 1)]
        text = f"({', '.join(names)}) = {' + '.join([vector(point, digits), *terms])}"
        given = {"point": point.tolist(), "directions": [each.tolist() for each in directions]}
        return Description(given, text)

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """Return a line, or the intersection of a hyperplane with the box, else nothing."""
        d = len(low)
        if self.dimension == 1:
            return Line().outline(params, low, high)
        normal = np.empty(d)
        if self.dimension != d - 1:
            return []
        normal_to(np.ascontiguousarray(params[d:].reshape(-1, d)), normal)
        return flat_within_box(params[:d], normal, low, high)


@jit
def _frames(vectors, valid):  # type: ignore[no-untyped-def]
    """Orthonormalise the r vectors (s, r, d) of each sample in place. O(s r^2 d)."""
    r = vectors.shape[1]
    order, heights = np.empty(r, np.int64), np.empty(r)
    for i in range(vectors.shape[0]):
        valid[i] = frame(vectors[i], order, heights)
