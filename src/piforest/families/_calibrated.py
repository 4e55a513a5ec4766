"""What the families of calibrated matches share: rows in normalised image coordinates."""

from __future__ import annotations

import numpy as np

from ..protocols import Floats
from ._family import IMAGES, Family

# Normalised coordinates are tangents of angles from the optical axis: 20 is 87 degrees, more
# than any lens sees whose image is a plane; pixels are hundreds.
LARGEST = 20.0


class Calibrated(Family):
    """Families whose parameters are a matrix by rows."""

    layout = IMAGES
    # The cameras may turn about their axes; a shift or another scale would uncalibrate them.
    symmetries = frozenset({"rotation"})

    def complaint(self, X: Floats) -> str | None:
        # Of most rows: a few that are far off are what the detector is to find.
        largest = float(np.median(np.max(np.abs(X), axis=1)))
        if largest <= LARGEST:
            return None
        return (
            f"{self.name!r} needs calibrated matches: rows {self.layout} in normalised "
            f"coordinates; these look like pixels (max |value| {largest:.4g} in the typical row). "
            "Take (x - cx) / f of each, with the centre and the focal length of the camera, or use "
            "'fundamental' or 'homography'."
        )

    def matrices(self, params: Floats) -> Floats:
        """(m, 3, 3): the matrices."""
        return np.asarray(params.reshape(-1, 3, 3))


def rays(samples: Floats) -> Floats:
    """(s, k, 4) to the unit vectors (s, 2, k, 3) in which the cameras see the matches."""
    s, k, _ = samples.shape
    out = np.ones((s, 2, k, 3))
    out[:, 0, :, :2], out[:, 1, :, :2] = samples[:, :, :2], samples[:, :, 2:]
    return np.asarray(out / np.sqrt(np.sum(out**2, axis=3, keepdims=True)))
