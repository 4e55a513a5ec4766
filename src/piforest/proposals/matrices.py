"""Least squares in the entries of a matrix, for homographies and epipolar geometries.

Steps of a minimal sample hardly move what few points determine badly, such as the perspective part
of a homography. The entries of the matrix in normalised coordinates have no such directions. They
also start from the matrix of a family that is contained: an affinity is a homography.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..protocols import Floats, ModelFamily
from .description import Described, kernel

_NEAR_ROWS = 3.0  # sigmas
# The difference for derivatives, of entries of a matrix of norm 1.
_STEP = 1e-7
_DAMPING = 1e-9


_TURNS = np.array([
    [[0, 0, 0], [0, 0, -1], [0, 1, 0]],
    [[0, 0, 1], [0, 0, 0], [-1, 0, 0]],
    [[0, -1, 0], [1, 0, 0], [0, 0, 0]],
], float)  # fmt: skip
"""the derivatives of rotations about the three axes"""


def _any_matrix(Q: Floats) -> Floats:
    return Q


def _of_rank_two(Q: Floats) -> Floats:
    U, s, V = np.linalg.svd(Q)
    return np.asarray(U * [s[0], s[1], 0.0] @ V)


def _essential(Q: Floats) -> Floats:
    U, _, V = np.linalg.svd(Q)
    return np.asarray(U * [1.0, 1.0, 0.0] @ V)


# The nearest matrix of a family; whether it is that of a map; the families that it contains.
_KINDS: dict[str, tuple[Callable[[Floats], Floats], bool, frozenset[str]]] = {
    "homography": (
        _any_matrix, True, frozenset({"homography", "affinity", "similarity", "translation"}),
    ),
    "fundamental": (
        _of_rank_two, False, frozenset({"fundamental", "affine_fundamental", "essential"}),
    ),
    "essential": (_essential, False, frozenset({"essential"})),
}  # fmt: skip


@dataclass(frozen=True)
class MatrixSteps:
    """Steps of Gauss and Newton for the matrix of a structure, from a structure of the same family
    or of one that it contains. The state is a matrix (3, 3) of norm 1 in normalised coordinates."""

    family: ModelFamily
    centres: Floats
    """(4,) the origins of both images"""
    units: tuple[Floats, Floats]
    """(3, 3) diagonal, of both images: from pixels about the origin to normalised coordinates"""

    @classmethod
    def of(cls, family: ModelFamily, seed: Described, rows: Floats) -> MatrixSteps | None:
        """For the rows near a structure; None if the family has no such steps from it."""
        if family.name not in _KINDS or seed.family.name not in _KINDS[family.name][2]:
            return None
        r = np.asarray(seed.family.residuals(rows, seed.params[None])[:, 0])
        near = rows[r <= _NEAR_ROWS * seed.sigma]
        if len(near) <= 2 * family.sample_size(rows.shape[1]):
            return None
        if family.name == "essential":  # of rays, whose origin and unit have a meaning
            return cls(family, np.zeros(4), (np.eye(3), np.eye(3)))
        centres = near.mean(axis=0)
        spread = np.sqrt(np.mean((near - centres) ** 2, axis=0).reshape(2, 2).mean(axis=1))
        one, two = (np.diag([1 / size, 1 / size, 1.0]) for size in np.maximum(spread, 1e-300))
        return cls(family, centres, (one, two))

    @property
    def _is_map(self) -> bool:
        return _KINDS[self.family.name][1]

    def start(self, seed: Described) -> Floats:
        """The state of a structure."""
        matrix = seed.family.matrices(seed.params[None])[0]  # type: ignore[attr-defined]
        first, second = _shift(-self.centres[:2]), _shift(-self.centres[2:])
        one, two = self.units
        left = two @ np.linalg.inv(second) if self._is_map else np.linalg.inv(two) @ second.T
        return self._projected(left @ matrix @ first @ np.linalg.inv(one))

    def params(self, Q: Floats) -> Floats:
        """(p,) the parameters of a state."""
        one, two = self.units
        P = (np.linalg.inv(two) if self._is_map else two) @ Q @ one
        P = (P / np.linalg.norm(P)).ravel()
        return P if self.family.name == "essential" else np.concatenate([self.centres, P])

    def step(
        self, found: Described, Q: Floats, rows: Floats, length: float
    ) -> tuple[Floats, Floats] | None:
        """The state after a step, and its parameters."""
        family, sigma = self.family, found.sigma
        directions = self._directions(Q)
        shifted = [Q, *(Q + _STEP * each for each in directions)]
        R = np.asarray(family.residuals(rows, np.stack([self.params(each) for each in shifted])))
        near = (R[:, 0] <= _NEAR_ROWS * sigma) & np.isfinite(R).all(axis=1)
        R = R[near]
        if len(R) <= len(directions):
            return None
        weights = np.sqrt(kernel(R[:, 0], 2 * sigma))
        J = (R[:, 1:] - R[:, :1]) / _STEP * weights[:, None]
        A = J.T @ J
        A[np.diag_indices(len(A))] += _DAMPING * max(float(np.trace(A)), 1e-300)
        move = np.linalg.solve(A, -J.T @ (R[:, 0] * weights)) / family.codimension(4)
        Q = self._projected(Q + length * np.tensordot(move, directions, 1))
        return (Q, self.params(Q)) if np.isfinite(Q).all() else None

    def _directions(self, Q: Floats) -> Floats:
        """(k, 3, 3) in which a matrix may move and stay one of the family, up to a curvature."""
        if self._is_map:
            # All but the matrix itself: its size means nothing.
            return np.asarray(np.linalg.svd(Q.reshape(1, 9))[2][1:].reshape(8, 3, 3))
        U, s, V = np.linalg.svd(Q)
        found = [U @ turn @ np.diag(s) @ V for turn in _TURNS]
        found += [U @ np.diag(s) @ turn @ V for turn in _TURNS]
        if self.family.name == "fundamental":
            found.append(np.outer(U[:, 1], V[1]))
        return np.stack(found)

    def _projected(self, Q: Any) -> Floats:
        nearest = _KINDS[self.family.name][0](np.asarray(Q))
        return np.asarray(nearest / np.linalg.norm(nearest))


def _shift(move: Floats) -> Floats:
    """(3, 3) the translation by minus a vector."""
    T = np.eye(3)
    T[:2, 2] = -move
    return T
