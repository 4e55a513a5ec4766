"""Lines in any number of dimensions, from two points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..protocols import Bools, Columns, Floats
from ._describe import Description, ends_along, flat, vector
from ._family import Family, Scene
from ._refits import Frame, principal, with_one


@dataclass(frozen=True)
class Line(Family):
    """Lines in d >= 2 dimensions. Parameters: a point and a unit direction, p = 2 d."""

    name: ClassVar[str] = "line"
    n_points = 2
    scene = Scene("make_lines", 4, "four lines")

    def codimension(self, d: int) -> int:
        return d - 1

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        start, end = samples[:, 0], samples[:, 1]
        direction = end - start
        # The point nearer to the origin is the more precise reference: differences to a far one,
        # such as a fill value, would lose the digits of all other points.
        nearer = np.sum(start**2, axis=1) <= np.sum(end**2, axis=1)
        anchor = np.where(nearer[:, None], start, end)
        length = np.sqrt(np.sum(direction**2, axis=1))
        valid = length > 0
        direction = direction / np.where(valid, length, 1)[:, None]
        return np.concatenate([anchor, direction], axis=1)[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        if len(x) == 2:
            px, py, ux, uy = theta
            return abs(ux * (x[1] - py) - uy * (x[0] - px))
        off = [at - p for at, p in zip(x, theta)]
        direction = theta[len(x) :]
        along = sum(a * u for a, u in zip(off, direction))
        across = [a - along * u for a, u in zip(off, direction)]
        return xp.sqrt(sum(a * a for a in across))

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        """The position along the line."""
        return (sum((at - p) * u for at, p, u in zip(x, theta, theta[len(x) :])),)

    def lift(self, Z: Floats) -> Floats:
        return with_one(Z)

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        mean, values, vectors, valid = principal(S)
        params = np.concatenate([frame.restored(mean), vectors[:, :, -1]], axis=1)
        return params, valid & (values[:, -1] > 1e-14)

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        anchor, direction = np.split(params, 2)
        given = {"point": anchor.tolist(), "direction": direction.tolist()}
        if len(anchor) == 2:
            by_normal = flat(anchor, np.array([-direction[1], direction[0]]), names, digits)
            return Description({**given, **by_normal.parameters}, by_normal.equation)
        point, along = vector(anchor, digits), vector(direction, digits)
        return Description(given, f"({', '.join(names)}) = {point} + t {along}")

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        return ends_along(X, *np.split(params, 2))

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        anchor, direction = np.split(params, 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([low - anchor, high - anchor]) / direction, axis=0)
        start, stop = np.nanmax(ends[0]), np.nanmin(ends[1])
        if not start < stop:
            return []
        return [anchor + np.array([[start], [stop]]) * direction]
