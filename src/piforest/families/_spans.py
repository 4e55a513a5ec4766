"""Orthonormal bases of the directions that a sample spans, for subspaces and spheres."""

from __future__ import annotations

import numpy as np

from .._kernels.jit import jit
from ..protocols import Floats

# A remainder of the Gram-Schmidt process counts as zero below this share of the longest vector.
FLAT = 1e-6


@jit
def frame(V, order, heights):  # type: ignore[no-untyped-def]
    """Orthonormalise the rows of V (k, d) in place: Gram-Schmidt, longest remainder first.

    order (k,): the original row of each. heights (k,): the lengths of the remainders.
    Returns False if the rows span fewer than k dimensions. O(k^2 d).
    """
    k, d = V.shape
    for a in range(k):
        order[a] = a
    for step in range(k):
        longest, at = -1.0, step
        for a in range(step, k):
            square = 0.0
            for c in range(d):
                square += V[a, c] * V[a, c]
            if square > longest:
                longest, at = square, a
        order[step], order[at] = order[at], order[step]
        for c in range(d):
            V[step, c], V[at, c] = V[at, c], V[step, c]
        # Orthogonalise again: a short remainder magnifies rounding errors.
        for a in range(step):
            _without(V[step], V[a])
        square = 0.0
        for c in range(d):
            square += V[step, c] * V[step, c]
        heights[step] = np.sqrt(square)
        if not heights[step] > FLAT * heights[0] or heights[0] == 0.0:
            return False
        for c in range(d):
            V[step, c] /= heights[step]
        for a in range(step + 1, k):
            _without(V[a], V[step])
    return True


@jit
def _without(v, u):  # type: ignore[no-untyped-def]
    """Subtract from v, in place, its projection on the unit vector u."""
    along = 0.0
    for c in range(v.shape[0]):
        along += v[c] * u[c]
    for c in range(v.shape[0]):
        v[c] -= along * u[c]


@jit
def normal_to(V, out):  # type: ignore[no-untyped-def]
    """Fill out (d,) with the unit vector orthogonal to d - 1 orthonormal rows V. O(d^2)."""
    k, d = V.shape
    # Start from the coordinate axis with the longest remainder.
    least, at = np.inf, 0
    for c in range(d):
        square = 0.0
        for a in range(k):
            square += V[a, c] * V[a, c]
        if square < least:
            least, at = square, c
    for c in range(d):
        out[c] = 0.0
    out[at] = 1.0
    for _ in range(2):
        for a in range(k):
            _without(out, V[a])
        square = 0.0
        for c in range(d):
            square += out[c] * out[c]
        for c in range(d):
            out[c] /= np.sqrt(square)


def nearest_to_origin(samples: Floats) -> Floats:
    """The point of each sample nearest to the origin (s, d), the most precise reference."""
    nearest = np.argmin(np.sum(samples**2, axis=2), axis=1)
    return np.asarray(np.take_along_axis(samples, nearest[:, None, None], axis=1)[:, 0])
