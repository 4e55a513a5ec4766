"""What drawing a model needs."""

from __future__ import annotations

import numpy as np

from ..protocols import Floats


def within_box(points: Floats, low: Floats, high: Floats) -> Floats:
    """A line of points with nan in place of those outside a box."""
    inside = np.all((points >= low) & (points <= high), axis=1)
    return np.where(inside[:, None], points, np.nan)
