"""Base class of the families of calibrated matches: rows in normalised image coordinates."""

from __future__ import annotations

import numpy as np

from ..protocols import Floats
from ._family import IMAGES, Family

# Normalised coordinates are tangents of angles to the optical axis. 20 is 87 degrees, more than
# any lens with a planar image; coordinates in pixels are in the hundreds.
LARGEST = 20.0


class Calibrated(Family):
    """Families whose parameters are the rows of a 3 x 3 matrix."""

    layout = IMAGES
    # Both images may be rotated about the optical axis; a shift or a scale breaks the calibration.
    symmetries = frozenset({"rotation"})

    def reason_to_reject(self, X: Floats) -> str | None:
        # Only if most rows are out of range: a few such rows may be anomalies.
        largest = float(np.median(np.max(np.abs(X), axis=1)))
        if largest <= LARGEST:
            return None
        return (
            f"{self.name!r} needs calibrated matches: rows {self.layout} in normalised "
            f"coordinates; these look like pixels (max |value| {largest:.4g} in the typical row). "
            "Take (x - cx) / f of each, with the centre and the focal length of the camera; or "
            "pass the cameras, K1 and K2 of piforest.vision.filter_matches, --focal or --K of "
            "`piforest matches`; or use 'fundamental' or 'homography'."
        )

    def matrices(self, params: Floats) -> Floats:
        """Return the matrices (m, 3, 3) of parameters (m, 9)."""
        return np.asarray(params.reshape(-1, 3, 3))


def rays(samples: Floats) -> Floats:
    """Viewing directions (s, 2, k, 3) of samples (s, k, 4), as unit vectors."""
    s, k, _ = samples.shape
    out = np.ones((s, 2, k, 3))
    out[:, 0, :, :2], out[:, 1, :, :2] = samples[:, :, :2], samples[:, :, 2:]
    return np.asarray(out / np.sqrt(np.sum(out**2, axis=3, keepdims=True)))
