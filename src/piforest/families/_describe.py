"""Models as named numbers and one line of text, and the part of a model that points cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..protocols import Floats

# Coefficients below this share of the largest one are rounding errors, and not written.
_NOTHING = 1e-12


class Description(NamedTuple):
    """One model for a reader.

    Attributes
    ----------
    parameters : dict
        Named numbers and lists of numbers, such as centre and radius.
    equation : str
        One line of text, such as "0.6 x + 0.8 y = 1.27".
    """

    parameters: dict[str, Any]
    equation: str


def number(value: float, digits: int = 4) -> str:
    """A number with significant digits, without an exponent where it is of usual size."""
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-5 <= abs(value) < 1e15:
        text = f"{value:.{max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))}f}"
    return "0" if text == "-0" else text


def vector(values: Sequence[float] | Floats, digits: int = 4) -> str:
    """Numbers in parentheses."""
    shown = _without_rounding_errors(np.asarray(values, np.float64))
    return f"({', '.join(number(float(value), digits) for value in shown)})"


def _without_rounding_errors(values: Floats, size: float = 0.0) -> Floats:
    """Numbers with 0 in place of those that are rounding errors of the others, or of `size`."""
    largest = max(size, float(np.abs(values).max(initial=0.0)))
    return np.where(np.abs(values) <= _NOTHING * largest, 0.0, values)


def matrix(M: Floats, digits: int = 4) -> str:
    """A matrix in one line, rows separated by semicolons."""
    rows = (" ".join(number(float(value), digits) for value in row) for row in M)
    return f"[{'; '.join(rows)}]"


def total(terms: Sequence[tuple[float, str]], digits: int = 4, nothing: float = _NOTHING) -> str:
    """A sum of coefficients times words, such as "2 - 0.5 x + y"; an empty word is a constant.

    nothing: the share of the largest coefficient below which one is not written.
    """
    largest = max((abs(value) for value, _ in terms), default=0.0)
    text = ""
    for value, word in terms:
        if abs(value) <= nothing * largest:
            continue
        size = number(abs(value), digits)
        factor = word if size == "1" and word else f"{size} {word}".rstrip()
        sign = "-" if value < 0 else "+"
        text += f" {sign} {factor}" if text else factor if value > 0 else f"-{factor}"
    return text or "0"


def off(name: str, centre: float, digits: int = 4) -> str:
    """ "(x - 3)"."""
    size = number(abs(centre), digits)
    return name if size == "0" else f"({name} {'-' if centre >= 0 else '+'} {size})"


def flat(anchor: Floats, normal: Floats, names: Sequence[str], digits: int) -> Description:
    """A line in the plane, a plane or a hyperplane, by its normal."""
    # The largest coefficient is positive, so that a floor has a normal that points upwards.
    normal = normal * (1.0 if normal[np.argmax(np.abs(normal))] > 0 else -1.0)
    offset = float(normal @ anchor)
    # What a normal can hardly tell is not written: 1e-9 x would suggest that x matters.
    shown = [(float(u), name) for u, name in zip(normal, names)]
    left = total(shown, digits)
    parameters = {"normal": normal.tolist(), "offset": offset}
    (right,) = _without_rounding_errors(np.array([offset]), float(np.abs(anchor).max()))
    return Description(parameters, f"{left} = {number(float(right), digits)}")


def round_about(params: Floats, names: Sequence[str], digits: int) -> Description:
    """A circle or a sphere."""
    centre, radius = params[:-1], float(params[-1])
    shown = _without_rounding_errors(centre, radius)
    squares = [f"{off(name, float(c), digits)}^2" for name, c in zip(names, shown)]
    parameters = {"centre": centre.tolist(), "radius": radius}
    return Description(parameters, f"{' + '.join(squares)} = {number(radius, digits)}^2")


def with_matrix(name: str, relation: str, M: Floats, digits: int) -> Description:
    """A model that is a matrix."""
    parameters = {name: M.tolist()}
    return Description(parameters, f"{relation}, {name} = {matrix(M, digits)}")


def scaled_matrix(M: Floats) -> Floats:
    """A matrix that is known up to a factor, scaled as OpenCV does: the last entry is 1; if that is
    almost 0, the norm is."""
    last, size = float(M[-1, -1]), float(np.linalg.norm(M))
    return np.asarray(M / last if abs(last) > 1e-12 * size else M / size)


def hull(points: Floats) -> list[list[float]] | None:
    """Corners of the convex hull of points in the plane, counterclockwise; None if they lie on a
    line."""
    try:
        corners = ConvexHull(points).vertices
    except (QhullError, ValueError):
        return None
    return [[float(x) for x in points[corner]] for corner in corners]


def arc(angles: Floats) -> dict[str, Any]:
    """The smallest arc that holds all angles, in degrees, counterclockwise: its second end may
    exceed 360."""
    if not len(angles):
        return {}
    ordered = np.sort(np.degrees(angles) % 360)
    gaps = np.diff(ordered, append=ordered[0] + 360)
    last = int(np.argmax(gaps))
    start = float(ordered[(last + 1) % len(ordered)])
    return {"angles": [start, start + 360.0 - float(gaps[last])]}


def rectangle(X: Floats, anchor: Floats, normal: Floats) -> dict[str, Any]:
    """The part of a plane in space: the rectangle of the points along their principal directions,
    and their convex hull."""
    if not len(X):
        return {}
    on = X - ((X - anchor) @ normal)[:, None] * normal
    middle = on.mean(axis=0)
    axes = np.linalg.eigh((on - middle).T @ (on - middle))[1][:, ::-1].T[:2]
    along = (on - middle) @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    around = hull(along)
    return {
        "centre": (middle + (low + high) / 2 @ axes).tolist(),
        "corners": [(middle + np.array(corner) @ axes).tolist() for corner in corners],
        "hull": None if around is None else (middle + np.array(around) @ axes).tolist(),
    }


def ends_along(X: Floats, anchor: Floats, direction: Floats) -> dict[str, Any]:
    """The part of a line: its end points."""
    if not len(X):
        return {}
    along = (X - anchor) @ direction
    low, high = float(along.min()), float(along.max())
    ends = [(anchor + at * direction).tolist() for at in (low, high)]
    return {"ends": ends, "length": high - low}
