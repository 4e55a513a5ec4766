"""Models of least squares: a structure is found by a minimal sample, and fitted to all of its
matches here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..protocols import Floats

__all__ = ["REFINED", "fit_homography", "refine", "transfer_errors"]


def refine(family: str, matrix: Floats, X: Floats) -> Floats:
    """(3, 3) the matrix with the least sum of squared residuals of the matches X (n, 4), beginning
    with the given one; the given one if there are too few matches, or no better matrix."""
    if family not in REFINED or len(X) < 9:
        return matrix
    residuals, local, calibrated = REFINED[family]
    scale, centres = (1.0, np.zeros(4)) if calibrated else _frame(X)
    Y = (X - centres) * scale
    T1, T2 = _shift(centres[:2], scale), _shift(centres[2:], scale)
    map_of_points = residuals is _transfer
    back = np.linalg.inv(T2) if map_of_points else T2.T
    start = np.linalg.inv(back) @ matrix @ np.linalg.inv(T1)
    make, n = local(start / np.linalg.norm(start))
    found = _least_squares(lambda p: residuals(make(p), Y), n)
    refined = back @ make(found) @ T1
    return refined if family == "rotation" else _normalised(refined, map_of_points)


def fit_homography(X: Floats) -> Floats | None:
    """(3, 3) the homography of least squares of all matches X (n, 4); None for fewer than 4, or
    where they determine none."""
    if len(X) < 4:
        return None
    scale, centres = _frame(X)
    x1, y1, x2, y2 = ((X - centres) * scale).T
    one, zero = np.ones_like(x1), np.zeros_like(x1)
    A = np.concatenate([
        np.stack([x1, y1, one, zero, zero, zero, -x2 * x1, -x2 * y1, -x2], axis=1),
        np.stack([zero, zero, zero, x1, y1, one, -y2 * x1, -y2 * y1, -y2], axis=1),
    ])  # fmt: skip
    values, vectors = np.linalg.eigh(A.T @ A)
    if not values[1] > 1e-12 * values[-1]:
        return None
    H = vectors[:, 0].reshape(3, 3)
    H *= np.sign(np.sum(np.column_stack([x1, y1, one]) @ H[2]) or 1.0)
    T1, T2 = _shift(centres[:2], scale), _shift(centres[2:], scale)
    return refine("homography", _normalised(np.linalg.inv(T2) @ H @ T1, True), X)


def transfer_errors(H: Floats, X: Floats) -> Floats:
    """(n,) symmetric transfer errors of the matches X (n, 4)."""
    forth, back = _transfer(H, X).reshape(2, -1, 2)
    return np.asarray(np.sqrt(np.sum(forth**2 + back**2, axis=1)))


def _least_squares(residuals: Callable[[Floats], Floats], n: int) -> Floats:
    """(n,) local parameters with a smaller sum of squares than zero has, or zero."""
    from scipy.optimize import least_squares

    zero = np.zeros(n)
    start = residuals(zero)
    if len(start) < n or not np.isfinite(start).all():
        return zero
    try:
        found = least_squares(residuals, zero, method="lm", x_scale=1.0, max_nfev=60 * n)
    except ValueError:  # residuals that are not finite on the way
        return zero
    better = np.isfinite(found.x).all() and 2 * found.cost < np.sum(start**2)
    return np.asarray(found.x) if better else zero


def _transfer(H: Floats, X: Floats) -> Floats:
    """(4 n,) the differences whose squares add up to the squared transfer errors."""
    with np.errstate(all="ignore"):
        inverse = np.asarray(np.linalg.inv(H), np.float64)
        forth = _mapped(H, X[:, :2]) - X[:, 2:]
        back = _mapped(inverse, X[:, 2:]) - X[:, :2]
    return np.asarray(np.concatenate([forth.ravel(), back.ravel()]) / np.sqrt(2))


def _mapped(H: Floats, points: Floats) -> Floats:
    y = np.column_stack([points, np.ones(len(points))]) @ H.T
    return np.asarray(y[:, :2] / y[:, 2:])


def _sampson(F: Floats, X: Floats) -> Floats:
    """(n,) Sampson distances with a sign."""
    first = np.column_stack([X[:, :2], np.ones(len(X))])
    second = np.column_stack([X[:, 2:], np.ones(len(X))])
    a, b = first @ F.T, second @ F
    with np.errstate(all="ignore"):
        size = np.sqrt(a[:, 0] ** 2 + a[:, 1] ** 2 + b[:, 0] ** 2 + b[:, 1] ** 2)
        return np.asarray(np.sum(second * a, axis=1) / size)


def _near_matrix(H: Floats) -> tuple[Any, int]:
    """Any matrix, in 8 parameters: what is orthogonal to H."""
    _, _, Vt = np.linalg.svd(H.reshape(1, 9))
    return (lambda p: H + (p @ Vt[1:]).reshape(3, 3)), 8


def _near_rank_two(F: Floats) -> tuple[Any, int]:
    """U diag(cos, sin, 0) V': two rotations and the angle of the singular values."""
    U, s, Vt = np.linalg.svd(F)
    angle = np.arctan2(s[1], s[0])

    def make(p: Floats) -> Floats:
        between = np.diag([np.cos(angle + p[6]), np.sin(angle + p[6]), 0])
        return np.asarray(U @ rotation(p[:3]) @ between @ rotation(p[3:6]).T @ Vt)

    return make, 7


def _near_essential(E: Floats) -> tuple[Any, int]:
    """U diag(1, 1, 0) V' / sqrt(2), in 5 parameters: the same turn of both about the third axis
    changes nothing."""
    U, _, Vt = np.linalg.svd(E)

    def make(p: Floats) -> Floats:
        left, right = rotation(p[:3]), rotation(np.array([p[3], p[4], 0.0]))
        return np.asarray(U @ left @ np.diag([1, 1, 0]) @ right.T @ Vt / np.sqrt(2))

    return make, 5


def _near_rotation(R: Floats) -> tuple[Any, int]:
    U, _, Vt = np.linalg.svd(R)
    base = U @ Vt
    return (lambda p: rotation(p) @ base), 3


def rotation(vector: Floats) -> Floats:
    """(3, 3) the rotation by |vector| about a vector."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle if angle > 0 else vector
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return np.asarray(turned)


# The residual, matrices near a given one, and whether rows are in normalised coordinates.
REFINED: dict[str, tuple[Any, Any, bool]] = {
    "homography": (_transfer, _near_matrix, False),
    "fundamental": (_sampson, _near_rank_two, False),
    "essential": (_sampson, _near_essential, True),
    "rotation": (_transfer, _near_rotation, True),
}


def _frame(X: Floats) -> tuple[float, Floats]:
    """One scale for both images, so that residuals keep their proportions, and the centres."""
    centres = X.mean(axis=0)
    spread = float(np.sqrt(np.mean((X - centres) ** 2)))
    return (1 / spread if spread > 0 else 1.0), centres


def _shift(centre: Floats, scale: float) -> Floats:
    return np.array([[scale, 0, -scale * centre[0]], [0, scale, -scale * centre[1]], [0, 0, 1]])


def _normalised(matrix: Floats, map_of_points: bool) -> Floats:
    """As OpenCV gives it: the last entry 1, where it can be; other matrices of unit norm."""
    size = float(np.linalg.norm(matrix))
    if map_of_points and abs(matrix[2, 2]) > 1e-12 * size:
        return np.asarray(matrix / matrix[2, 2])
    return np.asarray(matrix / size)
