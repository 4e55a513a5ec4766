"""Least-squares models from weighted second moments, for families that are linear in some lift.

A family declares `lift(Z)`, the coordinates (n, L) of normalised rows, and `refit(S, frame)`, the
parameters from sums of weighted products of these coordinates, S (m, L, L).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._kernels.matrices import normalise_products, to_rank_two
from ..protocols import Bools, Floats

# An eigenvalue, or a determinant of normalised coordinates, counts as zero below this.
_ZERO = 1e-14


class Frame(NamedTuple):
    """The normalisation of rows before they are lifted: Z = (X - centre) / scale."""

    centre: Floats
    """(d,)"""
    scale: Floats
    """(d,); the same for all columns, except for tables"""

    def normalised(self, X: Floats) -> Floats:
        """Rows (n, d) in normalised coordinates."""
        return np.asarray((X - self.centre) / self.scale)

    def restored(self, Z: Floats, columns: slice = slice(None)) -> Floats:
        """Normalised coordinates (m, columns) in the units of X."""
        return np.asarray(Z * self.scale[columns] + self.centre[columns])


def with_one(Z: Floats) -> Floats:
    """The coordinates and a constant 1: the lift of flats and of affine maps."""
    return np.column_stack([Z, np.ones(len(Z))])


def centred(S: Floats) -> tuple[Floats, Floats, Floats, Bools]:
    """For the lift (z, 1): total weights (m,), means (m, d), covariances (m, d, d), and a mask of
    the models with any weight."""
    total = S[:, -1, -1]
    valid = total > 0
    over = np.where(valid, total, 1.0)
    mean = S[:, :-1, -1] / over[:, None]
    covariance = S[:, :-1, :-1] / over[:, None, None] - mean[:, :, None] * mean[:, None, :]
    return total, mean, covariance, valid


def principal(S: Floats) -> tuple[Floats, Floats, Floats, Bools]:
    """For the lift (z, 1): means (m, d), eigenvalues (m, d) and eigenvectors (m, d, d) of the
    covariances, ascending."""
    _, mean, covariance, valid = centred(S)
    values, vectors = np.linalg.eigh(covariance)
    return mean, values, vectors, valid


def taubin_sphere(S: Floats) -> tuple[Floats, Floats, Bools]:
    """For the lift (z z', z, 1): centres (m, d) and radii (m,) by Taubin's method, which does not
    shrink arcs as plain algebraic least squares do."""
    total = S[:, -1, -1]
    valid = total > 0
    S = S / np.where(valid, total, 1.0)[:, None, None]
    d = S.shape[1] - 2
    mean = S[:, 1:-1, -1]
    # Products of the coordinates relative to the mean, by the linear map of the lift.
    T = np.zeros_like(S)
    T[:, 0, 0] = T[:, -1, -1] = 1.0
    T[:, 0, 1:-1] = -2 * mean
    T[:, 0, -1] = np.sum(mean * mean, axis=1)
    T[:, 1:-1, 1:-1] = np.eye(d)
    T[:, 1:-1, -1] = -mean
    S = T @ S @ T.transpose(0, 2, 1)
    square = S[:, 0, -1]
    valid &= square > _ZERO
    M = S[:, :-1, :-1] - S[:, :-1, -1:] * S[:, -1:, :-1]
    norm = np.ones((len(S), d + 1))
    norm[:, 0] = 2 * np.sqrt(np.where(valid, square, 1.0))
    values, vectors = np.linalg.eigh(M / (norm[:, :, None] * norm[:, None, :]))
    valid &= values[:, 1] > _ZERO  # else too few points for one solution
    a = vectors[:, :, 0] / norm
    valid &= np.abs(a[:, 0]) > 1e-9
    a0 = np.where(valid, a[:, 0], 1.0)
    centre = -a[:, 1:] / (2 * a0[:, None])
    radius = np.sqrt(np.sum(centre * centre, axis=1) + square)
    return centre + mean, radius, valid


def dlt_homography(S: Floats) -> tuple[Floats, Floats, Bools]:
    """For the lift (x1, y1, 1) x (x2, y2, 1): means (m, 4) of both views and matrices M (m, 3, 3),
    x2 - c2 ~ M (x1 - c1), by the normalised direct linear transform."""
    means, scale1, scale2, products, valid = _normalised_products(S)
    A = np.zeros((len(S), 9, 9))
    A[:, 0:3, 0:3] = A[:, 3:6, 3:6] = products[:, :, 2, :, 2]
    A[:, 6:9, 6:9] = products[:, :, 0, :, 0] + products[:, :, 1, :, 1]
    # Only the lower triangle is read.
    A[:, 6:9, 0:3] = -products[:, :, 0, :, 2]
    A[:, 6:9, 3:6] = -products[:, :, 1, :, 2]
    values, vectors = np.linalg.eigh(A)
    valid &= values[:, 1] > _ZERO
    H = vectors[:, :, 0].reshape(-1, 3, 3)
    valid &= np.abs(np.linalg.det(H)) > 1e-12
    # Positive at the means, which are in front of the camera.
    H = H * np.where(H[:, 2, 2] < 0, -1.0, 1.0)[:, None, None]
    return means, H * scale1[:, None, :] / scale2[:, :, None], valid


def of_rank_two(F: Floats) -> Floats:
    """Remove the part of the smallest singular value of each F (m, 3, 3), in place; return the
    singular values (m, 3), descending."""
    values = np.empty((len(F), 3))
    to_rank_two(F, *np.empty((2, 3, 3)), values)
    return values


def dlt_fundamental(S: Floats) -> tuple[Floats, Floats, Bools]:
    """For the lift (x1, y1, 1) x (x2, y2, 1): means (m, 4) of both views and matrices M (m, 3, 3),
    (x2 - c2)' M (x1 - c1) = 0, of rank 2, by the normalised eight-point algorithm."""
    means, scale1, scale2, products, valid = _normalised_products(S)
    values, vectors = np.linalg.eigh(products.reshape(-1, 9, 9))
    valid &= values[:, 1] > _ZERO
    # Coordinates of the first view come first in the lift, so this is the transpose.
    F = np.ascontiguousarray(vectors[:, :, 0].reshape(-1, 3, 3).transpose(0, 2, 1))
    valid &= of_rank_two(F)[:, 1] > _ZERO
    return means, F * scale1[:, None, :] * scale2[:, :, None], valid


def _normalised_products(S: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
    """For the lift (x1, y1, 1) x (x2, y2, 1): means (m, 4) of both views, the diagonals (m, 3) of
    the maps to normalised coordinates, and the mean products (m, 3, 3, 3, 3) of these."""
    m, products = len(S), np.array(S, np.float64)
    means, scales, valid = np.empty((m, 4)), np.empty((m, 2)), np.empty(m, np.bool_)
    normalise_products(products, _ZERO, means, scales, valid)
    diagonals = np.ones((2, m, 3))
    diagonals[:, :, :2] = scales.T[:, :, None]
    return means, *diagonals, products.reshape(-1, 3, 3, 3, 3), valid
