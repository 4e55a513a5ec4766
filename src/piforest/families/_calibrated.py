"""What the families of calibrated matches share: rows in normalised image coordinates."""

from __future__ import annotations

import numpy as np

from ..protocols import Floats

# Normalised coordinates are tangents of angles from the optical axis: 20 is 87 degrees, more
# than any lens sees whose image is a plane; pixels are hundreds.
LARGEST = 20.0


def looks_like_pixels(name: str, X: Floats) -> str | None:
    """The complaint of a family that needs calibrated matches; None if it has them."""
    # Of most rows: a few that are far off are what the detector is to find.
    largest = float(np.median(np.max(np.abs(X), axis=1)))
    if largest <= LARGEST:
        return None
    return (
        f"{name!r} needs calibrated matches: rows (x1, y1, x2, y2) in normalised coordinates; "
        f"these look like pixels (max |value| {largest:.4g} in the typical row). Take (x - cx) / f "
        "of each, with the centre and the focal length of the camera, or use 'fundamental' or "
        "'homography'."
    )


def rays(samples: Floats) -> Floats:
    """(s, k, 4) to the unit vectors (s, 2, k, 3) in which the cameras see the matches."""
    s, k, _ = samples.shape
    out = np.ones((s, 2, k, 3))
    out[:, 0, :, :2], out[:, 1, :, :2] = samples[:, :, :2], samples[:, :, 2:]
    return np.asarray(out / np.sqrt(np.sum(out**2, axis=3, keepdims=True)))
