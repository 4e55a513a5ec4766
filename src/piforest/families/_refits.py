"""Least-squares models from weighted second moments, for families that are linear in some lift.

A family declares `lift(Z)`, the coordinates (n, L) of normalised rows, and `refit(S, frame)`, the
parameters from sums of weighted products of these coordinates, S (m, L, L).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._kernels.matrices import to_rank_two
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


def dlt_homography(S: Floats) -> tuple[Floats, Floats, Floats, Bools]:
    """For the lift (x1, y1, 1) x (x2, y2, 1): means (m, 2) in both views and matrices M (m, 3, 3),
    x2 - c2 ~ M (x1 - c1), by the normalised direct linear transform."""
    first, second, scale1, scale2, products, valid = _normalised_products(S)
    A = np.zeros((len(S), 9, 9))
    A[:, 0:3, 0:3] = A[:, 3:6, 3:6] = products[:, :, 2, :, 2]
    A[:, 6:9, 6:9] = products[:, :, 0, :, 0] + products[:, :, 1, :, 1]
    for row, c in ((0, 0), (3, 1)):
        block = -products[:, :, 2, :, c]
        A[:, row : row + 3, 6:9] = block
        A[:, 6:9, row : row + 3] = block.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(A)
    valid &= values[:, 1] > _ZERO
    H = vectors[:, :, 0].reshape(-1, 3, 3)
    # Positive at the means, which are in front of the camera.
    H = H * np.where(H[:, 2, 2] < 0, -1.0, 1.0)[:, None, None]
    M = H * _diagonal(scale1)[:, None, :] / _diagonal(scale2)[:, :, None]
    valid &= np.abs(np.linalg.det(H)) > 1e-12
    return first, second, M, valid


def of_rank_two(F: Floats) -> Floats:
    """Remove the part of the smallest singular value of each F (m, 3, 3), in place; return the
    singular values (m, 3), descending."""
    values = np.empty((len(F), 3))
    to_rank_two(F, *np.empty((2, 3, 3)), values)
    return values


def dlt_fundamental(S: Floats) -> tuple[Floats, Floats, Floats, Bools]:
    """For the lift (x1, y1, 1) x (x2, y2, 1): means (m, 2) in both views and matrices M (m, 3, 3),
    (x2 - c2)' M (x1 - c1) = 0, of rank 2, by the normalised eight-point algorithm."""
    first, second, scale1, scale2, products, valid = _normalised_products(S)
    values, vectors = np.linalg.eigh(products.reshape(-1, 9, 9))
    valid &= values[:, 1] > _ZERO
    # Coordinates of the first view come first in the lift, so this is the transpose.
    F = np.ascontiguousarray(vectors[:, :, 0].reshape(-1, 3, 3).transpose(0, 2, 1))
    valid &= of_rank_two(F)[:, 1] > _ZERO
    return first, second, F * _diagonal(scale1)[:, None, :] * _diagonal(scale2)[:, :, None], valid


def _normalised_products(S: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats, Bools]:
    """For the lift (x1, y1, 1) x (x2, y2, 1): means (m, 2) and scales (m,) of both views, and the
    mean products (m, 3, 3, 3, 3) of the coordinates with mean 0 and spread 2."""
    total = S[:, 8, 8]
    valid = total > 0
    S = S / np.where(valid, total, 1.0)[:, None, None]
    first, second = S[:, [2, 5], 8], S[:, [6, 7], 8]
    spread1 = S[:, 2, 2] + S[:, 5, 5] - np.sum(first**2, axis=1)
    spread2 = S[:, 6, 6] + S[:, 7, 7] - np.sum(second**2, axis=1)
    valid &= (spread1 > _ZERO) & (spread2 > _ZERO)
    scale1 = np.sqrt(2 / np.where(valid, spread1, 1.0))
    scale2 = np.sqrt(2 / np.where(valid, spread2, 1.0))
    T1, T2 = _similarity(first, scale1), _similarity(second, scale2)
    K = np.einsum("mab,mcd->macbd", T1, T2).reshape(-1, 9, 9)
    products = (K @ S @ K.transpose(0, 2, 1)).reshape(-1, 3, 3, 3, 3)
    return first, second, scale1, scale2, products, valid


def _similarity(mean: Floats, scale: Floats) -> Floats:
    """(m, 3, 3): move the mean to 0, then scale."""
    T = np.zeros((len(mean), 3, 3))
    T[:, 0, 0] = T[:, 1, 1] = scale
    T[:, :2, 2] = -scale[:, None] * mean
    T[:, 2, 2] = 1.0
    return T


def _diagonal(scale: Floats) -> Floats:
    return np.stack([scale, scale, np.ones_like(scale)], axis=1)
