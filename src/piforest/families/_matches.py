"""Functions for two-view matches, rows (x1, y1, x2, y2): Hartley's normalisation.

The parameters of a model are relative to the centre of its sample in each view. This keeps the
precision for images far from the origin, such as map coordinates.
"""

from __future__ import annotations

import numpy as np

from .._kernels.jit import jit
from ..protocols import Floats


@jit
def hartley(samples, frames, points):  # type: ignore[no-untyped-def]
    """Move each view of each sample to centroid 0 and mean distance sqrt(2).

    samples (s, k, 4) to frames (s, 2, 3): centre x, centre y, scale; and points
    (s, 2, k, 2). The scale is 0 where all points of a view coincide. O(s k).
    """
    k = samples.shape[1]
    for i in range(samples.shape[0]):
        for v in range(2):
            cx = cy = 0.0
            for j in range(k):
                cx += samples[i, j, 2 * v]
                cy += samples[i, j, 2 * v + 1]
            cx /= k
            cy /= k
            spread = 0.0
            for j in range(k):
                dx, dy = samples[i, j, 2 * v] - cx, samples[i, j, 2 * v + 1] - cy
                spread += np.sqrt(dx * dx + dy * dy)
            spread /= k
            scale = np.sqrt(2.0) / spread if spread > 0.0 else 0.0
            frames[i, v, 0] = cx
            frames[i, v, 1] = cy
            frames[i, v, 2] = scale
            for j in range(k):
                points[i, v, j, 0] = (samples[i, j, 2 * v] - cx) * scale
                points[i, v, j, 1] = (samples[i, j, 2 * v + 1] - cy) * scale


def normalised(samples: Floats) -> tuple[Floats, Floats]:
    """Call `hartley` with new output arrays."""
    s, k, _ = samples.shape
    frames, points = np.empty((s, 2, 3)), np.empty((s, 2, k, 2))
    hartley(np.ascontiguousarray(samples), frames, points)
    return frames, points


def scales(frames: Floats, view: int) -> Floats:
    """The diagonals (s, 3) of the maps from centred to normalised image coordinates."""
    scale = np.where(frames[:, view, 2] > 0, frames[:, view, 2], 1)
    return np.stack([scale, scale, np.ones_like(scale)], axis=1)


def with_centres(frames: Floats, matrices: Floats) -> Floats:
    """Parameters (s, q, 13): the centres of both views, then the rows of matrices (s, q, 3, 3)."""
    s, q = matrices.shape[:2]
    centres = np.broadcast_to(frames[:, None, :, :2].reshape(s, 1, 4), (s, q, 4))
    return np.concatenate([centres, matrices.reshape(s, q, 9)], axis=2)


def shifts(centres: Floats) -> Floats:
    """Matrices (m, 3, 3) of the translations by minus the centres (m, 2)."""
    T = np.tile(np.eye(3), (len(centres), 1, 1))
    T[:, :2, 2] = -centres
    return T


def lifted_matches(Z: Floats) -> Floats:
    """(n, 9) the products of (x1, y1, 1) and (x2, y2, 1)."""
    first, second = (np.column_stack([Z[:, c : c + 2], np.ones(len(Z))]) for c in (0, 2))
    return np.asarray((first[:, :, None] * second[:, None, :]).reshape(-1, 9))
