"""What the families of flats and spheres share: a frame of the directions that a sample spans."""

from __future__ import annotations

import numpy as np

from .._kernels.jit import jit
from ..protocols import Floats

# A sample whose points, taken farthest first, end less than this off the flat through those
# before, in units of the longest way between them, spans no more than that flat.
FLAT = 1e-6


@jit
def frame(V, order, heights):  # type: ignore[no-untyped-def]
    """Gram-Schmidt in place, longest remainder first: rows of V (k, d) to k orthonormal ones.

    order (k,): which row each came from. heights (k,): how far it stood off those before.
    False if the rows span less than k dimensions. O(k^2 d).
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
        # What rounding left of the rows before, which a short remainder would magnify.
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
    """v minus its part along the unit vector u, in place."""
    along = 0.0
    for c in range(v.shape[0]):
        along += v[c] * u[c]
    for c in range(v.shape[0]):
        v[c] -= along * u[c]


@jit
def normal_to(V, out):  # type: ignore[no-untyped-def]
    """The unit vector out (d,) at right angles to d - 1 orthonormal rows V. O(d^2)."""
    k, d = V.shape
    # What is left of the axis that is farthest from their span is the longest.
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
    """(s, d): of each sample the point with the most digits to measure from."""
    nearest = np.argmin(np.sum(samples**2, axis=2), axis=1)
    return np.asarray(np.take_along_axis(samples, nearest[:, None, None], axis=1)[:, 0])
